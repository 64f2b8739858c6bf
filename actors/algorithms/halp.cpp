// HALP: SVRG in low precision whose grid shrinks and moves with every snapshot (bit centring), asynchronous.
//
//   epoch s  delta_s = |gf|_2 / (mu (2^(b-1) - 1)),   z = 0,   x = xt + z
//   worker   alpha = mean over a of  grad f_a(x_D(t)) - grad f_a(xt)            exact
//   master   z <- Q(prox_{gamma h}(xt + z - gamma (alpha + gf)) - xt)           to multiples of delta_s, clamped
//   after m  xt <- xt + z
//
// De Sa, Leszczynski, Zhang, Marzoev, Aberger, Olukotun, Re: High-accuracy low-precision training, 2018. z lies on the
// grid, so b bits an element tell it exactly. mu stands for the strong convexity: xt is at most |gf| / mu away from the
// minimum, and the grid reaches that far. Too large a mu clamps z and slows down; too small a mu makes the grid coarse.
//
// The original is serial. As in Yu, Wu, Huang: Double quantization for communication-efficient distributed
// optimization, NeurIPS 2019, it runs here in the family's protocol (variance_reduction.hpp), which also handles
// losses. The proximal step is an addition.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/algorithms/variance_reduction.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace gossamer::actors {

namespace {

class halp_master final : public svrg_master {
public:
  explicit halp_master(const algorithm_setup& s)
      : svrg_master(s), unrounded_(zeros_like(s.initial)), mu_(s.given.real("mu")),
        bits_(static_cast<int>(s.given.integer("model-bits"))) {}

private:
  void further_fields(archive& a) override {
    a(unrounded_)(rounding_);
    grid_ = nullptr; // drops the grid of the former state
  }
  void begin(worker&) override {
    unrounded_ *= 0;
    grid_ = nullptr;
  }
  told_model tell(worker& w) override { return {svrg_kind::offset, rounded(w)}; }
  /// Works on z, since x as a float loses values that are small beside it.
  void step(worker& w, const vec& u) override {
    vec z = w.decode(rounded(w)) - w.direction(x_, u, updates());
    const vec moved = snapshot() + z;
    vec nearest = moved;
    w.prox(nearest, updates());
    z += nearest - moved;
    unrounded_ = std::move(z);
    rounding_ = updates();
    x_ = snapshot() + w.decode(rounded(w));
  }

  /// z as a packet, the same each time: rounding z again would move it now and then.
  packet rounded(worker& w) {
    if (!grid_)
      grid_ = compress::make_codec(fmt::format("fixed-grid:step={:.9g},bits={}", distance(), bits_));
    return w.encode(*grid_, unrounded_, w.random(purpose::quantise), rounding_);
  }

  /// Distance of two levels. At the minimum any positive float will do.
  /// @error errc::diverged where levels are no floats
  double distance() const {
    using floats = std::numeric_limits<float>;
    const double half = std::ldexp(1.0, bits_ - 1); // of the levels
    const double length = std::sqrt(sum_of_squares(full_gradient().view()));
    const double delta = length / (mu_ * (half - 1));
    if (!(delta * half <= static_cast<double>(floats::max())))
      throw error(errc::diverged,
                  fmt::format("training diverged at epoch {} of halp: its full gradient is {:.3g} long, and the grid "
                              "would reach beyond the floats",
                              epoch(), length),
                  "lower --lr, or give halp a larger mu");
    return std::max(delta, 2 * static_cast<double>(floats::min()));
  }

  vec unrounded_;              // z before rounding
  std::uint64_t rounding_ = 0; // step of the random numbers that round z
  double mu_;
  int bits_;
  std::unique_ptr<compress::codec> grid_; // of this epoch
};

} // namespace

algorithm_entry halp_entry() {
  return {
      .about = {.name = "halp",
                .summary = "asynchronous SVRG on a low-precision grid around the snapshot (bit centring)",
                .maths = "per epoch gf = grad f(xt), delta = |gf|_2 / (mu (2^(b-1) - 1)), z = 0\n"
                         "alpha = mean_a [grad f_a(xt + z) - grad f_a(xt)]\n"
                         "z <- Q_{delta,b}(prox_{gamma h}(xt + z - gamma (alpha + gf)) - xt), clamped",
                .reference = "De Sa, Leszczynski, Zhang, Marzoev, Aberger, Olukotun, Re: High-accuracy low-precision "
                             "training, 2018",
                .cost = "32 + b d + 32 d payload bits per update; otherwise as asy-fpg",
                .parameters = family_parameters(
                    {{.key = "model-bits",
                      .kind = parameter::type::integer,
                      .fallback = "8",
                      .meaning = "b, bits of an element of z",
                      .min = 2,
                      .max = 16},
                     {.key = "mu",
                      .kind = parameter::type::real,
                      .fallback = "0.05",
                      .meaning = "estimate of the strong convexity; smaller: the grid reaches further, and is "
                                 "coarser",
                      .min = 1e-9,
                      .max = 1e9}})},
      .traits = svrg_traits,
      .make = make_exact_svrg_worker,
      .masters = one_master,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<halp_master>(s);
      },
  };
}

} // namespace gossamer::actors
