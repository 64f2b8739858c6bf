// Douillard et al. (2026): the share of the computing time that survives the deaths of chips, in one group of chips
// that compute together, and in several that do not wait for each other.
#include "gossamer/apps/reproductions/detail/entries.hpp"
#include "gossamer/base/philox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer::apps {

namespace words_of_douillard2026_goodput {

constexpr std::size_t slices = 16; ///< of chips; each group has as many
constexpr double gradient_s = 3, repair_s = 60;
constexpr auto goodput = "goodput, %";

/// How often slices die.
struct death_rate {
  const char* name;
  double printed; ///< goodput of one group in which every slice waits for all
  double mean_life_s() const { return repair_s / (std::pow(printed, -1.0 / slices) - 1); }
};

const std::array rates{death_rate{"no deaths", 1}, death_rate{"few", 0.6}, death_rate{"many (27 %)", 0.27},
                       death_rate{"most (18 %)", 0.18}};

/// Groups, and what becomes of a group one of whose slices dies.
struct grouping {
  const char* name;
  std::size_t groups;
  const char* algorithm;
  bool dies = false;  ///< or stands still
  bool drawn = false; ///< in the picture
};

constexpr const char *one = "1 group", *eight = "8 groups", *sixteen = "16 groups", *in_step = "16 that wait",
                     *die = "16 groups, die", *pairs = "16 in pairs, die", *in_step_die = "16 that wait, die",
                     *each_step_die = "16 in every step, die";

const std::array groupings{
    grouping{.name = one, .groups = 1, .algorithm = "all-reduce-sgd", .drawn = true},
    grouping{.name = "2 groups", .groups = 2, .algorithm = "async-diloco:period=5", .drawn = true},
    grouping{.name = "4 groups", .groups = 4, .algorithm = "async-diloco:period=5", .drawn = true},
    grouping{.name = eight, .groups = 8, .algorithm = "async-diloco:period=5", .drawn = true},
    grouping{.name = sixteen, .groups = 16, .algorithm = "async-diloco:period=5", .drawn = true},
    grouping{.name = "16, quorum of 8", .groups = 16, .algorithm = "async-diloco:quorum=8,period=5"},
    grouping{.name = in_step, .groups = 16, .algorithm = "diloco:period=5"},
    grouping{.name = die, .groups = 16, .algorithm = "async-diloco:period=5", .dies = true},
    grouping{.name = pairs, .groups = 16, .algorithm = "noloco:period=5", .dies = true},
    grouping{.name = in_step_die, .groups = 16, .algorithm = "diloco:period=5", .dies = true},
    grouping{.name = each_step_die, .groups = 16, .algorithm = "all-reduce-sgd", .dies = true},
};

/// Moments at which the slice dies, one life after another; each takes `repair_s`.
std::vector<double> deaths_of(std::size_t slice, const death_rate& rate, std::uint64_t seed, double until_s) {
  random_sequence random{random_stream{seed, static_cast<std::uint32_t>(slice), purpose::chaos}, 0};
  std::vector<double> moments;
  for (double t = 0;;) {
    t -= rate.mean_life_s() * std::log1p(-random.uniform_double());
    if (!(t < until_s))
      return moments;
    moments.push_back(t);
    t += repair_s;
  }
}

/// The times in which a group is not whole: some of its slices are dead. At the end all are, or nobody could tell their
/// models.
actors::fault_plan plan_of(const grouping& how, const death_rate& rate, std::uint64_t seed, double until_s) {
  actors::fault_plan plan;
  const auto size = slices / how.groups;
  for (std::size_t group = 0; group < how.groups; ++group) {
    std::vector<double> deaths;
    for (std::size_t slice = group * size; slice < (group + 1) * size; ++slice)
      std::ranges::copy(deaths_of(slice, rate, seed, until_s - repair_s), std::back_inserter(deaths));
    std::ranges::sort(deaths);
    double whole_at = 0;
    for (const double at : deaths) {
      if (at >= whole_at)
        plan.faults.push_back({.kind = how.dies ? actors::fault_kind::kill : actors::fault_kind::pause,
                               .workers = {static_cast<actors::rank>(group)},
                               .at_s = at,
                               .lasts_s = repair_s});
      else
        *plan.faults.back().lasts_s += at + repair_s - whole_at;
      whole_at = at + repair_s;
    }
  }
  for (auto& f : plan.faults)
    f.lasts_s = std::min(*f.lasts_s, until_s - repair_s / 2 - f.at_s);
  return plan;
}

measure goodput_of_run() {
  return {.name = goodput,
          .of = [](const outcome& o) -> std::optional<double> {
            const auto survived = static_cast<double>(o.last().step - o.gradients_lost);
            return 100 * survived * gradient_s / (static_cast<double>(o.steps_per_worker.size()) * o.last().time_s);
          },
          .less_is_better = false,
          .digits = 3};
}

measure lost() {
  return {.name = "gradients lost with the dead, %",
          .of = [](const outcome& o) -> std::optional<double> {
            return 100 * static_cast<double>(o.gradients_lost) / static_cast<double>(o.last().step);
          },
          .digits = 2};
}

constexpr const char* differences =
    "The paper's text was not at hand: its numbers are second hand, and how it simulates chips, repairs and "
    "restarts is not known. Here 16 slices of chips die at random, and are whole again after the time of 20 "
    "gradients. How often is chosen such that one group, all of which stands still while a slice is dead, comes to "
    "the printed goodput; what more groups come to follows. A group is a worker; what happens within it is not "
    "simulated. It stands still where a slice is dead, and then goes on from where it was, as from a checkpoint of "
    "that moment; groups of a single slice also die with their model and all that they have not sent yet, are "
    "noticed after one gradient, and start anew. Groups exchange after 5 gradients and in no time, and none is "
    "slow. Goodput is the share of all groups' time that goes into gradients which were not lost. The function is "
    "quadratic: what the model learns plays no part.";

std::vector<shape> shapes_of(const std::vector<const char*>& dying, bool quick) {
  const double points = quick ? 10 : 5;
  const auto near = [](const char* rate, const char* how, double printed, double margin) {
    return [=](const findings& f) {
      return surely_within(ranged(f, goodput, {rate, how}), printed - margin, printed + margin);
    };
  };
  const auto more = [dying](const char* a, const char* b, double least) {
    return [=](const findings& f) {
      return each(dying, [&](const char* rate) {
        return surely_at_least(difference(f, goodput, {rate, a}, {rate, b}), least);
      });
    };
  };
  return {{"without deaths nothing is lost",
           [](const findings& f) {
             return each(groupings, [&](const grouping& how) {
               return surely_within(ranged(f, goodput, {rates.front().name, how.name}), 97, 100.5);
             });
           }},
          {"one group has about 18 % where that is printed", near("most (18 %)", one, 18, points)},
          {"8 groups come to 80 % there, to 5 points", near("most (18 %)", eight, 80, points)},
          {"16 groups come to 86 %, to 5 points", near("most (18 %)", sixteen, 86, points)},
          {"where one group comes to 27 %, 16 come to 88 or more",
           [=](const findings& f) {
             return surely_at_least(ranged(f, goodput, {"many (27 %)", sixteen}), quick ? 85 : 88);
           }},
          {"groups that wait for each other are hardly better than one",
           [dying](const findings& f) {
             return each(dying, [&](const char* rate) {
               return surely_at_most(difference(f, goodput, {rate, in_step}, {rate, one}), 10);
             });
           }},
          {"with survivors that go on without the dead, waiting still costs", more(die, in_step_die, 1)},
          {"pairs wait less than all", more(pairs, in_step_die, 0)},
          {"and more than those that do not wait", more(die, pairs, 0)}};
}

} // namespace words_of_douillard2026_goodput

