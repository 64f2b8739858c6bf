#include "gossamer/apps/reproductions/detail/runs.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/attempt.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/result_keys.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/apps/detail/told.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>
#include <unistd.h>
#include <xxhash.h>

namespace gossamer::apps {

namespace {

using json = nlohmann::ordered_json;

/// Keeps the evaluations of a run.
class evaluations_seen final : public actors::run_observer {
public:
  void on_evaluation(const actors::evaluation_record& record) override {
    all.push_back(json::parse(actors::to_json(record)));
  }
  json all = json::array();
};

double mean_seconds(const std::vector<actors::time_use>& workers, actors::activity what, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) // masters stand behind the workers
    sum += 1e-9 * static_cast<double>(workers[i].of(what));
  return sum / static_cast<double>(count);
}

json simulated(const reproduction& r, const run_setup& run) {
  using actors::activity;
  json object{{"observed", r.observe ? r.observe(*run.experiment) : std::map<std::string, double>{}}};
  evaluations_seen seen;
  try {
    const auto result = actors::simulate(run.experiment, run.options.world, {.observer = &seen, .faults = run.plan});
    const auto seconds = [&](activity what) {
      return mean_seconds(result.time_used, what, run.experiment->settings.workers);
    };
    object.update({{"evaluations", seen.all},
                   {"steps_per_worker", result.summary.steps_per_worker},
                   {"gradients_lost", result.gradients_lost},
                   {"computing_s", seconds(activity::computing)},
                   {"compressing_s", seconds(activity::compressing)},
                   {"communicating_s", seconds(activity::communicating) + seconds(activity::waiting)}});
  } catch (const error& e) {
    if (e.code() != errc::diverged)
      throw;
    object["diverged"] = e.sentence();
  }
  return object;
}

/// @error json::exception for an object of another form
outcome outcome_from(const json& object) {
  outcome o;
  o.observed = object.at("observed").get<std::map<std::string, double>>();
  if (object.contains("diverged"))
    return o;
  for (const auto& record : object.at("evaluations"))
    o.evaluations.push_back(actors::evaluation_from_json(record.dump()));
  o.steps_per_worker = object.at("steps_per_worker").get<std::vector<std::uint64_t>>();
  o.gradients_lost = object.at("gradients_lost");
  o.computing_s = object.at("computing_s");
  o.compressing_s = object.at("compressing_s");
  o.communicating_s = object.at("communicating_s");
  return o;
}

/// A run, and the file with its results.
class kept_run {
public:
  /// @param key as of `result_keys`
  kept_run(flags given, std::string key, const std::filesystem::path& folder)
      : given_(std::move(given)), text_(shell_line(given_)), key_(std::move(key)),
        file_(folder / fmt::format("{:016x}.json", XXH3_64bits(text_.data(), text_.size()))) {}

  const flags& given() const { return given_; }
  const std::string& text() const { return text_; }

  /// Reads the file; false if there is none, if it has another key, or if it is damaged.
  bool read() {
    std::error_code none;
    if (!std::filesystem::exists(file_, none))
      return false;
    constexpr std::uint64_t most_bytes = 1 << 28;
    const auto bytes = read_file(file_, {.noun = "results file", .most_bytes = most_bytes});
    try {
      const auto object = json::parse(bytes);
      if (object.at("flags") != key_)
        return false;
      take(object);
      return true;
    } catch (const json::exception&) {
      return false;
    } catch (const error&) { // from an evaluation
      return false;
    }
  }

  void keep(json object) {
    object["flags"] = key_;
    const auto bytes = object.dump() + '\n';
    replace_durably(file_, std::as_bytes(std::span{bytes}), "choose another folder with --out");
    take(object);
  }

  outcome result;
  double real_s = 0;

private:
  void take(const json& object) {
    result = outcome_from(object);
    real_s = object.at("real_s");
  }

