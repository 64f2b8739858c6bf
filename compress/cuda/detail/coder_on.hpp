#pragma once

#include "gossamer/compress/coder.hpp"
#include "gossamer/compress/cuda/detail/decode.hpp"

#include <limits>
#include <mutex>
#include <optional>

namespace gossamer::compress::cuda {

using gossamer::cuda::queue_vec;

/// Elements of a vector that is still a packet. A sum decodes them as it adds them, without a copy; the queue does
/// other arithmetic with them.
template <class Queue>
class packed_elements final : public remote_elements {
public:
  packed_elements(std::shared_ptr<Queue> queue, packet p, const registry<codec_entry>& known)
      : queue_(std::move(queue)), packet_(std::move(p)), known_(known),
        contents_(detail::contents_of(packet_, known_)) {
    if (!contents_)
      decoded_ = compress::decode(packet_, known_);
  }

  std::size_t size() const noexcept override { return packet_.elements; }
  buffer_pool pool() const override { return packet_.payload.pool(); }

  const buffer& on_host() const override {
    const std::lock_guard lock{mutex_};
    if (!decoded_)
      decoded_ = compress::decode(packet_, known_);
    return decoded_->storage();
  }

  bool add_to(device_vec& y, float a) const override {
    auto* const here = dynamic_cast<queue_vec<Queue>*>(&y);
    if (here == nullptr || !contents_)
      return false;
    decoder<Queue>{here->queue(), packet_, a, here->mutate()}.run(*contents_);
    return true;
  }

  std::shared_ptr<device_vec> times(float a) const override {
    if (!contents_)
      return queue_vec<Queue>::product(queue_, a, *decoded_);
    auto result = queue_vec<Queue>::zeros_in(queue_, size());
    add_to(*result, a);
    return result;
  }

private:
  std::shared_ptr<Queue> queue_;
  packet packet_;
  registry<codec_entry> known_;
  std::shared_ptr<const detail::packet_contents> contents_; ///< null where only the processor decodes
  mutable std::mutex mutex_;
  mutable std::optional<vec> decoded_;
};

/// A coder of vectors in the memory of such queues, and of all other vectors.
template <class Queue>
class coder_on final : public coder {
public:
  /// @param queue holds the vectors that this coder places, and does arithmetic with decoded ones if no other operand
  ///        is on a device
  explicit coder_on(std::shared_ptr<Queue> queue, const registry<codec_entry>& known = codecs())
      : coder(known), queue_(std::move(queue)) {}

  packet encode(const codec& c, const vec& v, const random_stream& random, std::uint64_t step) const override {
    if (const auto here = queue_vec<Queue>::of(v))
      if (const auto form = c.form())
        return cuda::encode(here->queue(), c, *form, here->elements(), random, step);
    return c.encode(v, random, step);
  }

  vec decode(const packet& p) const override {
    return vec{std::make_shared<packed_elements<Queue>>(queue_, p, known())};
  }

  vec mean(std::span<const packet> packets) const override { return mean_of_decoded(packets); }

  double sum_of_squares(const vec& v) const override {
    const auto here = queue_vec<Queue>::of(v);
    if (!here || v.empty())
      return coder::sum_of_squares(v);
    auto& queue = here->queue();
    const auto elements = here->elements();
    const auto sum =
        gossamer::cuda::sum_rows<gossamer::cuda::squares>(queue, elements.data(), elements.size(), elements.size());
    double result = 0;
    queue.download(std::span{&result, 1}, static_cast<const double*>(sum.data()));
    queue.wait();
    return result;
  }

  vec place(const vec& v) const override { return vec{queue_vec<Queue>::in(queue_, v)}; }

  vec extract(const selection& kept, vec& v) const override {
    const auto queue = queue_vec<Queue>::queue_of(v);
    if (!queue)
      return coder::extract(kept, v);
    const auto size = kept.size();
    vec result{queue->host_pool().allocate(size * sizeof(float))};
    if (size == 0)
      return result;
    const auto rest = queue_vec<Queue>::owned(queue, v);
    const auto values = queue->template array<float>(size);
    kept_elements<Queue> elements{*queue, kept};
    elements.gather(rest.data(), std::numeric_limits<float>::infinity(), values.data(), nullptr);
    elements.add(values.data(), -1, rest.data());
    queue->download(result.overwrite(), static_cast<const float*>(values.data()));
    queue->wait();
    return result;
  }

  void scatter_add(vec& y, float a, const vec& values, std::size_t first, const selection& kept) const override {
    const auto queue = queue_vec<Queue>::queue_of(y);
    if (!queue)
      return coder::scatter_add(y, a, values, first, kept);
    const auto size = kept.size();
    if (size == 0)
      return;
    const auto there = queue->template array<float>(size);
    queue->upload(there.data(), values.view().subspan(first, size));
    queue->keep(values.storage());
    kept_elements<Queue>{*queue, kept}.add(there.data(), a, queue_vec<Queue>::owned(queue, y).data());
  }

private:
  std::shared_ptr<Queue> queue_;
};

} // namespace gossamer::compress::cuda
