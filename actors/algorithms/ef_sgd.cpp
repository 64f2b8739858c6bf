// EF-SGD and QSparse-local-SGD: the error of the codec is kept and sent later (error feedback).
//
//   v_i  = x_i,t - gamma_t u_i(grad F_i(x_i,t; xi_i,t))
//   p_i  = e_i + (v_i - x_i,t)                       the worker's unsent progress
//   after every H steps    x <- x + (1/n) sum_j C(p_j),   e_i = p_i - C(p_i),   x_i,t+1 = x
//   else                   e_i = p_i,   x_i,t+1 = v_i
//
// x is the same on all workers. EF-SGD is H = 1: then all x_i are x. Stich, Cordonnier, Jaggi: Sparsified SGD with
// memory, NeurIPS 2018; Karimireddy, Rebjock, Stich, Jaggi: Error feedback fixes SignSGD, ICML 2019; Basu, Data,
// Karakus, Diggavi: Qsparse-local-SGD, NeurIPS 2019, where e and the steps since the last round stand apart: their sum
// is the e of this file. Momentum is each worker's own and comes before compression; so do weight decay and the
// proximal step, since p is the distance that x_i has moved. With any codec, x + mean(e) moves by the workers' own
// steps only.
//
// The error of a codec must be smaller than its input. A codec that scales up the elements that it keeps to be
// unbiased, such as random-k by its defaults, makes e grow without bound. The older the residuals, the less they fit:
// at large ratios, about 64 and more, training diverges at rates at which CSER learns as SGD does.
//
// Lost workers: the others repeat the round, from unchanged x and e. The e of a lost worker is lost, so x + mean(e)
// jumps from the mean over all to that over the survivors. A worker that comes back begins at x, e = 0.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/psync.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"

namespace gossamer::actors {

namespace {

class error_feedback final : public algorithm {
public:
  error_feedback(const vec& initial, step_rounds rounds, route way)
      : common_(initial), x_(initial), e_(zeros_like(initial)), rounds_(rounds), way_(way) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the common model", t_, common_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec v = x_;
      w.update(v, g, t_);
      const vec p = e_ + (v - x_);
      if (rounds_.end_after(t_))
        co_await synchronise(w, p);
      else
        e_ = p, x_ = v;
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(common_)(x_)(e_)(t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.last_of(t); }
  void inherit(worker&) override {
    x_ = common_;
    e_ *= 0;
  }
  vec residual() const override { return e_; }
  void take_over(const vec& residual) override { e_ += residual; }

private:
  task<> synchronise(worker& w, const vec& p) {
    const auto part = part_of(w, p, &w.codec(), purpose::shared_1, t_);
    std::vector parts{part};
    co_await add_means(w, common_, std::move(parts), way_, t_);
    e_ = part.residual;
    x_ = common_;
  }

  vec common_; ///< x
  vec x_;      ///< x_i
  vec e_;
  std::uint64_t t_ = 0;
  step_rounds rounds_;
  route way_;
};

algorithm_traits traits(const char* codec, bool lr_grows) {
  return {.exchange = exchange_pattern::all,
          .synchronous = true,
          .default_codec = codec,
          .lr_grows = lr_grows,
          .on_loss = interrupted_round::repeat,
          .promises = {.most_exchanges_apart = 1, .lossy_codecs_move_mean = true, .sgd_to_the_bit = false}};
}

} // namespace

algorithm_entry ef_sgd_entry() {
  return {
      .about = {.name = "ef-sgd",
                .summary = "synchronous SGD with compressed updates; what is left out is added to the next ones",
                .maths = "p_i = e_i - gamma_t u_i(grad F_i(x_t; xi_i,t))\n"
                         "x_{t+1} = x_t + (1/n) sum_j C(p_j),  e_i = p_i - C(p_i)",
                .reference =
                    "Stich, Cordonnier, Jaggi: Sparsified SGD with memory, NeurIPS 2018; Karimireddy, Rebjock, "
                    "Stich, Jaggi: Error feedback fixes SignSGD, ICML 2019",
                .cost =
                    "grbs: 2(n-1) messages and 2(n-1)/n * bits(C) payload bits sent by each worker per step; codecs "
                    "whose packets cannot be added up: n-1 messages and (n-1) bits(C); two more vectors of memory",
                .parameters = with_ring_or_direct()},
      .traits = traits("grbs:ratio=16", false),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<error_feedback>(s.initial, step_rounds{1}, ring_or_direct(s.given));
      },
  };
}

algorithm_entry qsparse_local_sgd_entry() {
  return {
      .about = {.name = "qsparse-local-sgd",
                .summary = "local SGD whose workers send compressed progress; what is left out is sent later",
                .maths = "v_i = x_i - gamma_t u_i(grad F_i(x_i; xi_i,t)),  p_i = e_i + (v_i - x_i)\n"
                         "if (t + 1) mod H = 0: x <- x + (1/n) sum_j C(p_j),  e_i = p_i - C(p_i),  x_i <- x\n"
                         "else:                 e_i = p_i,  x_i <- v_i",
                .reference = "Basu, Data, Karakus, Diggavi: Qsparse-local-SGD: distributed SGD with quantization, "
                             "sparsification and local computations, NeurIPS 2019",
                .cost = "that of ef-sgd every H steps; between rounds nobody waits for anybody",
                .parameters = with_ring_or_direct({{.key = "period",
                                                    .kind = parameter::type::integer,
                                                    .fallback = "4",
                                                    .meaning = "H, in steps",
                                                    .min = 1}})},
      .traits = traits("grbs:ratio=4", true),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        const step_rounds rounds{static_cast<std::uint64_t>(s.given.integer("period"))};
        return std::make_unique<error_feedback>(s.initial, rounds, ring_or_direct(s.given));
      },
  };
}

} // namespace gossamer::actors
