// gossamer sweep: a grid of settings, dealt out to processes.
#include "gossamer/apps/detail/sweep.hpp"

#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/progress.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/result_keys.hpp"
#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/text_table.hpp"
#include "gossamer/apps/detail/told.hpp"
#include "gossamer/apps/reproductions/detail/findings.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t most_points = 100'000;

/// "lr=0.1 0.2": the key, and its values.
std::pair<std::string, std::vector<std::string>> varied(const std::string& text) {
  const auto equals = text.find('=');
  std::vector<std::string> values;
  if (equals != std::string::npos)
    for (const auto& word : split(text.substr(equals + 1), ' '))
      if (!word.empty() && std::ranges::find(values, word) == values.end()) // two would write into one folder
        values.push_back(word);
  if (equals == 0 || values.empty())
    throw error(errc::usage, fmt::format("--vary is '{}', which is not of the form KEY=VALUE VALUE ...", text),
                "for example --vary 'lr=0.05 0.1 0.2'");
  return {text.substr(text.starts_with("--") ? 2 : 0, equals - (text.starts_with("--") ? 2 : 0)), values};
}

std::vector<std::string> seeds_of(const std::string& text) {
  if (text.empty())
    return {""};
  const auto dots = text.find("..");
  if (dots == std::string::npos)
    throw error(errc::usage, fmt::format("--seeds is '{}', which is not of the form A..B", text), "for example 1..5");
  const auto first = parse_integer("the first of --seeds", text.substr(0, dots), 0, std::int64_t{1} << 40);
  const auto last = parse_integer("the last of --seeds", text.substr(dots + 2), first,
                                  first + static_cast<std::int64_t>(most_points));
  std::vector<std::string> seeds;
  for (auto seed = first; seed <= last; ++seed)
    seeds.push_back(fmt::format("{}", seed));
  return seeds;
}

/// "lr=0.1,seed=2", which is also the name of the run folder: "/" is "%2F" in it, as in addresses.
std::string name_of(const sweep_grid& grid, const sweep_point& at) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < grid.keys.size(); ++k)
    parts.push_back(fmt::format("{}={}", grid.keys[k], at.values[k]));
  if (!at.seed.empty())
    parts.push_back("seed=" + at.seed);
  std::string name;
  for (const char letter : fmt::format("{}", fmt::join(parts, ",")))
    name += letter == '/' ? "%2F" : letter == '%' ? "%25" : std::string(1, letter);
  return name.empty() ? "run" : name;
}

/// The words of one run's job.
std::vector<std::string> words_of(const sweep_options& o, const sweep_grid& grid, const sweep_point& at) {
  auto words = o.job;
  for (std::size_t k = 0; k < grid.keys.size(); ++k)
    words.insert(words.end(), {"--" + grid.keys[k], at.values[k]});
  if (!at.seed.empty())
    words.insert(words.end(), {"--seed", at.seed});
  return words;
}

/// One run of the sweep.
struct planned_run {
  const sweep_point* at;
  std::string key; ///< as of `result_keys`
};

/// True if there is a comma where no parameters of a name stand.
bool looks_like_several(const std::string& values) { return values.find(',') < values.find(':'); }

/// Adds to what is wrong with a run that --vary separates values by blanks, if the error complains about a value that
/// looks like several.
error with_separator(const error& e, const sweep_grid& grid, const sweep_point& at) {
  for (std::size_t k = 0; k < grid.keys.size(); ++k) {
    auto values = at.values[k];
    if (!looks_like_several(values) || e.sentence().find(values) == std::string::npos)
      continue;
    std::ranges::replace(values, ',', ' ');
    return {e.code(), e.sentence(),
            fmt::format("{}{}--vary separates values by blanks: --vary '{}={}'", e.remedy(),
                        e.remedy().empty() ? "" : "; ", grid.keys[k], values)};
  }
  return e;
}

bool is_simulated(const sweep_options& o) { return o.job.front() == "simulate"; }

