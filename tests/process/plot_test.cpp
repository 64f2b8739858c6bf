#include <algorithm>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class plot : public command {
protected:
  /// @param decline the loss at step k is the first one over 1 + k decline
  void write_run(const std::string& name, double loss, double decline = 1) const {
    std::string lines;
    for (int step : {0, 1, 2, 3})
      lines += json{{"step", step},
                    {"epoch", step},
                    {"time_s", step},
                    {"train_loss", loss / (1 + decline * step)},
                    {"test_loss", loss},
                    {"test_accuracy", nullptr},
                    {"consensus_distance", 0},
                    {"payload_bits", step},
                    {"wire_bits", step}}
                   .dump()
               + "\n";
    write(name + "/metrics.jsonl", lines);
    write(name + "/summary.json", R"({"algorithm": "d-psgd", "workers": 4})");
  }
  /// Expects one line on standard error with these words, and no picture.
  void expect_error(const words& given, int status, const words& said) const {
    SCOPED_TRACE(testing::PrintToString(given));
    const auto ended = run(words{"plot"} + given);
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith("gossamer: "));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    for (const auto& word : said)
      EXPECT_THAT(ended.err, HasSubstr(word));
    EXPECT_FALSE(exists("comparison.svg"));
  }
};

TEST_F(plot, draws_real_runs) {
  EXPECT_EQ(run(small + words{"--algorithm", "d-psgd", "--out", "a"}).status, 0);
  EXPECT_EQ(run(small + words{"--algorithm", "ad-psgd", "--workers", "2", "--out", "b/c"}).status, 0);
  for (const char* x : {"seconds", "epochs", "bits"})
    for (const char* y : {"train-loss", "test-loss", "accuracy"}) {
      const auto ended = run({"plot", "a", "b/c", "--x", x, "--y", y, "--out", "both.svg"});
      EXPECT_EQ(ended.status, 0) << ended.err;
      EXPECT_EQ(ended.out, "both.svg shows 2 runs\n");
      EXPECT_THAT(read("both.svg"), AllOf(StartsWith("<svg "), HasSubstr(">a (d-psgd, 4 workers)</text>"),
                                          HasSubstr(">b/c (ad-psgd, 2 workers)</text>")));
    }
}

TEST_F(plot, has_the_scale_that_is_asked_for) {
  write_run("a", 1);
  write_run("steep", 1, 33);
  const auto drawn = [&](const std::string& of, const words& flags) {
    const auto ended = run(words{"plot", of} + flags);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return read("comparison.svg");
  };
  EXPECT_EQ(drawn("a", {}), drawn("a", {"--linear"}));
  EXPECT_NE(drawn("a", {}), drawn("a", {"--log"}));
  EXPECT_EQ(drawn("steep", {}), drawn("steep", {"--log"})) << "the loss falls by two decades";
  EXPECT_NE(drawn("steep", {}), drawn("steep", {"--linear"}));
}

