// gossamer advise: which algorithm suits a network.
#include "gossamer/apps/detail/advise.hpp"

#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/actors/telemetry/chart.hpp"
#include "gossamer/apps/detail/candidates.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/processes.hpp"
#include "gossamer/apps/detail/progress.hpp"
#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/text_table.hpp"
#include "gossamer/apps/detail/told.hpp"
#include "gossamer/apps/reproductions/detail/runs.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <thread>
#include <tuple>

namespace gossamer::apps {

namespace {

/// Multiples of the rate that an optimiser suggests for one worker.
const std::vector<double> multiples{1, 4, 16};

constexpr double points_below_reference = 0.01, above_reference = 1.05, twice = 2;

/// The quality that a run is to come to.
struct target {
  bool is_accuracy;
  double value;

  /// The mean of models that are apart counts once something has been exchanged, between islands where there are any:
  /// until then no worker comes near it.
  static bool counts(const actors::evaluation_record& r) {
    return r.payload_bits_between_islands.value_or(r.payload_bits) > 0 || r.consensus_distance == 0;
  }
  /// How much an evaluation lacks of it; 0 or less: nothing. Infinite for one that does not count.
  double lacks(const actors::evaluation_record& r) const {
    if (!counts(r))
      return INFINITY;
    return is_accuracy ? value - r.test_accuracy.value_or(0) : r.train_loss - value;
  }
  /// The first evaluation that lacks nothing; null if there is none.
  const actors::evaluation_record* reached(std::span<const actors::evaluation_record> curve) const {
    const auto found = std::ranges::find_if(curve, [this](const auto& r) { return lacks(r) <= 0; });
    return found == curve.end() ? nullptr : &*found;
  }
  std::string text() const {
    return is_accuracy ? fmt::format("a test accuracy of {:.2f} %", 100 * value)
                       : fmt::format("a training loss of {:.4g}", value);
  }
};

/// Chooses rates: by the seconds until the target, behind them by what the best evaluation lacks.
measure quality_for(const target& wanted) {
  constexpr double more_than_all_seconds = 1e15;
  return {.name = "seconds until the target", .of = [=](const outcome& o) -> std::optional<double> {
            if (const auto* reached = wanted.reached(o.evaluations))
              return reached->time_s;
            double least = INFINITY;
            for (const auto& r : o.evaluations)
              least = std::min(least, wanted.lacks(r));
            return more_than_all_seconds * (1 + least);
          }};
}

/// One line of the answer.
struct advice {
  const candidate* which;
  double rate;
  bool at_edge; ///< of the rates that were tried
  std::vector<actors::evaluation_record> curve;
  std::optional<double> seconds = {}, seconds_twice = {};
  double payload_bits = 0; ///< until the target

