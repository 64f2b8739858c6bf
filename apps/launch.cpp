// gossamer launch: starts the nodes of a run, and shows it as if it were one process.
#include "gossamer/apps/detail/launch.hpp"

#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/departure.hpp"
#include "gossamer/apps/detail/detached_runs.hpp"
#include "gossamer/apps/detail/launch_folder.hpp"
#include "gossamer/apps/detail/launch_plan.hpp"
#include "gossamer/apps/detail/launch_screen.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <poll.h>

namespace gossamer::apps {

namespace {

constexpr double longest_farewell_s = 5; // of the others when the leader has ended, but no longer than the patience
constexpr double keep_progress_every_s = 0.5;
constexpr double short_life_s = 1;                     // whoever ends so soon would do so again
constexpr double longest_succession_s = 10;            // after a death has been noticed
constexpr std::size_t least_that_outlive_a_leader = 3; // of two, the other cannot know that it is alone
constexpr std::size_t most_last_words = 500;
constexpr int killed = 128;          // and the number of the signal, as a status
constexpr int first_of_shells = 126; // statuses with which a shell, or ssh, says that a program has not run

class launcher {
public:
  /// @param begun called once, when the nodes are there and the folder is open
  launcher(const program& p, const launch_plan& plan, const launch_options& how, std::function<void(launcher&)> begun)
      : program_(p), plan_(plan), how_(how), on_begin_(std::move(begun)), known_(plan.nodes()), silent_(plan.nodes()) {
    for (std::size_t k = 0; k < known_.size(); ++k)
      known_[k].host = plan.node(k).name;
  }

  /// @returns the exit status of the last that led
  int run() {
    const clean_stop stop;
    children_.reserve(plan_.nodes());
    children_.emplace_back(plan_.command(0, {}));
    while (!is_over()) {
      look();
      pass_on_interrupt();
    }
    if (record_.leader.empty() && *children_[0].ended() >= first_of_shells && !interrupted_)
      give_up(0);
    const stopwatch since_end;
    while (!all_are_silent() && since_end.seconds() < std::min(longest_farewell_s, how_.node.patience_s))
      look();
    note_ends();
    if (failure_)
      throw *failure_;
    return children_[leads_].ended().value_or(1); // one that leads at this late hour is not waited for
  }

  void keep_status(int status) {
    screen_.close();
    record_.status = static_cast<std::uint64_t>(status);
    folder_.keep(record_);
  }

  /// From now on everything goes into the folder, and nothing to the terminal.
  void leave_terminal() {
    screen_.close();
    folder_.take_streams();
    on_terminal_ = false;
  }

  const launch_folder& folder() const { return folder_; }
  const launch_record& record() const { return record_; }
  void say(const std::string& line) { show(fmt::format("{}: {}", program_.name(), line), stderr); }

private:
  bool was_killed(std::size_t k) {
    const auto status = children_[k].ended();
    return status && *status > killed && *status < killed + NSIG;
  }

  /// When the leader has ended; but if it was killed, or cut off and given up, another may lead soon.
  bool is_over() {
    if (!silent_[leads_])
      return false;
    const bool as_planned = *children_[leads_].ended() == 0;
    if (!begun_ || interrupted_ || as_planned || plan_.nodes() < least_that_outlive_a_leader)
      return true;
    if (!without_leader_)
      without_leader_.emplace();
    const auto others = static_cast<std::size_t>(std::count(silent_.begin(), silent_.end(), false));
    return others == 0 || without_leader_->seconds() > how_.node.patience_s + longest_succession_s;
  }

  /// What the nodes have written, and who of them has ended.
  void look() {
    std::vector<pollfd> polled;
    std::vector<bool> over;
    for (auto& one : children_) {
      over.push_back(one.ended().has_value());
      for (const int file : one.outputs())
        polled.push_back({file, POLLIN, 0});
    }
    constexpr int look_every_ms = 100;
    poll(polled.data(), polled.size(), look_every_ms);
    for (std::size_t k = 0; k < over.size(); ++k) { // the leader's lines may start more
      const bool spoke = children_[k].read_lines([&](bool error, const std::string& line) { hear(k, error, line); });
      silent_[k] = over[k] && !spoke;
      if (k != leads_ && silent_[k] && *children_[k].ended() != 0 && !failure_ && !children_[leads_].ended())
        may_come_back(k) ? start_again(k) : give_up(k);
    }
  }