/// Returns all runs, and refuses a wrong one before anything runs: all that needs no data is checked.
std::vector<planned_run> planned(const program& p, const sweep_options& o, const sweep_grid& grid,
                                 const std::function<run_options(const std::vector<std::string>&)>& understand) {
  result_keys keys{p.known()};
  std::vector<planned_run> runs;
  for (const auto& at : grid.points) {
    try {
      const auto words = words_of(o, grid, at);
      const auto options = understand(words);
      is_simulated(o) ? check_simulation(p, options) : check_local(p, options);
      runs.push_back({&at, keys.key_of(words, options)});
    } catch (const error& e) {
      throw with_separator(e, grid, at);
    }
  }
  return runs;
}

/// Returns the name of a folder in `parent` for the run of this key: its own, if an earlier sweep has begun it, or a
/// new one. A folder that exists without a note of this key is of another run. @error errc::io
std::string claimed_folder(const fs::path& parent, const std::string& wanted, const std::string& key) {
  constexpr auto elsewhere = "choose another folder with --out";
  for (std::size_t number = 1;; ++number) {
    auto name = number == 1 ? wanted : fmt::format("{}-{}", wanted, number);
    const auto note = parent / name / "job.txt";
    std::error_code problem;
    if (fs::create_directory(parent / name, problem)) {
      write_text(note.string(), key + '\n', elsewhere);
      return name;
    }
    if (problem && problem != std::errc::file_exists)
      throw error(errc::io, fmt::format("cannot make {}: {}", (parent / name).string(), problem.message()), elsewhere);
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
    if (fs::is_regular_file(note, problem)
        && read_file(note.string(), {.noun = "note", .most_bytes = most_bytes}) == key + '\n')
      return name;
  }
}

/// Makes a run in this process. @returns its folder and result: the summary, or "diverged" with a sentence
json made(const program& p, const sweep_options& o, run_options options, const std::string& wanted,
          const std::string& key) {
  const bool simulated = is_simulated(o);
  options.overwrite = true; // what an earlier sweep has begun there
  options.trace = false;
  auto run = simulated ? set_up_simulation(p, options) : set_up_local(p, options);
  const auto name = claimed_folder(o.out, wanted, key); // only now: a run that is refused leaves no folder
  run.options.out = (fs::path{o.out} / name).string();
  auto written = open_folder(run, p.name() + (simulated ? " simulate" : " train"),
                             simulated ? simulate_options() : train_options());
  const actors::run_surroundings around{
      .observer = &written, .faults = run.plan, .workers_per_node = options.world.workers_per_node, .from = run.from};
  try {
    const auto summary = simulated ? actors::simulate(run.experiment, run.options.world, around).summary
                                   : actors::run_locally(run.experiment, around);
    written.finish(summary);
    return {{"folder", name}, {"result", json::parse(to_json(summary))}};
  } catch (const error& e) {
    if (e.code() != errc::diverged)
      throw;
    return {{"folder", name}, {"result", {{"diverged", e.sentence()}}}};
  }
}

/// The results of a sweep, and the file that keeps them: a line for each run.
class kept_results {
public:
  explicit kept_results(const fs::path& folder) : file_(folder / "results.jsonl") {
    make_folder(folder, "choose another folder with --out");
    if (file_exists(file_))
      read_lines(file_.string(), {.noun = "results file", .most_bytes = std::uint64_t{1} << 24},
                 [this](std::string_view line) {
                   const auto object = json::parse(line, nullptr, false);
                   if (const auto result = object.find("result"); object.is_object()
                                                                  && object.value("job", json{}).is_string()
                                                                  && result != object.end() && result->is_object())
                     known_[object["job"].get<std::string>()] = *result;
                 });
    std::ifstream in{file_, std::ios::binary};
    is_cut_ = in.seekg(-1, std::ios::end) && in.get() != '\n';
  }

