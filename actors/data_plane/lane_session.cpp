#include "gossamer/actors/data_plane/lane_session.hpp"

#include "gossamer/actors/data_plane/record.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gossamer::actors {

namespace {

constexpr std::array lane_magic{std::byte{'G'}, std::byte{'L'}, std::byte{'N'}, std::byte{1}}; // the last is a version

} // namespace

written_lane_hello write(const lane_hello& h) noexcept {
  written_lane_hello to{};
  std::ranges::copy(lane_magic, to.begin());
  to[4] = std::byte{h.goes_on};
  std::ranges::copy(h.id, to.begin() + 8);
  put_number(to.data() + 24, h.received);
  return to;
}

std::optional<lane_hello> read_lane_hello(std::span<const std::byte, lane_hello_bytes> bytes) noexcept {
  if (!std::ranges::equal(bytes.first(lane_magic.size()), lane_magic))
    return std::nullopt;
  std::span<const std::byte> received = bytes.subspan(24);
  lane_hello h{.received = take_number<std::uint64_t>(received), .goes_on = bytes[4] != std::byte{}};
  std::ranges::copy(bytes.subspan(8, h.id.size()), h.id.begin());
  return h;
}

// -- connections ------------------------------------------------------------------------------------------------------

void lane_session::begin() {
  GOSSAMER_ASSERT(!open_, "a lane has one connection at a time");
  head_ = write(lane_hello{id_, received_, was_open_});
  head_begin_ = 0;
  head_end_ = lane_hello_bytes;
  told_ = received_;
  door_told_ = 0;
}

bool lane_session::hear(const lane_hello& theirs) {
  if (theirs.id != id_ || theirs.received < before_ || theirs.received - before_ > kept())
    return false;
  sent_ = kept(); // of which the peer tells how much has come
  acknowledged(theirs.received);
  sent_ = 0;
  open_ = was_open_ = true;
  return true;
}

void lane_session::lost() {
  open_ = said_end_ = false;
  head_begin_ = head_end_ = record_left_ = 0;
  header_come_ = payload_left_ = 0;
}

// -- out --------------------------------------------------------------------------------------------------------------

void lane_session::push(std::span<const std::byte> bytes) { kept_.insert(kept_.end(), bytes.begin(), bytes.end()); }

std::array<std::span<const std::byte>, 2> lane_session::gather() {
  if (open_ && head_left() == 0 && record_left_ == 0) {
    const auto next = std::min(kept() - sent_, longest_record);
    if (door_ != std::exchange(door_told_, door_))
      write_header(door_of_end, door_);
    else if (next > 0 || received_ - told_ >= acknowledge_after || sign_due_)
      begin_record(static_cast<std::uint32_t>(next));
    else if (finishing_ && !std::exchange(said_end_, true))
      begin_record(end_of_lane);
  }
  return {std::span{head_}.subspan(head_begin_, head_left()), std::span{kept_}.subspan(done_ + sent_, record_left_)};
}

void lane_session::write_header(std::uint32_t count, std::uint64_t number) {
  put_number(put_number(head_.data(), count), number);
  head_begin_ = 0;
  head_end_ = header_bytes;
}

void lane_session::begin_record(std::uint32_t count) {
  write_header(count, received_);
  record_left_ = count == end_of_lane ? 0 : count;
  told_ = received_;
  sign_due_ = false;
}

void lane_session::wrote(std::size_t bytes) {
  const auto of_head = std::min(bytes, head_left());
  head_begin_ += of_head;
  sent_ += bytes - of_head;
  record_left_ -= bytes - of_head;
}

/// @returns false if the peer names bytes that it cannot have
bool lane_session::acknowledged(std::uint64_t received) {
  if (received < before_ || received - before_ > sent_)
    return false;
  const auto done = static_cast<std::size_t>(received - before_);
  done_ += done;
  if (done_ >= kept_.size() / 2) { // then each byte moves once, on average
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(done_));
    done_ = 0;
  }
  if (kept_.empty() && kept_.capacity() > longest_record)
    kept_ = std::vector<std::byte>{}; // braces alone would keep the memory
  sent_ -= done;
  before_ = received;
  return true;
}

// -- in ---------------------------------------------------------------------------------------------------------------

std::size_t lane_session::take(std::span<const std::byte>& come, std::span<std::byte> to) {
  std::size_t taken = 0;
  while (!come.empty() && !objection_ && !peer_finished_) {
    if (payload_left_ > 0) {
      const auto now = std::min({payload_left_, come.size(), to.size() - taken});
      if (now == 0)
        break; // the rest waits for room
      std::memcpy(to.data() + taken, come.data(), now);
      taken += now;
      payload_left_ -= now;
      received_ += now;
      come = come.subspan(now);
      continue;
    }
    const auto now = std::min(header_bytes - header_come_, come.size());
    std::memcpy(header_.data() + header_come_, come.data(), now);
    header_come_ += now;
    come = come.subspan(now);
    if (header_come_ == header_bytes)
      read_header();
  }
  return taken;
}

void lane_session::read_header() {
  header_come_ = 0;
  std::span<const std::byte> header{header_};
  const auto count = take_number<std::uint32_t>(header);
  const auto number = take_number<std::uint64_t>(header);
  if (count == door_of_end && std::in_range<std::uint16_t>(number))
    peer_door_ = static_cast<std::uint16_t>(number);
  else if (!acknowledged(number))
    objection_ = "acknowledges bytes that it has not been sent";
  else if (count == end_of_lane)
    peer_finished_ = true;
  else if (count > longest_record)
    objection_ = "sends a record that is too long";
  else
    payload_left_ = count;
}

} // namespace gossamer::actors
