#include "gossamer/apps/detail/live_recorder.hpp"

#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

/// The folder, for the thread of the disk alone.
class live_recorder::folder_on_disk final : public actors::run_observer {
public:
  explicit folder_on_disk(opener open) : open_(std::move(open)) {}

  void open() { folder_ = open_(); }
  void on_evaluation(const actors::evaluation_record& r) override { folder_->on_evaluation(r); }
  void finish(const actors::run_summary& summary) { folder_->finish(summary); }
  const std::filesystem::path& path() const { return folder_->path(); }

private:
  opener open_;
  std::shared_ptr<actors::run_folder> folder_;
};

live_recorder::live_recorder(live_output& output, opener open)
    : output_(output), folder_(std::make_shared<folder_on_disk>(std::move(open))), kept_(output.disk(), folder_) {
  output_.disk().post([folder = folder_] { folder->open(); });
}

void live_recorder::on_progress(const actors::progress_record& p) {
  output_.disk().check();
  if (output_.announces())
    output_.announce_lightly(progress_is, progress_line(p));
  else if (live_line::is_seen())
    output_.shown()->on_progress(p);
}

void live_recorder::on_evaluation(const actors::evaluation_record& r) {
  kept_.on_evaluation(r);
  if (output_.has_results())
    output_.shown()->on_evaluation(r);
}

void live_recorder::on_event(double time_s, const std::string& what) { output_.shown()->on_event(time_s, what); }

std::filesystem::path live_recorder::finish(const actors::run_summary& summary) {
  auto& disk = output_.disk();
  disk.post([folder = folder_, summary] { folder->finish(summary); });
  disk.finish();
  return folder_->path();
}

} // namespace gossamer::apps