  bool has(const std::string& key) const { return known_.contains(key); }
  const json& of(const std::string& key) const { return known_.at(key); }
  /// @error errc::io
  void keep(const std::string& key, const std::string& folder, const json& result) {
    known_[key] = result;
    std::ofstream out{file_, std::ios::app};
    out << (std::exchange(is_cut_, false) ? "\n" : "")
        << json{{"job", key}, {"folder", folder}, {"result", result}}.dump() << '\n'
        << std::flush;
    if (!out)
      throw error(errc::io, fmt::format("cannot write {}", file_.string()), "choose another folder with --out");
  }

private:
  fs::path file_;
  bool is_cut_ = false;               // within a line, by a disk that was full: the next would be part of it
  std::map<std::string, json> known_; // by the key of the job
};

/// One line of the table: a setting with all its seeds.
struct tally {
  std::vector<std::string> values;
  std::vector<double> accuracy, loss, seconds, payload;
  std::size_t diverged = 0;

  void add(const json& result) {
    if (result.contains("diverged")) {
      ++diverged;
      return;
    }
    const auto number = [&](const char* key) {
      const auto found = result.find(key);
      return found != result.end() && found->is_number() ? found->get<double>() : NAN;
    };
    accuracy.push_back(100 * number("test_accuracy"));
    loss.push_back(number("train_loss"));
    seconds.push_back(number("time_s"));
    payload.push_back(1e-9 * number("payload_bits"));
  }
  /// Smaller is better. Runs that diverge are worst; what has no accuracy is as good as its loss.
  double badness(const std::string& by) const {
    if (diverged > 0 || loss.empty())
      return std::numeric_limits<double>::infinity();
    const auto mean = estimated(accuracy).mean;
    return by == "accuracy" && !std::isnan(mean) ? -mean : estimated(loss).mean;
  }
};

/// "93.42 +- 1.03": the interval has as many decimals as the mean.
std::string mean_text(const std::vector<double>& values) {
  constexpr int digits = 4;
  if (values.empty() || std::isnan(values.front()))
    return "-";
  const auto e = estimated(values);
  auto text = to_text({.mean = e.mean}, digits);
  const auto size = std::abs(e.mean);
  if (constexpr double rounding = 1e-9; !e.half_width || *e.half_width <= rounding * size)
    return text;
  if (text.find('e') != std::string::npos || size == 0)
    return fmt::format("{} +- {:.2g}", text, *e.half_width);
  const auto in_front = static_cast<int>(std::floor(std::log10(size))) + 1; // of the point; at most `digits`
  return fmt::format("{:.{}f} +- {:.{}f}", e.mean, digits - in_front, *e.half_width, digits - in_front);
}

std::vector<tally> rows_of(const sweep_options& o, const std::vector<planned_run>& runs, const kept_results& results) {
  std::map<std::vector<std::string>, tally> by_values;
  for (const auto& run : runs) {
    auto& one = by_values[run.at->values];
    one.values = run.at->values;
    if (results.has(run.key))
      one.add(results.of(run.key));
  }
  std::vector<tally> all;
  all.reserve(by_values.size());
  for (auto& [values, one] : by_values)
    all.push_back(std::move(one));
  std::ranges::stable_sort(all, {}, [&](const tally& r) { return r.badness(o.by); });
  return all;
}

void print(const std::vector<std::string>& keys, const std::vector<tally>& rows) {
  std::vector<std::vector<std::string>> table{keys};
  table[0].insert(table[0].end(), {"test accuracy, %", "training loss", "seconds", "payload, Gb", "runs"});
  for (const auto& r : rows) {
    table.push_back(r.values);
    const auto runs = r.loss.size() + r.diverged;
    table.back().insert(table.back().end(),
                        {mean_text(r.accuracy), mean_text(r.loss), mean_text(r.seconds), mean_text(r.payload),
                         r.diverged > 0 ? fmt::format("{}, {} diverged", runs, r.diverged) : fmt::format("{}", runs)});
  }
  fmt::print("{}", text_table(table));
}

/// Returns what is said of a run that was not made: what is wrong with the request, or a command that shows the
/// failure.
error failed(const program& p, const sweep_options& o, const sweep_grid& grid, const planned_run& run,
             const error& why) {
  if (why.code() == errc::usage)
    return with_separator(why, grid, *run.at);
  const auto folder = fs::path{o.out} / claimed_folder(o.out, name_of(grid, *run.at), run.key);
  const auto words = words_of(o, grid, *run.at);
  return {
      why.code(), fmt::format("a run failed: {}", why.sentence()),
      fmt::format("to see it: {} {} --out {} --overwrite", p.name(), shell_line(words), shell_word(folder.string()))};
}

