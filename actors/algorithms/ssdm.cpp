// SSDM: stochastic sign descent with momentum.
//
//   m_i,t+1 = beta m_i,t + (1 - beta) d_i,t,  m_i,1 = d_i,0        d_i,t = u(grad F_i(x_t; xi_i,t)), or of E
//                                                             local steps their sum (collectives/local_steps.hpp)
//   x_t+1   = prox(x_t - gamma_t / n sum_i sign~(m_i,t+1))         P(sign~(v)_k = 1) = 1/2 + v_k / (2 |v|_2)
//
// Safaryan, Richtarik: Stochastic sign descent methods: new algorithms and better theory, ICML 2021, algorithm 3. With
// keep-norm=true the update is gamma_t / n sum_i |m_i| sign~(m_i): unbiased for the mean of the m_i. The analysis of
// Marsit means this form by SSDM. With `norm-bucket` each run of so many elements is a v with a norm of its own.
//
// The original has a server, which gets d bits from each worker and sends sums of signs, d ceil(log2(n+1)) bits, to
// each: `collective=star`, where a worker is the server. By default signs without norms are added on a ring; packets
// with norms are gathered by all workers. A momentum of 0 has no direction and votes by fair coins.
//
// When a worker is lost, the survivors repeat the round with the signs that they have drawn; its momentum is lost. A
// worker that comes back takes over the momentum of the worker that gives it the model.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"
#include "gossamer/actors/collectives/sign_sum.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

class ssdm final : public algorithm {
public:
  ssdm(vec initial, const arguments& given)
      : x_(std::move(initial)), m_(zeros_like(x_)), beta_(given.real32("beta")),
        keeps_norm_(given.is("keep-norm", "true")), way_(collective_of(given)), code_(coding_of(given)), rounds_(given),
        signs_(compress::make_codec(
            fmt::format("ssdm:norm={},bucket={}", keeps_norm_ ? "sent" : "dropped", given.integer("norm-bucket")))) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begins_at(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const auto d = rounds_.direction(w, x_, g, t_);
      if (!d)
        continue;
      const vec m = rounds_.round_of(t_) == 0 ? *d : beta_ * m_ + (1 - beta_) * *d;
      if (keeps_norm_)
        co_await gather(w, m);
      else
        co_await add_signs(w, m);
      m_ = m;
      w.prox(x_, t_);
    }
  }

  void fields(archive& a) override {
    a(x_)(m_)(t_);
    rounds_.fields(a);
  }
  void inherit(worker&) override { rounds_.inherit(x_, t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.end_of_round(t); }
  const vec& model() const override { return x_; }

private:
  task<> gather(worker& w, const vec& m) {
    const auto mine = w.encode(*signs_, m);
    const auto everybody = co_await all_gather(w, mine, way_, t_);
    rounds_.go_back(x_);
    x_ -= w.learning_rate(t_) * w.mean(everybody);
  }

  task<> add_signs(worker& w, const vec& m) {
    const auto drawn = w.encode(*signs_, m);
    sign_sum sum{w, drawn.bits > 0 ? own_signs{drawn} : own_signs{w, coins(w)}, code_};
    co_await all_reduce(w, sum, way_, t_);
    rounds_.go_back(x_);
    x_ -= w.learning_rate(t_) / static_cast<float>(w.members().size()) * sum.values();
  }

  /// The value of sign~ for a vector that is 0 everywhere.
  vec coins(const worker& w) const {
    vec v = x_;
    random_sequence coin{w.random(purpose::merge), t_};
    for (float& value : v.overwrite())
      value = coin.uniform() - 0.5f;
    return v;
  }

  vec x_, m_;
  std::uint64_t t_ = 0;
  float beta_;
  bool keeps_norm_;
  route way_;
  compress::sign_sum_code code_;
  local_steps rounds_;
  std::unique_ptr<compress::codec> signs_;
};

} // namespace

algorithm_entry ssdm_entry() {
  return {
      .about =
          {.name = "ssdm",
           .summary = "sends random signs that are right on average for the direction of the momentum",
           .maths = "m_i,t+1 = beta m_i,t + (1 - beta) u(grad F_i(x_t; xi_i,t)), m_i,1 without beta\n"
                    "x_t+1 = x_t - gamma_t / n sum_i sign~(m_i,t+1), P(sign~(v)_k = 1) = 1/2 + v_k / (2 |v|_2)\n"
                    "keep-norm=true: x_t+1 = x_t - gamma_t / n sum_i |m_i,t+1|_2 sign~(m_i,t+1)",
           .reference = "Safaryan, Richtarik: Stochastic sign descent methods: new algorithms and better theory, "
                        "ICML 2021, algorithm 3",
           .cost =
               "2(n-1) messages and, for the sums of k signs, ceil(log2(k+1)) * d/n payload bits for each k = 1 "
               ".. n-1 and (n-1)/n * ceil(log2(n+1)) * d sent by each worker per round of E steps; keep-norm=true: n-1 "
               "messages and (n-1)(d + 32 d/B) bits, for B elements a norm",
           .parameters = with_collective(
               {{.key = "beta", .fallback = "0.9", .meaning = "of the momentum", .min = 0, .max = 0.9999},
                {.key = "keep-norm",
                 .kind = parameter::type::choice,
                 .fallback = "false",
                 .meaning = "whether norms are sent with the signs, and gathered instead of summed",
                 .choices = {"false", "true"}},
                {.key = "norm-bucket",
                 .kind = parameter::type::integer,
                 .fallback = "0",
                 .meaning = "elements that share a norm |v|_2; 0: all of them",
                 .min = 0,
                 .max = static_cast<double>(compress::packet_most_elements)},
                coding_parameter(),
                local_steps_parameter()})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .takes_direction = false,
                 .needs = codec_need::exact,
                 .default_optimiser = "sgd",
                 .default_lr = 0.01,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<ssdm>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
