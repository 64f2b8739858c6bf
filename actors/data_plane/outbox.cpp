#include "gossamer/actors/data_plane/outbox.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

// Two full chunks a system call: little, since a small frame can no longer overtake a chunk that has been cut.
constexpr std::uint64_t enough = 2 * largest_chunk;
constexpr std::size_t most_pieces = 256; // far below IOV_MAX

error wrong_count(std::string sentence) { return {errc::bad_packet, std::move(sentence), {}}; }

} // namespace

void outbox::push(std::shared_ptr<const outgoing_frame> f) {
  const auto [where, is_new] = lanes_.try_emplace({f->source, f->to});
  where->second.frames.push_back(std::move(f));
  if (is_new)
    turns_.push_back(where);
}

bool outbox::may_be_cut(const lane& l) const noexcept {
  return l.cut > 0 || half_frames_ < most_half_frames_ || l.frames.front()->size() <= largest_chunk;
}

/// Cuts one chunk from the next lane that may be cut. A lane with a frame under way always may.
bool outbox::cut() {
  const auto next = std::ranges::find_if(turns_, [&](auto l) { return may_be_cut(l->second); });
  if (next == turns_.end())
    return false;
  const auto where = *next;
  turns_.erase(next);
  auto& l = where->second;
  const auto& f = l.frames.front();
  const auto left = f->size() - l.cut;
  const auto size = std::min(left, largest_chunk);
  kept_.push_back({write_chunk_head({f->source, f->to, left}, size), f, l.cut, size});
  half_frames_ += l.cut == 0 && size < left;
  half_frames_ -= l.cut > 0 && size == left;
  l.cut += size;
  if (size == left) {
    l.frames.pop_front();
    l.cut = 0;
  }
  if (l.frames.empty())
    lanes_.erase(where);
  else
    turns_.push_back(where);
  return true;
}

void outbox::add(bytes_view bytes, std::uint64_t from) {
  if (from >= bytes.size())
    return;
  gathered_.push_back(bytes.subspan(from));
  gathered_bytes_ += gathered_.back().size();
}

void outbox::add(const chunk& c, std::uint64_t from) {
  add(c.head, from);
  const auto begin = c.begin + (std::max(from, c.head.size()) - c.head.size()), end = c.begin + c.size;
  const auto of_head = c.whole->head.size();
  if (begin < of_head)
    add(c.whole->head.bytes().first(std::min(end, of_head)), begin);
  if (end > of_head)
    add(c.whole->payload.bytes().first(end - of_head), std::max(begin, of_head) - of_head);
}

std::span<const outbox::bytes_view> outbox::gather() {
  gathered_.clear();
  gathered_bytes_ = 0;
  auto next = writing_;
  if (written_ > 0)
    add(kept_[next++], written_);
  add(control_, 0);
  while (open_ && gathered_bytes_ < enough && gathered_.size() + 3 <= most_pieces && (next < kept_.size() || cut()))
    add(kept_[next++], 0);
  return gathered_;
}

void outbox::wrote(std::size_t bytes) {
  const auto write_chunk = [&] {
    const auto total = kept_[writing_].record_bytes();
    const auto now = std::min<std::uint64_t>(bytes, total - written_);
    bytes -= now;
    written_ += now;
    if (written_ == total) {
      ++writing_;
      written_ = 0;
    }
  };
  if (written_ > 0)
    write_chunk();
  const auto of_control = std::min(bytes, control_.size());
  control_.erase(control_.begin(), control_.begin() + static_cast<std::ptrdiff_t>(of_control));
  bytes -= of_control;
  while (bytes > 0) {
    GOSSAMER_ASSERT(writing_ < kept_.size(), "no more is written than was gathered");
    write_chunk();
  }
}

void outbox::forget(std::uint64_t until) {
  for (; acknowledged_ < until; ++acknowledged_)
    kept_.pop_front();
}

void outbox::acknowledged(std::uint64_t chunks) {
  const auto sent = acknowledged_ + writing_;
  if (chunks > sent)
    throw wrong_count(fmt::format("{} chunks were acknowledged, of {} that were sent", chunks, sent));
  const auto before = acknowledged_;
  forget(chunks);
  writing_ -= acknowledged_ - before;
}

void outbox::lost() {
  open_ = false;
  writing_ = 0;
  written_ = 0;
  control_.clear();
}

void outbox::resume(std::uint64_t received) {
  if (received < acknowledged_)
    throw wrong_count(
        fmt::format("{} chunks are said to have arrived, after {} were acknowledged", received, acknowledged_));
  if (received > acknowledged_ + kept_.size())
    throw wrong_count(fmt::format("{} chunks are said to have arrived, of {}", received, acknowledged_ + kept_.size()));
  forget(received);
  open_ = true;
}

} // namespace gossamer::actors
