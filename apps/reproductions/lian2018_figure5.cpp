// Lian et al. (2018), figure 5: speed-up up to 128 workers, for a model that computes and one that communicates.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace gossamer::apps {

namespace words_of_lian2018_figure5 {

constexpr auto all_reduce = "AllReduce-SGD", d_psgd = "D-PSGD", eamsgd = "EAMSGD", ad_psgd = "AD-PSGD";
constexpr auto resnet = "ResNet-20", vgg = "VGG";
constexpr double unit_s = 0.0115; ///< time of computing, for 32 samples

std::string name_of(const char* model, std::size_t workers) { return fmt::format("{}, {} workers", model, workers); }

/// Seconds that the gradients would take one after another, over those that they took.
measure speed_up() {
  return {.name = "speed-up",
          .of = [](const outcome& o) -> std::optional<double> {
            const auto gradients = std::accumulate(o.steps_per_worker.begin(), o.steps_per_worker.end(), 0.0);
            return gradients * o.observed.at("batch") * unit_s / o.last().time_s;
          },
          .less_is_better = false,
          .digits = 3};
}

constexpr const char* differences =
    "The paper's models are 1 MB (ResNet-20, 32 samples a worker) and 60 MB (VGG, 128 samples), its links 10 or 100 "
    "Gb/s with four GPUs to a machine. Here models and links are 400 times smaller, so that messages take as long as "
    "at 10 Gb/s: quadratics of 625 and 37,500 parameters at 25 Mb/s and 0.05 ms, a machine for each worker. A sample "
    "computes for 0.36 ms, a gradient scatters log-normally by 20 %: both are assumed. EAMSGD has one server, where "
    "the paper's is sharded. Averaging is as much cheaper as models are smaller. A speed-up counts gradients a second, "
    "not what they achieve; so that AD-PSGD is not fast by averaging seldom, a worker has four averagings under way "
    "and waits when it owes eight. The figure's own numbers were not at hand.";

constexpr const char* changes =
    "AD-PSGD dropped averagings for which its links had no time, 1,235 of 1,616 in VGG's place, and was as "
    "fast as one that never averages. Now it waits for them, and they are counted.";

/// AD-PSGD averages at least so many times a gradient, wherever there is another worker.
verdict averages(const findings& f, const std::vector<std::size_t>& counts, double least) {
  std::vector<verdict> all;
  for (const auto* model : {resnet, vgg})
    for (const auto workers : counts)
      if (workers > 1)
        all.push_back(
            surely_at_least(ranged(f, averagings_of_gradient().name, {ad_psgd, name_of(model, workers)}), least));
  return all_of(all);
}

std::vector<variant> models_with(const std::vector<std::size_t>& counts) {
  std::vector<variant> settings;
  for (const auto& [model, flags_of_it] :
       {std::pair{resnet, flags{"--data", "quadratic:samples=128,dim=625", "--batch", "1"}},
        {vgg, flags{"--data", "quadratic:samples=128,dim=37500", "--batch", "4"}}})
    for (const auto workers : counts) {
      variant v{
          .name = name_of(model, workers), .given = flags_of_it, .x = static_cast<double>(workers), .panel = model};
      v.given.insert(v.given.end(), {"--workers", fmt::format("{}", workers)});
      settings.push_back(std::move(v));
    }
  return settings;
}

} // namespace words_of_lian2018_figure5

reproduction lian2018_figure5(bool quick) {
  using namespace words_of_lian2018_figure5;
  const auto counts = quick ? std::vector<std::size_t>{1, 16} : std::vector<std::size_t>{1, 16, 32, 64, 128};
  const double equal = quick ? 1.1 : 1;
  /// The greatest quotient of two speed-ups, for all numbers of workers above one, is at most a bound.
  const auto never_above = [=](const findings& f, const char* a, const char* model_a, const char* b,
                               const char* model_b, double bound) {
    double most = 0;
    for (const auto workers : counts)
      if (workers > 1)
        most = std::max(most, f("speed-up", a, name_of(model_a, workers)).value
                                  / f("speed-up", b, name_of(model_b, workers)).value);
    return within({most, fmt::format("{} ({}) over {} ({}), at most", a, model_a, b, model_b)}, 0, bound);
  };
  const auto best = [=](const char* model) {
    return [=](const findings& f) {
      return each(std::array{all_reduce, d_psgd, eamsgd},
                  [&](auto* other) { return never_above(f, other, model, ad_psgd, model, equal); });
    };
  };
  return {
      .name = "lian2018-figure5",
      .title = "Speed-up with up to 128 workers, of a model that computes and one that communicates",
      .reference = "Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, ICML "
                   "2018, figure 5 and section 5.3",
      .differences = differences,
      .changes = changes,
      .common = {"--model", "quadratic", "--sample-time", fmt::format("{}", unit_s), "--jitter", "lognormal:sigma=0.2",
                 "--network", "uniform:latency=5e-5,bandwidth=25e6", "--steps", quick ? "15" : "100", "--eval-every",
                 "100000", "--optimiser", "sgd", "--lr", "0.01"},
      .methods = {{all_reduce, {"--algorithm", "all-reduce-sgd"}},
                  {d_psgd, {"--algorithm", "d-psgd"}},
                  {eamsgd, {"--algorithm", "eamsgd"}},
                  {ad_psgd, {"--algorithm", "ad-psgd:in-flight=4,owed=8"}}},
      .settings = models_with(counts),
      .seeds = 1,
      .measures = {speed_up(), averagings_of_gradient()},
      .shapes =
          {{"ResNet-20's speed-up is better than VGG's, with every algorithm",
            [=](const findings& f) {
              return each(std::array{all_reduce, d_psgd, eamsgd, ad_psgd},
                          [&](auto* method) { return never_above(f, method, vgg, method, resnet, equal); });
            }},
           {"ResNet-20: AD-PSGD has the best speed-up", best(resnet)},
           {"VGG: AD-PSGD has the best speed-up", best(vgg)},
           {"AD-PSGD's speed-up is linear",
            [=](const findings& f) {
              const auto workers = counts.back();
              const auto least = static_cast<double>(workers) / (quick ? 1.5 : 1.25);
              return within(f("speed-up", ad_psgd, name_of(resnet, workers)), least, 2 * least);
            }},
           changed({"and each of its gradients comes with an averaging, so that the speed is not that of lone workers",
                    [=](const findings& f) { return averages(f, counts, quick ? 0.4 : 0.9); }}),
           {"VGG: the server is a bottleneck: EAMSGD has the least speed-up",
            [=](const findings& f) {
              return never_above(f, eamsgd, vgg, all_reduce, vgg, equal)
                     && never_above(f, eamsgd, vgg, d_psgd, vgg, equal);
            }}},
      .pictures = {{.kind = picture_kind::points, .x = "workers", .y = "speed-up"}},
      .observe =
          [](const actors::experiment& e) {
            return std::map<std::string, double>{{"batch", static_cast<double>(e.settings.batch)}};
          },
  };
}

} // namespace gossamer::apps
