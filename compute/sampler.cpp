#include "gossamer/compute/sampler.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::compute {

sampler::sampler(std::vector<std::uint32_t> shard, std::size_t batch_size, const random_stream& stream)
    : shard_(std::move(shard)), order_(shard_.size()), batch_(batch_size), stream_(stream) {
  if (shard_.empty() || batch_size == 0)
    throw error(errc::usage, fmt::format("batches of {} from a shard of {} samples", batch_size, shard_.size()),
                "both must be at least 1");
}

void sampler::shuffle_for(std::uint64_t epoch) {
  if (epoch_ == epoch)
    return;
  std::ranges::copy(shard_, order_.begin());
  random_sequence{stream_, epoch}.shuffle(std::span{order_});
  epoch_ = epoch;
}

std::span<const std::uint32_t> sampler::batch_of(std::uint64_t step) {
  const auto position = step * batch_.size();
  auto epoch = position / shard_.size();
  auto offset = position % shard_.size();
  for (auto rest = std::span{batch_}; !rest.empty(); ++epoch, offset = 0) {
    shuffle_for(epoch);
    const auto count = std::min(rest.size(), order_.size() - offset);
    std::ranges::copy(std::span{order_}.subspan(offset, count), rest.begin());
    rest = rest.subspan(count);
  }
  return batch_;
}

} // namespace gossamer::compute
