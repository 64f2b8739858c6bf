// vec's arithmetic where the elements are on a device: a queue that runs every thread of every kernel on the processor.
#include "gossamer/base/cuda/detail/queue_vec.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/host_queue.hpp"

namespace gossamer::test {
namespace {

using elements = cuda::queue_vec<host_queue>;

class device_vector : public testing::TestWithParam<std::size_t> {
protected:
  std::shared_ptr<host_queue> queue() const { return std::make_shared<host_queue>(cuda::launch_policy{64}, 3, 7); }
  vec on(const std::shared_ptr<host_queue>& q, const vec& v) const { return vec{elements::in(q, v)}; }
  vec on_device(const vec& v) const { return on(queue_, v); }
  vec numbers(float from) {
    vec v{pool_, GetParam()};
    auto x = v.mutate();
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(from + static_cast<float>(i)) * std::ldexp(1.0f, static_cast<int>(i % 40) - 20);
    return v;
  }

  buffer_pool pool_;
  std::shared_ptr<host_queue> queue_ = queue();
};

bool is_on_device(const vec& v) { return elements::of(v) != nullptr; }

TEST_P(device_vector, computes_as_the_host_does) {
  const vec x = numbers(1), g = numbers(2);
  const auto all = [](vec y, const vec& z) {
    std::vector<vec> results;
    results.push_back(y += z);
    results.push_back(y -= z);
    results.push_back(y += 0.3f * z);
    results.push_back(y -= 1e-3f * z);
    results.push_back(y *= -1.7f);
    results.push_back(0.1f * y);
    results.push_back(y + z - 0.7f * z);
    results.push_back(y += y);
    return results;
  };
  const auto expected = all(x, g);
  const vec here = on_device(x), there = on_device(g), elsewhere = on(queue(), g);
  const std::pair<vec, vec> operands[] = {{here, there}, {here, g}, {x, there}, {here, elsewhere}};
  for (const auto& [y, z] : operands) {
    const auto results = all(y, z);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_TRUE(is_on_device(results[k])) << k;
      EXPECT_EQ(results[k], expected[k]) << k;
    }
  }
  EXPECT_EQ(here, x) << "copies share elements until one is written";
  EXPECT_EQ(there, g);
}

TEST_P(device_vector, is_brought_to_the_host_by_who_reads_and_stays_there_for_who_writes) {
  const vec x = numbers(3);
  vec y = on_device(x);
  const vec copy = y;
  EXPECT_EQ(y.data(), copy.data()) << "brought there once for all copies";
  EXPECT_TRUE(is_on_device(y));
  y += x;
  EXPECT_EQ(y, x + x) << "the copy of the former elements is forgotten";
  EXPECT_EQ(copy, x);
  if (x.empty())
    return;
  y.mutate()[0] = 5;
  EXPECT_FALSE(is_on_device(y));
  EXPECT_EQ(y[0], 5);
  vec z = copy;
  std::ranges::fill(z.overwrite(), 2.0f);
  EXPECT_FALSE(is_on_device(z));
  EXPECT_EQ(z[0], 2);
  EXPECT_EQ(copy, x);
}

TEST_P(device_vector, has_zeros_and_copies) {
  const vec x = on_device(numbers(4));
  const vec zeros = zeros_like(x);
  EXPECT_TRUE(is_on_device(zeros));
  EXPECT_THAT(zeros.view(), testing::Each(0));
  EXPECT_EQ(zeros.size(), GetParam());
  EXPECT_FALSE(is_on_device(on_host(x)));
  EXPECT_EQ(on_host(x), x);
  EXPECT_FALSE(is_on_device(zeros_like(on_host(x))));
}

TEST_P(device_vector, stays_on_the_gpu_of_its_left_operand) {
  const auto other = queue();
  other->use_memory(1);
  const vec x = numbers(5), g = numbers(6);
  vec y = on_device(x);
  y += on(other, g);
  EXPECT_TRUE(elements::of(y)->queue().same_memory(*queue_));
  EXPECT_EQ(y, x + g);
}

INSTANTIATE_TEST_SUITE_P(sizes, device_vector, testing::Values(0, 1, 3, 4, 31, 130, 5000));

} // namespace
} // namespace gossamer::test
