// The parts of apps/examples/own_parts.hpp, in tables without a command line.
#include "gossamer/actors/protocol/fingerprint.hpp"
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include <array>

#include "own_parts.hpp"
#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// snippet tables begin
/// The built-in entries and those of own_parts.hpp.
const tables& all() {
  static const auto codecs = joined(compress::codecs(), std::span{&own::codec, 1});
  static const auto topologies = joined(topology::topologies(), std::span{&own::topology_of_racks, 1});
  static const auto optimisers = joined(compute::optimisers(), std::span{&own::optimiser, 1});
  static const tables result{
      .codecs = {"codec", codecs}, .topologies = {"topology", topologies}, .optimisers = {"optimiser", optimisers}};
  return result;
}
// snippet tables end

run_settings of_digits(std::string algorithm, std::string codec = "powers-of-two") {
  run_settings s;
  s.algorithm = std::move(algorithm);
  s.topology = "auto";
  s.codec = std::move(codec);
  s.model = "softmax";
  s.data = "digits:samples=3000,test=200"; // asynchronous runs end between 0.58 and 0.62
  s.epochs = 6;
  return s;
}

run_settings in_racks(std::string algorithm) {
  auto s = of_digits(std::move(algorithm));
  s.workers = 5;
  s.topology = "racks:of=2";
  s.optimiser = "signum:beta=0.8";
  return s;
}

TEST(powers_of_two, are_the_neighbours_of_each_element_and_right_on_average) {
  buffer_pool pool;
  const auto codec = compress::make_codec("powers-of-two", {}, all().codecs);
  const random_stream random{1, 0, purpose::quantise};
  const std::vector<float> values{3, -0.75f, 1, 0, -5e-39f, 3e38f};
  const std::vector<float> below{2, -0.5f, 1, 0, 0, 0x1p127f}, above{4, -1, 1, 0, -0x1p-126f, 0x1p127f};
  std::vector<double> sums(values.size());
  constexpr std::uint64_t draws = 20'000;
  for (std::uint64_t step = 0; step < draws; ++step) {
    const auto p = codec->encode({pool, values}, random, step);
    ASSERT_EQ(p.bits, 54u);
    const vec decoded = decode(p, all().codecs);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(decoded[i] == below[i] || decoded[i] == above[i]) << decoded[i];
      sums[i] += static_cast<double>(decoded[i]);
    }
  }
  EXPECT_NEAR(sums[0] / draws, 3, 4.5 / std::sqrt(draws)); // each draw is off by 1
  EXPECT_NEAR(sums[1] / draws, -0.75, 4.5 * 0.25 / std::sqrt(draws));
  EXPECT_NEAR(sums[4] / draws / 5e-39, -1, 0.05);
}

TEST(powers_of_two, are_read_by_nobody_who_does_not_know_them) {
  buffer_pool pool;
  const auto codec = compress::make_codec("powers-of-two", {}, all().codecs);
  auto p = codec->encode({pool, std::vector<float>(9, 1.5f)}, {1, 0, purpose::quantise}, 0);
  EXPECT_THROW(std::ignore = compress::decode(p), error);
  p.elements = 10;
  EXPECT_THROW(std::ignore = compress::decode(p, all().codecs), error);
}

TEST(own_parts, train_and_are_simulated) {
  for (const auto& s : {in_racks("d-psgd"), in_racks("dcd-psgd"), of_digits("ad-psgd"), of_digits("ef-sgd"),
                        of_digits("cser:c1=powers-of-two,c2=none,period=2", "identity")}) {
    const auto e = prepare(s, all());
    EXPECT_GT(run_locally(e).final.test_accuracy.value(), 0.5) << s.algorithm;
    EXPECT_GT(simulate(e, {}).summary.final.test_accuracy.value(), 0.5) << s.algorithm;
    EXPECT_THAT(usage_error([&] { prepare(s); }), HasSubstr("unknown")) << s.algorithm;
  }
}

TEST(own_parts, are_told_apart_by_the_fingerprint) {
  const auto s = of_digits("d-psgd", "identity");
  EXPECT_THAT(differences(fingerprint_of(*prepare(s, all())), fingerprint_of(*prepare(s))),
              ElementsAre("codec powers-of-two is number 128, powers-of-two here and not given there"));

  const auto graph_of = [](topology::topology_entry entry) {
    const std::array entries{std::move(entry)};
    auto with_racks = of_digits("d-psgd", "identity");
    with_racks.topology = "racks:of=2";
    return fingerprint_of(*prepare(with_racks, {.topologies = {"topology", entries}}));
  };
  auto other = own::topology_of_racks;
  other.make = [](const arguments&, std::size_t size, std::uint64_t) {
    return topology::make_topology("complete", size, 1);
  };
  EXPECT_THAT(differences(graph_of(own::topology_of_racks), graph_of(other)),
              ElementsAre(HasSubstr("the graph of the workers is another one here")));
}

