#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace gossamer::actors::detail {

/// Counters that the two ends of a ring share, in memory that two processes see; zeros at first.
struct ring_state {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint32_t> reader_waits;
  std::atomic<std::uint32_t> writer_waits;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// One direction of bytes between two processes, through memory that both see. Each end has a `byte_ring` of its own
/// and uses one half of it. The far end is not trusted: it can spoil the bytes, which are checked where they are read
/// as messages, but it cannot make this end leave its memory.
///
/// An end that finds no work says so, looks again, and waits to be woken. An end that has done work wakes a waiting far
/// end. The owner provides the wake-up calls. Threads: one.
class byte_ring {
public:
  byte_ring(ring_state& shared, std::span<std::byte> bytes) noexcept : shared_(&shared), bytes_(bytes) {}

  // -- for the end that writes ----------------------------------------------------------------------------------------

  /// Writes as many bytes as there is room for. @returns `nullopt` if the far end's counts are impossible
  std::optional<std::size_t> write(std::span<const std::byte> from) noexcept {
    const auto room = room_left();
    if (!room)
      return std::nullopt;
    const auto now = std::min(from.size(), *room);
    const auto [first, second] = at(position_, now);
    std::ranges::copy(from.first(first.size()), first.begin());
    std::ranges::copy(from.subspan(first.size(), second.size()), second.begin());
    position_ += now;
    shared_->written.store(position_); // seq_cst, as for all values that decide about waiting
    return now;
  }
  /// Call it after writing. True once for each wait of the reader, if bytes were written since the last call.
  bool must_wake_reader() noexcept {
    return has_moved_since_asked() && shared_->reader_waits.load() != 0 && shared_->reader_waits.exchange(0) != 0;
  }
  /// @returns false if there is room after all
  bool wait_for_room() noexcept {
    shared_->writer_waits.store(1);
    return room_left().value_or(1) == 0;
  }

  // -- for the end that reads -----------------------------------------------------------------------------------------

  /// Reads as many bytes as there are. @returns `nullopt` if the far end's counts are impossible
  std::optional<std::size_t> read(std::span<std::byte> to) noexcept {
    const auto there = unread();
    if (!there)
      return std::nullopt;
    const auto now = std::min(to.size(), *there);
    const auto [first, second] = at(position_, now);
    std::ranges::copy(second, std::ranges::copy(first, to.begin()).out);
    position_ += now;
    shared_->read.store(position_);
    return now;
  }
  /// Call it after reading. True once for each wait of the writer, but not before half of the ring is free.
  bool must_wake_writer() noexcept {
    return has_moved_since_asked() && shared_->writer_waits.load() != 0 && unread().value_or(0) <= bytes_.size() / 2
           && shared_->writer_waits.exchange(0) != 0;
  }
  /// True also if the far end's counts are impossible, which `read` says.
  bool has_bytes() const noexcept { return unread().value_or(1) != 0; }
  /// @returns false if there is something to read after all
  bool wait_for_bytes() noexcept {
    shared_->reader_waits.store(1);
    return !has_bytes();
  }

private:
  /// Prevents two idle ends that both wait from waking each other for ever.
  bool has_moved_since_asked() noexcept { return std::exchange(asked_at_, position_) != position_; }
  std::optional<std::size_t> room_left() const noexcept {
    const auto full = position_ - shared_->read.load();
    return full > bytes_.size() ? std::nullopt : std::optional{bytes_.size() - full};
  }
  std::optional<std::size_t> unread() const noexcept {
    const auto there = shared_->written.load() - position_;
    return there > bytes_.size() ? std::nullopt : std::optional{there};
  }
  std::pair<std::span<std::byte>, std::span<std::byte>> at(std::uint64_t position, std::size_t size) const noexcept {
    const auto begin = position % bytes_.size();
    const auto first = std::min(size, bytes_.size() - begin);
    return {bytes_.subspan(begin, first), bytes_.first(size - first)};
  }

  ring_state* shared_;
  std::span<std::byte> bytes_;
  std::uint64_t position_ = 0; ///< bytes that this end has written, or read
  std::uint64_t asked_at_ = 0; ///< position at the last question whether to wake the far end
};

} // namespace gossamer::actors::detail
