// Reductions along rings and tori: dense sums, sums and majorities of signs, and one-bit merges.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "reduction_world.hpp"

namespace gossamer::actors {
namespace {

TEST(segment, parts_cover_the_whole_and_begin_at_whole_grains) {
  for (const std::size_t grain : {1u, 64u})
    for (const auto length : lengths)
      for (const auto count : crowds) {
        const segment whole{128, length};
        std::size_t end = whole.begin;
        for (std::size_t k = 0; k < count; ++k) {
          const auto part = whole.part(k + 3 * count, count, grain);
          ASSERT_EQ(part.begin, end);
          ASSERT_TRUE(part.begin % grain == 0 || part.size == 0);
          end = part.begin + part.size;
        }
        ASSERT_EQ(end, whole.begin + length);
      }
}

TEST(dense_sum, equals_the_sum_on_every_route_for_every_length) {
  for (const auto way : all_routes)
    for (const auto workers : crowds)
      for (const auto length : lengths) {
        const auto world = let_live({workers, length}, [way](worker& w, vec& x) { return add_up(w, x, way); });
        expect_agreement(*world, workers);
        for (std::size_t k = 0; k < length; ++k) {
          double sum = 0;
          for (rank i = 0; i < workers; ++i)
            sum += static_cast<double>(value_of(i, k));
          ASSERT_NEAR(world->model(0)[k], sum, 1e-6) << workers << " workers, element " << k;
        }
      }
}

TEST(sign_sum, equals_the_sum_of_signs_on_every_route_in_every_code) {
  for (const auto way : all_routes)
    for (const auto code : {sign_sum_code::fixed, sign_sum_code::elias, sign_sum_code::shorter})
      for (const auto workers : crowds)
        for (const auto length : lengths) {
          const auto world =
              let_live({workers, length}, [=](worker& w, vec& x) { return count<sign_sum>(w, x, way, code); });
          expect_agreement(*world, workers);
          for (std::size_t k = 0; k < length; ++k)
            ASSERT_EQ(world->model(0)[k], static_cast<float>(sum_of_signs(workers, k))) << workers << " workers";
        }
}

TEST(sign_majority, is_the_sign_of_the_sum_and_a_tie_is_plus) {
  for (const auto way : all_routes)
    for (const auto workers : crowds)
      for (const auto length : lengths) {
        const auto world = let_live({workers, length}, [=](worker& w, vec& x) {
          return count<sign_majority>(w, x, way, sign_sum_code::fixed);
        });
        expect_agreement(*world, workers);
        for (std::size_t k = 0; k < length; ++k)
          ASSERT_EQ(world->model(0)[k], sum_of_signs(workers, k) >= 0 ? 1 : -1) << workers << " workers";
      }
}

TEST(one_bit_merge, takes_each_bit_from_some_worker_and_keeps_what_all_agree_on) {
  for (const auto way : all_routes)
    for (const auto workers : crowds)
      for (const auto length : lengths) {
        const auto world = let_live({workers, length}, [way](worker& w, vec& x) { return merge(w, x, way); });
        expect_agreement(*world, workers);
        for (std::size_t k = 0; k < length; ++k) {
          const auto sum = sum_of_signs(workers, k);
          if (std::abs(sum) == static_cast<int>(workers)) {
            ASSERT_EQ(world->model(0)[k] > 0, sum > 0);
          }
          ASSERT_EQ(std::abs(world->model(0)[k]), 1);
        }
      }
}

/// Presents the elements of a vector as if they lay outside the memory of the host.
class far_elements final : public remote_elements {
public:
  explicit far_elements(const vec& v) : elements_(v.storage()) {}

