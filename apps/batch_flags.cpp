#include "gossamer/apps/detail/batch_flags.hpp"

#include "gossamer/apps/detail/time_flag.hpp"

namespace gossamer::apps {

void add_exploration_flags(CLI::App& command, exploration& x) {
  command.add_option("--seeds", x.seeds, "run with each of these seeds; no run folders, but runs.json in --out")
      ->type_name("A..B");
  command.add_option("--explore", x.interleavings, "run with each of the interleavings 1 to N, likewise")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--jobs", x.each.jobs, "processes at a time (default: one for each processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  add_time(command, "--run-limit", x.each.run_limit_s, "a run of several has failed after so many real seconds",
           {1e-3, 1e6});
  command.add_flag("--keep-going", x.keep_going, "run all of several, also when one has failed");
  command.add_flag("--shrink", x.shrink, "look for the smallest plan of faults under which a run still fails");
  command.add_flag("--twice", x.each.twice, "run everything twice, and fail unless the same happens");
}

void add_sweep_flags(CLI::App& command, sweep_options& o) {
  command.add_option("--vary", o.vary, "a flag of the job, and its values; may be repeated")
      ->type_name("'KEY=VALUE VALUE ...'");
  command.add_option("--seeds", o.seeds, "run each setting with each of these seeds")->type_name("A..B");
  command.add_option("--by", o.by, "what is best: accuracy or train-loss")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"accuracy", "train-loss"}));
  command.add_option("--out", o.out, "folder of the runs; those that it holds are not repeated")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--jobs", o.jobs, "processes at a time (default: one for each processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  add_time(command, "--run-limit", o.run_limit_s, "a run has failed after so many real seconds", {1e-3, 1e6});
  command.footer("The job follows behind --, e.g. sweep --vary 'lr=0.1 0.2' --seeds 1..3 -- simulate --workers 8");
}

void add_reproduce_flags(CLI::App& command, reproduce_options& o) {
  command.add_option("names", o.names, "which")->type_name("NAME");
  command.add_flag("--all", o.all, "all of them");
  command.add_flag("--list", o.list, "say what there is");
  command.add_flag("--quick", o.quick, "a short form with wide margins, of a minute at most");
  command.add_option("--data", o.data, "instead of those of the reproduction")->type_name("NAME");
  command.add_option("--model", o.model, "instead of that of the reproduction")->type_name("NAME");
  command.add_option("--out", o.out, "folder of the results; runs that it holds are not repeated")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_flag("--page", o.page, "run nothing, and print a page of the results that are in --out");
  command.add_option("--jobs", o.jobs, "processes at a time (default: one for each processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  add_time(command, "--run-limit", o.run_limit_s, "a run has failed after so many real seconds", {1e-3, 1e6});
  command.footer("Flags of simulate behind -- are those of all runs, e.g. -- --network wan.");
}

} // namespace gossamer::apps
