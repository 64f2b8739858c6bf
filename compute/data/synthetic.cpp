#include "gossamer/compute/data/detail/synthetic.hpp"

#include <fmt/format.h>

namespace gossamer::compute::detail {

parameter samples_parameter(std::string fallback) {
  return {.key = "samples",
          .kind = parameter::type::integer,
          .fallback = std::move(fallback),
          .meaning = "training samples",
          .min = 1,
          .max = 1e8};
}

parameter test_samples_parameter(std::string fallback) {
  return {.key = "test",
          .kind = parameter::type::integer,
          .fallback = std::move(fallback),
          .meaning = "test samples",
          .min = 1,
          .max = 1e8};
}

void check_size(std::size_t samples, std::size_t values_per_sample) {
  constexpr auto most = std::size_t{1} << 32;
  if (samples > most / values_per_sample)
    throw error(errc::usage, fmt::format("{} samples of {} values each are too many", samples, values_per_sample),
                fmt::format("allowed: {} values in all", most));
}

} // namespace gossamer::compute::detail
