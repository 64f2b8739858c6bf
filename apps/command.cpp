#include "gossamer/apps/detail/advise.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/cluster_flags.hpp"
#include "gossamer/apps/detail/command_flags.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/embeddable.hpp"
#include "gossamer/apps/detail/help_text.hpp"
#include "gossamer/apps/detail/job_form.hpp"
#include "gossamer/apps/detail/manual.hpp"
#include "gossamer/apps/detail/measure.hpp"
#include "gossamer/apps/detail/table_flags.hpp"
#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/apps/detail/unexpected.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/apps/embedded.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/cfg/env.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <mutex>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

/// The flags of the program, and their given values.
class command_line {
public:
  explicit command_line(const program& p) : program_(p) {
    app_.set_version_flag("--version", p.name() == "gossamer"
                                           ? "gossamer " GOSSAMER_VERSION
                                           : fmt::format("{} (gossamer " GOSSAMER_VERSION ")", p.name()));
    app_.require_subcommand(1);
    app_.failure_message(CLI::FailureMessage::simple);
    for (auto* command : {train_, simulate_}) {
      command->add_flag("--json", json_, "print the summary as JSON on standard output");
      add_live_flags(*command, live_);
      add_feed_flags(*command, feeds_, command == train_);
      add_report_flag(*command, report_at_end_);
    }
    add_exploration_flags(*simulate_, exploration_);
    add_cluster();
    add_certs_flags(*certs_, authority_);
    add_reproduce_flags(*reproduce_, reproducing_);
    add_sweep_flags(*sweep_, sweeping_);
    add_advise_flags(*advise_, advising_);
    add_export_flags(*export_, exported_);
    add_watch_flags(*watch_, watching_);
    add_plot_flags(*plot_, picture_);
    add_report_flags(*report_, reported_);
    list_->add_flag("--json", json_, "print as JSON");
    list_->add_option("kind", kind_, "what to list, such as codecs (default: the kinds there are)")->type_name("KIND");
    explain_->add_option("name", name_, "what to explain, e.g. ad-psgd")->required()->type_name("NAME");
    add_help();
    require_values(app_);
  }

  /// @returns the exit status
  int run(int argc, char** argv) {
    if (argc < 2) {
      write_last_words(short_help(program_.name()));
      return 2;
    }
    auto words = with_help_flag(app_, {argv, argv + argc});
    const auto job_begins = std::find(words.begin(), words.end(), std::string_view{"--"});
    if (job_begins != words.end())
      job_.emplace(job_begins + 1, words.end());
    try {
      parse(static_cast<int>(job_begins - words.begin()), words.data());
    } catch (const CLI::ParseError& e) {
      return app_.exit(e); // --help and --version
    }
    if (job_ && form_of(app_.get_subcommands().front()->get_name()) == nullptr)
      throw error(errc::usage, "'--' is given, and no job may follow here", help());
    sweeping_.job = reproducing_.more = advising_.job = job_.value_or(std::vector<std::string>{});
    return answer();
  }

private:
  /// Does what the one command asks for. @returns the exit status
  int answer() {
    const auto done = [](auto act) { return [act] { return act(), 0; }; };
    const std::pair<const CLI::App*, std::function<int()>> answers[]{
        {train_, [&] { return train(program_, watched(training_.options())); }},
        {simulate_, [&] { return simulate_as_asked(); }},
        {launch_, [&] { return launch(program_, launching_, launched()); }},
        {node_, [&] { return be_node(); }},
        {status_, [&] { return show_status(program_, visit_); }},
        {logs_, [&] { return show_logs(visit_); }},
        {attach_, [&] { return attach(visit_); }},
        {stop_, [&] { return stop_run(program_, visit_); }},
        {leave_, [&] { return leave_run(program_, visit_); }},
        {list_, done([&] { kind_.empty() ? list_kinds(program_, json_) : list(program_, kind_, json_); })},
        {explain_, done([&] { explain(program_, name_); })},
        {measure_, done([&] { measure_hosts(); })},
        {advise_, [&] { return advise(program_, advising_, of_one_run()); }},
        {certs_, done([&] { make_certificates(program_, authority_); })},
        {watch_, [&] { return watch(program_, watching_); }},
        {plot_, done([&] { plot(picture_); })},
        {report_, done([&] { report(reported_); })},
        {export_, done([&] { export_model(program_, exported_); })},
        {sweep_, [&] { return sweep(program_, sweeping_, of_one_run()); }},
        {reproduce_, [&] { return reproduce(program_, reproducing_, of_one_run()); }},
        {completion_, done([&] { print_completion(program_, app_, shell_); })},
        {man_, done([&] { write_manual(program_, app_, manual_folder_); })},
    };
    const auto asked = std::ranges::find_if(answers, [](const auto& one) { return one.first->parsed(); });
    GOSSAMER_ASSERT(asked != std::end(answers), "each command has an answer");
    return asked->second();
  }

