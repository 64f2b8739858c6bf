#pragma once

// The parts of own_parts.cpp: a codec, a topology and an optimiser that Gossamer does not have.
#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/codec.hpp"
#include "gossamer/compute/optimiser.hpp"
#include "gossamer/topology/graph.hpp"

#include <bit>
#include <cmath>

namespace gossamer::own {

// snippet codec begin
/// Rounds each element at random to one of the two powers of two beside it: its sign and its exponent, 9 bits.
class powers_of_two final : public compress::codec {
public:
  static constexpr std::uint8_t wire_number = compress::first_own_number;
  static constexpr int width = 9, below = 23; // bits that are sent, and bits of a float that are not

  compress::capabilities can() const override { return {.unbiased = true}; }

  compress::packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    const auto size = compress::whole_bytes(bits(v.size()));
    compress::packet p{wire_number, 0, v.size(), bits(v.size()), v.pool().allocate(size)};
    compress::bit_writer codes{{p.payload.data(), size}};
    std::uint64_t i = 0;
    for (const float x : v.view())
      codes.put(code_of(x, random.word(step, i++)), width);
    codes.finish();
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return width * std::uint64_t{elements}; }
  double relative_error(std::size_t) const override { return 0.125; } // at 4/3 of a power of two

  static vec decode(const compress::packet& p) {
    if (p.elements > 8 * p.payload.size() || p.bits != width * p.elements || !p.recipe.empty() || p.parameter != 0)
      throw error(errc::bad_packet, "a packet of codec powers-of-two is not as long as it says");
    auto pool = p.payload.pool();
    vec v{pool, p.elements};
    compress::bit_reader codes{{p.payload.data(), p.payload.size()}, p.bits};
    for (float& x : v.overwrite()) {
      x = std::bit_cast<float>(static_cast<std::uint32_t>(codes.take(width)) << below);
      if (!std::isfinite(x))
        throw error(errc::bad_packet, "a packet of codec powers-of-two holds an infinite element");
    }
    return v;
  }

private:
  /// The part of the float that is not sent is the probability with which the exponent grows by 1.
  static std::uint32_t code_of(float x, std::uint32_t word) {
    if (!std::isfinite(x))
      throw error(errc::diverged, "a vector to be encoded holds NaN or infinity");
    const auto whole = std::bit_cast<std::uint32_t>(x);
    const auto rounded = (whole + (word >> (32 - below))) >> below;
    return (rounded & 0xFFu) == 0xFFu ? whole >> below : rounded; // the next power of two is no float
  }
};

inline const compress::codec_entry codec{
    .about = {.name = "powers-of-two",
              .summary = "stochastic rounding to powers of two: signs and exponents",
              .maths = "C(v)_i = sign(v_i) 2^k or sign(v_i) 2^(k+1), where 2^k <= |v_i| < 2^(k+1), so chosen that "
                       "E C(v)_i = v_i",
              .reference = "Horváth, Ho, Horváth, Sahu, Canini, Richtárik, Natural Compression for Distributed Deep "
                           "Learning, MSML 2022, definition 1",
              .cost = "9 d bits; one random word an element"},
    .wire_number = powers_of_two::wire_number,
    .make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<compress::codec> {
      return std::make_unique<powers_of_two>();
    },
    .decode = powers_of_two::decode,
    .examples = {"powers-of-two"},
};
// snippet codec end

// snippet topology begin
inline topology::graph racks(const arguments& given, std::size_t size, std::uint64_t) {
  const auto of = static_cast<std::size_t>(given.integer("of"));
  std::vector<topology::graph::edge> edges;
  for (topology::rank i = 0; i < size; ++i) {
    const auto first = static_cast<topology::rank>(i / of * of);
    for (auto j = first; j < i; ++j)
      edges.emplace_back(j, i);
    if (i == first && first > 0)
      edges.emplace_back(static_cast<topology::rank>(first - of), first);
  }
  return {size, edges};
}

inline const topology::topology_entry topology_of_racks{
    .about = {.name = "racks",
              .summary = "all workers of a rack talk, and the first of each rack to those of the racks beside it",
              .cost = "degree of + 1 at most, diameter n / of + 1",
              .parameters = {{.key = "of",
                              .kind = parameter::type::integer,
                              .fallback = "4",
                              .meaning = "workers of a rack",
                              .min = 1,
                              .max = topology::max_workers}}},
    .make = racks};
// snippet topology end

// snippet optimiser begin
/// m <- beta m + (1 - beta) g, x <- x - lr sign(m)
class signum final : public compute::optimiser {
public:
  explicit signum(float beta) : beta_(beta) {}

  void step(vec& x, const vec& gradient, float lr) override {
    if (m_.empty())
      m_ = zeros_like(x);
    m_ *= beta_;
    m_ += (1 - beta_) * gradient;
    const auto momentum = m_.view();
    const auto model = x.mutate();
    for (std::size_t i = 0; i < model.size(); ++i)
      model[i] -= std::copysign(lr, momentum[i]) * static_cast<float>(momentum[i] != 0);
  }

  double persistence() const override { return std::sqrt((1 + beta_) / (1 - beta_)); }
  void fields(archive& a) override { a(m_); }
  std::unique_ptr<compute::optimiser> clone() const override { return std::make_unique<signum>(*this); }

private:
  float weight_decay() const override { return 0; }

  float beta_;
  vec m_;
};

inline const compute::optimiser_entry optimiser{
    .about = {.name = "signum",
              .summary = "the sign of the momentum",
              .maths = "m <- beta m + (1 - beta) g, x <- x - lr sign(m)",
              .reference = "Bernstein, Wang, Azizzadenesheli, Anandkumar, signSGD, ICML 2018, algorithm 2",
              .cost = "one vector of memory",
              .parameters = {{.key = "beta", .fallback = "0.9", .meaning = "of the momentum", .min = 0, .max = 0.999}}},
    .make = [](const arguments& given) -> std::unique_ptr<compute::optimiser> {
      return std::make_unique<signum>(given.real32("beta"));
    },
    .suggested_lr = [](const arguments&) { return 0.001; }};
// snippet optimiser end

} // namespace gossamer::own
