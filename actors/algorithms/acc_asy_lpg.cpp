// Acc-AsyLPG: AsyLPG with momentum across epochs; Acc-AsyFPG is the same at full precision.
//
//   epoch s  theta_s = 2 / (s + 2),  y goes on from the epoch before,  x = theta_s y + (1 - theta_s) xt
//   worker   alpha = mean over a of  grad f_a(q) - grad f_a(xt),   q = Q_x(x_D(t))
//   master   u = C(alpha) + gf;   y <- prox_{eta_s h}(y - eta_s u),  eta_s = gamma / theta_s
//            x <- xt + theta_s (y - xt)
//   after m  xt <- mean of the epoch's m values of x
//
// Yu, Wu, Huang: Double quantization for communication-efficient distributed optimization, NeurIPS 2019, algorithm 3;
// condition (4) is condition (2) with theta_s mu in place of mu. In theory eta_s = 1 / (sigma L theta_s), sigma > 1;
// the experiments use the learning rate as 1 / (sigma L). It is faster where the problem is ill-conditioned, and slower
// elsewhere. The output is xt.
//
// Lost workers and masters: see variance_reduction.hpp.
#include "gossamer/actors/algorithms/double_quantisation.hpp"
#include "gossamer/actors/algorithms/entries.hpp"

namespace gossamer::actors {

namespace {

class acc_asy_lpg_master final : public svrg_master {
public:
  acc_asy_lpg_master(const algorithm_setup& s, model_teller::options o)
      : svrg_master(s), y_(s.initial), sum_(s.initial), teller_(o) {}

private:
  void further_fields(archive& a) override { a(y_)(sum_); }
  float theta() const { return 2 / static_cast<float>(epoch() + 2); }
  vec between() const { return snapshot() + theta() * (y_ - snapshot()); }

  void begin(worker&) override {
    x_ = between();
    sum_ *= 0;
  }
  told_model tell(worker& w) override { return teller_(w, x_, snapshot(), static_cast<double>(theta())); }
  void step(worker& w, const vec& u) override {
    y_ -= (1 / theta()) * w.direction(y_, u, updates());
    w.prox(y_, updates(), 1 / theta());
    x_ = between();
    sum_ += x_;
  }
  void begin_from_snapshot() override { y_ = snapshot(); }
  vec next_snapshot(std::uint64_t m) override { return (1 / static_cast<float>(m)) * sum_; }

  vec y_;
  vec sum_; // of this epoch's x
  model_teller teller_;
};

constexpr auto acc_asy_lpg_maths = "epoch s: theta = 2 / (s + 2), x = theta y + (1 - theta) xt, gf = grad f(xt)\n"
                                   "alpha = mean_a [grad f_a(q) - grad f_a(xt)], q = Q_x(x);  u = C(alpha) + gf\n"
                                   "y <- prox_{eta h}(y - eta u), eta = gamma / theta;  x <- xt + theta (y - xt)\n"
                                   "xt <- mean of the epoch's x";

constexpr auto acc_asy_lpg_reference =
    "Yu, Wu, Huang: Double quantization for communication-efficient distributed optimization, "
    "NeurIPS 2019, algorithm 3";

} // namespace

algorithm_entry acc_asy_fpg_entry() {
  return {
      .about = {.name = "acc-asy-fpg",
                .summary = "asynchronous proximal SVRG, accelerated by momentum across epochs, at full precision",
                .maths = acc_asy_lpg_maths,
                .reference = acc_asy_lpg_reference,
                .cost = "as asy-fpg",
                .parameters = family_parameters({}, "snapshot")},
      .traits = svrg_traits,
      .make = make_exact_svrg_worker,
      .masters = one_master,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<acc_asy_lpg_master>(s, model_teller::options{});
      },
  };
}

algorithm_entry acc_asy_lpg_entry() {
  return {
      .about = {.name = "acc-asy-lpg",
                .summary = "acc-asy-fpg with a quantised model and quantised gradients",
                .maths = acc_asy_lpg_maths,
                .reference = acc_asy_lpg_reference,
                .cost = "as asy-lpg",
                .parameters = family_parameters(quantisation_parameters(), "snapshot")},
      .traits = svrg_traits,
      .make = make_quantised_svrg_worker,
      .masters = one_master,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<acc_asy_lpg_master>(s, model_teller_of(s.given));
      },
  };
}

} // namespace gossamer::actors