  int simulate_as_asked() {
    const auto options = watched(simulation_.options());
    check_exploration(*simulate_, exploration_, options);
    if (exploration_.several())
      require_unwatched();
    return simulate(program_, options, exploration_);
  }

  /// @error errc::usage; --help and --version pass as CLI's exceptions
  void parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() == 0)
        throw;
      throw app_.remaining(true).empty() ? error(errc::usage, e.what(), help())
                                         : unexpected(app_, {argv, argv + argc}, help());
    }
  }

  run_options watched(run_options options) const {
    options.live = live_;
    options.feeds = feeds_;
    options.report = report_at_end_;
    options.json = json_;
    return options;
  }

  /// @error errc::usage on a flag of those who watch one run
  void require_unwatched() const {
    if (!live_.where.empty() || !feeds_.tensorboard.empty() || !feeds_.events.empty() || feeds_.shown == ui::json)
      throw error(errc::usage, "--live, --tensorboard, --events or --ui json is given, and there are several runs",
                  "leave it out, and watch a run by itself");
  }

  void add_help() {
    add_help_flags(*completion_, shell_, *man_, manual_folder_, program_.name());
    format_help(app_);
    group("Train", {train_, simulate_, launch_, node_});
    group("Runs that were launched", {status_, logs_, attach_, stop_, leave_});
    group("Before a run", {list_, explain_, measure_, advise_, certs_});
    group("Results", {watch_, plot_, report_, export_, sweep_, reproduce_});
    group("Help", {completion_, man_});
  }

  static void group(const std::string& title, std::initializer_list<CLI::App*> commands) {
    for (auto* command : commands)
      command->group(title);
  }

  void add_cluster() {
    add_node_flags(*node_, node_options_);
    add_launch_flags(*launch_, launching_);
    add_measure_flags(*measure_, measuring_);
    for (auto* command : {status_, stop_, leave_})
      add_visit_flags(*command, visit_, true);
    for (auto* command : {logs_, attach_})
      add_visit_flags(*command, visit_, false);
    add_own_visit_flags(*leave_, *logs_, *attach_, visit_);
  }

  /// Returns a parser of words of a job, or else of flags of `simulate`, for one of many runs.
  std::function<run_options(std::vector<std::string>)> of_one_run() const {
    return [this](std::vector<std::string> words) {
      command_line inner{program_};
      const bool trains = !words.empty() && words.front() == "train";
      if (!words.empty() && words.front() == "simulate")
        words.erase(words.begin());
      auto options = trains ? inner.training(std::move(words)) : inner.simulation(std::move(words));
      inner.require_unwatched();
      inner.refuse_report("leave it out: these runs write none");
      if (inner.train_->count("--out") + inner.simulate_->count("--out") > 0)
        throw error(errc::usage, "--out is given behind --, where each run has a folder of its own",
                    "leave it out; --out in front of -- is the folder of all runs");
      if (inner.exploration_.several())
        throw error(errc::usage, "--seeds or --explore is given behind --, where one run is described",
                    "leave it out; sweep has --seeds, in front of --");
      return options;
    };
  }

  void measure_hosts() {
    if (!job_)
      job_ = {"train"};
    job_options();
    measure_cluster(program_, measuring_, *job_);
  }

  int be_node() {
    const auto n = placed(node_options_);
    if (n.probe)
      return probe(program_, n, job_options());
    if (n.join.empty())
      return lead(program_, n, job_options());
    if (job_ && n.rendezvous.empty())
      throw error(errc::usage, "a node that joins is given a job",
                  "the leader says what is trained: leave out what follows --");
    return join(program_, n);
  }

  /// Returns the job behind `--`. What begins with no command and no flag is a program that joins by itself.
  launched_job launched() {
    const auto is_command = [&](const std::string& word) {
      return !app_.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; }).empty();
    };
    if (!job_ || job_->empty() || job_->front().starts_with('-') || is_command(job_->front())) {
      auto options = job_options();
      return {.options = std::move(options), .words = *job_};
    }
    return {.options = {}, .words = {"train"}, .program = *job_};
  }

  /// Returns the options of the job behind `--`.
  run_options job_options() {
    if (!job_)
      throw error(errc::usage, "there is nothing to train", "add a job, e.g. -- train --algorithm d-psgd");
    command_line inner{program_};
    auto options = inner.training(*job_);
    inner.refuse_report(*measure_ ? "leave it out: measurements write none"
                                  : "launch and node have it, in front of --");
    return options;
  }

  void parse(std::vector<std::string> words) {
    std::vector<char*> argv{const_cast<char*>(program_.name().c_str())};
    for (auto& word : words)
      argv.push_back(word.data());
    try {
      parse(static_cast<int>(argv.size()), argv.data());
    } catch (const CLI::Success&) { // which only the outer command line can answer
      throw error(errc::usage, "help is asked for behind --", fmt::format("{} COMMAND --help", program_.name()));
    }
  }

  run_options simulation(std::vector<std::string> flags) {
    flags.insert(flags.begin(), simulate_->get_name());
    parse(std::move(flags));
    return simulation_.options();
  }

  run_options training(std::vector<std::string> words) {
    parse(std::move(words));
    if (!*train_)
      throw error(errc::usage, "what follows -- is not the command train", "nodes can do nothing else: -- train ...");
    auto options = watched(training_.options());
    options.report = false; // what nodes do, and sweeps, they say themselves
    return options;
  }

  /// @error errc::usage for a job of another command, which does not end in this process
  void refuse_report(std::string_view remedy) const {
    if (train_->count("--report") + simulate_->count("--report") > 0)
      throw error(errc::usage, "--report is given behind --", std::string{remedy});
  }

  std::string help() const {
    const auto parsed = app_.get_subcommands();
    return fmt::format("{0} --help and {0} {1} --help list what there is", program_.name(),
                       parsed.empty() ? "train" : parsed.front()->get_name());
  }

  const program& program_;
  CLI::App app_{"Gossamer: actors for distributed SGD over slow, lossy and uneven networks", program_.name()};
  CLI::App* train_ = app_.add_subcommand("train", "train a model with several workers on this machine");
  CLI::App* simulate_ = app_.add_subcommand("simulate", "the same in virtual time, over a network of your choice");
  CLI::App* launch_ = app_.add_subcommand("launch", "train on several machines, or with several processes here");
  CLI::App* node_ = app_.add_subcommand("node", "one process of a run on several machines");
  CLI::App* status_ = app_.add_subcommand("status", "say how far a run is that was launched");
  CLI::App* logs_ = app_.add_subcommand("logs", "show what a run has said that was launched");
  CLI::App* leave_ = app_.add_subcommand("leave", "let a node of a run hand over what it has, and end");
  CLI::App* stop_ = app_.add_subcommand("stop", "end a run as Ctrl-C does, and wait until it is written down");
  CLI::App* attach_ = app_.add_subcommand("attach", "follow a run to its end, and give its exit status");
  CLI::App* watch_ = app_.add_subcommand("watch", "serve a page that shows a run, of a folder or elsewhere");
  CLI::App* measure_ = app_.add_subcommand("measure", "measure the links between hosts, and how long they compute");
  CLI::App* sweep_ = app_.add_subcommand("sweep", "run every combination of some settings, and compare them");
  CLI::App* reproduce_ = app_.add_subcommand("reproduce", "make tables and figures of papers again, and judge them");
  CLI::App* advise_ = app_.add_subcommand("advise", "say which algorithm suits a network, by simulating some");
  CLI::App* certs_ = app_.add_subcommand("certs", "make certificates for the nodes of runs on several machines");
  CLI::App* list_ = app_.add_subcommand("list", "list what there is to choose from");
  CLI::App* explain_ = app_.add_subcommand("explain", "explain an algorithm, codec, topology, model, ...");
  CLI::App* export_ = app_.add_subcommand("export", "write the model of a run's last checkpoint for NumPy");
  CLI::App* plot_ = app_.add_subcommand("plot", "draw the curves of several runs in one picture");
  CLI::App* report_ = app_.add_subcommand("report", "write a page about one or several runs, which needs nothing else");
  CLI::App* completion_ = app_.add_subcommand("completion", "print what completes commands and flags in a shell");
  CLI::App* man_ = app_.add_subcommand("man", "write manual pages");
  table_flags training_{*train_, train_options()};
  table_flags simulation_{*simulate_, simulate_options()};
  exploration exploration_;
  node_options node_options_;
  launch_options launching_;
  visit_options visit_;
  measure_options measuring_;
  certs_options authority_;
  reproduce_options reproducing_;
  std::optional<std::vector<std::string>> job_; // the words behind `--`
  bool json_ = false;
  bool report_at_end_ = true;
  live_options live_;
  feed_options feeds_;
  watch_options watching_;
  sweep_options sweeping_;
  advise_options advising_;
  std::string kind_, name_, shell_, manual_folder_;
  export_options exported_;
  plot_options picture_;
  report_options reported_;
};