  void hear(std::size_t k, bool error, const std::string& line) {
    if (!error && obey(k, line))
      return;
    folder_.keep_line_of(k, line);
    const bool leads = k == leads_;
    show(leads ? line : fmt::format("[{} {}] {}", k, plan_.node(k).name, line), leads && !error ? stdout : stderr);
  }

  /// @returns whether it was one of the lines that a leader writes for programs
  bool obey(std::size_t k, const std::string& line) {
    const auto after = [&](std::string_view what) { return line.substr(what.size()); };
    if (line.starts_with(progress_is))
      k == leads_ ? on_progress(after(progress_is)) : void(); // one that was cut off may believe that it leads still
    else if (line.starts_with(folder_is))
      open_folder(after(folder_is));
    else if (line.starts_with(node_is))
      on_node(split(after(node_is), ' '));
    else if (line.starts_with(announcement))
      k == 0 && !begun_ ? start_others(after(announcement)) : follow(k, after(announcement));
    else if (line == all_have_come)
      begin();
    else
      return false;
    return true;
  }

  /// The folder of a leader on another machine is there; this one has only what is written here.
  void open_folder(const std::string& leaders) {
    if (begun_)
      return; // what is written here stays here
    const auto& leader = plan_.node(0);
    try {
      folder_.open(leader.local() ? std::filesystem::path{leaders} : folder_of_other(leader), plan_.nodes());
    } catch (const error& e) {
      say(e.what());
    }
    folder_.keep(known_);
  }

  static std::filesystem::path folder_of_other(const host& leader) {
    auto name = "on-" + leader.name;
    std::ranges::replace(name, '/', '_');
    return absolute(actors::run_folder::make_next("runs", name));
  }

  void start_others(const std::string& leader) {
    record_.leader = leader;
    folder_.keep(record_);
    for (std::size_t k = 1; k < plan_.nodes(); ++k)
      children_.emplace_back(plan_.command(k, leader));
  }

  /// The leader is lost, and this node leads from now on.
  void follow(std::size_t k, const std::string& where) {
    leads_ = k;
    without_leader_.reset();
    record_.leader = where;
    folder_.keep(record_);
    if (interrupted_)
      end_leader(SIGINT);
  }

  /// "K HOST:PORT 0,1,2"
  void on_node(const std::vector<std::string>& words) {
    if (words.size() != 3)
      return;
    const auto k = parse_integer("the number of a node", words[0], 0, static_cast<std::int64_t>(known_.size()) - 1);
    known_[static_cast<std::size_t>(k)].address = words[1];
    known_[static_cast<std::size_t>(k)].ranks = words[2];
  }

  void begin() {
    begun_ = true;
    folder_.keep(known_);
    if (on_begin_)
      on_begin_(*this);
  }

  void on_progress(const std::string& line) {
    if (on_terminal_)
      screen_.show_progress(line);
    record_.progress = line;
    if (since_kept_.seconds() < keep_progress_every_s)
      return;
    folder_.keep(record_);
    since_kept_ = {};
  }

  /// Who cannot write to its terminal hears of it in the end, and the run goes on.
  void show(const std::string& line, std::FILE* stream) {
    folder_.keep_output(line);
    if (on_terminal_)
      stream == stdout ? screen_.keep_result(line) : screen_.show(line);
  }

  void give_up(std::size_t k) {
    failure_.emplace(errc::failed,
                     fmt::format("node {} on {} ended with status {}: {}", k, plan_.node(k).name, *children_[k].ended(),
                                 children_[k].last_line().substr(0, most_last_words)),
                     "its command was " + shell_line(plan_.command(k, "HOST:PORT")));
    end_leader(SIGTERM);
  }

  /// What cannot be started, or is refused, will not do better before the run has begun; what was killed will.
  bool may_come_back(std::size_t k) { return begun_ || (was_killed(k) && restarts_ < how_.restarts); }

