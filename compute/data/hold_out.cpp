#include "gossamer/compute/data/detail/hold_out.hpp"

#include "gossamer/base/philox.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gossamer::compute::detail {

namespace {

dataset subset(const dataset& data, std::span<const std::uint32_t> indices) {
  dataset part{.samples = indices.size(),
               .features = data.features,
               .classes = data.classes,
               .dense = large_vector<float>(data.dense.get_allocator()),
               .values = large_vector<float>(data.values.get_allocator()),
               .class_names = data.class_names,
               .shape = data.shape,
               .shuffled_block = data.shuffled_block};
  if (data.sparse())
    part.row_start.push_back(0);
  else
    part.dense.reserve(indices.size() * data.features); // a vector that grows is copied
  for (const auto i : indices) {
    part.targets.push_back(data.targets[i]);
    if (data.sparse()) {
      const auto row = data.row(i);
      part.columns.insert(part.columns.end(), row.columns.begin(), row.columns.end());
      part.values.insert(part.values.end(), row.values.begin(), row.values.end());
      part.row_start.push_back(part.columns.size());
    } else {
      const auto end = part.dense.size();
      part.dense.resize(end + data.features);
      data.copy_row(i, std::span{part.dense}.subspan(end));
    }
  }
  return part;
}

} // namespace

data_split hold_out(const dataset& all, double share, std::uint64_t seed) {
  std::vector<std::uint32_t> order(all.samples);
  std::iota(order.begin(), order.end(), 0u);
  // Step 0 of this purpose deals the samples to the workers.
  random_sequence{random_stream{seed, 0, purpose::partition}, 1}.shuffle(std::span{order});
  const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(all.samples)));
  const auto held = std::span{order}.first(std::clamp<std::size_t>(wanted, 1, all.samples - 1));
  const auto kept = std::span{order}.subspan(held.size());
  std::ranges::sort(held);
  std::ranges::sort(kept);
  return {subset(all, kept), subset(all, held)};
}

parameter holdout_parameter() {
  return {.key = "holdout",
          .kind = parameter::type::real,
          .fallback = "0.2",
          .meaning = "share of the rows to test with when there is no file of test rows",
          .min = 0.001,
          .max = 0.999};
}

} // namespace gossamer::compute::detail