  std::size_t size() const noexcept override { return elements_.size() / sizeof(float); }
  const buffer& on_host() const override { return elements_; }
  buffer_pool pool() const override { return elements_.pool(); }

private:
  buffer elements_;
};

vec moved_away(const vec& v) { return vec{std::make_shared<far_elements>(v)}; }

TEST(all_reduce, of_signs_does_not_depend_on_where_vectors_are) {
  const auto fixed = sign_sum_code::fixed;
  for (const auto way : all_routes)
    for (const auto& life :
         std::vector<script::life>{[way](worker&w, vec&x) { return merge(w, x, way); },
                                   [=](worker&w, vec&x) { return count<sign_sum>(w, x, way, fixed); },
                                   [=](worker&w, vec&x) { return count<sign_majority>(w, x, way, fixed); }}) {
      const auto here = let_live({6, 1000}, life);
      const auto away = let_live({6, 1000}, [&life](worker& w, vec& x) {
        x = moved_away(x);
        return life(w, x);
      });
      EXPECT_EQ(away->model(0), here->model(0));
    }
}

TEST(all_reduce, does_not_depend_on_timing) {
  for (const auto way : all_routes)
    for (const auto& life : std::vector<script::life>{
             [way](worker&w, vec&x) { return add_up(w, x, way); }, [way](worker&w, vec&x) { return merge(w, x, way); },
             [way](worker&w, vec&x) { return count<sign_majority>(w, x, way, sign_sum_code::fixed); }}) {
      const auto first = let_live({6, 1000}, life);
      for (std::uint64_t timing = 1; timing <= 5; ++timing)
        EXPECT_EQ(let_live({6, 1000, timing}, life)->model(3), first->model(0));
    }
}

class sliced_sum final : public dense_sum {
public:
  using dense_sum::dense_sum;
  std::size_t slice_elements() const override { return 10; }
};

task<> add_slices(worker& w, vec& x, route way) {
  sliced_sum sum{w, x};
  co_await all_reduce(w, sum, way, 0);
  x = sum.sum();
}

TEST(all_reduce, adds_up_directly_in_the_order_of_the_ring) {
  for (const auto workers : crowds)
    for (const auto length : lengths) {
      const auto on_ring = let_live({workers, length}, [](worker& w, vec& x) { return add_slices(w, x, route::ring); });
      const auto directly =
          let_live({workers, length}, [](worker& w, vec& x) { return add_slices(w, x, route::direct); });
      expect_agreement(*directly, workers);
      ASSERT_EQ(directly->model(0), on_ring->model(0)) << workers << " workers, length " << length;
    }
}

TEST(all_reduce, of_vectors_whose_sum_is_infinite_fails_and_does_not_wait) {
  for (const auto way : all_routes)
    for (const std::size_t workers : {2u, 3u, 4u})
      try {
        let_live({workers, 100}, [way](worker& w, vec& x) {
          std::ranges::fill(x.overwrite(), 3e38f);
          return add_up(w, x, way);
        });
        ADD_FAILURE() << workers << " workers";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::diverged);
      }
}

TEST(all_reduce, of_slices_comes_to_the_same_sum) {
  for (const auto workers : crowds)
    for (const std::size_t length : {1u, 59u, 60u, 61u, 5000u}) {
      const auto whole = let_live({workers, length}, [](worker& w, vec& x) { return add_up(w, x, route::ring); });
      const auto sliced = let_live({workers, length}, [](worker& w, vec& x) { return add_slices(w, x, route::ring); });
      expect_agreement(*sliced, workers);
      EXPECT_EQ(sliced->model(0), whole->model(0)) << workers << " workers, " << length << " elements";
      expect_agreement(*let_live({workers, length}, [](worker& w, vec& x) { return add_slices(w, x, route::torus); }),
                       workers);
    }
}

task<> add_and_merge(worker& w, vec& x) {
  dense_sum sum{w, x};
  one_bit_merge bits{w, x, 0};
  reduction* const both[] = {&sum, &bits};
  co_await all_reduce(w, both, route::ring, 0);
  x = sum.sum() + bits.values();
}

TEST(all_reduce, does_several_reductions_side_by_side) {
  std::vector<std::uint64_t> first_hops;
  tiny_world world{{.topology = "complete",
                    .workers = 2,
                    .on_send = [&](rank, const frame& f) { first_hops.push_back(f.label.part >> 24); }},
                   [](rank i) {
                     static buffer_pool pool;
                     return std::make_unique<script>(values_of(pool, i, 10), add_and_merge);
                   },
                   [](rank, std::uint64_t, const vec& x) { return x; }};
  ASSERT_TRUE(world.run());
  ASSERT_EQ(first_hops.size(), 8u);
  first_hops.resize(4); // the first frames of both workers, sent before any delivery
  EXPECT_EQ(first_hops, (std::vector<std::uint64_t>{0, 1, 0, 1}));
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_EQ(world.model(0)[k], world.model(1)[k]);
}

/// Returns 2 sum_p (p - 1) over the sides of the grid.
std::size_t hops_of(route way, std::size_t workers) {
  std::vector<std::size_t> sides{workers};
  if (way == route::torus)
    sides = {torus_shape(workers).first, torus_shape(workers).second};
  if (way == route::halving)
    sides = prime_factors(workers);
  return 2 * (std::accumulate(sides.begin(), sides.end(), std::size_t{0}) - sides.size());
}

TEST(all_reduce, sends_what_it_promises) {
  constexpr std::size_t length = 1000;
  for (const auto workers : {2u, 4u, 7u, 8u, 9u}) {
    const auto hops = 2 * (workers - 1);
    const auto volume = [&](const script::life& life) {
      const auto world = let_live({workers, length}, life);
      traffic total;
      for (rank i = 0; i < workers; ++i)
        total += world->sent(i);
      return total;
    };
    for (const auto way : all_routes) {
      const auto frames = way == route::star ? hops : workers * hops_of(way, workers);
      const auto dense = volume([way](worker& w, vec& x) { return add_up(w, x, way); });
      const auto bits = volume([way](worker& w, vec& x) { return merge(w, x, way); });
      EXPECT_EQ(dense.frames, frames);
      EXPECT_EQ(bits.frames, frames);
      EXPECT_EQ(dense.payload_bits, 32 * hops * length);
      EXPECT_EQ(bits.payload_bits, hops * length);
    }
    std::uint64_t widths = 0; // bits per element in the reduce phase
    for (std::uint32_t k = 1; k < workers; ++k)
      widths += static_cast<std::uint64_t>(compress::sign_sum_width(k));
    const auto counted = [&]<class R>(std::type_identity<R>) {
      return volume([](worker& w, vec& x) { return count<R>(w, x, route::ring, sign_sum_code::fixed); }).payload_bits;
    };
    EXPECT_EQ(counted(std::type_identity<sign_majority>{}), (widths + workers - 1) * length);
    EXPECT_EQ(counted(std::type_identity<sign_sum>{}),
              (widths + (workers - 1) * static_cast<std::uint64_t>(compress::sign_sum_width(workers))) * length);
  }
}

// -- weights ----------------------------------------------------------------------------------------------------------

/// Sends worker 0 one frame of this weight, whose packets claim to count `counted` workers. Run by worker 1.
task<> deceive(worker& w, const vec& x, std::uint32_t weight, std::uint32_t counted) {
  const tag label{frame_kind::reduce_segment, 0, weight, w.present().number};
  w.send(0, label, compress::sign_sums(x.pool(), x.size() / 2, counted).encode(sign_sum_code::fixed));
  co_return;
}

bool accepts(std::uint32_t weight, std::uint32_t counted) {
  buffer_pool pool;
  tiny_world world{{.topology = "ring", .workers = 2},
                   [&](rank i) {
                     return std::make_unique<script>(vec{pool, 256}, [=](worker& w, vec& x) {
                       return i == 0 ? count<sign_sum>(w, x, route::ring, sign_sum_code::fixed)
                                     : deceive(w, x, weight, counted);
                     });
                   },
                   [](rank, std::uint64_t, const vec& x) { return x; }};
  world.run();
  return world.sent(0).frames == 2; // true if worker 0 goes on to the second half
}

TEST(all_reduce, takes_a_segment_only_for_as_many_workers_as_it_stands_for) {
  EXPECT_TRUE(accepts(1, 1));
  EXPECT_FALSE(accepts(2, 2));
  try {
    accepts(1, 2);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    EXPECT_THAT(e.sentence(), testing::HasSubstr("counts 2 workers instead of 1"));
  }
}

// -- the mean of one-bit merges ---------------------------------------------------------------------------------------

/// Merges by the literal text: the rank of a worker stands where the number of workers merged so far belongs.
class merge_by_rank final : public reduction {
public:
  merge_by_rank(const worker& w, const vec& v, std::uint64_t t) : merge_(w, v, t), rank_(std::max(w.id(), 1u)) {}

