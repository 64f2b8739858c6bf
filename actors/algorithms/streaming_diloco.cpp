// Streaming DiLoCo: the model in fragments, each with outer steps of its own, whose exchange overlaps with inner steps.
//
//   every step                     x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))
//   when fragment p leaves         D_i = theta_p - x_i,p,   as it is now;   its mean D over all workers begins to form
//   tau steps later                u_p <- mu u_p + D;   theta_p <- theta_p - eta (D + mu u_p)
//                                  x_i,p <- alpha x_i,p + (1 - alpha) theta_p,   with the x_i,p of that time
//
// Each of the P fragments leaves every H steps, and they take turns: fragment p when t + 1 = floor(H p / P) mod H.
// Douillard, Donchev, Rush, Kale, Charles, Garrett, Teston, Lacey, McIlroy, Shen, Rame, Szlam, Ranzato, Barham:
// Streaming DiLoCo with overlapping communication: towards a distributed free lunch, 2025, algorithm 2. One fragment is
// under way at a time: tau < floor(H / P). Fragments are consecutive elements, as many in each, where the paper takes
// layers. With P = 1, tau = 0 and alpha = 0 it is DiLoCo.
//
// theta and u are the same on all workers. Their own models differ from theta and from each other at all times, unless
// alpha = 0. A round that a loss interrupts is repeated with the D_i that the others have kept, at the step where the
// mean is due. A worker that comes back begins at theta, and its D_i of a fragment under way is 0.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"
#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

/// The steps after which fragments leave, and those in which their means are due.
struct timetable {
  std::uint64_t period, fragments, overlap;

  /// The fragment that leaves after step t.
  std::optional<std::uint64_t> leaving(std::uint64_t t) const {
    for (std::uint64_t p = 0; p < fragments; ++p)
      if ((t + 1) % period == period * p / fragments)
        return p;
    return std::nullopt;
  }
  /// The fragment whose mean is due in step t.
  std::optional<std::uint64_t> due(std::uint64_t t) const { return t < overlap ? std::nullopt : leaving(t - overlap); }
};

class streaming_diloco final : public algorithm {
public:
  streaming_diloco(const vec& initial, const arguments& given, const timetable& when)
      : theta_(initial), x_(initial), when_(when), own_share_(given.real32("own-share")) {
    for (std::uint64_t p = 0; p < when_.fragments; ++p)
      outer_.emplace_back(given, part(theta_, p));
  }

  task<> run(worker& w) override {
    std::optional<journey> under_way;
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the outer model", t_, theta_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      if (const auto p = when_.leaving(t_)) {
        frozen_ = part(theta_, *p) - part(moved, *p);
        under_way.emplace(w.present().number, try_packed_mean(w, members_of(w), frozen_, t_ + when_.overlap));
        under_way->mean.start();
      }
      if (const auto p = when_.due(t_)) {
        const vec delta = co_await arrival(w, under_way);
        adopt(w, *p, delta, moved);
      }
      x_ = moved;
    }
    if (under_way)
      co_await under_way->mean; // others may still wait for this worker's part
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(theta_)(x_)(frozen_)(t_);
    for (auto& one : outer_)
      one.fields(a);
  }
  void inherit(worker&) override {
    x_ = theta_;
    frozen_ *= 0;
  }
  std::uint64_t next_exchange(std::uint64_t t) const override {
    while (!when_.due(t))
      ++t;
    return t;
  }

