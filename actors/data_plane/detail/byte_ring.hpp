#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace gossamer::actors::detail {

/// What the two ends of a ring tell each other. In memory that two processes see; zeros to begin with.
struct ring_state {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint32_t> reader_waits;
  std::atomic<std::uint32_t> writer_waits;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// One direction of bytes between two processes, through memory that both see. Each end has a `byte_ring` of its own
/// and uses one half of it. The other end is not trusted: it can spoil the bytes, which are checked where they are
/// understood, but not make this end leave its memory.
///
/// Who finds nothing to do says so, looks again, and waits to be woken; who has done something wakes the other, if it
/// waits. How is the owner's affair. Threads: one.
class byte_ring {
public:
  byte_ring(ring_state& shared, std::span<std::byte> bytes) noexcept : shared_(&shared), bytes_(bytes) {}

  // -- for the one that writes ----------------------------------------------------------------------------------------

  /// As many of them as there is room for. @returns nothing when the other end counts what cannot be
  std::optional<std::size_t> write(std::span<const std::byte> from) noexcept {
    const auto room = room_left();
    if (!room)
      return std::nullopt;
    const auto now = std::min(from.size(), *room);
    const auto [first, second] = at(position_, now);
    std::ranges::copy(from.first(first.size()), first.begin());
    std::ranges::copy(from.subspan(first.size(), second.size()), second.begin());
    position_ += now;
    shared_->written.store(position_); // seq_cst, as all that decides about waiting
    return now;
  }
  /// To be asked after writing; true once for each time that it waits, if something was written since the last answer.
  bool must_wake_reader() noexcept {
    return has_moved_since_asked() && shared_->reader_waits.load() != 0 && shared_->reader_waits.exchange(0) != 0;
  }
  /// @returns false when there is room after all
  bool wait_for_room() noexcept {
    shared_->writer_waits.store(1);
    return room_left().value_or(1) == 0;
  }

  // -- for the one that reads -----------------------------------------------------------------------------------------

  /// As many as there are. @returns nothing when the other end counts what cannot be
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
  /// The same after reading, and not before half of the ring is free.
  bool must_wake_writer() noexcept {
    return has_moved_since_asked() && shared_->writer_waits.load() != 0 && unread().value_or(0) <= bytes_.size() / 2
           && shared_->writer_waits.exchange(0) != 0;
  }
  /// @returns false when there is something to read after all
  bool wait_for_bytes() noexcept {
    shared_->reader_waits.store(1);
    return unread().value_or(1) == 0;
  }

private:
  /// Two ends that have nothing to say, and both wait, must not wake each other for ever.
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
  std::uint64_t position_ = 0; ///< how many this end has written, or read
  std::uint64_t asked_at_ = 0; ///< the position when it was last asked whether to wake the other
};

} // namespace gossamer::actors::detail
