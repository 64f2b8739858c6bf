// NoLoCo: DiLoCo without a sum over all workers. In each outer step random pairs average, and nobody else waits.
//
//   every step      x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))
//   after H steps   m_i <- alpha m_i + beta ((x_i + x_j)/2 - phi_i);   phi_i <- phi_i + m_i;   x_i <- phi_i
//
// where j is the partner of i in this round. Kolehmainen, Blagoev, Donaghy, Ersoy, Nies: NoLoCo: no-all-reduce low
// communication training method for large models, 2025. The paper has two terms, the mean progress of the pair with a
// factor of beta and the difference of their outer models with gamma. With gamma = beta, as in the code that the
// authors released, they add up to the line above, and one vector travels instead of two.
//
// Pairs come from a random order of the members, the same on all workers; of an odd number one worker is alone, and
// takes x_i for x_j. The mean over all workers of phi and m follows DiLoCo with heavy-ball momentum exactly, since the
// two sides of an exchange add opposite halves of their difference, also with a lossy codec. The workers' models differ
// for ever; their distance dies out only for 0 < beta < 2 (1 - alpha^2), and other values are refused.
//
// Lost workers: a partner that does not answer leaves a worker alone for this round. A worker that comes back begins
// with the outer model of another, and m = 0. One that leaves hands phi_i - x_i to another, which subtracts it from its
// own x_i in its next outer step (untold_move.hpp).
//
// With --islands workers of an island share every step, and islands are the pairs: heads exchange (island_mean.hpp),
// and islands of m_i and m_j workers move to their weighted mean. A worker that comes back begins with the state of
// another of its island, if there is one. Its workers may differ after a loss; the means of the next steps end that.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/island_mean.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"
#include "gossamer/actors/collectives/untold_move.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gossamer::actors {

namespace {

class noloco final : public untold_move {
public:
  noloco(const vec& initial, const arguments& given)
      : phi_(initial), m_(zeros_like(initial)), x_(initial), momentum_(given.real32("outer-momentum")),
        lr_(given.real32("outer-lr")), rounds_{static_cast<std::uint64_t>(given.integer("period"))} {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      const bool is_outer = rounds_.end_after(t_);
      if (is_outer) {
        x_ = told(x_);
        inherited_ = {};
      }
      auto island = co_await average_on_island(w, x_, t_);
      if (is_outer) {
        const vec mean = co_await mean_with_partner(w, std::move(island));
        m_ *= momentum_;
        m_ += lr_ * (mean - phi_);
        phi_ += m_;
        x_ = phi_;
      } else {
        x_ = std::move(island.mean);
      }
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(phi_)(m_)(x_)(inherited_)(t_); }
  void inherit(worker& w) override {
    inherited_ = {};
    if (w.islands().are_shared())
      return; // the state is that of the island
    m_ *= 0;
    x_ = phi_;
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.last_of(t); }

private:
  vec move() const override { return phi_ - x_; }

  /// Draws the same order of all heads on every worker; those at places 2k and 2k + 1 are a pair.
  static std::optional<rank> partner(const worker& w, std::uint64_t t) {
    auto order = heads_of(w);
    random_sequence{w.shared_random(purpose::shared_1), t}.shuffle(std::span{order});
    const auto place = static_cast<std::size_t>(std::ranges::find(order, w.id()) - order.begin());
    const auto other = place ^ 1u;
    return other < order.size() ? std::optional{order[other]} : std::nullopt;
  }

  /// m_j / (m_i + m_j): a half if both islands have as many workers, or there are none.
  static float weight(const worker& w, rank j) {
    const auto ours = static_cast<float>(size_of_island(w, w.id())), theirs = static_cast<float>(size_of_island(w, j));
    return theirs / (ours + theirs);
  }

  /// The mean of both islands on all their workers; that of the own one, alone or beside a lost partner.
  task<vec> mean_with_partner(worker& w, island_average own) {
    if (w.id() == island_of(w).members.front()) {
      const auto both = co_await try_mean_with_partner(w, own.mean);
      if (both)
        own.mean = *both;
      else
        own.complete = false;
    }
    const auto result = co_await as_the_head_has_it(w, std::move(own), t_);
    if (result.complete)
      w.claim_conserved("the sum of the models", t_, x_, result.mean);
    co_return result.mean;
  }

  /// x_i + s (C(x_j) - C(x_i)) with the weight s of the partner's island; x_i alone
  /// @returns absent if the partner is lost
  task<std::optional<vec>> try_mean_with_partner(worker& w, vec x) {
    const auto j = partner(w, t_);
    if (!j)
      co_return x;
    const tag round{frame_kind::model, t_};
    const auto message = w.encode(x);
    w.send(*j, round, message);
    const auto received = co_await w.receive(*j, round);
    if (!received)
      co_return std::nullopt;
    co_return x + weight(w, *j) * (w.decode(received->body) - w.decode(message));
  }

  vec phi_, m_;
  vec x_;
  std::uint64_t t_ = 0;
  float momentum_, lr_;
  step_rounds rounds_;
};

void require_stable(const arguments& given) {
  const auto alpha = given.real("outer-momentum"), beta = given.real("outer-lr");
  const auto most = 2 * (1 - alpha * alpha);
  if (beta <= 0 || beta >= most)
    throw error(errc::usage,
                fmt::format("noloco is given outer-lr={} with outer-momentum={}, with which the workers' models do not "
                            "come together",
                            beta, alpha),
                fmt::format("with this momentum outer-lr is between 0 and 2 (1 - {}^2) = {:.3g}; the authors use 0.7 "
                            "with 0.5",
                            alpha, most));
}

} // namespace

algorithm_entry noloco_entry() {
  return {
      .about =
          {.name = "noloco",
           .summary = "many steps on each worker alone, then outer steps by random pairs: no all-reduce, no server",
           .maths =
               "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
               "if (t + 1) mod H = 0, with the partner j of this round:\n"
               "m_i <- alpha m_i + beta (x_i + (C(x_j) - C(x_i))/2 - phi_i);  phi_i <- phi_i + m_i;  x_i <- phi_i\n"
               "otherwise, in an island I: x_i <- (1/|I|) sum_{j in I} x_j",
           .reference = "Kolehmainen, Blagoev, Donaghy, Ersoy, Nies: NoLoCo: no-all-reduce low communication "
                        "training method for large models, 2025",
           .cost = "every H steps one message and bits(C) payload bits sent by each worker, which waits for its "
                   "partner alone; two more vectors of memory; with islands one worker of each sends, and each sends "
                   "2(m-1)/m * 32d in each step within an island of m",
           .parameters = {outer_period(), outer_lr("0.7", "beta, below 2 (1 - alpha^2)"),
                          outer_momentum("0.5", "alpha")}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .in_islands = true,
                 .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        require_stable(s.given);
        return std::make_unique<noloco>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
