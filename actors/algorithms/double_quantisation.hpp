#pragma once

#include "gossamer/actors/algorithms/variance_reduction.hpp"

namespace gossamer::actors {

/// Encodes the model x of a master of the SVRG family for its workers.
///
///   model-bits=32     x itself
///   model-bits=b      uniform:bits=b of x, whatever the error; centred: of x - xt, whose error vanishes with it.
///                     The mu with which (2) holds is logged (SPDLOG_LEVEL=debug)
///   model-bits=0      uniform:bits=b_x of x with the least b_x in 2 .. 16 for which condition (2) holds,
///                         E |Q(x) - x|^2 <= mu |x - xt|^2,
///                     and x itself if none does; if x = xt, one bit that says so
///
/// The left side is known exactly: delta^2 sum r_i (1 - r_i), r_i = frac(x_i / delta). With fixed bits the scale of x
/// keeps the error from vanishing, and the objective stalls at a floor. Under (2) it converges linearly, and so it does
/// with `centred`, where (2) holds with mu = d / (4 (2^(b-1) - 1)^2). `centred` is not in the paper.
class model_teller {
public:
  struct options {
    int bits = 32;
    double mu = 0;
    bool centred = false;
  };
  explicit model_teller(options o);
  /// @param share of mu, in condition (2)
  /// Cost: O(d); with model-bits=0, up to fifteen times as much.
  told_model operator()(worker& w, const vec& x, const vec& snapshot, double share = 1) const;

private:
  told_model quantised(worker& w, const vec& x, const vec& snapshot, double allowed) const;
  const compress::codec& codec(int bits) const { return *codecs_.at(bits); }

  options options_;
  std::map<int, std::unique_ptr<compress::codec>> codecs_; // by number of bits
};

/// The options in these parameters. @error errc::usage on a number of bits without a code
model_teller::options model_teller_of(const arguments& given);
/// uniform:bits=b, exact for b = 32. @error errc::usage on a number of bits without a code
std::unique_ptr<compress::codec> gradient_codec_of(const arguments& given);
/// A worker that sends its gradients in this codec. Checks the model's options as well, before the run; the master uses
/// them.
std::unique_ptr<algorithm> make_quantised_svrg_worker(const algorithm_setup& s);

parameter gradient_bits_parameter();
/// gradient-bits, an algorithm's own parameters, and model-bits, mu and centred.
std::vector<parameter> quantisation_parameters(std::vector<parameter> own = {});

} // namespace gossamer::actors
