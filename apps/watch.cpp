// gossamer watch: the page of a run in a folder, or of one that goes on elsewhere.
#include "gossamer/apps/detail/watch.hpp"

#include "gossamer/actors/cluster/cluster_client.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/live_page.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

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
constexpr std::size_t longest_metrics_line = std::size_t{1} << 20;
constexpr double longest_absence = 3; // patiences, within which a run has another leader

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
      if (byte != '\n' && line.size() < longest_metrics_line) {
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

/// The type of a line, for a `line_history`; empty: it is none of a run.
std::string type_of(const std::string& line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("type") || !object["type"].is_string())
    return "";
  const auto type = object["type"].get<std::string>();
  const auto kind = object.find("kind");
  const bool has_kind = kind != object.end() && kind->is_string();
  return type != "event" ? type : event_type(has_kind ? kind->get<std::string>() : to_string(actors::event_kind::note));
}

/// What becomes the lines of a history.
class watched_run {
public:
  watched_run() = default;
  watched_run(const watched_run&) = delete;
  watched_run& operator=(const watched_run&) = delete;
  virtual ~watched_run() = default;

  /// Adds what is new.
  virtual void look() = 0;
};

/// A run folder.
class written_run final : public watched_run {
public:
  written_run(fs::path folder, std::shared_ptr<line_history> lines)
      : folder_(std::move(folder)), metrics_(folder_ / "metrics.jsonl"), events_(folder_ / "events.jsonl"),
        lines_(std::move(lines)) {
    if (!file_exists((folder_ / "metrics.jsonl").string()))
      throw error(errc::usage, fmt::format("{} holds no run", folder_.string()),
                  "name a folder that gossamer has written");
    lines_->add("run", first_line(options_of(folder_.string()).run, folder_.string()));
  }

  void look() override {
    // Asked first: nothing is written behind it.
    const bool had_ended = file_exists((folder_ / "summary.json").string());
    metrics_.read(
        [this](const std::string& line) { lines_->add("evaluation", to_line(actors::evaluation_from_json(line))); });
    events_.read([this](const std::string& line) { add_event(line); });
    if (had_ended && !std::exchange(ended_, true))
      lines_->add("end", last_line("it is written down"));
  }

private:
  void add_event(const std::string& line) {
    if (const auto type = type_of(line); type == "progress" || type.starts_with("event-"))
      lines_->add(type, line);
  }

  fs::path folder_;
  line_file metrics_, events_;
  std::shared_ptr<line_history> lines_;
  bool ended_ = false;
};

/// A run of other processes. When its leader is lost, the next one is looked for.
class run_elsewhere final : public watched_run {
public:
  run_elsewhere(const actors::node_settings& s, std::shared_ptr<line_history> lines)
      : run_(s), longest_absence_s_(longest_absence * std::chrono::duration<double>{s.patience}.count()),
        lines_(std::move(lines)) {}

  void look() override {
    if (ended_)
      return;
    try {
      for (const auto& line : run_.look())
        take(line);
      since_answer_ = {};
    } catch (const error& e) {
      if (e.code() != errc::io)
        throw;
      if (since_answer_.seconds() > longest_absence_s_)
        end(last_line(fmt::format("none of its nodes answers any more: {}", e.sentence())));
    }
  }

private:
  void take(const std::string& line) {
    const auto type = type_of(line);
    if (type == "begin")
      lines_->clear();
    else if (type == "end")
      end(line);
    else if (!type.empty())
      lines_->add(type, line);
  }

  void end(const std::string& line) {
    ended_ = true;
    lines_->add("end", line);
  }

  actors::onlooker run_;
  double longest_absence_s_;
  std::shared_ptr<line_history> lines_;
  stopwatch since_answer_;
  bool ended_ = false;
};

std::unique_ptr<watched_run> run_of(const program& p, const visit_options& o,
                                    const std::shared_ptr<line_history>& lines) {
  if (is_address(o.run))
    return std::make_unique<run_elsewhere>(settings_of_visit(p, o), lines);
  return std::make_unique<written_run>(o.run, lines);
}

} // namespace

int watch(const program& p, const watch_options& o) {
  const auto lines = std::make_shared<line_history>();
  const auto run = run_of(p, o.run, lines);
  run->look();
  const page_server server{settings_for(o.live), lines};
  write_all(STDERR_FILENO, fmt::format("{}: the run can be watched at {}, until Ctrl-C\n", p.name(), server.url()));
  const clean_stop stop;
  while (clean_stop::requested() == 0) {
    poll(nullptr, 0, between_looks_ms); // which a signal ends
    run->look();
  }
  return 0;
}

} // namespace gossamer::apps
