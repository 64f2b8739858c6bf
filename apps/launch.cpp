// gossamer launch: starts the nodes of a run, and shows it as if it were one process.
#include "gossamer/apps/detail/launch.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/access.hpp"
#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/departure.hpp"
#include "gossamer/apps/detail/detached_runs.hpp"
#include "gossamer/apps/detail/launch_audience.hpp"
#include "gossamer/apps/detail/launch_folder.hpp"
#include "gossamer/apps/detail/launch_orders.hpp"
#include "gossamer/apps/detail/launch_plan.hpp"
#include "gossamer/apps/detail/launch_screen.hpp"
#include "gossamer/apps/detail/remains.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/supervisor.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <poll.h>

namespace gossamer::apps {

namespace {

constexpr double longest_farewell_s = 5; // for the other nodes when the leader has ended, or less: the patience
constexpr double keep_progress_every_s = 0.5;

/// Carries out the decisions of `supervisor`.
class launcher {
public:
  /// @param begun called once, when the nodes are there and the folder is open
  launcher(const program& p, const launch_plan& plan, const launch_options& how, std::function<void(launcher&)> begun,
           launch_audience& watching)
      : program_(p), plan_(plan), how_(how), watching_(watching), token_(token_of(plan.node(0), how.node)),
        on_begin_(std::move(begun)), children_(plan.nodes()), known_(plan.nodes()), heard_end_(plan.nodes()),
        decides_({.hosts = plan.names(),
                  .restarts = how.restarts,
                  .restart_delay_s = how.restart_delay_s,
                  .patience_s = how.node.patience_s,
                  .starts_programs = plan.starts_a_program()}) {
    for (std::size_t k = 0; k < known_.size(); ++k)
      known_[k].host = plan.node(k).name;
  }

  /// @returns the exit status of the last leader @error when no process has said how the run ended
  int run() {
    const clean_stop stop;
    clean_stop::outlive_readers();
    obey(decides_.begin(now()));
    while (!decides_.is_over()) {
      look();
      obey(decides_.on_time(now()));
      pass_on_interrupt();
      if (auto* page = watching_.page())
        orders_.obey(*page, now());
    }
    const stopwatch since_end;
    while (!all_are_silent() && since_end.seconds() < std::min(longest_farewell_s, how_.node.patience_s))
      look();
    note_ends();
    if (const auto failed = decides_.failed_start())
      throw error(errc::failed, failed->sentence,
                  "its command was " + shell_line(plan_.command(failed->slot, "HOST:PORT")));
    if (const auto lost = decides_.loss())
      throw error(errc::failed, *lost, what_is_left(left_on_disk()));
    return decides_.status();
  }

  /// Tells those who look on that the run is over. @returns the status, also of what was still to be written
  int end(const std::string& how, int status) {
    try {
      if (const auto about = watching_.end(how); !about.empty())
        say(about);
    } catch (const error& e) {
      say(e.what());
      status = status == 0 ? e.exit_status() : status;
    }
    keep_status(status);
    return status;
  }

  void keep_status(int status) {
    screen_.close();
    record_.status = static_cast<std::uint64_t>(status);
    folder_.keep(record_);
  }

  /// Writes everything into the folder from now on, and nothing to the terminal.
  void leave_terminal() {
    screen_.close();
    folder_.take_streams();
    on_terminal_ = false;
  }

  /// Returns the new start of a run that `run` found to be lost; `nullopt` if there is none.
  std::optional<second_beginning> next_beginning() {
    try {
      if (decides_.loss() && restarts_left() > 0 && plan_.node(0).local())
        return beginning_after(program_, left_on_disk(), !decides_.somebody_takes_part());
    } catch (const error& e) { // such as a model that only the user's program knows
      say(fmt::format("the nodes are not started again: {}", e.what()));
    }
    return std::nullopt;
  }
  std::size_t restarts_left() const { return decides_.restarts_left(); }
  const launch_folder& folder() const { return folder_; }
  const launch_record& record() const { return record_; }
  void say(const std::string& line) { show(fmt::format("{}: {}", program_.name(), line), stderr); }

private:
  double now() const { return since_launch_.seconds(); }
  remains left_on_disk() const { return {folder_.path(), decides_.survivors(), !is_loopback(plan_.leader_address())}; }

  /// Reads the output of the nodes, and finds those that have ended.
  void look() {
    std::vector<pollfd> polled;
    std::vector<bool> over;
    int patience_ms = 100; // longest silence, while an interrupt waits to be noticed
    for (std::size_t k = 0; k < children_.size(); ++k) {
      auto& one = children_[k];
      over.push_back(one && one->ended());
      if (over[k] && !heard_end_[k])
        patience_ms = 0; // its end is acted upon at once
      for (const int file : one ? one->outputs() : std::array{-1, -1})
        polled.push_back({file, POLLIN, 0});
    }
    poll(polled.data(), polled.size(), patience_ms);
    for (std::size_t k = 0; k < over.size(); ++k) {
      if (!children_[k])
        continue;
      const bool spoke = children_[k]->read_lines([&](bool error, const std::string& line) { hear(k, error, line); });
      if (!over[k] || spoke || heard_end_[k])
        continue;
      heard_end_[k] = true;
      obey(decides_.on_end(k, *children_[k]->ended(), children_[k]->last_line(), now()));
    }
  }

