#pragma once

#include "gossamer/compress/coder.hpp"
#include "gossamer/compress/cuda/detail/decode.hpp"

#include <mutex>
#include <optional>

namespace gossamer::compress::cuda {

using gossamer::cuda::queue_vec;

/// The elements of a vector that is still a packet: added where the sum is, without being written down anywhere else.
template <class Queue>
class packed_elements final : public remote_elements {
public:
  packed_elements(packet p, packet_contents contents) : packet_(std::move(p)), contents_(std::move(contents)) {}

  std::size_t size() const noexcept override { return packet_.elements; }
  buffer_pool pool() const override { return packet_.payload.pool(); }

  const buffer& on_host() const override {
    const std::lock_guard lock{mutex_};
    if (!decoded_)
      decoded_ = compress::decode(packet_);
    return decoded_->storage();
  }

  bool add_to(device_vec& y, float a) const override {
    auto* const here = dynamic_cast<queue_vec<Queue>*>(&y);
    if (here == nullptr)
      return false;
    decoder<Queue>{here->queue(), packet_, a, here->mutate()}.run(contents_);
    return true;
  }

private:
  packet packet_;
  packet_contents contents_; ///< of the packet
  mutable std::mutex mutex_;
  mutable std::optional<vec> decoded_;
};

/// A coder of vectors in the memory of such queues, and of all others.
template <class Queue>
class coder_on final : public coder {
public:
  packet encode(const codec& c, const vec& v, const random_stream& random, std::uint64_t step) const override {
    if (const auto here = queue_vec<Queue>::of(v))
      if (const auto form = find_device_form(c))
        return cuda::encode(here->queue(), c, *form, here->elements(), random, step);
    return c.encode(v, random, step);
  }

  vec decode(const packet& p) const override {
    auto contents = contents_of(p);
    return contents ? vec{std::make_shared<packed_elements<Queue>>(p, *std::move(contents))} : compress::decode(p);
  }
};

} // namespace gossamer::compress::cuda
