#include "gossamer/actors/protocol/fingerprint.hpp"
#include "gossamer/compute/npz.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "dense_rows.hpp"
#include "scratch_folder.hpp"
#include "usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

run_settings small() {
  run_settings s;
  s.algorithm = "dcd-psgd";
  s.codec = "min-max:bits=4";
  s.model = "quadratic";
  s.data = "quadratic:samples=40,dim=5";
  s.workers = 6;
  s.batch = 2;
  s.lr = 0.1 / 3;
  s.steps = 7;
  s.seed = 11;
  s.slow = {{1, 2.5}, {4, 1e3}};
  return s;
}

fingerprint of(const run_settings& s) { return fingerprint_of(*prepare(s)); }

TEST(run_settings, say_everything_as_text) {
  const auto text = to_text(small());
  EXPECT_THAT(text, HasSubstr("algorithm = 'dcd-psgd'\n"));
  EXPECT_THAT(text, HasSubstr("workers = 6\n"));
  EXPECT_THAT(text, HasSubstr("slow = '1:2.5x,4:1000x'\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("epochs"))) << "steps are given";
  EXPECT_EQ(to_text(parse_run_settings(text, "here")), text);
}

TEST(run_settings, name_the_line_that_is_wrong) {
  const auto refusal = [](std::string_view text) { return usage_error([&] { parse_run_settings(text, "run 7"); }); };
  EXPECT_THAT(refusal("seed = 1\nworkers = 0"), HasSubstr("run 7:2: --workers is 0"));
  EXPECT_THAT(refusal("network = 'wan'"), HasSubstr("run 7:1: unknown key 'network'"));
}

TEST(run_settings, are_checked_without_the_data) {
  auto s = small();
  s.model = "softmax";
  s.data = "idx:dir=nowhere";
  EXPECT_NO_THROW(check_without_data(s));
  EXPECT_THROW(prepare(s), error);
  const auto refusal = [&](std::string run_settings::*name, const std::string& value) {
    auto wrong = s;
    wrong.*name = value;
    return usage_error([&] { check_without_data(wrong); });
  };
  EXPECT_THAT(refusal(&run_settings::algorithm, "dcd-psgdd"), HasSubstr("did you mean 'dcd-psgd'"));
  EXPECT_THAT(refusal(&run_settings::algorithm, "all-reduce-sgd"), HasSubstr("needs a codec that is exact"));
  EXPECT_THAT(refusal(&run_settings::codec, "min-maxx"), HasSubstr("did you mean 'min-max'"));
  EXPECT_THAT(refusal(&run_settings::topology, "rnig"), HasSubstr("did you mean 'ring'"));
  EXPECT_THAT(refusal(&run_settings::mixing, "unifrom"), HasSubstr("did you mean 'uniform'"));
  EXPECT_THAT(refusal(&run_settings::islands, "2"), HasSubstr("dcd-psgd knows no islands"));
  EXPECT_THAT(refusal(&run_settings::optimiser, "sdg"), HasSubstr("did you mean 'sgd'"));
  EXPECT_THAT(refusal(&run_settings::schedule, "cosin"), HasSubstr("did you mean 'cosine'"));
  EXPECT_THAT(refusal(&run_settings::model, "sofmax"), HasSubstr("did you mean 'softmax'"));
  EXPECT_THAT(refusal(&run_settings::data, "idxx:dir=nowhere"), HasSubstr("did you mean 'idx'"));
  EXPECT_THAT(refusal(&run_settings::partition, "idi"), HasSubstr("did you mean 'iid'"));
}

TEST(run_settings, that_no_flag_could_set_are_refused_as_well) {
  const auto refusal = [](auto change) {
    auto wrong = small();
    change(wrong);
    return usage_error([&] { check_without_data(wrong); });
  };
  EXPECT_THAT(refusal([](auto& s) { s.seed = std::uint64_t{1} << 63; }), HasSubstr("seed"));
  EXPECT_THAT(refusal([](auto& s) { s.batch = 0; }), HasSubstr("batch"));
  EXPECT_THAT(refusal([](auto& s) { s.lr = std::nan(""); }), HasSubstr("lr"));
  EXPECT_THAT(refusal([](auto& s) { s.slow[0] = -1; }), HasSubstr("slow"));
  EXPECT_THAT(refusal([](auto& s) { s.checkpoint.seconds = 1e99; }), HasSubstr("checkpoint"));
}

TEST(fingerprint, is_that_of_a_run_prepared_from_the_text) {
  const auto e = prepare(small());
  const auto there = prepare(parse_run_settings(to_text(e->settings), "there"));
  EXPECT_EQ(fingerprint_of(*there), fingerprint_of(*e));
  EXPECT_THAT(differences(fingerprint_of(*there), fingerprint_of(*e)), IsEmpty());
  EXPECT_EQ(digest_of(fingerprint_of(*there)), digest_of(fingerprint_of(*e)));
  EXPECT_EQ(there->initial, e->initial);
}

TEST(fingerprint, leaves_out_what_belongs_to_a_machine) {
  auto s = small();
  s.threads = 3;
  EXPECT_EQ(of(s), of(small()));
}

TEST(fingerprint, tells_in_which_settings_two_differ) {
  auto other = small();
  other.lr = 0.5;
  other.slow.clear();
  EXPECT_NE(digest_of(of(small())), digest_of(of(other)));
  EXPECT_THAT(differences(of(small()), of(other)), ElementsAre("lr is 0.03333333333333333 here and 0.5 there",
                                                               "slow is '1:2.5x,4:1000x' here and not given there"));
}

TEST(fingerprint, tells_when_the_data_differ) {
  auto other = small();
  other.data = "quadratic:samples=40,dim=6";
  const auto text = differences(of(small()), of(other));
  EXPECT_THAT(text, testing::Contains("the number of features is 5 here and 6 there"));
  EXPECT_THAT(text, testing::Contains("the dimension of the model is 5 here and 6 there"));
  auto e = *prepare(small());
  e.data.train.dense[3] += 1;
  EXPECT_THAT(differences(of(small()), fingerprint_of(e)),
              ElementsAre(HasSubstr("the content of the data is another one here")));
  e = *prepare(small());
  e.initial.mutate()[0] += 1;
  EXPECT_THAT(differences(of(small()), fingerprint_of(e)), ElementsAre(HasSubstr("the initial model")));
}

TEST(fingerprint, tells_when_bytes_or_their_values_differ) {
  const auto other_content = ElementsAre(HasSubstr("the content of the data"));
  auto bytes = *prepare(small()), copies = bytes;
  bytes.data.train = support::with_bytes(bytes.data.train, {{.divisor = 255, .mean = 0.3f, .deviation = 0.7f}});
  copies.data.train = support::with_bytes(copies.data.train, bytes.data.train.bytes.scales);
  EXPECT_THAT(differences(fingerprint_of(bytes), fingerprint_of(copies)), IsEmpty());
  EXPECT_THAT(differences(of(small()), fingerprint_of(bytes)), other_content);

  copies.data.train.bytes.scales.front().deviation = 0.6f;
  EXPECT_THAT(differences(fingerprint_of(bytes), fingerprint_of(copies)), other_content);

  const auto& all = bytes.data.train.bytes.all;
  compute::large_vector<std::uint8_t> changed(all.begin(), all.end());
  changed[3] ^= 1;
  copies.data.train.bytes = compute::features_in(std::move(changed));
  copies.data.train.bytes.scales = bytes.data.train.bytes.scales;
  EXPECT_THAT(differences(fingerprint_of(bytes), fingerprint_of(copies)), other_content);
}

TEST(fingerprint, tells_when_the_models_to_start_from_differ) {
  const test::scratch_folder here, there;
  auto mine = small(), theirs = mine;
  mine.initial = theirs.initial = "start.npz";
  mine.data_dir = here.path();
  theirs.data_dir = there.path();
  const auto start_at = [](const test::scratch_folder& folder, float x) {
    compute::write_npz(folder.path() + "/start.npz",
                       std::vector<compute::named_tensor>{{"tensor0", {5}, {x, 2, 3, 4, 5}}});
  };
  start_at(here, 1);
  start_at(there, 1);
  EXPECT_THAT(prepare(mine)->initial.view(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(of(mine), of(theirs));
  start_at(there, 7);
  EXPECT_THAT(differences(of(mine), of(theirs)), ElementsAre(HasSubstr("the initial model is another one here")));
}

TEST(fingerprint, is_never_silent_about_a_difference) {
  const auto mine = of(small());
  auto theirs = mine;
  theirs.settings += "\n# a comment";
  EXPECT_THAT(differences(mine, theirs), ElementsAre(HasSubstr("not written in the same way")));
  theirs = mine;
  ++theirs.wire;
  EXPECT_THAT(differences(mine, theirs), ElementsAre("the version of packets is 2 here and 3 there"));
}

TEST(run_settings, read_back_how_often_a_run_is_saved) {
  for (const char* rhythm : {"30s", "0.001s", "1e+09s", "123456789.5s", "1", "1000000000000"}) {
    const auto read = parse_run_settings("checkpoint = \"" + std::string{rhythm} + "\"\n", "a test");
    ASSERT_TRUE(read.checkpoint.is_set()) << rhythm;
    const auto again = parse_run_settings(to_text(read), "its text");
    EXPECT_EQ(again.checkpoint.seconds, read.checkpoint.seconds) << rhythm;
    EXPECT_EQ(again.checkpoint.steps, read.checkpoint.steps) << rhythm;
  }
}

} // namespace
} // namespace gossamer::actors
