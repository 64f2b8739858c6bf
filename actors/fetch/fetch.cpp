#include "gossamer/actors/fetch/fetch.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

/// Interval at which the silence of sources is checked, see `failure_detector`.
constexpr auto between_ticks = std::chrono::milliseconds(250);

} // namespace

fetch::fetch(std::vector<wanted_file> files, const fetch_settings& settings, time now)
    : files_(std::move(files)), settings_(settings), bucket_(settings.bytes_per_second, double{piece_bytes}),
      silence_(settings.patience) {
  for (const auto& f : files_)
    progress_.all += f.bytes;
  if (!done())
    begin_file();
  ask_on(now);
}

// -- levels -----------------------------------------------------------------------------------------------------------

void fetch::begin_file() {
  tree_ = piece_tree{files_[file_].bytes};
  level_ = tree_.levels() - 1;
  above_ = {{0, std::string{files_[file_].root.raw()}}};
  begin_level();
}

void fetch::begin_level() {
  next_ = 0;
  left_ = tree_.pieces(level_);
  phase_ = level_ == 0 && files_[file_].on_disk > 0 ? phase::looking : phase::fetching;
  if (phase_ == phase::looking)
    look();
}

/// Orders a look at the next piece that may be on the disk.
void fetch::look() {
  if (next_ < tree_.pieces(0) && next_ * piece_bytes < files_[file_].on_disk)
    orders_.emplace_back(look_order{here(next_++)});
  else
    phase_ = phase::fetching;
}

void fetch::complete_level() {
  if (level_ == 0) {
    phase_ = phase::finishing;
    orders_.emplace_back(finish_order{static_cast<std::uint32_t>(file_)});
    return;
  }
  above_ = std::exchange(arriving_, {});
  --level_;
  begin_level();
}

bool fetch::is_right(const piece_id& what, std::string_view bytes) const {
  const auto& digests = above_.at(what.index / digests_in_piece);
  const auto at = what.index % digests_in_piece * digest::size;
  return bytes.size() == tree_.bytes_of(what.level, what.index)
         && digest_of(bytes).raw() == std::string_view{digests}.substr(at, digest::size);
}

void fetch::accept(const piece_id& what, std::string bytes, bool from_disk) {
  --left_;
  if (level_ == 0) {
    progress_.bytes += bytes.size();
    progress_.found += from_disk ? bytes.size() : 0;
    if (!from_disk)
      orders_.emplace_back(store_order{what, std::move(bytes)});
  } else {
    arriving_[what.index] = std::move(bytes);
  }
}

// -- events -----------------------------------------------------------------------------------------------------------

void fetch::came(std::uint32_t source, time now, std::set<std::uint32_t> lacks) {
  sources_[source].lacks = std::move(lacks);
  ask_on(now);
}

void fetch::gone(std::uint32_t source, time now) {
  if (const auto who = sources_.find(source); who != sources_.end())
    forget(who);
  ask_on(now);
}

void fetch::got(std::uint32_t source, const piece_id& what, std::string bytes, std::uint64_t receipt, time now) {
  const auto who = sources_.find(source);
  if (who == sources_.end())
    return; // the source has been left, and its pieces are asked of others
  auto& asked = who->second.asked;
  if (what != here(what.index) || asked.erase(what.index) == 0)
    leave(who, "has sent what it was not asked for");
  else if (!is_right(what, bytes)) {
    missing_.insert(what.index);
    leave(who, fmt::format("has sent wrong bytes, as piece {} of {}", what.index, files_[file_].name));
  } else {
    who->second.receipts.push_back(receipt);
    asked.empty() ? silence_.forget(source) : silence_.heard(source, now);
    progress_.received += bytes.size();
    accept(what, std::move(bytes), false);
    if (left_ == 0)
      complete_level();
  }
  ask_on(now);
}

void fetch::found(const piece_id& what, std::string_view bytes, time now) {
  if (phase_ != phase::looking || what != here(next_ - 1))
    return; // one piece is looked at at a time
  if (is_right(what, bytes))
    accept(what, std::string{bytes}, true);
  else
    missing_.insert(what.index);
  left_ == 0 ? complete_level() : look();
  ask_on(now);
}

void fetch::finished(std::uint32_t file, bool right, time now) {
  if (phase_ != phase::finishing || file != file_)
    return;
  if (right) {
    ++file_;
    again_ = false;
  } else if (again_) {
    failure_ = "it is not what it was said to be, although each of its pieces is";
  } else {
    again_ = true;
    progress_.bytes -= files_[file_].bytes;
    progress_.found = std::min(progress_.found, progress_.bytes);
    files_[file_].on_disk = 0;
  }
  if (!done() && failure_.empty())
    begin_file();
  ask_on(now);
}

void fetch::tick(time now) {
  for (const auto silent : silence_.silent(now))
    leave(sources_.find(silent),
          fmt::format("has not answered for {:.3g} s", std::chrono::duration<double>{settings_.patience}.count()));
  ask_on(now);
}

// -- sources ----------------------------------------------------------------------------------------------------------

void fetch::forget(source_of who) {
  missing_.merge(who->second.asked);
  silence_.forget(who->first);
  sources_.erase(who);
}

void fetch::leave(source_of who, std::string why) {
  orders_.emplace_back(leave_order{who->first, std::move(why)});
  forget(who);
}

std::size_t fetch::load_of(const counterpart& source) const {
  const bool can_be_asked = !source.lacks.contains(static_cast<std::uint32_t>(file_));
  return can_be_asked ? source.asked.size() : std::numeric_limits<std::size_t>::max();
}

fetch::source_of fetch::least_asked() {
  return std::ranges::min_element(sources_, {}, [this](const auto& one) {
    return std::pair{load_of(one.second), one.second.questions};
  });
}

bool fetch::deserted() const {
  return std::ranges::all_of(
      sources_, [this](const auto& one) { return one.second.lacks.contains(static_cast<std::uint32_t>(file_)); });
}

void fetch::ask_on(time now) {
  wakes_at_ = now + between_ticks;
  while (phase_ == phase::fetching && !done() && failure_.empty()) {
    const auto index = missing_.empty() ? next_ : *missing_.begin();
    const auto who = least_asked();
    if (index >= tree_.pieces(level_) || who == sources_.end() || load_of(who->second) >= settings_.window)
      return;
    const auto bytes = static_cast<double>(tree_.bytes_of(level_, index));
    if (!bucket_.take(bytes, now)) {
      wakes_at_ = std::min(wakes_at_, bucket_.ready_at(bytes, now));
      return;
    }
    missing_.empty() ? ++next_ : missing_.erase(index);
    auto& [lacks, asked, receipts, questions] = who->second;
    ++questions;
    if (asked.empty())
      silence_.heard(who->first, now);
    asked.insert(index);
    orders_.emplace_back(ask_order{who->first, here(index), receipts.empty() ? 0 : receipts.back()});
    if (!receipts.empty())
      receipts.pop_back();
  }
}

} // namespace gossamer::actors