  flags given_;
  std::string text_, key_, file_;
};

/// Writes the faults of a run to a file, which is named by its content, and returns the flags that inject them.
flags faults_of(const reproduction& r, const variant& method, const variant& setting, std::uint64_t seed,
                const std::filesystem::path& folder) {
  const auto plan = r.faults ? r.faults(method, setting, seed) : actors::fault_plan{};
  if (!plan.harms())
    return {};
  const auto text = to_toml(plan);
  const auto file = folder / fmt::format("faults-{:016x}.toml", XXH3_64bits(text.data(), text.size()));
  write_text(file.string(), text, "choose another folder with --out");
  return {"--faults", file.string()};
}

/// Returns how many runs each method has in a setting, at one rate.
std::size_t repeats_of(const reproduction& r) { return std::max<std::size_t>(r.seeds, 1); }

std::vector<kept_run> all_runs(const reproduction& r, const run_maker& how) {
  std::vector<kept_run> runs;
  result_keys keys{how.self.known()};
  for (const auto& method : r.methods)
    for (const auto& setting : r.settings)
      for (std::size_t rate = 0; rate < std::max<std::size_t>(r.rates.size(), 1); ++rate)
        for (std::size_t seed = 1; seed <= repeats_of(r); ++seed) {
          const auto faults = faults_of(r, method, setting, seed, how.folder);
          auto given = flags_of(r, method, setting, rate, seed, how.more);
          given.insert(given.end(), faults.begin(), faults.end());
          auto key = keys.key_of(given, how.understand(given));
          runs.emplace_back(std::move(given), std::move(key), how.folder);
        }
  return runs;
}

/// Returns the flags of a setting and a method, without the common ones.
flags own_flags(const reproduction& r, const variant& method, const variant& setting) {
  flags given = setting.given;
  given.insert(given.end(), method.given.begin(), method.given.end());
  if (r.together) {
    const auto both = r.together(method, setting);
    given.insert(given.end(), both.begin(), both.end());
  }
  return given;
}

/// One line on a terminal that is written over.
class progress {
public:
  progress(std::string name, std::size_t wanted, std::size_t jobs)
      : name_(std::move(name)), wanted_(wanted), jobs_(jobs) {}
  ~progress() { show({}); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void count(double real_s) {
    ++done_;
    sum_s_ += real_s;
    const auto each_s = sum_s_ / static_cast<double>(done_);
    show(fmt::format("{}: {} of {} runs, about {:.0f} s left", name_, done_, wanted_,
                     each_s * static_cast<double>(wanted_ - done_) / static_cast<double>(jobs_)));
  }

private:
  static void show(const std::string& line) {
    static const bool terminal = can_rewrite(STDERR_FILENO);
    if (terminal)
      std::fputs(("\r\033[K" + line).c_str(), stderr);
  }

  std::string name_;
  std::size_t wanted_, jobs_, done_ = 0;
  double sum_s_ = 0;
};

error failed(const reproduction& r, const run_maker& how, const kept_run& run, const error& why) {
  return {why.code(), fmt::format("a run of {} failed: {}", r.name, why.sentence()),
          fmt::format("to see it: {} simulate {}", how.self.name(), run.text())};
}

void make(const reproduction& r, const run_maker& how, std::vector<kept_run*>& missing) {
  const auto jobs = how.jobs > 0 ? how.jobs : std::max(1u, std::thread::hardware_concurrency());
  progress shown{r.name, missing.size(), jobs};
  const clean_stop stop;
  in_processes(
      missing.size(), jobs, how.run_limit_s,
      [&](std::size_t i) {
        return tell([&] {
          const stopwatch watch;
          auto object = simulated(r, set_up_simulation(how.self, how.understand(missing[i]->given())));
          object["real_s"] = watch.seconds();
          return object;
        });
      },
      [&](std::size_t i, const process_end& end) {
        json said;
        if (const auto problem = understand(end, said))
          throw problem->code() == errc::usage ? *problem : failed(r, how, *missing[i], *problem);
        missing[i]->keep(std::move(said));
        shown.count(missing[i]->real_s);
        return true;
      },
      clean_stop::is_requested);
  if (clean_stop::is_requested())
    throw error(errc::interrupted, fmt::format("{} was interrupted", r.name),
                "the same command goes on with the runs that are missing");
}

} // namespace

flags flags_of(const reproduction& r, const variant& method, const variant& setting, std::size_t rate,
               std::uint64_t seed, const flags& more) {
  flags given = r.common;
  const auto own = own_flags(r, method, setting);
  given.insert(given.end(), own.begin(), own.end());
  if (!r.rates.empty())
    given.insert(given.end(), {"--lr", fmt::format("{}", method.rate_unit * r.rates[rate])});
  if (r.seeds > 0)
    given.insert(given.end(), {"--seed", fmt::format("{}", seed)});
  given.insert(given.end(), {"--check", "no", "--trace", "no"});
  given.insert(given.end(), more.begin(), more.end());
  return given;
}

void check_not_compared(const reproduction& r, const flags& more) {
  std::set<std::string> compared;
  if (r.seeds > 0)
    compared.insert("--seed");
  if (!r.rates.empty())
    compared.insert("--lr");
  if (r.faults)
    compared.insert("--faults");
  for (const auto& method : r.methods)
    for (const auto& setting : r.settings)
      for (const auto& word : own_flags(r, method, setting))
        if (word.starts_with("--"))
          compared.insert(word);
  for (const auto& word : more)
    if (const auto flag = word.substr(0, word.find('=')); compared.contains(flag))
      throw error(errc::usage, fmt::format("{} is given, but it is what {} compares", flag, r.name),
                  fmt::format("leave it out; {} compares {}", r.name, fmt::join(compared, ", ")));
}

findings carry_out(const reproduction& r, const run_maker& how) {
  check_not_compared(r, how.more);
  auto runs = all_runs(r, how);
  std::vector<kept_run*> missing;
  for (auto& run : runs)
    if (!run.read())
      missing.push_back(&run);
  make(r, how, missing);

  findings f;
  f.name = r.name;
  auto next = runs.begin();
  for (const auto& method : r.methods)
    for (const auto& setting : r.settings) {
      std::vector<std::vector<outcome>> by_rate(std::max<std::size_t>(r.rates.size(), 1));
      for (auto& of_rate : by_rate)
        for (std::size_t k = 0; k < repeats_of(r); ++k, ++next) {
          of_rate.push_back(next->result);
          f.real_s += next->real_s;
        }
      f.cells.push_back(chosen(r, method, setting, by_rate));
    }
  return f;
}

} // namespace gossamer::apps
