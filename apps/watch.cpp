// gossamer watch: the page of a run in a folder.
#include "gossamer/apps/detail/watch.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/live_page.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <poll.h>
#include <unistd.h>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr int between_looks_ms = 300;
constexpr double between_heartbeats_s = 10;
constexpr std::size_t longest_line = std::size_t{1} << 20;

/// Reads the lines that are added to a file, once they are whole.
class line_file {
public:
  explicit line_file(fs::path file) : file_(std::move(file)) {}

  template <class Take>
  void read(const Take& take) {
    std::ifstream in{file_, std::ios::binary};
    in.seekg(at_);
    std::string line;
    for (char byte = 0; in.get(byte);) {
      if (byte != '\n' && line.size() < longest_line) {
        line += byte;
        continue;
      }
      at_ = in.tellg();
      take(std::exchange(line, {}));
    }
  }

private:
  fs::path file_;
  std::streamoff at_ = 0;
};

/// A run folder as the lines of a history.
class written_run {
public:
  written_run(fs::path folder, std::shared_ptr<line_history> lines)
      : folder_(std::move(folder)), metrics_(folder_ / "metrics.jsonl"), events_(folder_ / "events.jsonl"),
        lines_(std::move(lines)) {
    if (!fs::exists(folder_ / "metrics.jsonl"))
      throw error(errc::usage, fmt::format("{} holds no run", folder_.string()),
                  "name a folder that gossamer has written");
    lines_->add("run", first_line(options_of(folder_.string()).run, folder_.string()));
  }

  void look() {
    const bool had_ended = fs::exists(folder_ / "summary.json"); // asked first: nothing is written behind it
    metrics_.read(
        [this](const std::string& line) { lines_->add("evaluation", to_line(actors::evaluation_from_json(line))); });
    events_.read([this](const std::string& line) { add_event(line); });
    if (had_ended && !std::exchange(ended_, true))
      lines_->add("end", last_line("it is written down"));
  }

private:
  void add_event(const std::string& line) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    const auto type = object.is_object() ? object.value("type", std::string{}) : "";
    if (type == "progress")
      lines_->add(type, line);
    else if (type == "event")
      lines_->add(event_type(object.value("kind", std::string{to_string(actors::event_kind::note)})), line);
  }

  fs::path folder_;
  line_file metrics_, events_;
  std::shared_ptr<line_history> lines_;
  bool ended_ = false;
};

} // namespace

int watch(const program& p, const watch_options& o) {
  const auto lines = std::make_shared<line_history>();
  written_run run{o.run, lines};
  run.look();
  const page_server server{settings_for(o.live), lines};
  write_all(STDERR_FILENO, fmt::format("{}: the run can be watched at {}, until Ctrl-C\n", p.name(), server.url()));
  const clean_stop stop;
  for (stopwatch since_heartbeat; clean_stop::requested() == 0;) {
    poll(nullptr, 0, between_looks_ms); // which a signal ends
    run.look();
    if (since_heartbeat.seconds() < between_heartbeats_s)
      continue;
    lines->add("heartbeat", R"({"type":"heartbeat"})"); // shows the server which browsers are gone
    since_heartbeat = {};
  }
  return 0;
}

} // namespace gossamer::apps