/// @returns the exit status
int run_and_flush(int argc, char** argv, const program& self) {
  try {
    const int status = command_line{self}.run(argc, argv);
    flush_output();
    return status;
  } catch (const std::system_error& e) { // fmt::print's; other functions throw an `error` themselves
    if (std::ferror(stdout) == 0)
      throw;
    throw lost_output(e.code().value());
  }
}

} // namespace

int run_command(int argc, char** argv, const own_entries& own) {
  open_closed_streams();
  std::signal(SIGCHLD, SIG_DFL); // who starts this may ignore it, and then the ends of processes cannot be waited for
  // Standard output is for results.
  auto log = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (!may_colour(STDERR_FILENO))
    log->set_color_mode(spdlog::color_mode::never);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("gossamer", std::move(log)));
  spdlog::cfg::load_env_levels();
  allow_more_open_files();
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is a full disk: its writer names the file
  const std::string path = argc > 0 ? argv[0] : "gossamer";
  // Never throws, not even when standard error is closed, and does not wait for ever when that is not read.
  const auto complain = [name = path.substr(path.rfind('/') + 1)](const std::string& what) {
    write_last_words(fmt::format("{}: {}\n", name, printable(what)));
    return 1;
  };
  try {
    return run_and_flush(argc, argv, program{path, {.own = own}});
  } catch (const error& e) {
    complain(words_of(e));
    return e.exit_status();
  } catch (const std::bad_alloc&) { // for an allocation that names no part of the work
    return complain("memory ended; use fewer workers, a smaller model or less data");
  } catch (const std::exception& e) {
    return complain(words_of(e));
  }
}

int run_embedded(const std::vector<std::string>& words, const embedding& with) {
  require_embeddable(words);
  static std::mutex runs;
  const std::unique_lock alone{runs, std::try_to_lock};
  if (!alone)
    throw error(errc::usage, "a run is under way in this process", "wait for its end, or use another process");
  const clean_stop::without_signals asked_by_program;
  std::vector<char*> argv{const_cast<char*>("gossamer")};
  for (const auto& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  return run_and_flush(static_cast<int>(argv.size()), argv.data(), program{argv.front(), with});
}

void stop_embedded() noexcept { clean_stop::request(); }

} // namespace gossamer::apps
