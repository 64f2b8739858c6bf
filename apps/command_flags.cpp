#include "gossamer/apps/detail/command_flags.hpp"

#include "gossamer/apps/detail/flag_text.hpp"
#include "gossamer/apps/detail/time_flag.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <functional>

namespace gossamer::apps {

namespace {

void add_jobs(CLI::App& command, std::size_t& jobs) {
  command.add_option("--jobs", jobs, "processes at a time (default: one for each processor)")
      ->type_name("N")
      ->check(within(1, 1024));
}

/// The flags of commands that make many runs, and keep what they have made.
void add_batch_flags(CLI::App& command, std::string& out, std::size_t& jobs, double& run_limit_s) {
  command.add_option("--out", out, "folder of the runs; those that it holds are not repeated")
      ->type_name("DIR")
      ->capture_default_str();
  add_jobs(command, jobs);
  add_time(command, "--run-limit", run_limit_s, "a run has failed after so many real seconds", {1e-3, 1e6});
}

/// Returns the check of a flag's value, or of a word that stands without one.
CLI::Validator not_empty(const CLI::Option& o) {
  const auto name = o.get_positional() ? o.get_type_name() : o.get_name();
  const auto* remedy = o.get_required() ? "give it a value" : "give it a value, or leave it out for its default";
  return {[name, remedy](std::string& given) -> std::string {
            if (given.empty())
              throw error(errc::usage, fmt::format("{} is empty", name), remedy);
            return {};
          },
          ""};
}

} // namespace

void require_values(CLI::App& app) {
  const auto each = [](const auto*) { return true; };
  for (auto* command : app.get_subcommands(std::function<bool(CLI::App*)>{each}))
    for (auto* one : command->get_options(std::function<bool(CLI::Option*)>{each}))
      if (one->get_items_expected_max() > 0)
        one->transform(not_empty(*one)); // which puts it before the checks that there are
}

void add_export_flags(CLI::App& command, export_options& o) {
  command.add_option("run", o.run, "run folder, with a checkpoint")->required()->type_name("RUN");
  command.add_option("--out", o.out, "the .npz file to write")->capture_default_str()->type_name("FILE");
}

void add_help_flags(CLI::App& completion, std::string& shell, CLI::App& man, std::string& folder,
                    const std::string& program) {
  completion.add_option("shell", shell, "bash or zsh")->required()->type_name("SHELL");
  completion.footer(fmt::format("For this session: source <({} completion bash)", program));
  man.add_option("folder", folder, "where the pages are written, such as man/man1")->required()->type_name("DIR");
}

void add_plot_flags(CLI::App& command, plot_options& o) {
  command.add_option("runs", o.runs, "run folders")->required()->type_name("RUN");
  command.add_option("--x", o.shown.x, "the horizontal axis")->capture_default_str()->type_name("seconds|epochs|bits");
  command.add_option("--y", o.shown.y, "the vertical axis")
      ->capture_default_str()
      ->type_name("train-loss|test-loss|accuracy|averagings");
  command.add_flag_function( // add_flag would count, and count 0 when neither is given
      "--log,!--linear",
      [&o](std::int64_t more) {
        if (more == 0)
          throw error(errc::usage, "both --log and --linear are given", "leave one of them out");
        o.shown.logarithmic = more > 0;
      },
      "the scale of y (default: logarithmic for losses that span more than a decade)");
  command.add_option("--smooth", o.shown.smooth, "each point is the mean of K evaluations around it")
      ->capture_default_str()
      ->type_name("K")
      ->check(within(1, 1'000'000));
  command.add_flag("--band", o.shown.band,
                   "runs that differ only in the seed become one curve, their median, in a band of all their values");
  command.add_option("--out", o.out, "the file to write: SVG, or PNG by a converter that is installed")
      ->capture_default_str()
      ->type_name("FILE");
}

void add_certs_flags(CLI::App& command, certs_options& o) {
  command.add_option("--out", o.out, "folder for the authority, with a folder for each host")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--hosts", o.hosts, "as others call them, e.g. node-1,192.0.2.7")
      ->type_name("NAME_OR_ADDRESS,...")
      ->required();
  command.add_option("--days", o.days, "until certificates end")
      ->type_name("N")
      ->capture_default_str()
      ->check(within(1, 36'500));
  command.add_flag("--overwrite", o.overwrite, "give hosts a new pair that have one; the authority stays");
  command.footer("An authority that is there already signs for more hosts.");
}

void add_reproduce_flags(CLI::App& command, reproduce_options& o) {
  command.add_option("names", o.names, "which")->type_name("NAME");
  command.add_flag("--all", o.all, "all of them");
  command.add_flag("--list", o.list, "say what there is");
  command.add_flag("--quick", o.quick, "a short form with wide margins, of a minute at most");
  command.add_option("--data", o.data, "instead of those of the reproduction")->type_name("NAME");
  command.add_option("--model", o.model, "instead of that of the reproduction")->type_name("NAME");
  command.add_flag("--page", o.page, "run nothing, and print a page of the results that are in --out");
  add_batch_flags(command, o.out, o.jobs, o.run_limit_s);
  command.footer("Flags of simulate behind -- are those of all runs, e.g. -- --network wan.");
}

void add_exploration_flags(CLI::App& simulate, exploration& x) {
  simulate.add_option("--seeds", x.seeds, "run with each of these seeds; no run folders, but runs.json in --out")
      ->type_name("A..B");
  simulate.add_option("--explore", x.interleavings, "run with each of the interleavings 1 to N, likewise")
      ->type_name("N")
      ->check(within(1, 1'000'000));
  add_jobs(simulate, x.each.jobs);
  add_time(simulate, "--run-limit", x.each.run_limit_s, "a run of several has failed after so many real seconds",
           {1e-3, 1e6});
  simulate.add_flag("--keep-going", x.keep_going, "run all of several, also when one has failed");
  simulate.add_flag("--shrink", x.shrink, "look for the smallest plan of faults under which a run still fails");
  simulate.add_flag("--twice", x.each.twice, "run everything twice, and fail unless the same happens");
}

void check_exploration(const CLI::App& simulate, const exploration& x, const run_options& options) {
  const auto require = [&simulate](std::string_view flag, bool useful, std::string_view why, std::string_view remedy) {
    if (simulate.count(std::string{flag}) > 0 && !useful)
      throw error(errc::usage, fmt::format("{} is given, but {}", flag, why), std::string{remedy});
  };
  constexpr auto alone = "there is one run only", several = "add --seeds A..B or --explore N";
  require("--keep-going", x.several(), alone, several);
  require("--jobs", x.several(), alone, several);
  require("--run-limit", x.several() || x.shrink, alone, several);
  require("--report", !x.several() || !options.report, "several runs leave no run folders",
          "leave --seeds and --explore out");
  require("--seed", x.seeds.empty(), "--seeds names those of all runs", "leave one of them out");
  require("--interleaving", x.interleavings == 0, "--explore tries several", "leave one of them out");
  require("--shrink", options.chaos || !options.faults.empty(), "no plan of faults",
          "add --chaos SEED or --faults FILE");
}

void add_sweep_flags(CLI::App& command, sweep_options& o) {
  command.add_option("--vary", o.vary, "a flag of the job, and its values; may be repeated")
      ->type_name("'KEY=VALUE VALUE ...'");
  command.add_option("--seeds", o.seeds, "run each setting with each of these seeds")->type_name("A..B");
  command.add_option("--by", o.by, "what is best: accuracy or train-loss")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"accuracy", "train-loss"}));
  add_batch_flags(command, o.out, o.jobs, o.run_limit_s);
  command.footer("The job follows behind --, e.g. sweep --vary 'lr=0.1 0.2' --seeds 1..3 -- simulate --workers 8");
}

void add_advise_flags(CLI::App& command, advise_options& o) {
  command.add_option("--hosts", o.hosts, "the network is that of this file, which gossamer measure has written")
      ->type_name("FILE");
  auto* accuracy = command.add_option("--accuracy", o.accuracy, "the test accuracy to come to")->type_name("A");
  accuracy->check(within(0.0, 1.0));
  command.add_option("--loss", o.loss, "instead: the training loss to come to")
      ->type_name("L")
      ->check(within(-1e9, 1e9))
      ->excludes(accuracy);
  add_batch_flags(command, o.out, o.jobs, o.run_limit_s);
  command.footer("Flags of simulate follow behind --, e.g. advise -- --network wan --workers 16 --model mlp:hidden=50");
}

void add_report_flags(CLI::App& command, report_options& o) {
  command.add_option("runs", o.runs, "run folders; runs may still be going on")->required()->type_name("RUN");
  command.add_option("--out", o.out, "the HTML file to write")->capture_default_str()->type_name("FILE");
}

} // namespace gossamer::apps
