#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/compress/codec.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::testing_support {

/// Error feedback and CSER as plain loops over arrays, all workers at once, as the papers write them: residuals and
/// models apart, one PSync after the other. Shares only codecs and random numbers with the actors.
class dense_cser {
public:
  using numbers = std::vector<double>;
  using all = std::vector<numbers>;
  using gradient_of = std::function<numbers(std::size_t i, std::uint64_t t, const numbers& x)>;
  using codec = std::shared_ptr<const compress::codec>;

  dense_cser(std::size_t workers, std::size_t size, double lr, double beta, gradient_of gradient)
      : x(workers, numbers(size)), e(x), common(size), momentum_(x), lr_(lr), beta_(beta),
        gradient_(std::move(gradient)) {}

  /// Makes a codec; "none" gives null.
  static codec make(const std::string& text) { return text == "none" ? nullptr : compress::make_codec(text); }

  void sgd(std::uint64_t t) {
    const auto u = directions(t);
    for (auto& model : x)
      add(model, -1, mean(u));
  }
  void local_sgd(std::uint64_t t, std::uint64_t period) {
    add(x, -1, directions(t));
    if ((t + 1) % period == 0)
      x.assign(x.size(), mean(x));
  }
  /// Does a step of Qsparse-local-SGD. Keeps e apart from the steps since the last round.
  void qsparse(std::uint64_t t, const codec& c1, std::uint64_t period) {
    add(x, -1, directions(t));
    if ((t + 1) % period != 0)
      return;
    auto p = e;
    add(p, 1, x);
    for (auto& v : p)
      add(v, -1, common);
    round(p);
    const auto q = compressed(p, c1, purpose::shared_1, t);
    add(common, 1, mean(q));
    x.assign(x.size(), common);
    e = p;
    add(e, -1, q);
  }
  void cser(std::uint64_t t, const codec& c1, const codec& c2, std::uint64_t period) {
    const auto [updates, residuals] = psync(directions(t), c2, purpose::shared_2, t);
    add(x, -1, updates);
    add(e, -1, residuals);
    if ((t + 1) % period != 0)
      return;
    const auto [reset, left] = psync(e, c1, purpose::shared_1, t);
    add(x, -1, e);
    add(x, 1, reset);
    e = left;
  }
  /// Does a step of the authors' released code, for linear codecs.
  void model_blocks(std::uint64_t t, const codec& c1, const codec& c2, std::uint64_t period) {
    add(x, -1, directions(t));
    const bool resets = (t + 1) % period == 0;
    x = psync(x, resets ? c1 : c2, resets ? purpose::shared_1 : purpose::shared_2, t).first;
  }

  static numbers mean(const all& v) {
    numbers sum(v.front().size());
    for (const auto& one : v)
      add(sum, 1.0 / static_cast<double>(v.size()), one);
    return sum;
  }

  all x, e;
  numbers common;

private:
  static void add(numbers& y, double a, const numbers& v) {
    for (std::size_t k = 0; k < y.size(); ++k)
      y[k] += a * v[k];
  }
  static void add(all& y, double a, const all& v) {
    for (std::size_t i = 0; i < y.size(); ++i)
      add(y[i], a, v[i]);
  }

  /// Rounds to floats, as codecs take floats. Without that, a residual would be left of elements that a codec keeps.
  static void round(all& vectors) {
    for (auto& v : vectors)
      for (auto& value : v)
        value = static_cast<double>(static_cast<float>(value));
  }

  all directions(std::uint64_t t) {
    all u;
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto g = gradient_(i, t, x[i]);
      for (std::size_t k = 0; k < g.size(); ++k) { // Nesterov's direction; g if beta = 0
        momentum_[i][k] = beta_ * momentum_[i][k] + g[k];
        g[k] = lr_ * (beta_ * momentum_[i][k] + g[k]);
      }
      u.push_back(std::move(g));
    }
    return u;
  }
  all compressed(const all& v, const codec& c, purpose shared, std::uint64_t t) {
    all result;
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (!c) {
        result.emplace_back(v[i].size());
        continue;
      }
      const std::vector<float> rounded(v[i].begin(), v[i].end());
      const bool linear = c->can().linear;
      const random_stream random = linear ? random_stream{1, 0xFFFFFFFF, shared}
                                          : random_stream{1, static_cast<std::uint32_t>(i), purpose::quantise};
      const auto decoded = compress::decode(c->encode(vec{pool_, rounded}, random, linear ? t : encoded_[i]++));
      result.emplace_back(decoded.view().begin(), decoded.view().end());
    }
    return result;
  }
  std::pair<all, all> psync(all v, const codec& c, purpose shared, std::uint64_t t) {
    round(v);
    const auto sent = compressed(v, c, shared, t);
    auto left = v;
    add(left, -1, sent);
    auto values = left;
    for (auto& value : values)
      add(value, 1, mean(sent));
    return {values, left};
  }

  buffer_pool pool_;
  all momentum_;
  double lr_, beta_;
  gradient_of gradient_;
  std::vector<std::uint64_t> encoded_ = std::vector<std::uint64_t>(momentum_.size());
};

} // namespace gossamer::testing_support
