// QSGD: synchronous data-parallel SGD whose gradients are quantised before they travel.
//
//   q_i,t   = C(grad F_i(x_t; xi_i,t))
//   x_{t+1} = x_t - gamma_t u((1/n) sum_i q_i,t)                              mean=gathered
//   x_{t+1} = x_t - gamma_t u(C((1/n) sum_i q_i,t)), segment by segment       mean=owners
//
// Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: communication-efficient SGD via gradient quantisation and encoding,
// NeurIPS 2017, algorithm 1, where everybody gets everybody's packet: (n-1) bits(C) a worker, more than a dense ring
// sends as soon as n exceeds 8 for 8 bits. Where each worker owns a segment of the mean and quantises it once more
// (collectives/packed_mean.hpp), 2(n-1)/n bits(C) are sent whatever n is, a quarter of the dense ring's for 8 bits; the
// second rounding adds a variance of one packet to that of the mean of n. Nothing is kept of the errors, so C should be
// unbiased, or as fine as bfloat16; one that forgets elements belongs to ef-sgd.
//
// The optimiser u gets the mean, so its state is the same everywhere; x is bit-identical on all workers. When a worker
// is lost, the survivors repeat the round with the gradients that they have, quantised anew.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"

namespace gossamer::actors {

namespace {

class quantised_sgd final : public algorithm {
public:
  quantised_sgd(vec initial, const arguments& given) : x_(std::move(initial)), gathers_(given.is("mean", "gathered")) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const vec mean = co_await mean_of(w, g);
      w.update(x_, mean, t_);
    }
  }

  void fields(archive& a) override { a(x_)(t_); }

  const vec& model() const override { return x_; }

private:
  task<vec> mean_of(worker& w, const vec& g) const {
    if (!gathers_)
      co_return co_await packed_mean_of_all(w, g, t_);
    const auto packets = co_await all_gather(w, w.encode(g), route::ring, t_);
    co_return w.mean(packets);
  }

  vec x_;
  std::uint64_t t_ = 0;
  bool gathers_;
};

} // namespace

algorithm_entry quantised_sgd_entry() {
  return {
      .about = {.name = "quantised-sgd",
                .summary = "synchronous SGD of quantised gradients (QSGD)",
                .maths = "x_{t+1} = x_t - gamma_t u(C((1/n) sum_i C(grad F_i(x_t; xi_i,t))))\n"
                         "mean=gathered: x_{t+1} = x_t - gamma_t u((1/n) sum_i C(grad F_i(x_t; xi_i,t)))",
                .reference = "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: communication-efficient SGD via gradient "
                             "quantisation and encoding, NeurIPS 2017, algorithm 1 (mean=gathered)",
                .cost =
                    "2(n-1) messages and 2(n-1)/n * bits(C) payload bits sent by each worker per step, in two hops; "
                    "mean=gathered: n-1 messages and (n-1) bits(C), in n-1 hops",
                .parameters = {{.key = "mean",
                                .kind = parameter::type::choice,
                                .fallback = "owners",
                                .meaning = "whether each worker quantises the mean of a segment once more for all, or "
                                           "everybody gets everybody's packet",
                                .choices = {"owners", "gathered"}}}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .default_codec = "uniform:bits=8",
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .lossy_codecs_move_mean = true}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<quantised_sgd>(s.initial, s.given);
      },
      .packs_parts = [](const arguments& given) { return given.is("mean", "owners"); },
  };
}

} // namespace gossamer::actors