  void hear(std::size_t k, bool error, const std::string& line) {
    decides_.on_words(k, now());
    const auto mark = error ? std::string::npos : line.find(announced_by);
    if (mark != 0) // before it, a program of the user's may have written half a line
      hear_output(k, error, line.substr(0, mark));
    if (mark != std::string::npos)
      understand(k, line.substr(mark + 1));
  }

  void hear_output(std::size_t k, bool error, const std::string& line) {
    folder_.keep_line_of(k, line);
    const bool leads = k == decides_.leads();
    show(leads ? line : about(k, line), leads && !error ? stdout : stderr);
  }

  std::string about(std::size_t k, const std::string& line) const {
    return fmt::format("[{} {}] {}", k, plan_.node(k).name, line);
  }

  void understand(std::size_t k, const std::string& line) {
    const auto after = [&](std::string_view what) { return line.substr(what.size()); };
    if (line.starts_with(live_is) || line.starts_with(trace_is))
      hear_for_watchers(k, line);
    else if (line.starts_with(folder_is))
      open_folder(after(folder_is));
    else if (line.starts_with(node_is))
      note_place(known_, after(node_is));
    else if (line.starts_with(announcement))
      on_lead(k, after(announcement));
    else if (line.starts_with(door_is))
      on_door(k, after(door_is));
    else if (line.starts_with(survivor_is))
      decides_.on_survival(after(survivor_is));
    else if (line == is_not_let_in)
      decides_.on_refusal(k);
    else if (line == has_left)
      decides_.on_departure(k);
    else if (line == all_have_come)
      begin();
  }

  /// Opens the folder of the run. The folder of a leader on another machine is there; the one here has only the
  /// launch's files.
  void open_folder(const std::string& leaders) {
    if (begun_)
      return; // files that are written here stay here
    const auto& leader = plan_.node(0);
    try {
      folder_.open(leader.local() ? std::filesystem::path{leaders} : new_folder_for(leader.name), plan_.nodes());
    } catch (const error& e) {
      say(e.what());
    }
    folder_.keep(known_);
  }

  void on_lead(std::size_t k, const std::string& door) {
    record_.leader = door;
    folder_.keep(record_);
    kept_ = keep_for_visitors(program_, token_, door);
    obey(decides_.on_lead(k, door, now()));
  }

  void on_door(std::size_t k, const std::string& door) {
    decides_.on_door(k, door);
    known_[k].address = door;
    folder_.keep(known_);
  }

  void begin() {
    begun_ = true;
    decides_.on_begin();
    folder_.keep(known_);
    if (on_begin_)
      on_begin_(*this);
  }

  void hear_for_watchers(std::size_t k, const std::string& line) {
    try {
      if (line.starts_with(trace_is))
        watching_.hear_trace(k, line.substr(trace_is.size()));
      else if (k == decides_.leads()) // a node that is cut off may believe that it still leads
        on_live(line.substr(live_is.size()));
    } catch (const error& e) { // a process that is killed may end within a line
      if (e.code() != errc::bad_data)
        throw;
    }
  }

  /// "TYPE LINE"
  void on_live(const std::string& announced) {
    const auto type = announced.substr(0, announced.find(' '));
    const auto line = announced.substr(std::min(announced.size(), type.size() + 1));
    watching_.hear(type, line);
    if (on_terminal_)
      screen_.renew(type, line);
    if (type != "progress")
      return;
    record_.progress = progress_line(actors::progress_from_json(line));
    if (since_kept_.seconds() < keep_progress_every_s)
      return;
    folder_.keep(record_);
    since_kept_ = {};
  }

  /// Shows a line. A launch whose terminal takes none says so in the end, and the run goes on.
  void show(const std::string& line, std::FILE* stream) {
    folder_.keep_output(line);
    if (on_terminal_)
      stream == stdout ? screen_.keep_result(line) : screen_.show(line);
  }

  // -- the supervisor's orders --------------------------------------------------------------------------------------

  void obey(const supervisor::orders& all) {
    for (const auto& what : all)
      std::visit([this](const auto& one) { obey(one); }, what);
  }

  void obey(const supervisor::start_process& m) {
    const auto door = fmt::format("{}", fmt::join(m.doors, ","));
    children_[m.slot] =
        start_node(m.doors.empty() ? plan_.command(m.slot, {}) : plan_.joining_command(m.slot, door), token_);
    heard_end_[m.slot] = false;
    note_ends();
  }

