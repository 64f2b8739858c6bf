#include "gossamer/apps/detail/line_history.hpp"

#include <string_view>
#include <utility>

namespace gossamer::apps {

namespace {

bool is_lasting(std::string_view type) { return type == "evaluation" || type.starts_with("event-"); }
bool is_sampled(std::string_view type) { return type == "progress"; }

/// Drops every second line.
void thin(std::vector<std::string>& lines) {
  for (std::size_t i = 1; 2 * i < lines.size(); ++i) // the first stays: a string must not be moved to itself
    lines[i] = std::move(lines[2 * i]);
  lines.resize((lines.size() + 1) / 2);
}

} // namespace

/// @returns false for a line of too many types
bool line_history::keep(const std::string& type, const std::string& line) {
  if (types_.size() >= most_types && !types_.contains(type))
    return false;
  auto& of_its_type = types_[type];
  of_its_type = {.newest = line, .count = of_its_type.count + 1};
  if (is_lasting(type)) {
    lasting_.push_back(line);
    if (lasting_.size() > kept_)
      lasting_.pop_front();
  } else if (is_sampled(type) && since_sample_++ % stride_ == 0) {
    sampled_.push_back(line);
    if (sampled_.size() >= kept_) {
      thin(sampled_);
      stride_ *= 2;
    }
  }
  return true;
}

void line_history::add(const std::string& type, std::string line) {
  std::function<void()> tell;
  {
    const std::scoped_lock lock{mutex_};
    if (!keep(type, line))
      return;
    recent_bytes_ += line.size();
    line.shrink_to_fit(); // a string that has grown by doubling would hold up to twice its bytes here
    recent_.push_back(std::move(line));
    for (; recent_.size() > kept_ || (recent_bytes_ > most_recent_bytes && recent_.size() > 1); ++first_recent_) {
      recent_bytes_ -= recent_.front().size();
      recent_.pop_front();
    }
    tell = on_news_;
  }
  if (tell)
    tell();
}

void line_history::clear() {
  const std::scoped_lock lock{mutex_};
  lasting_.clear();
  sampled_.clear();
  types_.clear();
  stride_ = 1;
  since_sample_ = 0;
  first_recent_ += recent_.size() + 1; // beyond the place of every reader
  recent_.clear();
  recent_bytes_ = 0;
}

std::vector<std::string> line_history::digest() const {
  std::vector<std::string> all{R"({"type":"begin"})"};
  const auto add_newest = [&](const std::string& type) {
    if (const auto found = types_.find(type); found != types_.end())
      all.push_back(found->second.newest);
  };
  add_newest("run");
  for (const auto& [type, lines] : types_)
    if (!is_lasting(type) && !is_sampled(type) && type != "run" && type != "end")
      all.push_back(lines.newest);
  all.insert(all.end(), sampled_.begin(), sampled_.end());
  all.insert(all.end(), lasting_.begin(), lasting_.end());
  add_newest("end");
  return all;
}

std::vector<std::string> line_history::read(place& at) const {
  const std::scoped_lock lock{mutex_};
  const auto end = first_recent_ + recent_.size();
  const auto seen = std::exchange(at.next, end);
  if (seen < first_recent_ || seen > end)
    return digest();
  return {recent_.begin() + static_cast<std::ptrdiff_t>(seen - first_recent_), recent_.end()};
}

std::map<std::string, line_history::of_type> line_history::types() const {
  const std::scoped_lock lock{mutex_};
  return types_;
}

void line_history::on_news(std::function<void()> what) {
  const std::scoped_lock lock{mutex_};
  on_news_ = std::move(what);
}

} // namespace gossamer::apps
