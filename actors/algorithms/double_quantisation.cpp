#include "gossamer/actors/algorithms/double_quantisation.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compress/uniform.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace gossamer::actors {

namespace {

constexpr int least_bits = 2, exact_bits = 32;

std::unique_ptr<compress::codec> codec_of(int bits) {
  return compress::make_codec(bits == exact_bits ? "identity" : fmt::format("uniform:bits={}", bits));
}

/// The bits of a parameter; 0 only if `may_be_chosen`.
int bits_of(const arguments& given, std::string_view key, bool may_be_chosen) {
  const auto bits = static_cast<int>(given.integer(key));
  if ((bits < least_bits || bits > compress::uniform_most_bits) && bits != exact_bits && !(bits == 0 && may_be_chosen))
    throw error(
        errc::usage,
        fmt::format("{} of algorithm '{}' is {}, and there are no such codes", key, given.resolved().name, bits),
        fmt::format("allowed: {}{} to {}, and {} for exact floats", may_be_chosen ? "0, " : "", least_bits,
                    compress::uniform_most_bits, exact_bits));
  return bits;
}

/// One bit, made without a codec.
packet one_bit(buffer_pool pool) {
  packet p;
  p.payload = pool.allocate(1);
  *p.payload.data() = std::byte{1};
  p.bits = 1;
  return p;
}

/// Logs the mu for which condition (2) holds; infinite at the snapshot.
void log_mu(const vec& v, int bits, double moved) {
  if (spdlog::should_log(spdlog::level::debug))
    spdlog::debug(fmt::format("a model in {} bits an element meets condition (2) with mu = {:.4g}", bits,
                              compress::uniform_expected_error(v.view(), bits) / moved));
}

} // namespace

model_teller::model_teller(options o) : options_(o) {
  for (int bits = least_bits; bits <= compress::uniform_most_bits; ++bits)
    if (o.bits == bits || o.bits == 0)
      codecs_[bits] = codec_of(bits);
  codecs_[exact_bits] = codec_of(exact_bits);
}

told_model model_teller::operator()(worker& w, const vec& x, const vec& snapshot, double share) const {
  if (options_.bits == exact_bits)
    return {svrg_kind::model, w.encode(codec(exact_bits), x)};
  if (options_.bits == 0 && x == snapshot)
    return {svrg_kind::same_as_snapshot, one_bit(x.pool())};
  return quantised(w, x, snapshot, share * options_.mu * squared_distance(x.view(), snapshot.view()));
}

told_model model_teller::quantised(worker& w, const vec& x, const vec& snapshot, double allowed) const {
  const vec v = options_.centred ? x - snapshot : x;
  const auto kind = options_.centred ? svrg_kind::offset : svrg_kind::model;
  if (options_.bits != 0) {
    log_mu(v, options_.bits, squared_distance(x.view(), snapshot.view()));
    return {kind, w.encode(codec(options_.bits), v)};
  }
  for (int bits = least_bits; bits <= compress::uniform_most_bits; ++bits)
    if (compress::uniform_expected_error(v.view(), bits) <= allowed)
      return {kind, w.encode(codec(bits), v)};
  return {svrg_kind::model, w.encode(codec(exact_bits), x)};
}

model_teller::options model_teller_of(const arguments& given) {
  return {.bits = bits_of(given, "model-bits", true), .mu = given.real("mu"), .centred = given.is("centred", "true")};
}

std::unique_ptr<compress::codec> gradient_codec_of(const arguments& given) {
  return codec_of(bits_of(given, "gradient-bits", false));
}

std::unique_ptr<algorithm> make_quantised_svrg_worker(const algorithm_setup& s) {
  model_teller_of(s.given);
  return make_svrg_worker(s, gradient_codec_of(s.given));
}

parameter gradient_bits_parameter() {
  return {.key = "gradient-bits",
          .kind = parameter::type::integer,
          .fallback = "8",
          .meaning = "b, bits of an element of a gradient: 2 to 16, 32 for exact floats",
          .min = least_bits,
          .max = exact_bits};
}

std::vector<parameter> quantisation_parameters(std::vector<parameter> own) {
  own.insert(own.begin(), gradient_bits_parameter());
  own.push_back({.key = "model-bits",
                 .kind = parameter::type::integer,
                 .fallback = "8",
                 .meaning = "b_x, bits of an element of the model: 2 to 16, 32 for exact floats; 0: as few as "
                            "condition (2) allows",
                 .min = 0,
                 .max = exact_bits});
  own.push_back({.key = "mu",
                 .kind = parameter::type::real,
                 .fallback = "0.5",
                 .meaning = "in condition (2), for model-bits=0",
                 .min = 0,
                 .max = 1e9});
  own.push_back({.key = "centred",
                 .kind = parameter::type::choice,
                 .fallback = "false",
                 .meaning = "whether x - xt is quantised instead of x; not in the paper",
                 .choices = {"false", "true"}});
  return own;
}

} // namespace gossamer::actors
