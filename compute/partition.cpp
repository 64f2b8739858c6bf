#include "gossamer/compute/partition.hpp"

#include "gossamer/base/philox.hpp"
#include "gossamer/compute/detail/empty_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace gossamer::compute {

namespace {

using indices = std::vector<std::uint32_t>;

random_sequence sequence(std::uint64_t seed) { return {random_stream{seed, 0, purpose::partition}, 0}; }

indices shuffled(std::size_t count, random_sequence& random) {
  indices order(count);
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(std::span{order});
  return order;
}

/// Returns part i of n parts whose sizes differ by at most one.
std::span<const std::uint32_t> part(std::span<const std::uint32_t> all, std::size_t i, std::size_t n) {
  const auto begin = all.size() * i / n, end = all.size() * (i + 1) / n;
  return all.subspan(begin, end - begin);
}

void append(indices& to, std::span<const std::uint32_t> more) { to.insert(to.end(), more.begin(), more.end()); }

void need_classes(const dataset& data, std::string_view name) {
  if (data.classes == 0)
    throw error(errc::usage, fmt::format("partition '{}' deals by class, but the data have real targets", name),
                "use partition 'iid'");
}

shards deal_iid(const arguments&, const dataset& data, std::size_t workers, std::uint64_t seed) {
  auto random = sequence(seed);
  const auto order = shuffled(data.samples, random);
  shards result(workers);
  for (std::size_t w = 0; w < workers; ++w)
    append(result[w], part(order, w, workers));
  return result;
}

shards deal_by_label(const arguments& given, const dataset& data, std::size_t workers, std::uint64_t seed) {
  need_classes(data, "label");
  auto random = sequence(seed);
  auto order = shuffled(data.samples, random);
  std::ranges::stable_sort(order, {}, [&](auto i) { return data.targets[i]; });
  const auto each = std::min(static_cast<std::size_t>(given.integer("per-worker")), data.samples / workers);
  const auto cards = shuffled(workers * each, random);
  shards result(workers);
  for (std::size_t i = 0; i < cards.size(); ++i)
    append(result[i / each], part(order, cards[i], cards.size()));
  return result;
}

/// Returns a draw from the symmetric Dirichlet distribution, as running sums that end with 1.
std::vector<double> dirichlet_sums(double alpha, std::size_t count, random_sequence& random) {
  std::vector<double> sums(count);
  double total = 0;
  for (auto& sum : sums)
    sum = total += random.gamma(alpha);
  if (total == 0) { // all underflowed: the limit for small alpha is a single winner
    total = 1;
    std::fill(sums.begin() + random.below(static_cast<std::uint32_t>(count)), sums.end(), 1.0);
  }
  for (auto& sum : sums)
    sum /= total;
  return sums;
}

shards deal_dirichlet(const arguments& given, const dataset& data, std::size_t workers, std::uint64_t seed) {
  need_classes(data, "dirichlet");
  auto random = sequence(seed);
  std::vector<indices> of_class(data.classes);
  for (const auto i : shuffled(data.samples, random))
    of_class[data.label(i)].push_back(i);
  shards result(workers);
  for (const auto& members : of_class) {
    std::size_t begin = 0;
    const auto sums = dirichlet_sums(given.real("alpha"), workers, random);
    for (std::size_t w = 0; w < workers; ++w) {
      const auto end = static_cast<std::size_t>(sums[w] * static_cast<double>(members.size()));
      append(result[w], std::span{members}.subspan(begin, end - begin));
      begin = end;
    }
  }
  detail::give_everyone_one(result, std::vector<bool>(workers, true));
  return result;
}

std::array<partition_entry, 3> partition_entries() {
  return {{
      {.about = {.name = "iid",
                 .summary = "a shuffled deal: all workers see the same distribution",
                 .maths = "the samples in random order, cut into parts whose sizes differ by at most one",
                 .reference = "the homogeneous case of every analysis",
                 .cost = "O(samples)",
                 .parameters = {}},
       .deal = deal_iid},
      {.about = {.name = "label",
                 .summary = "few classes for each worker",
                 .maths = "the samples sorted by class (in random order within a class) are cut into\n"
                          "workers * per-worker runs of equal size, and each worker gets per-worker random\n"
                          "ones; with few samples, as many as leave no run empty",
                 .reference = "McMahan, Moore, Ramage, Hampson, Aguera y Arcas, \"Communication-efficient "
                              "learning of deep networks from decentralized data\", AISTATS 2017, section 3",
                 .cost = "O(samples log samples)",
                 .parameters = {{.key = "per-worker",
                                 .kind = parameter::type::integer,
                                 .fallback = "2",
                                 .meaning = "runs for each worker, so about as many classes",
                                 .min = 1,
                                 .max = 1e6}}},
       .deal = deal_by_label},
      {.about = {.name = "dirichlet",
                 .summary = "classes and sizes that differ between workers by a tunable amount",
                 .maths = "for each class: p ~ Dirichlet(alpha, ..., alpha) over the workers, and worker w\n"
                          "gets the share p_w of the class; alpha -> 0: each class on one worker,\n"
                          "alpha -> infinity: iid. Whoever gets nothing takes one sample from the largest",
                 .reference = "Hsu, Qi, Brown, \"Measuring the effects of non-identical data distribution\", "
                              "2019; shares per class as in Yurochkin et al., \"Bayesian nonparametric "
                              "federated learning of neural networks\", ICML 2019, section 4",
                 .cost = "O(samples + classes * workers)",
                 .parameters = {{.key = "alpha",
                                 .fallback = "0.5",
                                 .meaning = "concentration; smaller is more uneven",
                                 .min = 1e-3,
                                 .max = 1e6}}},
       .deal = deal_dirichlet},
  }};
}

} // namespace

const registry<partition_entry>& partitions() {
  static const auto table_entries = partition_entries();
  static const registry<partition_entry> table{"partition", table_entries};
  return table;
}

shards deal(std::string_view text, const dataset& data, std::size_t workers, std::uint64_t seed) {
  const auto [entry, values] = partitions().resolve(text);
  if (workers == 0 || workers > data.samples)
    throw error(errc::usage, fmt::format("{} samples cannot be dealt to {} workers", data.samples, workers),
                "every worker needs at least one sample");
  return entry.deal(values, data, workers, seed);
}

} // namespace gossamer::compute
