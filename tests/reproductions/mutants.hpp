#pragma once

// Broken algorithms and a broken codec, which reproductions have to tell from the right ones.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/algorithms/variance_reduction.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"
#include "gossamer/actors/collectives/psync.hpp"
#include "gossamer/actors/collectives/replicas.hpp"

#include <array>

namespace gossamer::mutants {

using actors::algorithm;
using actors::algorithm_entry;
using actors::algorithm_setup;
using actors::task;
using actors::worker;

/// Never averages: SGD on each worker alone.
class lone final : public algorithm {
public:
  explicit lone(const algorithm_setup& s) : x_(s.initial) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      x_ = moved;
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  std::uint64_t t_ = 0;
};

/// DCD-PSGD whose replicas follow half of each difference: a wrong weight.
class half_dcd_psgd final : public algorithm {
public:
  explicit half_dcd_psgd(const algorithm_setup& s)
      : x_(s.initial), models_(s.initial, [](vec& replica, const vec& q, std::uint64_t) { replica += 0.5f * q; }) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      co_await models_.catch_up(w, x_, t_);
      vec h = models_.mix(w, x_);
      const vec g = co_await gradient;
      w.update(h, g, t_, x_);
      models_.publish(w, vec{h} - x_, t_);
      x_ = std::move(h);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  actors::replicas models_;
  std::uint64_t t_ = 0;
};

/// CSER that drops what its codecs leave out.
class forgetful_cser final : public algorithm {
public:
  explicit forgetful_cser(const algorithm_setup& s)
      : x_(s.initial), c2_(compress::make_codec(s.given.nested("c2"), s.tensors, s.codecs)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      std::vector parts{actors::part_of(w, moved - x_, c2_.get(), purpose::shared_2, t_)};
      co_await actors::add_means(w, x_, std::move(parts), actors::route::ring, t_);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  std::shared_ptr<const compress::codec> c2_;
  std::uint64_t t_ = 0;
};

/// Marsit without full rounds that adds to its compensation what the bits have paid, instead of subtracting it.
class doubling_marsit final : public algorithm {
public:
  explicit doubling_marsit(const algorithm_setup& s) : x_(s.initial), c_(0.0f * s.initial), rounds_(s.given) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      const auto own = rounds_.went(w, x_, g, t_);
      if (!own)
        continue;
      const vec h = own->step + c_;
      actors::one_bit_merge signs{w, h, t_};
      co_await actors::all_reduce(w, signs, actors::route::ring, t_);
      const vec paid = 0.002f * signs.values();
      rounds_.go_back(x_);
      x_ -= paid;
      c_ = h + paid;
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_)(c_)(t_);
    rounds_.fields(a);
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.end_of_round(t); }

private:
  vec x_, c_;
  std::uint64_t t_ = 0;
  actors::local_steps rounds_;
};

/// Min-max levels that lose a tenth of everything.
class lossy final : public compress::codec {
public:
  explicit lossy(std::unique_ptr<compress::codec> inner) : inner_(std::move(inner)) {}

  compress::capabilities can() const override { return inner_->can(); }
  compress::packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    return inner_->encode(0.9f * v, random, step);
  }
  std::uint64_t bits(std::size_t elements) const override { return inner_->bits(elements); }
  double relative_error(std::size_t elements) const override { return inner_->relative_error(elements); }

private:
  std::unique_ptr<compress::codec> inner_;
};

template <class Mutant>
std::unique_ptr<algorithm> make(const algorithm_setup& s) {
  return std::make_unique<Mutant>(s);
}

/// An entry with another name and another algorithm; parameters and traits stay.
template <class Mutant>
algorithm_entry mutant(const char* name, algorithm_entry e) {
  e.about.name = name;
  e.make = make<Mutant>;
  return e;
}

/// AsyLPG whose workers send gradients in 16 bits, whatever was asked.
inline algorithm_entry wide_asy_lpg() {
  algorithm_entry e = actors::asy_lpg_entry();
  e.about.name = "wide-asy-lpg";
  e.make = [](const algorithm_setup& s) {
    return actors::make_svrg_worker(s, compress::make_codec("uniform:bits=16"));
  };
  return e;
}

inline const std::array algorithms{mutant<lone>("lone-ad-psgd", actors::ad_psgd_entry()),
                                   mutant<lone>("lone-dcd-psgd", actors::dcd_psgd_entry()),
                                   mutant<half_dcd_psgd>("half-dcd-psgd", actors::dcd_psgd_entry()),
                                   mutant<forgetful_cser>("forgetful-cser", actors::cser_entry()),
                                   mutant<doubling_marsit>("doubling-marsit", actors::marsit_entry()),
                                   wide_asy_lpg()};

inline const compress::codec_entry lossy_min_max{
    .about = {.name = "lossy-min-max",
              .summary = "min-max of nine tenths",
              .maths = "C(0.9 v)",
              .reference = "none",
              .cost = "that of min-max",
              .parameters = {{.key = "bits",
                              .kind = parameter::type::integer,
                              .fallback = "8",
                              .meaning = "of a level",
                              .min = 1,
                              .max = 16}}},
    .wire_number = compress::first_own_number,
    .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<compress::codec> {
      return std::make_unique<lossy>(compress::make_codec("min-max:bits=" + given.text("bits")));
    },
    .decode = [](const compress::packet& p) { return compress::decode(p); },
    .examples = {"lossy-min-max"},
};

} // namespace gossamer::mutants
