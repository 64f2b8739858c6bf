// Xie et al. (2020), table 2: CSER and its special cases bear compression by 1,024; EF-SGD and QSparse-local-SGD fail.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace gossamer::apps {

namespace words_of_xie2020_table2 {

/// Sends one in `ratio` elements, every `period` steps.
struct sharing {
  int ratio, period;
};

/// The parameters by which the methods with several of them reach a compression ratio. The authors tried several ways
/// and report the best; this is one of theirs for each.
struct line {
  int ratio;
  sharing qsparse, cser, cser_pl;
};

constexpr std::array table{
    line{1, {1, 1}, {1, 1}, {1, 1}},          line{2, {1, 2}, {2, 2}, {1, 2}},
    line{4, {1, 4}, {2, 4}, {2, 2}},          line{8, {4, 2}, {4, 4}, {2, 4}},
    line{16, {4, 4}, {4, 8}, {4, 4}},         line{32, {4, 8}, {4, 16}, {8, 4}},
    line{64, {16, 4}, {8, 16}, {8, 8}},       line{128, {16, 8}, {8, 32}, {8, 16}},
    line{256, {32, 8}, {16, 32}, {16, 16}},   line{512, {128, 4}, {16, 64}, {16, 32}},
    line{1024, {128, 8}, {8, 256}, {32, 32}},
};

flags algorithm_of(const variant& method, const variant& setting) {
  const auto& l = *std::ranges::find(table, std::lround(setting.x.value()), &line::ratio);
  const auto grbs = [](int ratio) { return fmt::format("grbs/ratio={}/blocks=2048", ratio); };
  const auto codec = [](int ratio) { return fmt::format("grbs:ratio={},blocks=2048", ratio); };
  if (method.name == "EF-SGD")
    return {"--algorithm", "ef-sgd", "--codec", codec(l.ratio)};
  if (method.name == "QSparse-local-SGD")
    return {"--algorithm", fmt::format("qsparse-local-sgd:period={}", l.qsparse.period), "--codec",
            codec(l.qsparse.ratio)};
  if (method.name == "CSEA")
    return {"--algorithm", fmt::format("csea:c1={}", grbs(l.ratio))};
  if (method.name == "CSER-PL")
    return {"--algorithm", fmt::format("cser-pl:c1={},period={}", grbs(l.cser_pl.ratio), l.cser_pl.period)};
  return {"--algorithm", fmt::format("cser:c1={},c2={},period={}", grbs(l.cser.ratio),
                                     grbs(l.ratio == 1 ? 1 : 2 * l.ratio), l.cser.period)};
}

/// @param margin within which CSER counts as best, in points
verdict mostly_best(const findings& f, std::span<const variant> settings, double margin) {
  const auto accuracy = test_accuracy().name;
  std::string where;
  std::size_t best = 0;
  for (const auto& s : settings.subspan(1)) {
    const auto of = [&](const char* method) { return f.estimate_of(accuracy, method, s.name).mean; };
    if (of("CSER") + margin >= std::max(of("CSEA"), of("CSER-PL"))) {
      ++best;
      where += ' ' + s.name;
    }
  }
  const auto ratios = settings.size() - 1;
  return {2 * best > ratios, fmt::format("CSER is the best of the three at {} of {} ratios:{}", best, ratios, where)};
}

std::vector<published> printed() {
  constexpr std::array methods{"EF-SGD", "QSparse-local-SGD", "CSEA", "CSER", "CSER-PL"};
  const std::vector<std::array<const char*, 6>> lines{{"2", "87.20", "87.16", "87.17", "87.47", "none"},
                                                      {"4", "86.97", "87.08", "87.25", "87.22", "87.33"},
                                                      {"8", "86.61", "87.15", "87.14", "87.09", "87.27"},
                                                      {"16", "85.69", "87.02", "87.15", "87.28", "86.72"},
                                                      {"32", "85.17", "86.70", "86.83", "86.90", "86.92"},
                                                      {"64", "84.65", "80.64", "86.63", "86.78", "86.91"},
                                                      {"128", "83.50", "70.27", "86.30", "86.81", "86.36"},
                                                      {"256", "83.92", "diverges", "86.34", "86.68", "86.27"},
                                                      {"512", "76.05", "diverges", "85.75", "86.20", "85.68"},
                                                      {"1024", "diverges", "diverges", "85.13", "85.66", "84.94"}};
  const auto accuracy = test_accuracy().name;
  std::vector<published> all;
  all.reserve(methods.size() * (1 + lines.size()));
  for (const auto* method : methods)
    all.push_back({accuracy, method, "1", "87.01"});
  for (const auto& l : lines)
    for (std::size_t i = 0; i < methods.size(); ++i)
      all.push_back({accuracy, methods[i], l[0], l[i + 1]});
  return all;
}

constexpr const char* differences =
    "The paper: a wide residual network on CIFAR-100, 200 epochs, the best of several ways to spend each ratio. Here: "
    "a perceptron of 7,960 parameters on 4,000 drawn digits of ten classes, 20 epochs (625 steps, fewer than the "
    "highest ratio), 2,048 blocks, the learning rate cut to a fifth at the same shares of the run, no weight decay, "
    "and for each ratio one of the authors' ways. Eight workers, 16 samples, Nesterov's momentum of 0.9 and the lower "
    "two of the four rates as there; with 0.5 this model has a loss of 1.7 after 1,000 steps of SGD, with 1 that of "
    "guessing. To diverge is to end, at the best rate and with every seed, with a training loss above that of "
    "guessing, ln 10. The first line, ratio 1, is SGD in all columns; the authors have no CSER-PL at ratio 2, which is "
    "local SGD here.";

constexpr const char* changes =
    "a rate of 0.01, which the paper has not got, was tried as well, and what it calls divergence was judged by the "
    "accuracy, 25 to 47 % at that rate. With the paper's rates alone losses of 2.5 to 31 had been seen for EF-SGD at "
    "1,024 and QSparse-local-SGD from 256 on, and were seen again, 2.4 to 20, before the loss of guessing became the "
    "bound: the first one was the loss at the start, which these runs do not evaluate. CSER at 1,024 has runs of its "
    "own now (xie2020-table2-1024). Where accuracies are compared, the whole interval of the difference, seed by seed, "
    "has to keep the bound.";

/// With every seed, the training loss ends above a bound.
verdict ends_above(const findings& f, const char* method, const std::string& ratio, double bound) {
  const double least = std::ranges::min(f.values(training_loss().name, method, ratio));
  return surely_at_least({least, least, least, fmt::format("the least training loss of {} ({})", method, ratio)},
                         bound);
}

/// Points by which CSER is below SGD, over these ratios.
ranged_number below_sgd(const findings& f, const std::vector<std::string>& ratios) {
  const auto accuracy = test_accuracy().name;
  std::vector<std::pair<place, place>> pairs;
  pairs.reserve(ratios.size());
  for (const auto& ratio : ratios)
    pairs.push_back({{"CSER", "1"}, {"CSER", ratio}});
  return difference(f, accuracy, pairs,
                    fmt::format("{} of SGD less CSER (mean of {} ratios)", accuracy, ratios.size()));
}

} // namespace words_of_xie2020_table2

