#include "gossamer/actors/data_plane/intake.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr std::size_t stage_bytes = 8 << 10;  // some heads: a larger part of a payload would have to be moved again
constexpr std::uint64_t short_rest = 4 << 10; // of a chunk: copying it together with the bytes behind it pays

constexpr std::uint64_t most_unacknowledged_chunks = 64, most_unacknowledged_bytes = 1 << 20;

error broken_rule(std::string sentence) {
  return {errc::bad_packet, std::move(sentence), "both ends must run the same version of the program"};
}

} // namespace

intake::intake(const limits& most, buffer_pool pool, owner whose)
    : most_(most), pool_(std::move(pool)), owner_(std::move(whose)), stage_(stage_bytes) {}

std::span<std::byte> intake::room() {
  if (target_ != halves_.end() && begin_ == end_ && chunk_bytes_ - chunk_filled_ > short_rest)
    return missing_of_chunk();
  std::ranges::copy(staged(), stage_.begin());
  end_ -= std::exchange(begin_, 0);
  return std::span{stage_}.subspan(end_);
}

void intake::commit(std::size_t bytes) {
  if (target_ != halves_.end() && begin_ == end_ && chunk_bytes_ - chunk_filled_ > short_rest) {
    chunk_filled_ += bytes;
    if (chunk_filled_ == chunk_bytes_)
      end_chunk();
    return;
  }
  end_ += bytes;
  while (!refused_ && step()) {
  }
}

/// @returns whether more can be done with the bytes in the stage
bool intake::step() {
  if (target_ == halves_.end())
    return begin_record();
  const auto missing = missing_of_chunk();
  const auto now = std::min<std::uint64_t>(end_ - begin_, missing.size());
  std::ranges::copy(staged().first(now), missing.begin());
  begin_ += now;
  chunk_filled_ += now;
  if (chunk_filled_ < chunk_bytes_)
    return false;
  end_chunk();
  return true;
}

std::span<std::byte> intake::missing_of_chunk() {
  auto& half = target_->second;
  return half.frame.content.body.payload.bytes().subspan(half.filled + chunk_filled_ - half.head_bytes,
                                                         chunk_bytes_ - chunk_filled_);
}

bool intake::begin_record() {
  auto bytes = staged();
  if (bytes.size() < record_head_bytes)
    return false;
  const std::uint64_t body = take_number<std::uint32_t>(bytes);
  const auto kind = static_cast<record_kind>(take_number<std::uint8_t>(bytes));
  switch (kind) {
  case record_kind::chunk:
    return begin_chunk(body);
  case record_kind::acknowledgement:
  case record_kind::refusal:
    return read_control(kind, body);
  }
  throw broken_rule(fmt::format("a record is of the unknown kind {}", static_cast<unsigned>(kind)));
}

bool intake::read_control(record_kind kind, std::uint64_t body) {
  const bool is_refusal = kind == record_kind::refusal;
  if (is_refusal ? body > 1 + longest_refusal : body != sizeof(std::uint64_t))
    throw broken_rule(fmt::format("{} has {} bytes", is_refusal ? "a refusal" : "an acknowledgement", body));
  if (staged().size() < record_head_bytes + body)
    return false;
  auto bytes = staged().subspan(record_head_bytes, body);
  begin_ += record_head_bytes + body;
  if (!is_refusal)
    owner_.acknowledged(take_number<std::uint64_t>(bytes));
  else if (!(refused_ = read_refusal(bytes)))
    throw broken_rule("a refusal gives no reason");
  return true;
}

bool intake::begin_chunk(std::uint64_t body) {
  if (body <= chunk_head_bytes || body > chunk_head_bytes + largest_chunk)
    throw broken_rule(fmt::format("a chunk is {} bytes long, {} to {} are allowed", body, chunk_head_bytes + 1,
                                  chunk_head_bytes + largest_chunk));
  const auto head = record_head_bytes + chunk_head_bytes;
  if (staged().size() < head)
    return false;
  const auto c = read_chunk_head(staged().subspan(record_head_bytes));
  const auto size = body - chunk_head_bytes;
  check(c, size);
  const auto there = staged().subspan(head, std::min<std::uint64_t>(staged().size() - head, size));
  auto target = halves_.find({c.source, c.to});
  std::uint64_t head_of_frame = 0;
  if (target == halves_.end()) {
    if (there.size() < std::min<std::uint64_t>(size, longest_frame_head))
      return false;
    auto rest = there;
    auto begun = read_frame_head(pool_, rest, c.left, most_.most_elements);
    if (const auto source = begun.content.source; source != c.source)
      throw broken_rule(fmt::format("a frame of rank {} says that it comes from rank {}", c.source, source));
    head_of_frame = there.size() - rest.size();
    target = halves_.emplace(std::pair{c.source, c.to}, half_frame{std::move(begun), head_of_frame}).first;
  }
  begin_ += head + head_of_frame;
  target_ = target;
  chunk_bytes_ = size;
  chunk_filled_ = head_of_frame;
  return true;
}

void intake::check(const chunk_head& c, std::uint64_t size) const {
  if (!owner_.may_send(c.source))
    throw broken_rule(fmt::format("a frame comes from rank {}, which is not there", c.source));
  if (size > c.left)
    throw broken_rule(fmt::format("a chunk has {} bytes of a frame that misses {}", size, c.left));
  if (c.left > most_.most_frame_bytes)
    throw broken_rule(fmt::format("a frame has {} bytes, at most {} are allowed", c.left, most_.most_frame_bytes));
  const auto half = halves_.find({c.source, c.to});
  if (half == halves_.end()) {
    if (size < c.left && halves_.size() >= most_.most_half_frames)
      throw broken_rule(fmt::format("more than {} frames have begun and not ended", most_.most_half_frames));
    return;
  }
  const auto missing = half->second.bytes() - half->second.filled;
  if (c.left != missing)
    throw broken_rule(fmt::format("a frame misses {} bytes, and goes on with {}", missing, c.left));
}

void intake::end_chunk() {
  auto& half = target_->second;
  const auto bytes = std::exchange(chunk_bytes_, 0);
  half.filled += bytes;
  const auto done = std::exchange(target_, halves_.end());
  if (half.filled == half.bytes()) {
    const auto to = done->first.second;
    auto whole = complete(std::move(half.frame));
    halves_.erase(done);
    owner_.deliver(to, std::move(whole));
  }
  arrived(bytes);
}

void intake::arrived(std::uint64_t bytes) {
  ++received_;
  bytes_since_told_ += bytes;
}

void intake::lost() {
  if (target_ != halves_.end() && target_->second.filled == 0)
    halves_.erase(target_);
  target_ = halves_.end();
  begin_ = end_ = 0;
  chunk_bytes_ = chunk_filled_ = 0;
  told_ = received_; // the next hello tells the peer
  bytes_since_told_ = 0;
  refused_.reset();
}

bool intake::must_acknowledge() const noexcept {
  return received_ - told_ >= most_unacknowledged_chunks
         || (owes_acknowledgement() && bytes_since_told_ >= most_unacknowledged_bytes);
}

void intake::acknowledge() noexcept {
  told_ = received_;
  bytes_since_told_ = 0;
}

} // namespace gossamer::actors