  void start_again(std::size_t k) {
    const bool has_hardly_begun = started_.contains(k) && started_[k].seconds() < short_life_s;
    const double delay = std::max(how_.restart_delay_s, has_hardly_begun ? short_life_s : 0);
    if (restarts_ == how_.restarts || interrupted_ || ended_.try_emplace(k).first->second.seconds() < delay)
      return;
    ended_.erase(k);
    started_[k] = {};
    ++restarts_;
    ++known_[k].restarts;
    hear(k, true, fmt::format("is started again ({} of {})", restarts_, how_.restarts));
    children_[k] = child{plan_.joining_command(k, record_.leader)};
    silent_[k] = false;
    note_ends();
  }

  void pass_on_interrupt() {
    if (clean_stop::requested() == 0 || std::exchange(interrupted_, true))
      return;
    record_.stops = true;
    folder_.keep(record_);
    end_leader(SIGINT);
  }

  /// A signal gets to processes of this machine: to that of ssh, which would break off what the leader still says.
  void end_leader(int signal) {
    if (plan_.node(leads_).local())
      children_[leads_].send_signal(signal);
    children_[leads_].end_input();
  }

  bool all_are_silent() const { return std::count(silent_.begin(), silent_.end(), true) >= std::ssize(children_); }

  void note_ends() {
    for (std::size_t k = 0; k < children_.size(); ++k)
      known_[k].status = children_[k].ended();
    folder_.keep(known_);
  }

  const program& program_;
  const launch_plan& plan_;
  const launch_options& how_;
  std::function<void(launcher&)> on_begin_; // may be empty
  std::vector<child> children_;             // by the number of the node
  std::vector<node_record> known_;          // likewise
  std::vector<bool> silent_;                // likewise: it has ended, and all that it said has been heard
  launch_record record_ = own_record();
  launch_screen screen_;
  launch_folder folder_{[this](const std::string& line) { say(line); }};
  stopwatch since_kept_;
  std::map<std::size_t, stopwatch> ended_;   // who is to be started again
  std::map<std::size_t, stopwatch> started_; // again
  std::size_t restarts_ = 0;
  std::size_t leads_ = 0;                   // the number of the node
  std::optional<stopwatch> without_leader_; // since it was killed
  bool begun_ = false, interrupted_ = false, on_terminal_ = true;
  std::optional<error> failure_;
};

/// The run is under way, and no terminal is needed any more.
void go_on_alone(launcher& run, departure& parting) {
  const auto folder = run.folder().path();
  try {
    remember_detached(folder, fmt::format("{}", run.record().process));
  } catch (const error& e) {
    run.say(e.what());
  }
  run.leave_terminal();
  const auto name = shell_word(shown(folder));
  parting.leave(
      fmt::format("the run goes on by itself, as process {0}; it is led at {1}\n"
                  "  gossamer status {2}   says how far it is\n"
                  "  gossamer logs {2}     shows what it has said\n"
                  "  gossamer attach {2}   follows it to its end; Ctrl-C there leaves it alone\n"
                  "  gossamer stop {2}     ends it as Ctrl-C would have, and waits until it is written down\n",
                  run.record().process, run.record().leader, name));
}

} // namespace

int launch(const program& p, const launch_options& how, const run_options& job, const std::vector<std::string>& words) {
  const launch_plan plan{p, how, job, words};
  if (how.dry_run) {
    for (std::size_t k = 0; k < plan.nodes(); ++k)
      fmt::print("{}\n", shell_line(plan.command(k, plan.leader_address() + ":PORT")));
    return 0;
  }
  std::optional<departure> parting;
  if (how.detach && parting.emplace().is_left_behind())
    return parting->wait();
  launcher all{p, plan, how, [&](launcher& run) {
                 if (parting)
                   go_on_alone(run, *parting);
               }};
  try {
    const int status = all.run();
    all.keep_status(status);
    return status;
  } catch (const error& e) {
    all.keep_status(e.exit_status());
    throw;
  }
}

} // namespace gossamer::apps
