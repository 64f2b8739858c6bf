// Vectors encoded and decoded in place, on a GPU that the processor stands in for.
#include "gossamer/compress/cuda/detail/coder_on.hpp"

#include <gmock/gmock.h>

#include "cuda/coder_twin.hpp"
#include "support/host_queue.hpp"

namespace gossamer::test {
namespace {

class host_device {
public:
  vec on_device(const vec& v) const { return vec{cuda::queue_vec<host_queue>::in(queue_, v)}; }
  const compress::coder& coder() const { return coder_; }

private:
  std::shared_ptr<host_queue> queue_ = std::make_shared<host_queue>(cuda::launch_policy{64}, 3, 7);
  compress::cuda::coder_on<host_queue> coder_{queue_};
};

class coder : public testing::TestWithParam<std::string> {
protected:
  host_device device_;
};

TEST_P(coder, makes_the_packets_and_sums_of_the_processor) { expect_coder_of_the_processor(device_, GetParam()); }

TEST_P(coder, decodes_vectors_that_act_as_those_of_the_processor) {
  expect_decoded_vectors_of_the_processor(device_, GetParam());
}

INSTANTIATE_TEST_SUITE_P(codec, coder, testing::ValuesIn(coder_specs()), spec_as_name);

class selecting_coder : public coder {};

TEST_P(selecting_coder, takes_and_adds_what_the_processor_does) {
  expect_selections_of_the_processor(device_, GetParam());
}

INSTANTIATE_TEST_SUITE_P(codec, selecting_coder, testing::ValuesIn(linear_specs()), spec_as_name);

TEST(coders, refuse_damaged_packets) {
  host_device device;
  expect_damaged_vectors_refused(device);
}

TEST(coders, refuse_at_once_what_can_be_seen_without_looking_at_all_values) {
  const host_device device;
  buffer_pool pool;
  auto p = compress::make_codec("uniform")->encode(vec{pool, normal_values(300)}, codec_randomness, 0);
  p.parameter = 17;
  EXPECT_THROW(device.coder().decode(p), error);
}

TEST(coders, keep_the_tensors_that_a_codec_was_made_for) {
  const host_device device;
  buffer_pool pool;
  const std::vector<tensor_shape> tensors{{20, 30}, {1, 17}, {9, 40}};
  const auto codec = compress::make_codec("grbs:ratio=4,layout=tensor", tensors);
  const vec v{pool, normal_values(600 + 17 + 360)};
  const auto p = device.coder().encode(*codec, device.on_device(v), codec_randomness, 3);
  EXPECT_EQ(difference(p, codec->encode(v, codec_randomness, 3)), "");
}

} // namespace
} // namespace gossamer::test
