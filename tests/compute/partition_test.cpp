#include "gossamer/compute/partition.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "support/usage_error.hpp"

namespace gossamer::compute {
namespace {

using testing::HasSubstr;

dataset labelled(std::size_t samples, std::size_t classes) {
  dataset data{.samples = samples, .features = 1, .classes = classes};
  data.dense.resize(samples);
  for (std::size_t i = 0; i < samples; ++i)
    data.targets.push_back(static_cast<float>(classes == 0 ? i : i % classes));
  return data;
}

std::string usage_error(std::string_view text, const dataset& data, std::size_t workers) {
  return gossamer::usage_error([&] { deal(text, data, workers, 1); });
}

std::set<std::size_t> classes_of(const dataset& data, const std::vector<std::uint32_t>& shard) {
  std::set<std::size_t> result;
  for (const auto i : shard)
    result.insert(data.label(i));
  return result;
}

TEST(partition, laws_hold_for_all_of_them) {
  for (const char* text : {"iid", "label", "label:per-worker=1", "label:per-worker=5", "dirichlet",
                           "dirichlet:alpha=0.001", "dirichlet:alpha=1000000"})
    for (std::size_t samples : {1u, 2u, 15u, 16u, 31u, 32u, 33u, 1000u})
      for (std::size_t workers = 1; workers <= std::min<std::size_t>(16, samples); ++workers) {
        const auto data = labelled(samples, 10);
        const auto dealt = deal(text, data, workers, 5);
        ASSERT_EQ(dealt.size(), workers);
        std::vector<std::uint32_t> all;
        for (const auto& shard : dealt) {
          ASSERT_FALSE(shard.empty()) << text << " " << samples << " " << workers;
          all.insert(all.end(), shard.begin(), shard.end());
        }
        std::ranges::sort(all); // the shards are disjoint and complete
        std::vector<std::uint32_t> expected(samples);
        std::iota(expected.begin(), expected.end(), 0u);
        ASSERT_EQ(all, expected) << text << " " << samples << " " << workers;
        ASSERT_EQ(dealt, deal(text, data, workers, 5)) << text;
      }
}

TEST(partition, depends_on_the_seed) {
  const auto data = labelled(100, 10);
  for (const auto& entry : partitions())
    EXPECT_NE(deal(entry.about.name, data, 4, 1), deal(entry.about.name, data, 4, 2)) << entry.about.name;
}

TEST(partition, iid_sizes_differ_by_at_most_one) {
  for (std::size_t workers = 1; workers <= 16; ++workers) {
    const auto dealt = deal("iid", labelled(1000, 0), workers, 1);
    const auto [smallest, largest] = std::ranges::minmax(dealt, {}, &std::vector<std::uint32_t>::size);
    EXPECT_LE(largest.size() - smallest.size(), 1u);
  }
}

TEST(partition, label_gives_each_worker_few_classes) {
  const auto data = labelled(1000, 10);
  for (const auto& shard : deal("label", data, 5, 1)) { // two of 10 runs, of 100 samples and one class each
    EXPECT_EQ(shard.size(), 200u);
    EXPECT_LE(classes_of(data, shard).size(), 2u);
  }
  for (const auto& shard : deal("label:per-worker=1", data, 10, 1))
    EXPECT_EQ(classes_of(data, shard).size(), 1u);
}

TEST(partition, dirichlet_goes_from_one_class_to_iid) {
  const auto data = labelled(10'000, 10);
  std::size_t most = 0;
  for (const auto& shard : deal("dirichlet:alpha=0.001", data, 4, 1))
    most += classes_of(data, shard).size();
  EXPECT_LE(most, 14u); // 10 classes, each on one worker but for rare ties
  for (const auto& shard : deal("dirichlet:alpha=1000000", data, 4, 1))
    EXPECT_NEAR(double(shard.size()), 2500, 50);
}

TEST(partition, dirichlet_shares_have_their_mean_and_variance) {
  // A share of Dirichlet(a, ..., a) over n has mean 1/n and variance (n - 1) / (n^2 (n a + 1)).
  const auto data = labelled(100'000, 1000);
  const std::size_t workers = 4;
  const auto dealt = deal("dirichlet:alpha=0.5", data, workers, 1);
  std::vector<double> shares(1000);
  for (const auto i : dealt[0])
    shares[data.label(i)] += 0.01;
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / 1000;
  double variance = 0;
  for (const double share : shares)
    variance += (share - 0.25) * (share - 0.25) / 1000;
  EXPECT_NEAR(mean, 0.25 - 0.005,
              4.5 * std::sqrt(0.0625 / 1000)); // cuts are rounded down: half a sample
  EXPECT_NEAR(variance, 0.0625, 0.0625 * 4.5 * std::sqrt(3.0 / 1000));
}

TEST(partition, refuses_what_cannot_be_dealt) {
  EXPECT_THAT(usage_error("iid", labelled(3, 2), 4), HasSubstr("3 samples cannot be dealt to 4 workers"));
  EXPECT_THAT(usage_error("iid", labelled(3, 2), 0), HasSubstr("to 0 workers"));
  for (const char* text : {"label", "dirichlet"})
    EXPECT_THAT(usage_error(text, labelled(10, 0), 2), HasSubstr("real targets; use partition 'iid'"));
  EXPECT_THAT(usage_error("dirichlet:alpha=0", labelled(10, 2), 2), HasSubstr("out of range"));
  EXPECT_THAT(usage_error("idd", labelled(10, 2), 2), HasSubstr("did you mean 'iid'?"));
}

} // namespace
} // namespace gossamer::compute