reproduction douillard2026_goodput(bool quick) {
  using namespace words_of_douillard2026_goodput;
  const double until_s = quick ? 3000 : 24000;
  const auto dying =
      quick ? std::vector{"many (27 %)", "most (18 %)"} : std::vector{"few", "many (27 %)", "most (18 %)"};
  reproduction r{
      .name = "douillard2026-goodput",
      .title = "The share of the time that survives the deaths of chips, in groups that do not wait for each other",
      .reference = "Douillard and others: Decoupled DiLoCo for resilient distributed pre-training, 2026, goodput",
      .differences = differences,
      .common = {"--data",        "quadratic:samples=4096,dim=10",
                 "--model",       "quadratic",
                 "--batch",       "1",
                 "--optimiser",   "sgd",
                 "--lr",          "0.01",
                 "--sample-time", fmt::format("{}", gradient_s),
                 "--cost",        "none",
                 "--network",     "ideal",
                 "--detection",   fmt::format("{}", gradient_s),
                 "--seconds",     fmt::format("{}", until_s),
                 "--eval-every",  "1e6"},
      .methods = {},
      .seeds = quick ? 1u : 3u,
      .measures = {goodput_of_run(), lost()},
      .numbers = {{goodput, "most (18 %)", one, "18"},
                  {goodput, "most (18 %)", eight, "80"},
                  {goodput, "most (18 %)", sixteen, "86"},
                  {goodput, "many (27 %)", one, "27"},
                  {goodput, "many (27 %)", sixteen, "88, of so many groups as is not known"},
                  {goodput, "most (18 %)", each_step_die, "40, elastic"}},
      .shapes = shapes_of(dying, quick),
      .pictures = {{.kind = picture_kind::points, .x = "groups", .y = goodput, .log_x = true}},
  };
  for (const auto& rate : rates)
    if (rate.printed == 1 || std::ranges::find(dying, std::string_view{rate.name}) != dying.end())
      r.methods.push_back({.name = rate.name});
  r.settings.clear();
  for (const auto& how : groupings)
    r.settings.push_back({.name = how.name,
                          .given = {"--algorithm", how.algorithm, "--workers", fmt::format("{}", how.groups)},
                          .x = how.drawn ? std::optional{static_cast<double>(how.groups)} : std::nullopt});
  r.faults = [until_s](const variant& rate, const variant& how, std::uint64_t seed) {
    return plan_of(*std::ranges::find(groupings, how.name, &grouping::name),
                   *std::ranges::find(rates, rate.name, &death_rate::name), seed, until_s);
  };
  return r;
}

} // namespace gossamer::apps
