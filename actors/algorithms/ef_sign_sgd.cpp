// Sign SGD with error feedback.
//
//   p_i     = gamma_t u(grad F_i(x_t; xi_i,t)) + e_i,t
//   q_i     = s_i sign(p_i)
//   e_i,t+1 = p_i - q_i
//   x_t+1   = prox(x_t - (1/n) sum_i q_i)
//
// where E local steps take the place of gamma_t u(...) by x_t - y_i, for the y_i where worker i has got to
// (collectives/local_steps.hpp), which includes prox; so x_t - (1/n) sum_i e_i,t moves as under SGD, or local SGD.
// Karimireddy, Rebjock, Stich, Jaggi: Error feedback fixes SignSGD and other gradient compression schemes, ICML 2019,
// algorithm 1; here for n workers without a server.
//
// scale=gather: s_i = |p_i|_1 / d (codec scaled-sign). Signs of different scales cannot be added in few bits, so every
// worker gets every packet.
// scale=common: s = (1/n) sum_i |p_i|_1 / d for all; then the signs are added on an all-reduce. The residual takes up
// the difference.
//
// When a worker is lost, the survivors repeat the round with the same p_i. Its residual is lost, and with it steps that
// it had computed and not sent. A worker that comes back begins with e = 0, and so does a worker that was a round
// behind and had to take over the state of another.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"
#include "gossamer/actors/collectives/sign_sum.hpp"

namespace gossamer::actors {

namespace {

class ef_sign_sgd final : public algorithm {
public:
  ef_sign_sgd(vec initial, const arguments& given)
      : x_(std::move(initial)), e_(zeros_like(x_)), common_(given.is("scale", "common")), way_(collective_of(given)),
        code_(coding_of(given)), rounds_(given) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begins_at(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      auto own = rounds_.went(w, x_, g, t_);
      if (!own)
        continue;
      vec p = std::move(own->step);
      p += e_;
      if (common_)
        co_await add_signs(w, p);
      else
        co_await gather(w, p);
      if (rounds_.count() == 1)
        w.prox(x_, t_);
    }
  }

  void fields(archive& a) override {
    a(x_)(e_)(t_);
    rounds_.fields(a);
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.end_of_round(t); }
  void inherit(worker&) override {
    e_ = zeros_like(x_);
    rounds_.inherit(x_, t_);
  }
  vec residual() const override { return e_; }
  void take_over(const vec& residual) override { e_ += residual; }
  const vec& model() const override { return x_; }

private:
  task<> gather(worker& w, const vec& p) {
    const auto mine = w.encode(*scaled_sign_, p);
    const auto everybody = co_await all_gather(w, mine, way_, t_);
    rounds_.go_back(x_);
    x_ -= w.mean(everybody);
    e_ = p - w.decode(mine);
  }

  /// Sums scales and signs in one round: the signs do not wait for the scales.
  task<> add_signs(worker& w, const vec& p) {
    auto pool = p.pool();
    const float mine = static_cast<float>(sum_of_magnitudes(p.view()) / static_cast<double>(p.size()));
    dense_sum scales{w, vec{pool, {&mine, 1}}};
    sign_sum signs{w, p, code_};
    reduction* const both[] = {&scales, &signs};
    co_await all_reduce(w, both, way_, t_);
    const auto n = static_cast<float>(w.members().size());
    const float scale = scales.sum()[0] / n;
    rounds_.go_back(x_);
    x_ -= (scale / n) * signs.values();
    e_ = p - scale * signs.own_values();
  }

  vec x_, e_;
  std::uint64_t t_ = 0;
  bool common_;
  route way_;
  compress::sign_sum_code code_;
  local_steps rounds_;
  std::unique_ptr<compress::codec> scaled_sign_ = compress::make_codec("scaled-sign");
};

} // namespace

algorithm_entry ef_sign_sgd_entry() {
  return {
      .about = {.name = "ef-sign-sgd",
                .summary = "sends scaled signs and keeps what they leave out for the next step",
                .maths = "p_i = gamma_t u(grad F_i(x_t; xi_i,t)) + e_i,t\n"
                         "q_i = s_i sign(p_i), e_i,t+1 = p_i - q_i, x_t+1 = x_t - (1/n) sum_i q_i\n"
                         "s_i = |p_i|_1 / d, or for scale=common the mean of these",
                .reference = "Karimireddy, Rebjock, Stich, Jaggi: Error feedback fixes SignSGD and other gradient "
                             "compression schemes, ICML 2019, algorithm 1",
                .cost = "scale=gather: n-1 messages and (n-1)(d + 32) payload bits sent by each worker per round of E "
                        "steps, n-1 hops. "
                        "scale=common: 4(n-1) messages, 2(n-1)/n * 32 bits for the scale, and for the sums of k signs "
                        "ceil(log2(k+1)) * d/n for each k = 1 .. n-1 and (n-1)/n * ceil(log2(n+1)) * d",
                .parameters = with_collective(
                    {{.key = "scale",
                      .kind = parameter::type::choice,
                      .fallback = "gather",
                      .meaning = "each worker's own scale, its packets gathered by all; or one common scale, "
                                 "the signs summed on the way",
                      .choices = {"gather", "common"}},
                     coding_parameter(),
                     local_steps_parameter()})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .needs = codec_need::exact,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<ef_sign_sgd>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
