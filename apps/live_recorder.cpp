#include "gossamer/apps/detail/live_recorder.hpp"

#include "gossamer/apps/detail/node.hpp"

#include <fmt/format.h>

#include <string>

namespace gossamer::apps {

/// The folder, for the thread of the disk alone.
class live_recorder::folder_on_disk final : public actors::run_observer {
public:
  explicit folder_on_disk(opener open) : open_(std::move(open)) {}

  void open() { folder_ = open_(); }
  void begin() { folder_->begin(); }
  void take_back() { folder_->take_back(); }
  void on_evaluation(const actors::evaluation_record& r) override { folder_->on_evaluation(r); }
  void on_event(const actors::event_record& r) override { folder_->on_event(r); }
  void on_progress(const actors::progress_record& r) override { folder_->on_progress(r); }
  void finish(const actors::run_summary& summary) { missing_ = folder_->finish(summary); }
  const std::string& missing() const { return missing_; } ///< once it is finished
  const std::filesystem::path& path() const { return folder_->path(); }

private:
  opener open_;
  std::shared_ptr<actors::run_folder> folder_;
  std::string missing_;
};

namespace {

constexpr std::size_t longest_announced = 250'000; // bytes: readers take lines of 256 KiB at most

void announce_line(live_output& output, const std::string& type, const std::string& line) {
  if ((!output.announces_live() && type != "progress") || line.size() > longest_announced)
    return;
  const bool is_replaced = type == "progress" || type == "workers";
  const auto text = fmt::format("{} {}", type, line);
  is_replaced ? output.announce_lightly(live_is, text) : output.announce(live_is, text);
}

} // namespace

live_recorder::live_recorder(live_output& output, opener open, std::size_t workers)
    : output_(output), folder_(std::make_shared<folder_on_disk>(std::move(open))), kept_(output.disk(), folder_),
      shows_workers_(workers > 0 && !output.announces() && output.shows_each_of(workers)) {
  output_.disk().post([folder = folder_] { folder->open(); });
  if (output.announces() || output.elsewhere() != nullptr)
    lines_.emplace([&output](const auto& type, std::string line) {
      announce_line(output, type, line);
      if (auto* elsewhere = output.elsewhere())
        elsewhere->add(type, std::move(line));
    });
}

void live_recorder::begin() {
  output_.disk().post([folder = folder_] { folder->begin(); });
}

void live_recorder::take_back() {
  output_.disk().post([folder = folder_] { folder->take_back(); });
}

void live_recorder::introduce(const actors::run_settings& s, const std::string& command, const page_abilities& can) {
  announce_line(output_, "run", first_line(s, command, can));
  if (auto* elsewhere = output_.elsewhere())
    elsewhere->add("run", first_line(s, command));
}

bool live_recorder::watches_workers() const {
  const auto* elsewhere = output_.elsewhere();
  return shows_workers_ || output_.announces_live() || (elsewhere != nullptr && elsewhere->are_there());
}

void live_recorder::on_view(const actors::view_record& r) {
  if (lines_)
    lines_->on_view(r);
  if (shows_workers_)
    output_.shown()->on_view(r);
}

void live_recorder::on_workers(actors::workers_record r) {
  if (shows_workers_)
    output_.shown()->on_workers(r);
  if (lines_)
    lines_->on_workers(std::move(r));
}

void live_recorder::on_progress(const actors::progress_record& p) {
  output_.disk().check();
  kept_.on_progress(p);
  if (lines_)
    lines_->on_progress(p);
  if (!output_.announces() && live_block::is_seen())
    output_.shown()->on_progress(p);
}

void live_recorder::on_evaluation(const actors::evaluation_record& r) {
  kept_.on_evaluation(r);
  if (lines_)
    lines_->on_evaluation(r);
  if (output_.has_results())
    output_.shown()->on_evaluation(r);
}

void live_recorder::on_event(const actors::event_record& r) {
  if (lines_)
    lines_->on_event(r);
  kept_.on_event(r);
  output_.shown()->on_event(r);
}

std::filesystem::path live_recorder::finish(const actors::run_summary& summary) {
  auto& disk = output_.disk();
  try {
    disk.post([folder = folder_, summary] { folder->finish(summary); });
    disk.finish();
  } catch (...) {
    const auto reached = describe(summary);
    if (output_.has_results()) // what the disk does not keep is said at least
      output_.say(reached.substr(0, reached.size() - 1));
    throw;
  }
  if (!folder_->missing().empty())
    output_.say(folder_->missing());
  if (auto* elsewhere = output_.elsewhere())
    elsewhere->add("end", last_line(to_string(summary.end)));
  return folder_->path();
}

} // namespace gossamer::apps
