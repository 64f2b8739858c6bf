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
// theta, with e_i = 0; one that leaves hands on e_i + theta - x_i, its error with the move that no round has had, which
// another adds to its own error.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/gathered_mean.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"

namespace gossamer::actors {

namespace {

class sparse_loco final : public algorithm {
public:
  sparse_loco(const vec& initial, const arguments& given)
      : theta_(initial), x_(initial), e_(zeros_like(initial)), mean_{given}, decay_(given.real32("decay")),
        lr_(given.real32("outer-lr")), rounds_{static_cast<std::uint64_t>(given.integer("period"))} {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the outer model", t_, theta_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      if (rounds_.end_after(t_)) {
        const vec progress = decay_ * e_ + (theta_ - moved);
        const auto message = w.encode(progress);
        theta_ -= lr_ * co_await mean_.of_all(w, message, t_);
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
  vec handed_over(const worker&) const override { return e_ + (theta_ - x_); }
  void take_over(const vec& residual) override { e_ += residual; }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.last_of(t); }

private:
  vec theta_;
  vec x_;
  vec e_;
  std::uint64_t t_ = 0;
  gathered_mean mean_;
  float decay_, lr_;
  step_rounds rounds_;
};

} // namespace

algorithm_entry sparse_loco_entry() {
  return {
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
                .parameters = with_gathered_mean({outer_period(),
                                                  {.key = "decay",
                                                   .kind = parameter::type::real,
                                                   .fallback = "0.95",
                                                   .meaning = "beta, the share of the error that a round keeps",
                                                   .min = 0,
                                                   .max = 1},
                                                  outer_lr("1", "alpha")})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .default_codec = "top-k:fraction=0.0156",
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<sparse_loco>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