  std::size_t size() const override { return merge_.size(); }
  std::size_t grain() const override { return merge_.grain(); }
  void begin(std::uint32_t members) override { merge_.begin(members); }
  void load(segment s) override { merge_.load(s); }
  packet partial(segment s, std::uint32_t weight) override { return merge_.partial(s, weight); }
  void expect(segment s, contributors of) override { merge_.expect(s, {rank_, of.own}); }
  void merge(segment s, packet p, contributors of) override { merge_.merge(s, std::move(p), of); }
  packet result(segment s) override { return merge_.result(s); }
  void store(segment s, const packet& p) override { merge_.store(s, p); }
  vec values() const { return merge_.values(); }

private:
  one_bit_merge merge_;
  std::uint32_t rank_;
};

constexpr std::uint64_t draws = 1000;

/// Sets x to the sum of the bits of `draws` rounds.
template <class Merge>
task<> merge_often(worker& w, vec& x, route way) {
  vec sum = 0.0f * x;
  for (std::uint64_t t = 0; t < draws; ++t) {
    Merge r{w, x, t};
    co_await all_reduce(w, r, way, t);
    sum += r.values();
  }
  x = sum;
}

/// Returns the largest distance of the mean bit from the mean sign, in standard errors, and the mean distance.
template <class Merge>
std::pair<double, double> deviation(std::size_t workers, route way) {
  const auto length = 64 * workers;
  const auto world = let_live({workers, length}, [way](worker& w, vec& x) { return merge_often<Merge>(w, x, way); });
  double largest = 0, total = 0;
  for (std::size_t k = 0; k < length; ++k) {
    const double mean = sum_of_signs(workers, k) / static_cast<double>(workers);
    const double distance = std::abs(static_cast<double>(world->model(0)[k]) / draws - mean);
    const double standard_error = std::sqrt((1 - mean * mean) / draws);
    largest = std::max(largest, distance == 0 ? 0 : distance / standard_error);
    total += distance;
  }
  return {largest, total / static_cast<double>(length)};
}

TEST(one_bit_merge, is_the_mean_sign_on_average) {
  for (const auto& [workers, way] : {std::pair{3u, route::ring},
                                     {8u, route::ring},
                                     {6u, route::torus},
                                     {8u, route::torus},
                                     {8u, four_rows},
                                     {9u, route::torus},
                                     {8u, route::halving},
                                     {6u, route::halving},
                                     {8u, route::star}})
    EXPECT_LT(deviation<one_bit_merge>(workers, way).first, 4.5) << workers << " workers";
}

TEST(one_bit_merge, would_be_wrong_on_average_if_it_counted_ranks) {
  EXPECT_GT(deviation<merge_by_rank>(4, route::ring).second, 0.1);
  EXPECT_LT(deviation<one_bit_merge>(4, route::ring).second, 0.05);
}

} // namespace
} // namespace gossamer::actors
