// SSDM with cascading compression: why one-bit messages and multi-hop all-reduce do not simply go together.
//
//   u_m     = m_i,t+1 of SSDM, i = the m-th worker that a segment comes to, m = 0 .. n-1
//   w_0     = Q(u_0),  w_m = Q(w_m-1 + u_m)              Q(v) = |v|_2 sign~(v), unbiased
//   x_t+1   = prox(x_t - gamma_t / n w_n-1)
//
// Every hop decodes, adds and compresses again. E w_n-1 is the exact sum, but each Q multiplies the energy of its input
// by the number of elements that share a norm: over n hops that explodes. The failing baseline of Wu, He, Guo, Qu,
// Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for multi-hop all-reduce with ultimate
// compression, 2022, section 3. The paper does not give the number of elements that share a norm; with 16, three
// workers train poorly and eight diverge, as printed there.
//
// When a worker is lost, the survivors repeat the round with the same momentum and other random numbers. A worker that
// comes back takes over the momentum of the worker that gives it the model.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

class cascade final : public dense_sum {
public:
  cascade(worker& w, const compress::codec& c, const vec& v) : dense_sum(w, v), worker_(w), codec_(c) {}

  packet partial(segment s, std::uint32_t) override { return worker_.encode(codec_, value(s)); }
  void complete(segment s) override {
    final_ = partial(s, 0);
    store(s, final_);
  }
  packet result(segment) override { return final_; }

private:
  worker& worker_;
  const compress::codec& codec_;
  packet final_; ///< the one segment that this worker completes: on a ring there is one
};

class cascading_ssdm final : public algorithm {
public:
  cascading_ssdm(vec initial, const arguments& given)
      : x_(std::move(initial)), m_(zeros_like(x_)), beta_(given.real32("beta")), rounds_(given),
        signs_(compress::make_codec(fmt::format("ssdm:bucket={}", given.integer("norm-bucket")))) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begins_at(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const auto d = rounds_.direction(w, x_, g, t_);
      if (!d)
        continue;
      const vec m = rounds_.round_of(t_) == 0 ? *d : beta_ * m_ + (1 - beta_) * *d;
      cascade sum{w, *signs_, m};
      co_await all_reduce(w, sum, route::ring, t_);
      m_ = m;
      rounds_.go_back(x_);
      x_ -= w.learning_rate(t_) / static_cast<float>(w.members().size()) * sum.sum();
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
  vec x_, m_;
  std::uint64_t t_ = 0;
  float beta_;
  local_steps rounds_;
  std::unique_ptr<compress::codec> signs_;
};

} // namespace

algorithm_entry cascading_ssdm_entry() {
  return {
      .about =
          {.name = "cascading-ssdm",
           .summary = "stochastic signs, compressed anew at every hop of an all-reduce: a baseline that explodes",
           .maths = "m_i,t+1 = beta m_i,t + (1 - beta) u(grad F_i(x_t; xi_i,t)), m_i,1 without beta\n"
                    "w_0 = Q(m_0), w_k = Q(w_k-1 + m_k), x_t+1 = x_t - gamma_t / n w_n-1, Q(v) = |v|_2 sign~(v)",
           .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization "
                        "framework for multi-hop all-reduce with ultimate compression, 2022, section 3",
           .cost =
               "2(n-1) messages and 2(n-1)/n * (1 + 32/B) d payload bits sent by each worker per round of E steps, for "
               "B elements a norm; 2(n-1) hops",
           .parameters = {{.key = "beta", .fallback = "0.9", .meaning = "of the momentum", .min = 0, .max = 0.9999},
                          {.key = "norm-bucket",
                           .kind = parameter::type::integer,
                           .fallback = "16",
                           .meaning = "elements of a segment that share a norm; 0: all of them",
                           .min = 0,
                           .max = static_cast<double>(compress::packet_most_elements)},
                          local_steps_parameter()}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .takes_direction = false,
                 .needs = codec_need::exact,
                 .default_optimiser = "sgd",
                 .default_lr = 0.002,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<cascading_ssdm>(s.initial, s.given);
      },
      .limits = {{.why = "every hop compresses what it got again, and multiplies its energy by the number of elements "
                         "that share a norm"}},
  };
}

} // namespace gossamer::actors