TEST_F(plot, makes_a_band_of_seeds) {
  for (const char* seed : {"1", "2", "3"})
    ASSERT_EQ(run({"simulate", "--data", "digits:samples=600,test=200", "--epochs", "1", "--seed", seed, "--out", seed})
                  .status,
              0);
  const auto ended = run({"plot", "1", "2", "3", "--band", "--smooth", "3"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read("comparison.svg"), AllOf(HasSubstr("<polygon "), HasSubstr("median of 3 seeds<")));
  EXPECT_EQ(run({"plot", "1", "--smooth", "0"}).status, 2);
}

TEST_F(plot, has_defaults) {
  write_run("a", 1);
  const auto ended = run({"plot", "a"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "comparison.svg shows 1 run\n");
  EXPECT_THAT(read("comparison.svg"), AllOf(HasSubstr(">training loss<"), HasSubstr(">time (s)<")));
}

TEST_F(plot, says_what_is_wrong_with_a_request) {
  write_run("a", 1);
  expect_error({}, 2, {"runs"});
  expect_error({"a", "--x", "second"}, 2, {"--x", "did you mean 'seconds'?"});
  expect_error({"a", "--y", "loss"}, 2, {"--y", "known: train-loss, test-loss, accuracy"});
  expect_error({"a", "--log", "--linear"}, 2, {"both --log and --linear are given; leave one of them out"});
  expect_error({"a", "--y", "accuracy"}, 2, {"a (d-psgd, 4 workers) has no test accuracy", "--y"});
  expect_error({"a", "--oot", "x.svg"}, 2, {"--oot", "did you mean --out?"});
}

TEST_F(plot, says_what_is_wrong_with_a_run) {
  write_run("a", 1);
  expect_error({"a", "absent"}, 1, {"absent/metrics.jsonl", "No such file"});
  expect_error({"a", "a/metrics.jsonl"}, 1, {"a/metrics.jsonl/metrics.jsonl", "Not a directory"});
  write("empty/metrics.jsonl", "");
  expect_error({"a", "empty"}, 1, {"empty/metrics.jsonl holds no evaluation"});
  write("broken/metrics.jsonl", read("a/metrics.jsonl") + "{\"step\": 4, \"ep\n");
  expect_error({"a", "broken"}, 1, {"broken/metrics.jsonl:5: ", "no JSON object"});
  write("other/metrics.jsonl", "{\"loss\": 4}\n");
  expect_error({"a", "other"}, 1, {"other/metrics.jsonl:1: ", "there is no step"});
}

TEST_F(plot, writes_two_formats_only) {
  write_run("a", 1);
  expect_error({"a", "--out", "x.pdf"}, 2, {"--out is 'x.pdf'", "SVG or PNG", "end in .svg"});
  EXPECT_FALSE(exists("x.pdf"));
}

/// `plot` with programs of the test's folder `bin` alone.
class plot_as_png : public plot {
protected:
  void install(const std::string& converter, const std::string& script) const {
    write("bin/" + converter, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_ / "bin" / converter, std::filesystem::perms::owner_all);
  }
  support::outcome run_here(const words& given) const {
    std::filesystem::create_directories(folder_ / "tmp");
    return execute(words{"env", "PATH=" + (folder_ / "bin").string(), "TMPDIR=" + (folder_ / "tmp").string()}
                   + gossamer(given));
  }
};

TEST_F(plot_as_png, has_it_made_by_the_first_converter_that_is_installed) {
  write_run("a", 1);
  install("convert", "echo no >&2; exit 1");
  install("cairosvg", "read first < \"$3\"; echo \"png of ${first%% *}\" > \"${2#--output=}\"");
  const auto ended = run_here({"plot", "a", "--out", "b; touch c.png"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(read("b; touch c.png"), "png of <svg\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

TEST_F(plot_as_png, says_what_to_install) {
  write_run("a", 1);
  const auto ended = run_here({"plot", "a", "--out", "x.png"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("apt-get install librsvg2-bin"));
  EXPECT_FALSE(exists("x.png"));
}

TEST_F(plot_as_png, says_why_a_converter_failed) {
  write_run("a", 1);
  install("rsvg-convert", "echo 'out of paint' >&2; exit 3");
  const auto ended = run_here({"plot", "a", "--out", "x.png"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("rsvg-convert made no picture: out of paint"), HasSubstr(".svg")));
  EXPECT_FALSE(exists("x.png"));
}

TEST_F(plot, that_has_no_room_leaves_what_was_there) {
  write_run("a", 1);
  write("pictures/old.svg", "old");
  for (const std::string picture : {"pictures/old.svg", "pictures/new.svg"}) {
    const auto ended =
        execute(words{"sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\""} + gossamer({"plot", "a", "--out", picture}));
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("cannot write " + picture + ": File too large; choose another file with --out"));
  }
  EXPECT_EQ(read("pictures/old.svg"), "old");
  const std::filesystem::directory_iterator all{folder_ / "pictures"};
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(plot, says_why_it_cannot_write) {
  write_run("a", 1);
  expect_error({"a", "--out", "absent/x.svg"}, 1, {"cannot write absent/x.svg", "No such file", "--out"});
  expect_error({"a", "--out", "."}, 1, {"cannot write .", "Is a directory"});
  expect_error({"a", "--out", "/dev/full"}, 1, {"cannot write /dev/full", "No space left"});
}

} // namespace
} // namespace gossamer
