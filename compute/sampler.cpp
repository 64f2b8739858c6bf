#include "gossamer/compute/sampler.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::compute {

sampler::sampler(std::vector<std::uint32_t> shard, std::size_t batch_size, const random_stream& stream,
                 std::size_t block)
    : shard_(std::move(shard)), order_(shard_.size()), batch_(batch_size), block_(block), stream_(stream) {
  if (shard_.empty() || batch_size == 0)
    throw error(errc::usage, fmt::format("batches of {} from a shard of {} samples", batch_size, shard_.size()),
                "both must be at least 1");
  if (block_ == 0)
    return;
  std::ranges::sort(shard_);
  blocks_.resize((shard_.size() - 1) / block_ + 1);
}

void sampler::shuffle_for(std::uint64_t epoch) {
  if (epoch_ == epoch)
    return;
  random_sequence random{stream_, epoch};
  if (block_ == 0) {
    std::ranges::copy(shard_, order_.begin());
    random.shuffle(std::span{order_});
  } else {
    shuffle_blocks(random);
  }
  epoch_ = epoch;
}

void sampler::shuffle_blocks(random_sequence& random) {
  std::iota(blocks_.begin(), blocks_.end(), 0u);
  random.shuffle(std::span{blocks_});
  const std::span shard{shard_};
  auto together = order_.begin(), end = together;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto begin = blocks_[i] * block_;
    end = std::ranges::copy(shard.subspan(begin, std::min(block_, shard.size() - begin)), end).out;
    if ((i + 1) % blocks_together == 0 || i + 1 == blocks_.size()) {
      random.shuffle(std::span{together, end});
      together = end;
    }
  }
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