  const actors::evaluation_record& last() const { return curve.back(); }
};

flags with(flags words, const flags& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has_islands(const run_options& job) {
  const auto nodes = (job.run.workers + job.world.workers_per_node - 1) / job.world.workers_per_node;
  return actors::make_network(job.world.network, nodes)->island(0).has_value();
}

class adviser {
public:
  adviser(const program& p, const advise_options& o,
          const std::function<run_options(const std::vector<std::string>&)>& understand)
      : program_(p), options_(o), understand_(understand), job_(job()) {}

  int answer() {
    make_folder(runs(), "choose another folder with --out");
    refuse_compared();
    const auto possible = possible_candidates();
    const auto wanted = settle_target();
    const auto rows = ranked(possible, wanted);
    if (rows.empty())
      throw error(errc::failed, "every candidate diverges at every rate", "check the model and the data");
    if (wanted.is_accuracy && !rows.front().last().test_accuracy)
      throw error(errc::usage, "--accuracy is given, but this model has none", "give --loss, a training loss");
    print(rows, wanted);
    draw(rows, wanted);
    if (!rows.front().seconds)
      throw error(errc::failed, fmt::format("no candidate reaches {}", wanted.text()),
                  "ask for less, train for longer with --epochs behind --, or see the accuracies above");
    print_commands(rows.front());
    return 0;
  }

private:
  flags job() const {
    flags words = options_.job;
    if (options_.hosts.empty())
      return words;
    words.insert(words.begin(), {"--network", "hosts:file=" + options_.hosts});
    return words;
  }

  flags given(const candidate& c) const { return c.given(options_.hosts); }

  /// True if that is known of the links which a candidate needs, and the job does not say otherwise.
  bool suits(const candidate& c, const run_options& job) const {
    if (c.of == knowledge::hosts)
      return !options_.hosts.empty() && job.run.topology == "auto";
    return c.of == knowledge::none || (job.run.islands.empty() && has_islands(job));
  }

  std::filesystem::path runs() const { return std::filesystem::path{options_.out} / "runs"; }

  /// Refuses flags of the job before anything runs.
  void refuse_compared() const {
    check_not_chosen(job_);
    if (!options_.hosts.empty()
        && std::ranges::any_of(options_.job, [](const auto& w) { return w.starts_with("--network"); }))
      throw error(errc::usage, "both --hosts and --network are given",
                  "the links are those of the one or of the other");
    understand_(job_);
  }

  /// Returns the candidates that these settings allow, and says why others are left out.
  std::vector<const candidate*> possible_candidates() const {
    const auto job = understand_(job_);
    std::vector<const candidate*> suitable;
    for (const auto& c : candidates())
      if (suits(c, job))
        suitable.push_back(&c);
    std::vector<std::optional<error>> refused(suitable.size());
    std::vector<bool> has_sense(suitable.size()); // islands of one worker each are none
    in_processes(
        suitable.size(), jobs(), options_.run_limit_s,
        [&](std::size_t i) {
          return tell([&] {
            const auto run = set_up_simulation(program_, understand_(with(job_, given(*suitable[i]))));
            return nlohmann::ordered_json(suitable[i]->of != knowledge::islands
                                          || run.experiment->islands.are_shared());
          });
        },
        [&](std::size_t i, const process_end& end) {
          nlohmann::ordered_json said;
          refused[i] = understand(end, said);
          has_sense[i] = refused[i] || said == true;
          return true;
        },
        clean_stop::is_requested);
    std::vector<const candidate*> possible;
    for (std::size_t i = 0; i < refused.size(); ++i) {
      if (!has_sense[i])
        continue;
      if (!refused[i])
        possible.push_back(suitable[i]);
      else if (refused[i]->code() != errc::usage || i == 0)
        throw *refused[i];
      else
        fmt::print("{} is left out: {}\n", suitable[i]->name(), refused[i]->sentence());
    }
    return possible;
  }

  target settle_target() const {
    if (options_.accuracy)
      return {true, *options_.accuracy};
    if (options_.loss)
      return {false, *options_.loss};
    const auto found = carried_out({&candidates().front()}, training_loss());
    const auto& curve = found.cells.front().curve;
    if (curve.empty())
      throw error(
          errc::failed,
          fmt::format("{} diverges at every rate, so there is nothing to compare with", candidates().front().name()),
          "check the model and the data; or say with --accuracy or --loss what is to be reached");
    const auto& last = curve.back();
    return last.test_accuracy ? target{true, *last.test_accuracy - points_below_reference}
                              : target{false, above_reference * last.train_loss};
  }

  std::size_t jobs() const {
    return options_.jobs > 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
  }

  variant method(const candidate& c) const {
    const auto own = given(c);
    const auto run = understand_(with(job_, own)).run;
    const auto& traits = program_.known().algorithms.resolve(run.algorithm).first.traits;
    const auto optimiser = run.optimiser == "auto" ? traits.default_optimiser : run.optimiser;
    return {.name = c.name(), .given = own, .rate_unit = compute::suggested_lr(optimiser, program_.known().optimisers)};
  }

  reproduction comparison(const std::vector<const candidate*>& which) const {
    reproduction r;
    r.name = "advise";
    r.seeds = 0;
    for (const auto* c : which)
      r.methods.push_back(method(*c));
    return r;
  }

  findings carried_out(const reproduction& r) const {
    return carry_out(r, {.self = program_,
                         .understand = understand_,
                         .more = job_,
                         .folder = runs(),
                         .jobs = options_.jobs,
                         .run_limit_s = options_.run_limit_s});
  }
  findings carried_out(const std::vector<const candidate*>& which, measure quality) const {
    auto r = comparison(which);
    r.rates = multiples;
    r.quality = std::move(quality);
    return carried_out(r);
  }

  std::vector<advice> ranked(const std::vector<const candidate*>& possible, const target& wanted) const {
    const auto found = carried_out(possible, quality_for(wanted));
    std::vector<advice> rows;
    for (const auto* c : possible) {
      const auto& cell = found.at(c->name());
      if (cell.curve.empty()) {
        fmt::print("{} diverges at every rate\n", c->name());
        continue;
      }
      if (!target::counts(cell.curve.back())) {
        fmt::print("{} is left out: it exchanges nothing in so few steps\n", c->name());
        continue;
      }
      rows.push_back({.which = c, .rate = *cell.rate, .at_edge = cell.at_edge, .curve = cell.curve});
      if (const auto* reached = wanted.reached(cell.curve)) {
        rows.back().seconds = reached->time_s;
        rows.back().payload_bits = static_cast<double>(reached->payload_bits);
      }
    }
    add_twice(rows, wanted);
    std::ranges::stable_sort(rows, {}, [&](const advice& r) {
      const auto lacks = wanted.lacks(r.last());
      return std::tuple{lacks > 0, r.seconds.value_or(INFINITY), lacks};
    });
    return rows;
  }

  /// Repeats the rows that reach the target with twice the bandwidth.
  void add_twice(std::vector<advice>& rows, const target& wanted) const {
    std::vector<const candidate*> which;
    for (const auto& r : rows)
      if (r.seconds)
        which.push_back(r.which);
    if (which.empty())
      return;
    auto wider = comparison(which);
    wider.settings = {{.name = "twice", .given = {"--bandwidth-factor", fmt::format("{}", twice)}}};
    auto m = wider.methods.begin();
    for (const auto& r : rows)
      if (r.seconds) {
        m->given.insert(m->given.end(), {"--lr", fmt::format("{}", r.rate)});
        ++m;
      }
    const auto found = carried_out(wider);
    for (auto& r : rows)
      if (r.seconds)
        if (const auto* reached = wanted.reached(found.at(r.which->name(), "twice").curve))
          r.seconds_twice = reached->time_s;
  }

  static std::string seconds_text(const std::optional<double>& s) { return s ? fmt::format("{:.4g}", *s) : "-"; }

  void print(const std::vector<advice>& rows, const target& wanted) const {
    fmt::print("Virtual seconds until {}; each with the best of {} times the rate that its optimiser suggests; what "
               "ends short of it comes last:\n\n",
               wanted.text(), fmt::join(multiples, ", "));
    const bool accurate = rows.front().last().test_accuracy.has_value();
    std::vector<std::vector<std::string>> table{
        {"algorithm", "rate", "seconds", "with twice the bandwidth", "payload until then, bit",
         accurate ? "test accuracy in the end, %" : "training loss in the end"}};
    for (const auto& r : rows)
      table.push_back({r.which->name(), fmt::format("{:.4g}{}", r.rate, r.at_edge ? " (edge)" : ""),
                       seconds_text(r.seconds), seconds_text(r.seconds_twice),
                       r.seconds ? with_prefix(r.payload_bits) : "-",
                       accurate ? fmt::format("{:.2f}", 100 * r.last().test_accuracy.value_or(NAN))
                                : fmt::format("{:.4g}", r.last().train_loss)});
    fmt::print("{}\nRanks rest on one seed, {}: neighbours in the table are not separated. (edge): the least or the "
               "greatest rate that was tried.\n",
               text_table(table), understand_(job_).run.seed);
  }

  void draw(const std::vector<advice>& rows, const target& wanted) const {
    actors::line_panel panel{.title = {},
                             .x_label = "seconds",
                             .y_label = wanted.is_accuracy ? "test accuracy, %" : "training loss",
                             .log_x = true,
                             .log_y = !wanted.is_accuracy,
                             .from_zero = false};
    for (const auto& one : rows) {
      auto& line = panel.lines.emplace_back(actors::line_panel::line{one.which->name(), {}});
      for (const auto& r : one.curve)
        line.points.emplace_back(r.time_s, wanted.is_accuracy ? 100 * r.test_accuracy.value_or(NAN) : r.train_loss);
    }
    const auto file = (std::filesystem::path{options_.out} / "advice.svg").string();
    write_text(file, actors::draw("training over virtual seconds", std::span<const actors::line_panel>{&panel, 1}),
               "choose another folder with --out");
    fmt::print("picture: {}\n", file);
  }

  void print_commands(const advice& best) const {
    const auto words = with(given(*best.which), {"--lr", fmt::format("{}", best.rate)});
    fmt::print("see it:    {} simulate {}\n", program_.name(), shell_line(with(job_, words)));
    fmt::print("launch it: {} launch --hosts {} -- train {}\n", program_.name(),
               options_.hosts.empty() ? "HOST,HOST,..." : shell_word(options_.hosts), shell_line(for_launch(words)));
  }

  /// Spells out the settings that `train` knows, also those of a file, which may have others beside them.
  flags for_launch(const flags& words) const {
    const auto job = understand_(with(job_, words));
    const run_options defaults;
    flags spelt;
    for (const auto& o : train_options())
      if (const auto value = o.get(job); o.name == "workers" ? job.workers_given : value != o.get(defaults))
        spelt.insert(spelt.end(), {"--" + o.name, value});
    return spelt;
  }

  const program& program_;
  const advise_options& options_;
  const std::function<run_options(const std::vector<std::string>&)>& understand_;
  flags job_;
};

} // namespace

void check_not_chosen(const std::vector<std::string>& words) {
  for (const auto& word : words)
    for (const std::string_view flag : {"--algorithm", "--codec", "--lr", "--bandwidth-factor"})
      if (word.substr(0, word.find('=')) == flag)
        throw error(errc::usage, fmt::format("{} is given, but advise chooses or varies it", flag), "leave it out");
}

int advise(const program& p, const advise_options& o,
           const std::function<run_options(const std::vector<std::string>&)>& understand) {
  try {
    return adviser{p, o, understand}.answer();
  } catch (const error& e) {
    return after_interrupt(p, e);
  }
}

} // namespace gossamer::apps
