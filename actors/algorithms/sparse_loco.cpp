// SparseLoCo: DiLoCo whose workers send a small part of their progress, and keep the rest for later rounds. The error
// that is fed back takes the place of an outer momentum.
//
//   every step        x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))
//   after H steps     e_i <- beta e_i + (theta - x_i);   q_i = C(e_i);   e_i <- e_i - q_i
//                     theta <- theta - alpha agg(q_1, ..., q_n);   x_i <- theta
//
// Sarfi, Thérien, Lidin, Belilovsky: Communication efficient LLM pre-training with SparseLoCo, 2025, algorithm 1. agg
// is the mean over all workers, as printed, or over those that have sent a coordinate, as in the code that the authors
// released, which moves a coordinate that few have sent so much further. With clip=median, each q_i that is longer than
// the median length of all is scaled down to it first, so that a worker gone wrong does bounded damage; the code does
// so for each tensor. The released code applies alpha twice.
//
// Packets are gathered whole, so C may be any codec. The authors' is chunked-top-k, but that they cut a matrix into
// blocks of 64 x 64; top-k finds the elements of the whole model. theta is the same on all workers. Lost workers: their
// e_i is lost with them; the others repeat the round from unchanged theta and e_i. A worker that comes back begins at
// theta, with e_i = 0; one that leaves hands its e_i on.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/ring_all_gather.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

struct aggregation {
  bool over_senders, clips;

  /// @param all of at least one worker, in the order of the members
  vec operator()(const std::vector<vec>& all) const {
    vec sum = zeros_like(all.front());
    const auto scales = scales_of(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      sum += scales[i] * all[i];
    if (over_senders)
      divide_by_senders(all, sum);
    else
      sum *= 1 / static_cast<float>(all.size());
    return sum;
  }

private:
  std::vector<float> scales_of(const std::vector<vec>& all) const {
    std::vector<float> scales(all.size(), 1);
    if (!clips)
      return scales;
    std::vector<double> lengths(all.size());
    std::ranges::transform(all, lengths.begin(), [](const vec& q) { return std::sqrt(sum_of_squares(q.view())); });
    auto ascending = lengths;
    const auto middle = ascending.begin() + static_cast<std::ptrdiff_t>((ascending.size() - 1) / 2);
    std::ranges::nth_element(ascending, middle);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (lengths[i] > *middle)
        scales[i] = static_cast<float>(*middle / lengths[i]);
    return scales;
  }

  static void divide_by_senders(const std::vector<vec>& all, vec& sum) {
    std::vector<float> senders(sum.size());
    for (const auto& q : all)
      for (std::size_t k = 0; const float value : q.view())
        senders[k++] += value != 0 ? 1.0f : 0.0f;
    for (std::size_t k = 0; float& value : sum.mutate())
      value /= std::max(senders[k++], 1.0f);
  }
};

class sparse_loco final : public algorithm {
public:
  sparse_loco(const vec& initial, const arguments& given)
      : theta_(initial), x_(initial),
        e_(zeros_like(initial)), mean_{given.is("aggregate", "senders"), given.is("clip", "median")},
        decay_(given.real32("decay")), lr_(given.real32("outer-lr")),
        period_(static_cast<std::uint64_t>(given.integer("period"))) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the outer model", t_, theta_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      if ((t_ + 1) % period_ == 0) {
        const vec progress = decay_ * e_ + (theta_ - moved);
        const auto message = w.encode(progress);
        const auto packets = co_await ring_all_gather(w, message, t_);
        std::vector<vec> all(packets.size());
        std::ranges::transform(packets, all.begin(), [&](const packet& p) { return w.decode(p); });
        theta_ -= lr_ * mean_(all);
        e_ = progress - w.decode(message);
        moved = theta_;
      }
      x_ = moved;
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(theta_)(x_)(e_)(t_); }
  void inherit(worker&) override {
    x_ = theta_; // the donor brings its own steps, and its own error
    e_ *= 0;
  }
  vec residual() const override { return e_; }
  void take_over(const vec& residual) override { e_ += residual; }
  std::uint64_t next_exchange(std::uint64_t t) const override { return t / period_ * period_ + period_ - 1; }

private:
  vec theta_;
  vec x_;
  vec e_;
  std::uint64_t t_ = 0;
  aggregation mean_;
  float decay_, lr_;
  std::uint64_t period_;
};

} // namespace

const algorithm_entry sparse_loco_entry{
    .about = {.name = "sparse-loco",
              .summary = "DiLoCo that sends the greatest elements of its progress, and the rest in later rounds",
              .maths = "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                       "if (t + 1) mod H = 0: e_i <- beta e_i + (theta - x_i);  q_i = C(e_i);  e_i <- e_i - q_i;\n"
                       "                      theta <- theta - alpha agg(q_1, ..., q_n);  x_i <- theta",
              .reference =
                  "Sarfi, Thérien, Lidin, Belilovsky: Communication efficient LLM pre-training with SparseLoCo, "
                  "2025, algorithm 1",
              .cost = "every H steps n-1 messages and (n-1) bits(C) payload bits sent by each worker; between them "
                      "nobody waits for anybody; three more vectors of memory",
              .parameters = {outer_period(),
                             {.key = "decay",
                              .kind = parameter::type::real,
                              .fallback = "0.95",
                              .meaning = "beta, the share of the error that a round keeps",
                              .min = 0,
                              .max = 1},
                             outer_lr("1", "alpha"),
                             {.key = "aggregate",
                              .kind = parameter::type::choice,
                              .fallback = "workers",
                              .meaning = "whether a coordinate is divided by the number of workers, or of those that "
                                         "have sent it",
                              .choices = {"workers", "senders"}},
                             {.key = "clip",
                              .kind = parameter::type::choice,
                              .fallback = "none",
                              .meaning = "whether messages are shortened to the median length of all",
                              .choices = {"none", "median"}}}},
    .traits = {.exchange = exchange_pattern::all,
               .synchronous = true,
               .default_codec = "top-k:fraction=0.0156",
               .on_loss = interrupted_round::repeat,
               .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<sparse_loco>(s.initial, s.given);
    },
};

} // namespace gossamer::actors
