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
// mean is due. A worker that comes back begins at theta, and its D_i of a fragment under way is 0. One that leaves
// hands theta - x_i to another, which adds it, fragment by fragment, to the next D_i that it freezes (untold_move.hpp).
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/fragments.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"
#include "gossamer/actors/collectives/untold_move.hpp"

namespace gossamer::actors {

namespace {

class streaming_diloco final : public untold_move {
public:
  explicit streaming_diloco(const algorithm_setup& s)
      : theta_(s.initial), x_(s.initial), parts_(s.given, "streaming-diloco"), own_share_(s.given.real32("own-share")) {
    for (std::uint64_t p = 0; p < parts_.count(); ++p)
      outer_.emplace_back(s.given, parts_.of(theta_, p));
  }

  task<> run(worker& w) override {
    std::optional<journey> under_way;
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the outer model", t_, theta_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      const auto leaving = parts_.leaving(t_ + 1);
      if (leaving) {
        frozen_ = parts_.of(theta_, *leaving) - parts_.of(told(moved), *leaving);
        packed_from_ = w.encodings();
        under_way.emplace(w.present().number, try_packed_mean(w, members_of(w), frozen_, t_ + parts_.overlap()));
        under_way->mean.start();
      }
      if (const auto p = parts_.due(t_ + 1)) {
        const vec delta = co_await arrival(w, under_way);
        adopt(w, *p, delta, moved);
      }
      x_ = moved;
      if (leaving && !inherited_.empty())
        parts_.put(inherited_, *leaving, zeros_like(parts_.of(inherited_, *leaving)));
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(theta_)(x_)(inherited_)(frozen_)(packed_from_)(t_);
    for (auto& one : outer_)
      one.fields(a);
  }
  void inherit(worker&) override {
    x_ = theta_;
    inherited_ = {};
    frozen_ *= 0;
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return parts_.next_due(t + 1) - 1; }

private:
  vec move() const override { return theta_ - x_; }

  /// A fragment's way to the others and back.
  struct journey {
    std::uint32_t view; ///< in which it began
    task<std::optional<vec>> mean;

    journey(std::uint32_t number, task<std::optional<vec>> forming) : view(number), mean(std::move(forming)) {}
  };

  /// The mean of what was frozen. Where the members have changed since, or this worker goes on from a saved state, the
  /// round begins now, on all workers alike. From a saved state it is the same round, to the bit.
  task<vec> arrival(worker& w, std::optional<journey>& under_way) {
    auto sent = std::exchange(under_way, std::nullopt);
    if (sent && sent->view == w.present().number) {
      auto mean = co_await sent->mean;
      if (mean)
        co_return std::move(*mean);
    }
    if (!sent)
      w.encode_again_from(packed_from_);
    co_return co_await packed_mean_of_all(w, frozen_, t_);
  }

  void adopt(const worker& w, std::uint64_t p, const vec& delta, vec& moved) {
    vec theta = parts_.of(theta_, p);
    outer_[p].step(theta, theta - delta, w.learning_rate(t_));
    parts_.put(theta_, p, theta);
    parts_.mix(moved, p, theta, own_share_);
    frozen_ = {};
  }

  vec theta_;
  vec x_;
  vec frozen_;                    ///< D_i of the fragment under way; empty: none is
  std::uint64_t packed_from_ = 0; ///< the worker's encodings before it left
  std::uint64_t t_ = 0;
  std::vector<outer_optimiser> outer_; ///< of the fragments
  fragments parts_;
  float own_share_;
};

} // namespace

algorithm_entry streaming_diloco_entry() {
  return {
      .about = {.name = "streaming-diloco",
                .summary = "DiLoCo in fragments that take turns, on their way while the inner steps go on",
                .maths =
                    "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                    "every H steps, for each fragment p in turn: D = (1/n) sum_i C(theta_p - x_i,p), due tau steps "
                    "later:\n"
                    "u_p <- mu u_p + D;  theta_p <- theta_p - eta (D + mu u_p);  x_i,p <- alpha x_i,p + (1 - alpha) "
                    "theta_p",
                .reference = "Douillard and others: Streaming DiLoCo with overlapping communication: towards a "
                             "distributed free lunch, 2025, algorithm 2",
                .cost =
                    "every H steps 2(n-1) messages for each fragment and 2(n-1)/n * bits(C) payload bits together "
                    "sent by each worker, a P-th of them at a time; a step waits only where a mean takes longer than "
                    "tau steps; two more vectors of memory",
                .parameters = with_outer_step(with_fragments({outer_period()}))},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .default_codec = "e3m0",
                 .on_loss = interrupted_round::repeat,
                 .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<streaming_diloco>(s);
      },
      .packs_parts = [](const arguments&) { return true; },
  };
}

} // namespace gossamer::actors
