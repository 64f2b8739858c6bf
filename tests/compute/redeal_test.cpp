#include "gossamer/base/philox.hpp"
#include "gossamer/compute/redeal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "support/usage_error.hpp"

namespace gossamer::compute {
namespace {

using ranks = std::vector<std::uint32_t>;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t seed = 3;

dataset labelled(std::size_t samples, std::size_t classes = 10) {
  dataset data{.samples = samples, .features = 1, .classes = classes};
  for (std::size_t i = 0; i < samples; ++i)
    data.targets.push_back(static_cast<float>(i % classes));
  return data;
}

shards even(std::size_t samples, std::size_t workers) { return deal("iid", labelled(samples), workers, 1); }

ranks up_to(std::uint32_t end, std::uint32_t begin = 0) {
  ranks result(end - begin);
  std::iota(result.begin(), result.end(), begin);
  return result;
}

/// Draws each of 0 .. end - 1 with this probability, and at least one.
ranks some_of(std::uint32_t end, float probability, random_sequence& random) {
  ranks result;
  for (const auto i : up_to(end))
    if (random.uniform() < probability)
      result.push_back(i);
  return result.empty() ? ranks{random.below(end)} : result;
}

ranks with(ranks members, std::uint32_t one) {
  members.push_back(one);
  return members;
}

std::vector<std::uint32_t> owners(const shards& dealt, std::size_t samples) {
  std::vector<std::uint32_t> result(samples, UINT32_MAX);
  for (std::uint32_t i = 0; i < dealt.size(); ++i)
    for (const auto sample : dealt[i]) {
      EXPECT_EQ(result.at(sample), UINT32_MAX) << "sample " << sample << " twice";
      result[sample] = i;
    }
  return result;
}

TEST(redeal, gives_each_sample_to_one_member_and_each_member_a_sample) {
  random_sequence random{random_stream{seed, 0, purpose::chaos}, 0};
  for (const char* partition : {"iid", "label", "dirichlet:alpha=0.05"})
    for (std::size_t samples : {16u, 33u, 500u})
      for (std::uint32_t round = 0; round < 60; ++round) {
        const auto workers = 1 + random.below(16);
        const auto first = deal(partition, labelled(samples), workers, round);
        const auto members = some_of(1 + random.below(16), random.uniform(), random);
        const auto dealt = redeal(first, seed, members);
        const auto owner_of = owners(dealt, samples);
        ASSERT_THAT(owner_of, testing::Each(testing::AnyOfArray(members))) << partition;
        for (const auto i : members)
          ASSERT_FALSE(dealt[i].empty()) << partition << " " << i;
      }
}

TEST(redeal, gives_back_the_partition_when_its_workers_are_there) {
  for (const char* partition : {"iid", "label", "dirichlet"})
    for (std::uint32_t workers : {1u, 2u, 7u, 16u}) {
      const auto first = deal(partition, labelled(200), workers, 1);
      EXPECT_EQ(redeal(first, seed, up_to(workers)), first) << partition << " " << workers;
    }
}

TEST(redeal, moves_only_the_samples_of_who_left_or_came) {
  random_sequence random{random_stream{seed, 1, purpose::chaos}, 0};
  const std::size_t samples = 4000;
  for (std::uint32_t round = 0; round < 200; ++round) {
    const auto first = even(samples, 1 + random.below(12));
    const auto members = some_of(16, 0.5f, random);
    const auto other = random.below(16);
    if (std::ranges::find(members, other) != members.end())
      continue;
    const auto without = owners(redeal(first, seed, members), samples);
    const auto both = owners(redeal(first, seed, with(members, other)), samples);
    for (std::size_t s = 0; s < samples; ++s)
      ASSERT_TRUE(both[s] == without[s] || both[s] == other) << "sample " << s;
  }
}

TEST(redeal, moves_as_little_where_a_few_of_many_are_left) {
  const auto first = even(6000, 5000); // most lists name neither member in their first 1024 rounds
  const auto alone = owners(redeal(first, seed, ranks{7}), 6000);
  EXPECT_THAT(alone, testing::Each(7u));
  const auto both = redeal(first, seed, ranks{7, 4000});
  EXPECT_NEAR(double(both[7].size()), 3000, 5 * std::sqrt(1500));
  const auto three = owners(redeal(first, seed, ranks{7, 4000, 4001}), 6000);
  const auto two = owners(both, 6000);
  for (std::size_t s = 0; s < 6000; ++s)
    EXPECT_TRUE(three[s] == two[s] || three[s] == 4001);
}

TEST(redeal, leaves_members_what_they_had_before_what_they_take) {
  const auto first = even(1000, 8);
  const auto dealt = redeal(first, seed, ranks{0, 2, 3, 5});
  for (std::uint32_t i : {0u, 2u, 3u, 5u}) {
    ASSERT_GT(dealt[i].size(), first[i].size());
    EXPECT_TRUE(std::ranges::equal(first[i], std::span{dealt[i]}.first(first[i].size())));
  }
  for (std::uint32_t i : {1u, 4u, 6u, 7u})
    EXPECT_THAT(dealt[i], IsEmpty());
}

TEST(redeal, depends_on_who_is_there_and_on_the_seed_alone) {
  const auto first = even(1000, 8);
  EXPECT_EQ(redeal(first, seed, ranks{5, 0, 9, 2}), redeal(first, seed, ranks{0, 2, 5, 9}));
  EXPECT_NE(redeal(first, seed, ranks{0, 2, 5}), redeal(first, seed + 1, ranks{0, 2, 5}));
}

/// Allows five standard deviations of a binomial count: one false alarm in a million numbers.
void expect_share(std::size_t count, double of, double share) {
  EXPECT_NEAR(double(count), of * share, 5 * std::sqrt(of * share * (1 - share)));
}

TEST(redeal, spreads_the_samples_of_the_lost_evenly) {
  const auto first = even(48'000, 16);
  const auto members = up_to(16, 4);
  const auto dealt = redeal(first, seed, members);
  for (const auto i : members)
    expect_share(dealt[i].size() - first[i].size(), 4 * 3000, 1.0 / 12);
  // The samples of a single lost worker spread evenly, too: they do not all go to one neighbour.
  const auto owner_of = owners(dealt, 48'000);
  for (const auto i : members)
    expect_share(
        static_cast<std::size_t>(std::ranges::count_if(first[1], [&](auto sample) { return owner_of[sample] == i; })),
        3000, 1.0 / 12);
}

TEST(redeal, gives_newcomers_equal_shares) {
  const auto first = even(48'000, 8);
  for (std::uint32_t all : {9u, 12u, 32u}) {
    const auto dealt = redeal(first, seed, up_to(all));
    for (std::uint32_t i = 0; i < all; ++i)
      expect_share(dealt[i].size(), 48'000, 1.0 / all);
    const auto left = redeal(first, seed, up_to(all, 4)); // with some of the first workers lost
    for (std::uint32_t i = 4; i < all; ++i)
      expect_share(left[i].size(), 48'000, 1.0 / (all - 4));
  }
}

TEST(redeal, keeps_labels_where_they_are) {
  const auto data = labelled(1000);
  const auto first = deal("label:per-worker=1", data, 10, 1); // a class for each worker
  const auto dealt = redeal(first, seed, up_to(9));
  for (std::uint32_t i = 0; i < 9; ++i) {
    EXPECT_GT(dealt[i].size(), 100u) << "some of the class of the lost";
    EXPECT_TRUE(std::ranges::equal(first[i], std::span{dealt[i]}.first(100)));
  }
}

TEST(redeal, is_the_same_on_all_machines) { // a change here changes runs that lose workers
  const shards first{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  EXPECT_THAT(redeal(first, 1, ranks{0, 3}),
              ElementsAre(ranks{0, 1, 2, 3, 4, 8}, IsEmpty(), IsEmpty(), ranks{12, 13, 14, 15, 5, 6, 7, 9, 10, 11}));
  EXPECT_THAT(redeal(first, 1, ranks{0, 1, 2, 3, 4, 6}),
              ElementsAre(ranks{0, 1}, ranks{5, 6}, ranks{8, 9, 10, 11}, ranks{13, 14, 15}, ranks{2, 4, 12}, IsEmpty(),
                          ranks{3, 7}));
}

TEST(redeal, refuses_more_members_than_samples) {
  const auto problem = usage_error([] { redeal(shards{{0}, {1}}, seed, ranks{0, 2, 3}); });
  EXPECT_THAT(problem, testing::HasSubstr("2 samples cannot be dealt to 3 workers"));
  EXPECT_EQ(redeal(shards{{0}, {1}}, seed, ranks{0, 3}).size(), 4u);
}

TEST(redealt_shards, are_what_redeal_gives_whoever_asks_first) {
  const auto first = std::make_shared<const shards>(even(1000, 8));
  const ranks members{0, 2, 3, 5};
  const redealt_shards lazy{first, seed, members};
  std::vector<std::thread> threads;
  std::vector<std::vector<std::uint32_t>> seen(6);
  for (const auto i : members)
    threads.emplace_back([&lazy, &seen, i] { seen[i] = lazy.of(i); });
  for (auto& t : threads)
    t.join();
  const auto expected = redeal(*first, seed, members);
  for (const auto i : members)
    EXPECT_EQ(seen[i], expected[i]);
}

} // namespace
} // namespace gossamer::compute