/// "12 of 24 runs, about 90 s left", on a terminal.
class countdown {
public:
  countdown(std::size_t done, std::size_t wanted) : began_with_(done), done_(done), wanted_(wanted) {}
  void count() {
    ++done_;
    const auto each_s = since_.seconds() / static_cast<double>(done_ - began_with_);
    line_.show(fmt::format("{} of {} runs  about {:.0f} s left", done_, wanted_,
                           each_s * static_cast<double>(wanted_ - done_)));
  }

private:
  std::size_t began_with_, done_, wanted_;
  stopwatch since_;
  live_block line_;
};

} // namespace

sweep_grid grid_of(const sweep_options& o) {
  sweep_grid grid;
  grid.points.emplace_back();
  for (const auto& text : o.vary) {
    const auto [key, values] = varied(text);
    if (std::ranges::find(grid.keys, key) != grid.keys.end())
      throw error(errc::usage, fmt::format("--vary names {} twice", key), "give all of its values at once");
    if (key == "out")
      throw error(errc::usage, "--vary names out, and each run has a folder of its own",
                  "leave it out; --out is the folder of all runs");
    grid.keys.push_back(key);
    std::vector<sweep_point> finer;
    for (const auto& at : grid.points)
      for (const auto& value : values) {
        finer.push_back(at);
        finer.back().values.push_back(value);
      }
    grid.points = std::move(finer);
    if (grid.points.size() > most_points)
      break;
  }
  if (!o.seeds.empty() && std::ranges::find(grid.keys, "seed") != grid.keys.end())
    throw error(errc::usage, "--vary names seed, and --seeds is given",
                "leave one of them out: --vary compares seeds, --seeds takes their mean");
  const auto seeds = seeds_of(o.seeds);
  if (grid.points.size() * seeds.size() > most_points)
    throw error(errc::usage, fmt::format("this sweep has more than {} runs", most_points), "vary less at once");
  std::vector<sweep_point> all;
  for (const auto& at : grid.points)
    for (const auto& seed : seeds) {
      all.push_back(at);
      all.back().seed = seed;
    }
  grid.points = std::move(all);
  return grid;
}

int sweep(const program& p, const sweep_options& o,
          const std::function<run_options(const std::vector<std::string>&)>& understand) {
  if (o.job.empty() || (o.job.front() != "simulate" && o.job.front() != "train"))
    throw error(errc::usage, "a sweep has no job", "add simulate or train behind --, with the flags of all runs");
  const auto grid = grid_of(o);
  const auto runs = planned(p, o, grid, understand);
  kept_results results{o.out};
  std::vector<const planned_run*> missing;
  for (const auto& run : runs)
    if (!results.has(run.key))
      missing.push_back(&run);
  const auto jobs = o.jobs > 0 ? o.jobs : std::max(1u, std::thread::hardware_concurrency());
  countdown left{grid.points.size() - missing.size(), grid.points.size()};
  const clean_stop stop;
  in_processes(
      missing.size(), jobs, o.run_limit_s,
      [&](std::size_t i) {
        return tell([&] {
          const auto& run = *missing[i];
          return made(p, o, understand(words_of(o, grid, *run.at)), name_of(grid, *run.at), run.key);
        });
      },
      [&](std::size_t i, const process_end& end) {
        json said;
        if (const auto problem = gossamer::apps::understand(end, said))
          throw failed(p, o, grid, *missing[i], *problem);
        results.keep(missing[i]->key, said["folder"].get<std::string>(), said["result"]);
        left.count();
        return true;
      },
      clean_stop::is_requested);
  print(grid.keys, rows_of(o, runs, results));
  if (clean_stop::requested() == 0)
    return 0;
  fmt::print("interrupted; the same command goes on with the runs that are missing\n");
  return 128 + clean_stop::requested();
}

} // namespace gossamer::apps
