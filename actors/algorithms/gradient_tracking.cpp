// Gradient tracking, and D2: gossip for workers whose data differ.
//
//   gradient tracking   y_i <- sum_j W_ij y_j + g_i,t - g_i,t-1   (at first g_i,0)
//                       x_i <- sum_j W_ij (x_j - gamma_t u(y_j))
//   D2                  x_i,t+1 = sum_j W_ij (2 x_j,t - x_j,t-1 - (s_j,t - s_j,t-1)),   s = gamma u(g)
//                       x_i,1 = sum_j W_ij (x_j,0 - s_j,0)
//
// D-PSGD with a constant rate stops where the workers' gradients and their pull on each other balance, the further from
// the minimum the more their data differ. Here the mean of y is that of the gradients at all times, and both methods
// stop at the minimum. Gradient tracking: Di Lorenzo, Scutari: NEXT, 2016; Nedic, Olshevsky, Shi: Achieving geometric
// convergence for distributed optimization over time-varying graphs, 2017; in the order that adapts first, which bears
// greater rates. D2: Tang, Lian, Yan, Zhang, Liu: D2: decentralized training over decentralized data, ICML 2018; with
// (I + W)/2 in place of W, as exact diffusion has it (Yuan, Ying, Zhao, Sayed, 2019): D2 needs eigenvalues above -1/3,
// and the ring of an even number of workers has just that one.
//
// Compressed messages would break the equality of the means for ever, so codecs are exact. A loss breaks it too: when
// the members change, all workers begin anew with y_i = g_i, or with the first line of D2, in the same step.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

namespace {

/// True in the first step of a view. @param known number of the view of the step before
bool enters_view(const worker& w, std::uint32_t& known) {
  const auto before = std::exchange(known, w.present().number);
  return before != known;
}

class gradient_tracking final : public algorithm {
public:
  explicit gradient_tracking(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      const bool begins = enters_view(w, view_) || y_.empty();
      const vec y = begins ? g : y_ + (g - g_);
      vec x = x_;
      w.update(x, y, t_);
      auto track = neighbour_exchange(w, y, t_, own_term::exact, 1);
      track.start(); // beside the models
      x_ = co_await neighbour_exchange(w, x, t_);
      y_ = co_await track;
      g_ = g;
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(y_)(g_)(t_)(view_); }
  void inherit(worker&) override { y_ = {}; }

private:
  vec x_;
  vec y_; ///< after mixing; empty: tracking begins
  vec g_;
  std::uint64_t t_ = 0;
  std::uint32_t view_ = 0; ///< view since whose beginning y follows the gradients
};

class d2 final : public algorithm {
public:
  explicit d2(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      const vec s = w.direction(x_, g, t_);
      const bool begins = enters_view(w, view_) || before_.empty();
      vec next = x_ - s;
      if (!begins)
        next += (x_ - before_) + s_;
      w.prox(next, t_);
      vec mixed = co_await neighbour_exchange(w, next, t_);
      mixed += next;
      mixed *= 0.5f;
      before_ = std::exchange(x_, std::move(mixed));
      s_ = s;
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(before_)(s_)(t_)(view_); }
  void inherit(worker&) override { before_ = {}; }

private:
  vec x_;
  vec before_; ///< x of the step before; empty: the first line
  vec s_;
  std::uint64_t t_ = 0;
  std::uint32_t view_ = 0;
};

algorithm_traits traits_of_both() {
  return {.exchange = exchange_pattern::neighbours,
          .synchronous = true,
          .needs = codec_need::exact,
          .promises = {.most_exchanges_apart = 1, .sgd_to_the_bit = false}};
}

} // namespace

algorithm_entry gradient_tracking_entry() {
  return {
      .about = {.name = "gradient-tracking",
                .summary = "gossip of models and of estimates of the mean gradient: bears data that differ",
                .maths = "y_i <- sum_j W_ij y_j + g_i,t - g_i,t-1;  x_i <- sum_j W_ij (x_j - gamma_t u(y_j))",
                .reference = "Nedic, Olshevsky, Shi: Achieving geometric convergence for distributed optimization over "
                             "time-varying graphs, SIAM J. Optim. 2017; Di Lorenzo, Scutari: NEXT, 2016",
                .cost =
                    "2 deg(i) messages and 2 deg(i) * 32d payload bits sent by worker i per step; two more vectors of "
                    "memory; a step waits for the slowest neighbour only"},
      .traits = traits_of_both(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<gradient_tracking>(s.initial);
      },
  };
}

algorithm_entry d2_entry() {
  return {
      .about = {.name = "d2",
                .summary = "gossip that corrects itself by the step before: bears data that differ, at D-PSGD's cost",
                .maths =
                    "x_i,t+1 = sum_j W_ij (2 x_j,t - x_j,t-1 - (s_j,t - s_j,t-1)),  s = gamma u(g),  W <- (I + W)/2",
                .reference =
                    "Tang, Lian, Yan, Zhang, Liu: D2: decentralized training over decentralized data, ICML 2018, "
                    "algorithm 1; with (I + W)/2: Yuan, Ying, Zhao, Sayed: Exact diffusion, 2019",
                .cost = "deg(i) messages and deg(i) * 32d payload bits sent by worker i per step; two more vectors of "
                        "memory; a step waits for the slowest neighbour only"},
      .traits = traits_of_both(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<d2>(s.initial); },
  };
}

} // namespace gossamer::actors