reproduction xie2020_table2(bool quick) {
  using namespace words_of_xie2020_table2;
  using names = std::vector<std::string>;
  const auto accuracy = test_accuracy().name;
  std::vector<variant> settings;
  for (const auto& l : table)
    if (!quick || l.ratio == 1 || l.ratio == 16 || l.ratio == 64 || l.ratio == 1024)
      settings.push_back({.name = fmt::format("{}", l.ratio), .given = {}, .x = l.ratio});
  const auto diverges = [=](const findings& f, const char* method, const names& ratios) {
    return each(ratios,
                [&](const auto& ratio) { return ends_above(f, method, ratio, quick ? 1.5 : std::numbers::ln10); });
  };
  /// Points by which a method is below another one.
  const auto below = [=](const findings& f, const char* method, const char* other, const std::string& ratio) {
    return difference(f, accuracy, {other, ratio}, {method, ratio});
  };
  const names low = quick ? names{"16"} : names{"2", "4", "8", "16"};
  reproduction r{
      .name = "xie2020-table2",
      .title = "Accuracy at compression ratios from 2 to 1,024: CSER and its special cases hold, EF-SGD and "
               "QSparse-local-SGD fall",
      .reference = "Xie, Zheng, Koyejo, Gupta, Li, Lin: CSER: communication-efficient SGD with error reset, NeurIPS "
                   "2020, table 2",
      .differences = differences,
      .changes = changes,
      .common = {"--data", "digits:samples=4000,test=4000,distortion=0.9", "--model", "mlp:hidden=10", "--workers", "8",
                 "--batch", "16", "--optimiser", "nesterov:beta=0.9", "--epochs", quick ? "10" : "20", "--schedule",
                 quick ? "steps:at=3+6+8,factor=0.2" : "steps:at=6+12+16,factor=0.2", "--eval-every", "1000"},
      .methods = {{"EF-SGD"}, {"QSparse-local-SGD"}, {"CSEA"}, {"CSER"}, {"CSER-PL"}},
      .settings = settings,
      .together = algorithm_of,
      .rates = quick ? std::vector{0.05} : std::vector{0.05, 0.1},
      .seeds = quick ? 1u : 3u,
      .measures = {test_accuracy(), training_loss()},
      .numbers = printed(),
      .shapes =
          {changed({"CSER is as accurate as SGD at ratios of 16 and less",
                    [=](const findings& f) { return surely_at_most(below_sgd(f, low), quick ? 5 : 1); }}),
           {"EF-SGD is behind CSER from 64 on",
            [=](const findings& f) {
              return each(quick ? names{"64", "1024"} : names{"64", "128", "256", "512", "1024"},
                          [&](const auto& ratio) { return surely_at_least(below(f, "EF-SGD", "CSER", ratio), 2); });
            }},
           changed({"QSparse-local-SGD diverges from 256 on",
                    [=](const findings& f) {
                      return diverges(f, "QSparse-local-SGD", quick ? names{"1024"} : names{"256", "512", "1024"});
                    }}),
           changed({"EF-SGD diverges at 1,024", [=](const findings& f) { return diverges(f, "EF-SGD", {"1024"}); }}),
           changed({"CSER is better than CSEA and CSER-PL in most cases",
                    [=](const findings& f) { return mostly_best(f, settings, quick ? 5 : 0); },
                    "the printed differences are of 0.3 points, and single accuracies here are uncertain by 1 to 10"})},
      .pictures = {{.kind = picture_kind::points, .x = "compression ratio", .y = accuracy, .log_x = true}},
  };
  if (!quick) // the quick form is a test, where this does not come back
    r.shapes.push_back({"QSparse-local-SGD falls before EF-SGD does", [=](const findings& f) {
                          return each(names{"64", "128"}, [&](const auto& ratio) {
                            return surely_at_least(below(f, "QSparse-local-SGD", "EF-SGD", ratio), 3);
                          });
                        }});
  return r;
}

} // namespace gossamer::apps
