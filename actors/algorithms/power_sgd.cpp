// PowerSGD: gradients as products of low rank, found by one step of the power method and averaged like dense vectors.
// For each matrix of the model, with r columns in P and Q:
//
//   M_i     = grad F_i(x_t; xi_i,t) + E_i
//   P       = (1/n) sum_i M_i Q_t                 one all-reduce
//   P      <- an orthonormal basis of its columns
//   Q_t+1   = (1/n) sum_i Q_i,  Q_i = M_i^T P     another one
//   x_t+1   = x_t - gamma_t u(P Q_t+1^T)
//   E_i     = M_i - P Q_i^T
//
// Vogels, Karimireddy, Jaggi: PowerSGD: practical low-rank gradient compression for distributed optimization, NeurIPS
// 2019, algorithms 1 and 2. Both products are linear, so that sums travel and no worker sends to all. Q is kept from
// step to step, and the power method goes on where it was. Tensors that a product would not make smaller, such as
// biases, travel in the first all-reduce as they are.
//
// Two points differ. The paper's error is M_i less the mean's product; here it is M_i less the worker's own, as in the
// authors' code. With either, the steps and the mean of E add up to the gradients, but the own one stays smaller. And
// where a column of P vanishes, as it does for a matrix without a gradient, Q keeps its column, which would be 0 for
// ever.
//
// Weight decay and momentum of the optimiser come after the mean. When a worker is lost, the others repeat both
// all-reduces, so that they have the same members; a worker that leaves hands its E over, and one that comes back
// begins with E = 0 and the others' Q.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/compress/low_rank.hpp"

namespace gossamer::actors {

namespace {

/// A model that does not say what it consists of is one row, which is not compressed.
compress::low_rank factors_of(const algorithm_setup& s) {
  const tensor_shape row{1, s.initial.size()};
  return {s.tensors.empty() ? std::span{&row, 1} : s.tensors, static_cast<std::size_t>(s.given.integer("rank"))};
}

class power_sgd final : public algorithm {
public:
  explicit power_sgd(const algorithm_setup& s)
      : x_(s.initial), e_(zeros_like(x_)), factors_(factors_of(s)), way_(collective_of(s.given)) {}

  task<> run(worker& w) override {
    if (t_ == 0)
      q_ = factors_.draw(x_.pool(), {w.shared_random(purpose::shared_1), 0});
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const vec mean = co_await low_rank_mean(w, g + e_);
      w.update(x_, mean, t_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(e_)(q_)(t_); }
  void inherit(worker&) override { e_ *= 0; }
  vec residual() const override { return e_; }
  void take_over(const vec& residual) override { e_ += residual; }

private:
  task<vec> low_rank_mean(worker& w, vec m) {
    for (;;) {
      auto p = co_await try_mean(w, members_of(w), factors_.left(m, q_), way_, t_, 0);
      if (!p)
        continue;
      factors_.orthonormalise(*p);
      const vec own = factors_.right(m, *p, q_);
      const auto q = co_await try_mean(w, members_of(w), own, way_, t_, 1);
      if (!q)
        continue;
      q_ = *q;
      e_ = factors_.remainder(m, *p, own);
      co_return factors_.product(*p, q_);
    }
  }

  vec x_;
  vec e_; ///< E_i
  vec q_;
  std::uint64_t t_ = 0;
  compress::low_rank factors_;
  route way_;
};

} // namespace

algorithm_entry power_sgd_entry() {
  return {
      .about = {.name = "power-sgd",
                .summary = "synchronous SGD whose gradients are products of low rank; what they lack is sent later",
                .maths = "M_i = grad F_i(x_t; xi_i,t) + E_i,  P = orth((1/n) sum_i M_i Q),  Q_i = M_i^T P\n"
                         "Q <- (1/n) sum_i Q_i,  E_i = M_i - P Q_i^T,  x_{t+1} = x_t - gamma_t u(P Q^T)",
                .reference = "Vogels, Karimireddy, Jaggi: PowerSGD: practical low-rank gradient compression for "
                             "distributed optimization, NeurIPS 2019, algorithms 1 and 2",
                .cost =
                    "4(n-1) messages sent by each worker per step and, for each a x b matrix, 2(n-1)/n * 32 r (a + b) "
                    "payload bits, for other tensors of d floats 2(n-1)/n * 32 d; 4(n-1) hops; one more vector of "
                    "memory",
                .parameters = with_collective({{.key = "rank",
                                                .kind = parameter::type::integer,
                                                .fallback = "2",
                                                .meaning = "r; tensors with r (a + b) >= a b are not compressed",
                                                .min = 1,
                                                .max = 1024}})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .needs = codec_need::exact,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<power_sgd>(s); },
  };
}

} // namespace gossamer::actors