private:
  /// A fragment's way to the others and back.
  struct journey {
    std::uint32_t view; ///< in which it began
    task<std::optional<vec>> mean;

    journey(std::uint32_t number, task<std::optional<vec>> forming) : view(number), mean(std::move(forming)) {}
  };

  segment place(std::uint64_t p) const { return segment{0, theta_.size()}.part(p, when_.fragments); }
  vec part(const vec& v, std::uint64_t p) const {
    auto pool = v.pool();
    return vec{pool, place(p).of(v)};
  }

  /// The mean of what was frozen. Where the members have changed since, or this worker goes on from a saved state, the
  /// round begins now, on all workers alike.
  task<vec> arrival(worker& w, std::optional<journey>& under_way) {
    auto sent = std::exchange(under_way, std::nullopt);
    if (sent && sent->view == w.present().number) {
      auto mean = co_await sent->mean;
      if (mean)
        co_return std::move(*mean);
    }
    co_return co_await packed_mean_of_all(w, frozen_, t_);
  }

  void adopt(const worker& w, std::uint64_t p, const vec& delta, vec& moved) {
    vec theta = part(theta_, p);
    outer_[p].step(theta, theta - delta, w.learning_rate(t_));
    vec mixed = own_share_ * part(moved, p);
    mixed += (1 - own_share_) * theta;
    std::ranges::copy(theta.view(), place(p).of(theta_).begin());
    std::ranges::copy(mixed.view(), place(p).of(moved).begin());
    frozen_ = {};
  }

  vec theta_;
  vec x_;
  vec frozen_; ///< D_i of the fragment under way; empty: none is
  std::uint64_t t_ = 0;
  std::vector<outer_optimiser> outer_; ///< of the fragments
  timetable when_;
  float own_share_;
};

timetable timetable_of(const arguments& given) {
  const auto number = [&](const char* key) { return static_cast<std::uint64_t>(given.integer(key)); };
  const timetable when{number("period"), number("fragments"), number("overlap")};
  if (when.overlap >= std::max<std::uint64_t>(when.period / when.fragments, 1) || when.fragments > when.period)
    throw error(errc::usage,
                fmt::format("streaming-diloco is given period={}, fragments={} and overlap={}: a fragment would leave "
                            "before the one before it has arrived",
                            when.period, when.fragments, when.overlap),
                fmt::format("overlap is below period / fragments = {}", when.period / when.fragments));
  return when;
}

} // namespace

const algorithm_entry streaming_diloco_entry{
    .about = {.name = "streaming-diloco",
              .summary = "DiLoCo in fragments that take turns, on their way while the inner steps go on",
              .maths = "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                       "every H steps, for each fragment p in turn: D = (1/n) sum_i C(theta_p - x_i,p), due tau steps "
                       "later:\n"
                       "u_p <- mu u_p + D;  theta_p <- theta_p - eta (D + mu u_p);  x_i,p <- alpha x_i,p + (1 - alpha) "
                       "theta_p",
              .reference = "Douillard and others: Streaming DiLoCo with overlapping communication: towards a "
                           "distributed free lunch, 2025, algorithm 2",
              .cost = "every H steps 2(n-1) messages for each fragment and 2(n-1)/n * bits(C) payload bits together "
                      "sent by each worker, a P-th of them at a time; a step waits only where a mean takes longer than "
                      "tau steps; two more vectors of memory",
              .parameters = with_outer_step({outer_period(),
                                             {.key = "fragments",
                                              .kind = parameter::type::integer,
                                              .fallback = "2",
                                              .meaning = "P, at most H",
                                              .min = 1,
                                              .max = 1e6},
                                             {.key = "overlap",
                                              .kind = parameter::type::integer,
                                              .fallback = "1",
                                              .meaning = "tau, in steps, below H / P",
                                              .min = 0,
                                              .max = 1e9},
                                             {.key = "own-share",
                                              .kind = parameter::type::real,
                                              .fallback = "0.5",
                                              .meaning = "alpha, the share of its own elements that a worker keeps",
                                              .min = 0,
                                              .max = 1}})},
    .traits = {.exchange = exchange_pattern::all,
               .synchronous = true,
               .default_codec = "e3m0",
               .on_loss = interrupted_round::repeat,
               .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<streaming_diloco>(s.initial, s.given, timetable_of(s.given));
    },
};

} // namespace gossamer::actors
