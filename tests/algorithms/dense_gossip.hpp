#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compress/codec.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gossamer::testing_support {

/// The synchronous gossip algorithms as plain loops over arrays: all workers at once, on a ring of at least three with
/// equal weights. Shares only codecs and random numbers with the actors, and adds in their order, so that results may
/// be compared closely. In double precision and without a codec, they show what the formulas promise.
template <class Real>
class basic_dense_gossip {
public:
  using numbers = std::vector<Real>;
  using gradient_of = std::function<numbers(std::size_t i, std::uint64_t t, const numbers& x)>;

  /// @param decay decay of the weights, as a part of the gradient
  basic_dense_gossip(std::size_t workers, const numbers& start, Real lr, const std::string& codec, gradient_of gradient,
                     Real decay = 0)
      : x_(workers, start), replicas_(x_), lr_(lr), codec_(compress::make_codec(codec)), gradient_(std::move(gradient)),
        decay_(decay) {}

  const numbers& model(std::size_t i) const { return x_[i]; }

  void d_psgd(std::uint64_t t) {
    auto heard = compressed(x_);
    step(t, x_, heard);
  }
  void adapt_then_combine(std::uint64_t t) {
    const auto g = gradients(t);
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = sum(1, x_[i], -lr_, g[i]);
    const auto heard = compressed(x_);
    const auto before = x_;
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = mix(i, before[i], heard);
  }
  void naive(std::uint64_t t) {
    auto heard = compressed(x_);
    step(t, heard, heard);
  }
  void dcd(std::uint64_t t) {
    const auto before = x_;
    step(t, before, replicas_);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto q = compressed(i, sum(1, x_[i], -1, before[i]));
      replicas_[i] = sum(1, replicas_[i], 1, q);
      x_[i] = sum(1, before[i], 1, q);
    }
  }
  void ecd(std::uint64_t t, std::uint64_t refresh = 0, bool own_exact = false) {
    if (refresh != 0 && t % refresh == 0)
      replicas_ = x_;
    const auto s = static_cast<Real>((refresh == 0 ? t : t % refresh) + 2);
    const auto before = x_;
    step(t, own_exact ? before : replicas_, replicas_);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (refresh != 0 && (t + 1) % refresh == 0) {
        ++encoded_[i]; // counts the encoding that is drawn, but not sent
        continue;
      }
      const auto q = compressed(i, sum(1 - s / 2, before[i], s / 2, x_[i]));
      replicas_[i] = sum(1 - 2 / s, replicas_[i], 2 / s, q);
    }
  }

  void deep_squeeze(std::uint64_t t, Real rate) {
    const auto g = gradients(t);
    owed_.resize(x_.size(), numbers(g[0].size()));
    all q;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = sum(1, x_[i], -lr_, g[i]);
      owed_[i] = sum(1, owed_[i], 1, x_[i]);
      q.push_back(compressed(i, owed_[i]));
      owed_[i] = sum(1, owed_[i], -1, q[i]);
    }
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = sum(1, x_[i], rate, sum(1, mix(i, q[i], q), -1, q[i]));
  }

private:
  using all = std::vector<numbers>;

  static numbers sum(Real a, const numbers& x, Real b, const numbers& y) {
    numbers result(x.size());
    for (std::size_t k = 0; k < x.size(); ++k)
      result[k] = a * x[k] + b * y[k];
    return result;
  }
  numbers mix(std::size_t i, const numbers& own, const all& heard) const {
    const std::size_t n = x_.size(), left = (i + n - 1) % n, right = (i + 1) % n;
    const Real third = Real{1} / 3, own_weight = static_cast<Real>(1 - 2 * static_cast<double>(third));
    numbers mixed(own.size());
    for (std::size_t k = 0; k < own.size(); ++k) {
      mixed[k] = own_weight * own[k];
      mixed[k] += third * heard[std::min(left, right)][k];
      mixed[k] += third * heard[std::max(left, right)][k];
    }
    return mixed;
  }
  all gradients(std::uint64_t t) const {
    all g;
    for (std::size_t i = 0; i < x_.size(); ++i)
      g.push_back(sum(1, gradient_(i, t, x_[i]), decay_, x_[i]));
    return g;
  }
  /// x_i <- W_ii own_i + sum_j W_ij heard_j - lr g_i(x_i)
  void step(std::uint64_t t, const all& own, const all& heard) {
    const auto g = gradients(t);
    const auto kept = own;
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = sum(1, mix(i, kept[i], heard), -lr_, g[i]);
  }
  numbers compressed(std::size_t i, const numbers& v) {
    if (std::is_same_v<Real, double> && codec_->can().exact)
      return v; // packets of floats would round
    const random_stream draws{1, static_cast<std::uint32_t>(i), purpose::quantise};
    const std::vector<float> rounded(v.begin(), v.end());
    const auto decoded = compress::decode(codec_->encode(vec{pool_, rounded}, draws, encoded_[i]++));
    return {decoded.view().begin(), decoded.view().end()};
  }
  all compressed(const all& v) {
    all result;
    for (std::size_t i = 0; i < v.size(); ++i)
      result.push_back(compressed(i, v[i]));
    return result;
  }

  buffer_pool pool_;
  all x_;
  all replicas_; ///< one replica for all holders, since theirs are equal
  all owed_;     ///< DeepSqueeze's m
  Real lr_;
  std::unique_ptr<compress::codec> codec_;
  gradient_of gradient_;
  Real decay_;
  std::vector<std::uint64_t> encoded_ = std::vector<std::uint64_t>(x_.size());
};

using dense_gossip = basic_dense_gossip<float>;

} // namespace gossamer::testing_support
