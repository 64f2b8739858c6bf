// AsyLPG: asynchronous SVRG with a quantised model and quantised gradients; and AsyFPG, QSVRG and Sparse-AsyLPG, which
// are the same with other codecs.
//
//   worker   alpha = mean over a of  grad f_a(q) - grad f_a(xt),   q = Q_x(x_D(t))
//   master   u = C(alpha) + gf;   x <- prox_{gamma h}(x - gamma u)
//   epoch    after m updates xt <- x, and the next one starts from there
//
//                    Q_x                              C
//   AsyFPG           exact                            exact
//   QSVRG            exact                            uniform, b bits
//   AsyLPG           uniform, b_x bits (or by (2))    uniform, b bits
//   Sparse-AsyLPG    as AsyLPG                        optimal-p, survivors in b bits
//
// Yu, Wu, Huang: Double quantization for communication-efficient distributed optimization, NeurIPS 2019, algorithms 1
// and 2. QSVRG is its asynchronous form, as the authors compare with it; the original of Alistarh, Grubic, Li, Tomioka,
// Vojnovic: QSGD, NIPS 2017, is synchronous.
//
// The paper's step 7 writes the quantised x back as x_D(t): the master quantises its present x when it answers. The
// protocol (variance_reduction.hpp) decides the points that the paper leaves open, and the handling of losses. gamma u
// is the optimiser's: plain SGD by default, as in the paper.
#include "gossamer/actors/algorithms/double_quantisation.hpp"
#include "gossamer/actors/algorithms/entries.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

class asy_lpg_master final : public svrg_master {
public:
  asy_lpg_master(const algorithm_setup& s, model_teller::options o) : svrg_master(s), teller_(o) {}

private:
  told_model tell(worker& w) override { return teller_(w, x_, snapshot()); }
  void step(worker& w, const vec& u) override { w.update(x_, u, updates()); }

  model_teller teller_;
};

constexpr auto asy_lpg_reference =
    "Yu, Wu, Huang: Double quantization for communication-efficient distributed optimization, "
    "NeurIPS 2019, algorithms 1 and 2";

constexpr auto asy_lpg_maths = "per epoch gf = grad f(xt)\n"
                               "alpha = mean_a [grad f_a(q) - grad f_a(xt)], q = Q_x(x)\n"
                               "x <- prox_{gamma h}(x - gamma (C(alpha) + gf))";

std::unique_ptr<algorithm> make_exact_master(const algorithm_setup& s) {
  return std::make_unique<asy_lpg_master>(s, model_teller::options{});
}

std::unique_ptr<algorithm> make_quantised_master(const algorithm_setup& s) {
  return std::make_unique<asy_lpg_master>(s, model_teller_of(s.given));
}

std::unique_ptr<algorithm> make_sparse_worker(const algorithm_setup& s) {
  model_teller_of(s.given); // checks the master's parameters before the run
  gradient_codec_of(s.given);
  const auto bits = s.given.integer("gradient-bits");
  return make_svrg_worker(
      s, compress::make_codec(fmt::format("optimal-p:budget={},bits={}", s.given.text("phi"), bits == 32 ? 0 : bits)));
}

} // namespace

algorithm_entry asy_fpg_entry() {
  return {
      .about = {.name = "asy-fpg",
                .summary = "asynchronous proximal SVRG at full precision",
                .maths = asy_lpg_maths,
                .reference = asy_lpg_reference,
                .cost =
                    "64 d payload bits per update, and 64 d per worker and epoch; two messages and two minibatches an "
                    "update, one pass over the data an epoch",
                .parameters = family_parameters({})},
      .traits = svrg_traits,
      .make = make_exact_svrg_worker,
      .masters = one_master,
      .make_master = make_exact_master,
  };
}

algorithm_entry qsvrg_entry() {
  return {
      .about = {.name = "qsvrg",
                .summary = "asynchronous proximal SVRG with quantised gradients",
                .maths = asy_lpg_maths,
                .reference =
                    "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD, NIPS 2017; asynchronous as in Yu, Wu, Huang: "
                    "Double quantization for communication-efficient distributed optimization, NeurIPS 2019",
                .cost = "32 d + 32 + b d payload bits per update; otherwise as asy-fpg",
                .parameters = family_parameters({gradient_bits_parameter()})},
      .traits = svrg_traits,
      .make = [](const algorithm_setup& s) { return make_svrg_worker(s, gradient_codec_of(s.given)); },
      .masters = one_master,
      .make_master = make_exact_master,
  };
}

algorithm_entry asy_lpg_entry() {
  return {
      .about = {.name = "asy-lpg",
                .summary = "asynchronous proximal SVRG with a quantised model and quantised gradients",
                .maths = asy_lpg_maths,
                .reference = asy_lpg_reference,
                .cost = "64 + (b_x + b) d payload bits per update; otherwise as asy-fpg",
                .parameters = family_parameters(quantisation_parameters())},
      .traits = svrg_traits,
      .make = make_quantised_svrg_worker,
      .masters = one_master,
      .make_master = make_quantised_master,
  };
}

algorithm_entry sparse_asy_lpg_entry() {
  return {
      .about = {.name = "sparse-asy-lpg",
                .summary = "asy-lpg whose gradients are made sparse before they are quantised",
                .maths = asy_lpg_maths,
                .reference = asy_lpg_reference,
                .cost = "64 + b_x d + k (b + ceil(log2 d)) payload bits per update for k elements that survive, phi "
                        "expected; otherwise as asy-fpg",
                .parameters = family_parameters(quantisation_parameters(
                    {{.key = "phi",
                      .kind = parameter::type::real,
                      .fallback = "0",
                      .meaning =
                          "expected number of a gradient's elements that survive; 0: |alpha|_1 / |alpha|_inf, with "
                          "which all survivors have one magnitude",
                      .min = 0,
                      .max = 1e12}}))},
      .traits = svrg_traits,
      .make = make_sparse_worker,
      .masters = one_master,
      .make_master = make_quantised_master,
  };
}

} // namespace gossamer::actors