  /// Sends the signal to processes of this machine only: to that of ssh it would cut off the leader's last words.
  void obey(const supervisor::end_run& m) {
    if (plan_.node(m.slot).local())
      children_[m.slot]->send_signal(m.signal);
    children_[m.slot]->end_input();
  }

  void obey(const supervisor::tell& m) {
    folder_.keep_line_of(m.slot, m.line);
    show(about(m.slot, m.line), stderr);
  }

  void pass_on_interrupt() {
    if (clean_stop::requested() == 0 || record_.stops)
      return;
    record_.stops = true;
    folder_.keep(record_);
    obey(decides_.on_interrupt(clean_stop::requested(), now()));
  }

  /// What orders of the page may do.
  ordered_processes processes() {
    return {.leader = [this] { return decides_.leads(); },
            .signal =
                [this](std::size_t node, int signal) {
                  const bool is_here = plan_.node(node).local() && children_[node] && !children_[node]->ended();
                  if (is_here)
                    children_[node]->send_signal(signal);
                  return is_here;
                },
            .write_to_leader =
                [this](const std::string& line) {
                  auto& leader = children_[decides_.leads()];
                  return !leader || leader->write_line(line);
                }};
  }

  bool all_are_silent() const {
    std::size_t k = 0;
    return std::ranges::all_of(children_, [&](const auto& one) { return heard_end_[k++] || !one; });
  }

  void note_ends() {
    for (std::size_t k = 0; k < children_.size(); ++k) {
      known_[k].status = children_[k] ? children_[k]->ended() : std::nullopt;
      known_[k].restarts = decides_.restarts_of(k);
    }
    folder_.keep(known_);
  }

  const program& program_;
  const launch_plan& plan_;
  const launch_options& how_;
  launch_audience& watching_;
  const std::optional<actors::access_token> token_;
  kept_token kept_;                            // the leader's, for visitors
  std::function<void(launcher&)> on_begin_;    // may be empty
  std::vector<std::optional<child>> children_; // by number of the node; empty: not started yet
  std::vector<node_record> known_;             // by number of the node
  std::vector<bool> heard_end_;                // by number of the node: it has ended, and all its lines have been read
  supervisor decides_;
  launch_record record_ = own_record();
  launch_orders orders_{processes()};
  launch_screen screen_{how_.shown, plan_.starts_a_program()};
  launch_folder folder_{[this](const std::string& line) { say(line); }};
  stopwatch since_launch_, since_kept_;
  bool begun_ = false, on_terminal_ = true;
};

/// Notes something for later commands. The run goes on when that fails.
void note(launcher& run, const std::function<void()>& what) {
  try {
    what();
  } catch (const error& e) {
    run.say(e.what());
  }
}

/// Continues without a terminal, once the run is under way.
void go_on_alone(launcher& run, departure& parting) {
  const auto folder = run.folder().path();
  note(run, [&] { remember_detached(folder, fmt::format("{}", run.record().process)); });
  run.leave_terminal();
  parting.leave(ways_back_to(folder, run.record()));
}

} // namespace

int launch(const program& p, const launch_options& how, const launched_job& job) {
  const launch_plan plan{p, how, job};
  if (how.dry_run) {
    for (std::size_t k = 0; k < plan.nodes(); ++k)
      fmt::print("{}\n", shell_line(plan.command(k, plan.leader_address() + ":PORT")));
    return 0;
  }
  std::optional<departure> parting;
  if (how.detach && parting.emplace().is_left_behind())
    return parting->wait();
  std::filesystem::path before; // the folder of the beginning that was lost; empty: none was
  const auto on_begin = [&](launcher& run) {
    if (!before.empty())
      note(run, [&] { note_next_folder(before, run.folder().path()); });
    if (parting)
      go_on_alone(run, *parting);
  };
  launch_audience watching{p, how, plan.nodes()};
  auto job_now = job;
  for (auto how_now = how;; --how_now.restarts) {
    const launch_plan now{p, how_now, job_now};
    launcher all{p, now, how_now, on_begin, watching};
    try {
      const int status = all.run();
      return all.end(status == 0 ? "as planned" : fmt::format("with status {}", status), status);
    } catch (const error& e) {
      const auto next = all.next_beginning();
      next ? all.keep_status(e.exit_status()) : static_cast<void>(all.end(e.sentence(), e.exit_status()));
      if (!next)
        throw;
      watching.begin_again(e.sentence());
      all.say(e.sentence());
      all.say(fmt::format("all nodes are started again, {} (restarts left: {})", next->said, all.restarts_left() - 1));
      before = all.folder().path();
      how_now.restarts = all.restarts_left();
      job_now.words = next->job;
    }
  }
}

} // namespace gossamer::apps