TEST(own_parts, need_names_and_numbers_of_their_own) {
  const auto refusal = [](const std::vector<compress::codec_entry>& own) {
    return usage_error([&] {
      const auto entries = joined(compress::codecs(), std::span{own});
      compress::check_table({"codec", entries});
    });
  };
  auto renamed = own::codec, uniform = own::codec, low = own::codec;
  renamed.about.name = "halves";
  uniform.about.name = "uniform";
  low.wire_number = 127;
  EXPECT_THAT(refusal({uniform}), HasSubstr("two of the name 'uniform' (codec)"));
  EXPECT_THAT(refusal({own::codec, renamed}), HasSubstr("'powers-of-two' and 'halves' have one wire number, 128"));
  EXPECT_THAT(refusal({low}), HasSubstr("allowed: 128 to 255"));
  const std::array alone{own::codec};
  EXPECT_THAT(usage_error([&] {
                prepare(of_digits("d-psgd"), {.codecs = {"codec", alone}});
              }),
              HasSubstr("the table of codecs lacks 'identity'"));
}

TEST(own_parts, are_complete) {
  check_entries(all());
  const auto& ad_psgd = algorithms().find("ad-psgd");
  const auto& served = algorithms().find("parameter-server-sgd");
  const auto algorithm = [](const algorithm_entry& e, void (*change)(algorithm_entry&)) {
    algorithm_entry changed = e;
    change(changed);
    const std::array entries{changed};
    return usage_error([&] { check_entries({.algorithms = {"algorithm", entries}}); });
  };
  EXPECT_THAT(algorithm(ad_psgd, [](auto& e) { e.make = nullptr; }), HasSubstr("'ad-psgd' has no function `make`"));
  EXPECT_THAT(algorithm(served, [](auto& e) { e.make_master = nullptr; }), HasSubstr("no function `make_master`"));
  EXPECT_THAT(algorithm(served, [](auto& e) { e.masters = nullptr; }), HasSubstr("no function `masters`"));
  EXPECT_THAT(algorithm(ad_psgd, [](auto& e) { e.about.name = "AD"; }), HasSubstr("'AD' has a name that no flag"));

  auto signum = own::optimiser;
  signum.suggested_lr = nullptr;
  auto racks = own::topology_of_racks;
  racks.make = nullptr;
  const auto with_codec = [](auto change) {
    auto codec = own::codec;
    change(codec);
    const auto codecs = joined(compress::codecs(), std::span<const compress::codec_entry>{&codec, 1});
    return usage_error([&] { check_entries({.codecs = {"codec", codecs}}); });
  };
  EXPECT_THAT(usage_error([&] {
                check_entries({.optimisers = {"optimiser", {&signum, 1}}});
              }),
              HasSubstr("no function `suggested_lr`"));
  EXPECT_THAT(usage_error([&] {
                check_entries({.topologies = {"topology", {&racks, 1}}});
              }),
              HasSubstr("no function `make`"));
  EXPECT_THAT(with_codec([](auto& c) { c.decode = nullptr; }), HasSubstr("no function `decode`"));
  EXPECT_THAT(with_codec([](auto& c) { c.make = nullptr; }), HasSubstr("no function `make`"));
}

TEST(own_parts, make_something) {
  auto signum = own::optimiser;
  signum.make = [](const arguments&) -> std::unique_ptr<compute::optimiser> { return nullptr; };
  EXPECT_THAT(usage_error([&] {
                compute::make_optimiser("signum", {"optimiser", {&signum, 1}});
              }),
              HasSubstr("optimiser 'signum' made nothing: its function `make` returned null"));
  auto codec = own::codec;
  codec.make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<compress::codec> {
    return nullptr;
  };
  EXPECT_THAT(usage_error([&] {
                std::ignore = compress::make_codec("powers-of-two", {}, {"codec", {&codec, 1}});
              }),
              HasSubstr("codec 'powers-of-two' made nothing"));
  auto served = algorithms().find("parameter-server-sgd");
  served.make = [](const algorithm_setup&) -> std::unique_ptr<algorithm> { return nullptr; };
  served.make_master = [](const algorithm_setup&) -> std::unique_ptr<algorithm> { return nullptr; };
  const arguments given{"algorithm", served.about, {served.about.name, {}}};
  const algorithm_setup setup{.given = given, .initial = {}};
  EXPECT_THAT(usage_error([&] { make_for_worker(served, setup); }), HasSubstr("its function `make` returned null"));
  EXPECT_THAT(usage_error([&] { make_for_master(served, setup); }), HasSubstr("function `make_master` returned null"));
}

} // namespace
} // namespace gossamer::actors
