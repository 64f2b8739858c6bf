// gossamer simulate with many seeds or interleavings: looks for runs that fail.
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/failure.hpp"
#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

namespace gossamer::apps {

namespace {

constexpr std::int64_t most_runs = 1'000'000;

struct seed_range {
  std::uint64_t first, last;

  std::size_t size() const { return static_cast<std::size_t>(last - first) + 1; }
};

seed_range seeds_of(const exploration& wanted, const run_options& options) {
  if (wanted.seeds.empty())
    return {options.run.seed, options.run.seed};
  const auto dots = wanted.seeds.find("..");
  if (dots == std::string::npos)
    throw error(errc::usage, fmt::format("--seeds is '{}', which is not of the form A..B", wanted.seeds),
                "for example 1..100");
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto first = parse_integer("the first of --seeds", wanted.seeds.substr(0, dots), 0, most - most_runs);
  const auto last = parse_integer("the last of --seeds", wanted.seeds.substr(dots + 2), first, first + most_runs - 1);
  return {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last)};
}

/// All runs of one exploration, by number: for each seed all interleavings.
class runs {
public:
  runs(const program& p, const run_options& options, const exploration& wanted)
      : program_(p), seeds_(seeds_of(wanted, options)),
        interleavings_(std::max<std::uint64_t>(wanted.interleavings, 1)), one_interleaving_(wanted.interleavings == 0),
        first_(set_up_simulation(p, with_seed(options, seeds_.first))) {}

  std::size_t size() const { return seeds_.size() * interleavings_; }

  std::uint64_t seed_of(std::size_t i) const { return seeds_.first + i / interleavings_; }

  run_setup operator[](std::size_t i) const {
    auto run = first_;
    auto& o = run.options;
    o.run.seed = seed_of(i);
    if (!one_interleaving_)
      o.world.interleaving = 1 + i % interleavings_;
    if (o.run.seed != first_.options.run.seed) {
      run.experiment = actors::prepare(o.run, program_.known());
      run.plan = plan_of(o, *run.experiment);
    }
    return run;
  }

private:
  static run_options with_seed(run_options o, std::uint64_t seed) {
    o.run.seed = seed;
    return o;
  }

  const program& program_;
  seed_range seeds_;
  std::uint64_t interleavings_;
  bool one_interleaving_;
  run_setup first_;
};

/// Totals of an exploration.
struct tally {
  std::size_t done = 0;
  std::map<std::size_t, attempt> failed; ///< by number of the run
  std::set<std::uint64_t> hashes;
  double least_loss = std::numeric_limits<double>::infinity();
  double greatest_loss = -std::numeric_limits<double>::infinity();

  void count(std::size_t i, const attempt& a) {
    ++done;
    if (a.failed) {
      failed.emplace(i, a);
      return;
    }
    hashes.insert(a.hash);
    least_loss = std::min(least_loss, a.train_loss);
    greatest_loss = std::max(greatest_loss, a.train_loss);
  }
};

/// Shows one line on a terminal, in place of the last one; an empty line removes it.
void show_progress(const std::string& line) {
  static const bool terminal = can_rewrite(STDERR_FILENO);
  if (terminal)
    std::fputs(("\r\033[K" + line).c_str(), stderr);
}

/// Reports a failure at once, so that an interrupt or another end of the program does not lose it.
void report_now(const program& p, const failure& f, const std::string& folder, const attempt_options& how) {
  show_progress({});
  report(p, f, folder, how);
  std::fflush(stdout);
}

void print_table(const tally& t) {
  fmt::print("{:>8}  {:>8}  {:>15}  final training loss\n", "runs", "failures", "distinct hashes");
  fmt::print("{:>8}  {:>8}  {:>15}  {}\n", t.done, t.failed.size(), t.hashes.size(),
             t.hashes.empty() ? "-" : fmt::format("{:.4g} to {:.4g}", t.least_loss, t.greatest_loss));
}

std::string to_json(const tally& t, const runs& all) {
  nlohmann::ordered_json object{{"runs", t.done}, {"distinct_hashes", t.hashes.size()}};
  object["least_train_loss"] = t.least_loss; // infinite if no run succeeded, which is written as null
  object["greatest_train_loss"] = t.greatest_loss;
  object["failures"] = nlohmann::ordered_json::array();
  for (const auto& [i, a] : t.failed) {
    const auto o = all[i].options;
    object["failures"].push_back(
        {{"seed", o.run.seed}, {"interleaving", o.world.interleaving}, {"message", a.message}});
  }
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

/// Returns the file of --out for the results of all runs; empty without --out. An unusable file is refused before the
/// first run.
std::filesystem::path results_file(const run_options& options) {
  if (options.out.empty())
    return {};
  make_folder(options.out, "choose another folder with --out");
  auto file = std::filesystem::path{options.out} / "runs.json";
  if (file_exists(file) && !options.overwrite)
    throw error(errc::usage, fmt::format("{} already holds the results of several runs", options.out),
                "choose another folder with --out, or pass --overwrite");
  return file;
}

/// Does the runs until one fails, or a signal comes.
tally attempt_until_stopped(const runs& all, const exploration& wanted,
                            const std::function<void(std::size_t, const attempt&)>& on_failure) {
  const clean_stop stop;
  auto how = wanted.each;
  how.stop = clean_stop::is_requested;
  tally t;
  attempt_all(
      all.size(), how, [&](std::size_t i) { return all[i]; },
      [&](std::size_t i, const attempt& a) {
        t.count(i, a);
        if (a.failed && wanted.keep_going)
          on_failure(i, a);
        show_progress(fmt::format("{} of {} runs, {} failed", t.done, all.size(), t.failed.size()));
        return wanted.keep_going || !a.failed;
      });
  show_progress({});
  if (!wanted.keep_going && !t.failed.empty()) { // several may have failed at the same time; the first one counts
    t.failed.erase(std::next(t.failed.begin()), t.failed.end());
    on_failure(t.failed.begin()->first, t.failed.begin()->second);
  }
  return t;
}

} // namespace

int explore(const program& p, const run_options& options, const exploration& wanted) {
  const runs all{p, options, wanted};
  const auto results = results_file(options);
  const auto failure_of = [&](std::size_t i, const attempt& a) {
    return failure{all[i], a.code, a.message, a.too_long};
  };
  const auto t = attempt_until_stopped(all, wanted, [&](std::size_t i, const attempt& a) {
    if (!options.json)
      report_now(p, failure_of(i, a), options.out, wanted.each);
  });
  const bool interrupted = clean_stop::is_requested();
  if (wanted.shrink && !options.json && !interrupted)
    for (const auto& [i, a] : t.failed) {
      if (t.failed.size() > 1)
        fmt::print("seed {}: ", all.seed_of(i));
      report_shrunk(p, failure_of(i, a), options.out, wanted.each);
    }
  if (!results.empty())
    write_text(results.string(), to_json(t, all), "choose another folder with --out");
  options.json ? fmt::print("{}", to_json(t, all)) : print_table(t);
  const auto verdict = fmt::format("{} of {} runs failed", t.failed.size(), t.done);
  if (interrupted)
    return p.say(fmt::format("interrupted; {}, of {} wanted", verdict, all.size())), 128 + clean_stop::requested();
  if (!t.failed.empty())
    throw error(errc::failed, verdict);
  return 0;
}

} // namespace gossamer::apps
