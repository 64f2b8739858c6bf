// DeMo: momenta that stay apart. Workers send the strongest cosine waves of their momenta, and keep the rest.
//
//   m_i   <- beta m_i + D grad F_i(x; xi_i,t)          D: the cosine transform of each block of each matrix
//   q_i    = C(m_i);   m_i <- m_i - q_i
//   x     <- x - gamma_t (sign(D^-1 agg(q_1, ..., q_n)) + lambda x),   sign(0) = 0
//
// Peng, Quesnelle, Kingma: DeMo: Decoupled momentum optimization, 2024, algorithm 1, with the sign of the code that the
// authors released. agg is the mean over all workers, or over those that have sent a coefficient, as in that code.
//
// D is linear, so that m_i is kept as coefficients, and nothing is lost between sending and keeping: without a loss in
// C, m_i is 0 after each step, and x moves by the signs of the mean gradient. Three points differ from the released
// code. It cuts a matrix by the largest divisors of its sides up to `chunk`, here blocks at the border are smaller. It
// adds gamma_t grad F_i to m_i, so that after a fall of the rate old gradients outweigh new ones for 1 / (1 - beta)
// steps. And its indices have 64 bits, its values those of the model, where chunked-top-k's have 12 and 2.
//
// An element without a gradient moves too when the waves of its block do not cancel there, as they do not when some are
// left out: by gamma_t, which a sign makes of any number. Packets are gathered whole, so C may be any codec. Lost
// workers: their m_i is lost with them; the others repeat the round. A worker that comes back has the model of another,
// and m_i = 0; one that leaves hands its m_i on.
#include "gossamer/actors/algorithms/decoupled_decay.hpp"
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/gathered_mean.hpp"
#include "gossamer/base/work.hpp"
#include "gossamer/compress/cosine_transform.hpp"

namespace gossamer::actors {

namespace {

/// A model that does not say what it consists of is one row.
compress::cosine_transform transform_of(const algorithm_setup& s) {
  const tensor_shape row{1, s.initial.size()};
  return {s.tensors.empty() ? std::span{&row, 1} : s.tensors, static_cast<std::size_t>(s.given.integer("chunk"))};
}

class demo final : public algorithm {
public:
  explicit demo(const algorithm_setup& s)
      : x_(s.initial), m_(zeros_like(x_)), waves_(transform_of(s)), mean_(s.given), beta_(s.given.real32("beta")),
        decay_(s.given.real32("weight-decay")) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const vec m = beta_ * m_ + waves_.forward(g);
      const auto message = w.encode(m);
      const vec mean = co_await mean_.of_all(w, message, t_);
      m_ = m - w.decode(message);
      step(waves_.inverse(mean), w.learning_rate(t_));
      w.prox(x_, t_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(m_)(t_); }
  void inherit(worker&) override { m_ *= 0; } // the donor's is for the donor to send
  vec residual() const override { return m_; }
  void take_over(const vec& residual) override { m_ += residual; }

private:
  void step(const vec& mean, float lr) {
    const auto x = x_.mutate();
    const auto d = mean.view();
    for (std::size_t k = 0; k < x.size(); ++k) {
      const float sign = d[k] > 0 ? 1.0f : d[k] < 0 ? -1.0f : 0.0f;
      x[k] -= lr * (sign + decay_ * x[k]);
    }
    count_arithmetic(3 * sizeof(float) * x.size());
  }

  vec x_;
  vec m_; ///< m_i, in coefficients
  std::uint64_t t_ = 0;
  compress::cosine_transform waves_;
  gathered_mean mean_;
  float beta_, decay_;
};

} // namespace

algorithm_entry demo_entry() {
  return {
      .about = {.name = "demo",
                .summary = "DeMo: workers send the strongest cosine waves of their momenta, and step by the sign of "
                           "the sum",
                .maths = "m_i <- beta m_i + D grad F_i(x; xi_i,t), where D is the cosine transform of each block\n"
                         "q_i = C(m_i);  m_i <- m_i - q_i\n"
                         "x <- x - gamma_t (sign(D^-1 agg(q_1, ..., q_n)) + lambda x), where sign(0) = 0",
                .reference = "Peng, Quesnelle, Kingma: DeMo: Decoupled momentum optimization, 2024, algorithm 1",
                .cost = "n-1 messages and (n-1) bits(C) payload bits sent by each worker per step; n-1 hops; two "
                        "transforms, each of 2 chunk multiplications an element of a matrix; one more vector of memory",
                .parameters = with_gathered_mean({{.key = "chunk",
                                                   .kind = parameter::type::integer,
                                                   .fallback = "64",
                                                   .meaning = "rows and columns of a block, or elements of a bias",
                                                   .min = 1,
                                                   .max = 256},
                                                  {.key = "beta",
                                                   .fallback = "0.999",
                                                   .meaning = "of the momentum that is not sent yet",
                                                   .min = 0,
                                                   .max = 1},
                                                  decoupled_decay()})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .takes_direction = false,
                 .own_optimiser = true,
                 .default_codec = "chunked-top-k",
                 .default_optimiser = "sgd",
                 .default_lr = 0.002,
                 .lr_grows = false,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1,
                              .lossy_codecs_move_mean = true,
                              .follows_mean_gradient = false,
                              .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<demo>(s); },
  };
}

} // namespace gossamer::actors
