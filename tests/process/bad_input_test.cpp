// Users read one line for every error, with its kind and place. A run folder never pretends to hold a result.
#include "gossamer/base/within_memory.hpp"

#include <algorithm>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class bad_input : public command {
protected:
  /// Expects one line on standard error with these words, nothing on standard output, and no summary.
  void expect_line(const support::outcome& ended, int status, const words& said) const {
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith("gossamer: "));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_TRUE(ended.err.ends_with('\n'));
    for (const auto& word : said)
      EXPECT_THAT(ended.err, HasSubstr(word));
    EXPECT_FALSE(exists("run/summary.json"));
  }
  void expect_usage(const words& flags, const words& said) const {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_line(run(small + words{"--out", "run"} + flags), 2, said);
    EXPECT_FALSE(exists("run")) << "a refused request leaves no folder";
  }
  /// Runs without the usual --data, as these tests pass their own.
  void expect_bad_data(const std::string& data, const words& said) const {
    SCOPED_TRACE(data);
    expect_line(run({"train", "--epochs", "1", "--out", "run", "--data", data}), 1, said);
    EXPECT_FALSE(exists("run"));
  }
};

TEST_F(bad_input, says_why_a_run_folder_cannot_be_looked_at) {
  std::filesystem::create_symlink("circle", folder_ / "circle");
  expect_line(run({"watch", "circle"}), 1, {"cannot read 'circle/metrics.jsonl'", "Too many levels of symbolic links"});
}

TEST_F(bad_input, suggests_the_nearest_name) {
  expect_usage({"--algorithm", "adpsgd"}, {"unknown algorithm 'adpsgd'", "did you mean 'ad-psgd'?", "known: "});
  expect_usage({"--codec", "unifrom:bits=8"}, {"unknown codec 'unifrom'", "did you mean 'uniform'?"});
  expect_usage({"--codec", "uniform:bit=8"}, {"'bit'", "did you mean 'bits'?"});
  expect_usage({"--topology", "rnig"}, {"unknown topology 'rnig'", "did you mean 'ring'?"});
  expect_usage({"--model", "mpl"}, {"unknown model 'mpl'", "did you mean 'mlp'?"});
  expect_usage({"--partition", "idd"}, {"'idd'", "did you mean 'iid'?"});
  expect_usage({"--optimiser", "adma"}, {"'adma'", "did you mean 'adam'?"});
  for (const std::string optimiser : {"adam", "sgd"})
    expect_usage({"--algorithm", "one-bit-adam", "--optimiser", optimiser},
                 {optimiser, "one-bit-adam has an optimiser of its own", "leave it out"});
  expect_usage({"--schedule", "cosin"}, {"'cosin'", "did you mean 'cosine'?"});
  expect_usage({"--algoritm", "d-psgd"}, {"--algoritm", "did you mean --algorithm?"});
  expect_line(run({"train", "--data", "digit"}), 2, {"unknown data 'digit'", "did you mean 'digits'?"});
  expect_line(run({"trian"}), 2, {"'trian'", "did you mean 'train'?"});
  expect_line(run({"--epochs", "3"}), 2, {"--epochs", "gossamer train --epochs"});
}

TEST_F(bad_input, says_what_is_allowed) {
  expect_usage({"--workers", "0"}, {"--workers is 0", "allowed: 1 to "});
  expect_usage({"--workers", "3.5"}, {"--workers is '3.5'", "whole number"});
  expect_usage({"--workers"}, {"--workers"});
  expect_usage({"--batch", "0"}, {"--batch is 0", "allowed"});
  for (const char* rate : {"0", "-1", "nan", "inf", "abc", "1e7", ""})
    expect_usage({"--lr", rate}, {"--lr is "});
  expect_line(run({"train", "--steps", "0", "--out", "run"}), 2, {"--steps is 0", "allowed"});
  expect_usage({"--topology", ""}, {"--topology is empty", "leave it out"});
  write("empty.toml", "seed = 1\ntopology = ''\n");
  expect_usage({"--config", "empty.toml"}, {"empty.toml:2: --topology is empty", "leave it out"});
  expect_usage({"--data", "csv:train=\xff"}, {"--data is 'csv:train=\\xff', which is not UTF-8", "link"});
  expect_usage({"--codec", "uniform:bits=17"}, {"bits of codec 'uniform' is 17", "integer in [1, 16]"});
  expect_usage({"--mixing", "fair"}, {"'fair'", "metropolis"});
  expect_usage({"--device", "gpu"}, {"unknown device 'gpu'", "cpu, cuda:NUMBER and cuda:all"});
  expect_usage({"--device", "cpu+cpu"}, {"'cpu' is named twice"});
  expect_usage({"--slow", "3"}, {"--slow is '3'", "RANK:FACTORx"});
  expect_line(run({"launch", "--", "train", "--help"}), 2, {"behind --", "COMMAND --help"});
  expect_usage({"--slow", "4:2x"}, {"worker 4", "0 to 3"});
  expect_line(run({"list", "things"}), 2, {"'things'", "algorithms, codecs"});
}

TEST_F(bad_input, refuses_what_does_not_go_together) {
  expect_usage({"--algorithm", "ad-psgd", "--workers", "5", "--topology", "ring"},
               {"not bipartite", "0-1-2-3-4-0", "even number of workers"});
  expect_usage({"--algorithm", "all-reduce-sgd", "--codec", "uniform:bits=8"},
               {"all-reduce-sgd needs a codec that is exact", "uniform:bits=8", "exact: identity"});
  expect_usage({"--algorithm", "all-reduce-sgd", "--topology", "star"}, {"all-reduce-sgd", "star", "--topology"});
  expect_usage({"--model", "linear"}, {"linear"});
  expect_usage({"--workers", "601", "--algorithm", "d-psgd"}, {"600 samples", "601 workers"});
  write("two_parts.txt", "0 1\n2 3\n");
  expect_usage({"--algorithm", "d-psgd", "--topology", "file:path=two_parts.txt"}, {"does not connect", "worker 2"});
}

TEST_F(bad_input, names_the_line_of_a_configuration) {
  const auto expect = [&](const std::string& content, int status, const words& said) {
    SCOPED_TRACE(content);
    write("my.toml", content);
    expect_line(run({"train", "--out", "run", "--config", "my.toml"}), status, said);
  };
  expect("workers = 4\nlr = = 3\n", 2, {"my.toml:2: "});
  expect("workers = 4\n\nlrr = 3\n", 2, {"my.toml:3: ", "unknown key 'lrr'", "did you mean 'lr'?"});
  expect("lr = \"fast\"\n", 2, {"my.toml:1: ", "'fast'"});
  expect("workers = true\n", 2, {"my.toml:1: ", "workers"});
  expect("[run]\nworkers = 4\n", 2, {"my.toml:1: ", "'run'"});
  expect("lr = -1\n", 2, {"lr is -1", "allowed"});
  expect("codec = \"unifrom\"\n", 2, {"did you mean 'uniform'?"});
  expect_line(run({"train", "--config", "absent.toml"}), 1, {"absent.toml", "No such file"});
  expect_line(run({"train", "--config", "."}), 1, {"Is a directory"});
}

TEST_F(bad_input, names_the_place_in_a_data_file) {
  using namespace std::string_literals;
  expect_bad_data("idx:dir=absent", {"absent/train-images-idx3-ubyte", "No such file"});
  const auto images = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02"s;
  const auto labels = "\0\0\x08\x01\0\0\0\x02"s;
  write("idx/train-labels-idx1-ubyte", labels + "\x01\x02");
  write("idx/train-images-idx3-ubyte", images + "abc");
  expect_bad_data("idx:dir=idx", {"idx/train-images-idx3-ubyte", "byte 19", "3 bytes"});
  write("idx/train-images-idx3-ubyte", images + "abcd");
  write("idx/train-labels-idx1-ubyte", labels + "\x01\x0B");
  expect_bad_data("idx:dir=idx", {"idx/train-labels-idx1-ubyte", "byte 9", "label 11", "0 to 9"});
  expect_bad_data("libsvm:train=" + write("rows.svm", "1 1:2 2:3\n-1 1:2 x:3\n"), {"rows.svm", ":2: ", "'x'"});
  expect_bad_data("csv:train=" + write("rows.csv", "1,2,0\n3,4,1\n1,nan,1\n"), {"rows.csv", ":3: ", "nan"});
  expect_bad_data("csv:train=absent.csv", {"absent.csv", "No such file"});
  expect_bad_data("csv:train=.", {"directory"});
  expect_bad_data("cifar10:dir=absent", {"absent", "No such file"});
}

TEST_F(bad_input, reads_no_more_than_it_needs) {
  for (const std::string data : {"csv:train=/dev/zero", "libsvm:train=/dev/zero"})
    expect_bad_data(data, {"cannot read '/dev/zero': it is neither a regular file nor a pipe"});
  const auto expect = [&](const words& flags, const words& said) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_line(run(words{"simulate", "--data", "digits:samples=600,test=200", "--out", "run"} + flags), 1, said);
  };
  expect({"--config", "/dev/zero"}, {"configuration '/dev/zero'", "neither a regular file"});
  expect({"--faults", "/dev/zero"}, {"fault plan '/dev/zero'", "neither a regular file"});
  expect({"--network", "matrix:file=/dev/zero"}, {"network file '/dev/zero'", "neither a regular file"});
  expect({"--algorithm", "d-psgd", "--topology", "file:path=/dev/zero"}, {"topology file '/dev/zero'", "neither"});
  expect({"--config", write("long.toml", std::string((1 << 20) + 1, '\n'))}, {"'long.toml' is larger than 1 MiB"});
  write("rows.csv", "1,2,0\n" + std::string(2000, '\n') + "3,4,1\n");
  expect_bad_data("csv:train=rows.csv,limit=1e-6", {"'rows.csv' is larger than 1.048 KiB", "limit=..., in GiB"});
}

TEST_F(bad_input, survives_deep_nesting) {
  std::string deep = "a";
  for (int i = 0; i < 50'000; ++i)
    deep += ".a";
  write("deep.toml", deep + " = 1\n");
  for (const char* flag : {"--config", "--faults"})
    expect_usage({flag, "deep.toml"}, {"deep.toml:1: keys or brackets are nested deeper than"});
}

TEST_F(bad_input, shows_control_characters_and_obeys_none) {
  using namespace std::string_literals;
  expect_bad_data("csv:train=" + write("title.csv", "1,2,0\n3,\x1b]0;title\x07,1\n"), {"'\\x1b]0;title\\x07'"});
  expect_bad_data("csv:train=" + write("nul.csv", "1,2,0\n3,a\0b,1\n"s), {"'a\\x00b', which is not a number"});
  write("title.toml", "\"lr\\u001b[2J\" = 1\n");
  expect_usage({"--config", "title.toml"}, {"unknown key 'lr\\x1b[2J'"});
}

TEST_F(bad_input, refuses_contradictions) {
  expect_usage({"--steps", "3"}, {"both --epochs and --steps are given"});
  expect_usage({"--horizon", "3"}, {"--horizon is given, but no --chaos"});
  expect_usage({"--slow", "0:2x,0:3x"}, {"--slow names worker 0 twice"});
  expect_usage({"--slow", "0:2x", "--slow", "0:3x"}, {"--slow names worker 0 twice"});
  expect_usage({"--faults", "a.toml", "--chaos", "1"}, {"both --faults and --chaos are given"});
  write("both.toml", "chaos = 1\nfaults = \"a.toml\"\n");
  expect_usage({"--config", "both.toml"}, {"both.toml: both faults and chaos are given"});
  write("steps.toml", "steps = 1\nepochs = 1\n");
  expect_usage({"--config", "steps.toml"}, {"steps.toml: both epochs and steps are given"});
  const words once{"simulate", "--data", "digits:samples=600,test=200", "--steps", "2", "--out", "run"};
  for (const words& flag : {words{"--jobs", "2"}, {"--keep-going"}, {"--run-limit", "3"}})
    expect_line(run(once + flag), 2, {flag.front() + " is given, but there is one run only", "--seeds A..B"});
  expect_line(run(once + words{"--seeds", "1..2", "--shrink"}), 2,
              {"--shrink is given, but no plan of faults", "--chaos"});
}

TEST_F(bad_input, lets_flags_win_over_contradictions_with_a_file) {
  write("plan.toml", "[[fault]]\nkind = \"duplicate\"\n");
  write("my.toml", "steps = 1\nslow = [\"0:2x\", \"1:2x\"]\nchaos = 1\nhorizon = 2.0\n");
  const auto ended =
      run(small + words{"--config", "my.toml", "--slow", "0:3x", "--faults", "plan.toml", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read("run/config.toml"), AllOf(HasSubstr("epochs = 1\n"), HasSubstr("slow = '0:3x,1:2x'\n")));
}

TEST_F(bad_input, says_what_helps) {
  expect_usage({"--workers", "-1"}, {"--workers is -1", "allowed: 1 to "});
  expect_usage({"--lr", "inf"}, {"--lr is inf", "allowed: 1e-12 to 1000000"});
  expect_usage({"--seed", "99999999999999999999"}, {"out of range", "allowed: 0 to 9223372036854775807"});
  expect_usage({"--seed", "1..5"}, {"--seed is '1..5'", "simulate", "--seeds 1..5"});
  expect_usage({"--network", "wan"}, {"--network is a flag of simulations only", "gossamer simulate"});
  expect_usage({"--algorithm", "marsit:global-rate=inf"}, {"global-rate of algorithm 'marsit' is inf", "out of range"});
  expect_line(run({"train", "--data", "libsvm:train="}), 2, {"data 'libsvm' needs train"});
  const auto amounts = "csv:train=" + write("amounts.csv", "1,2,3\n3,4,9\n5,6,7\n");
  expect_line(run({"train", "--data", amounts, "--model", "linear", "--batch", "1", "--workers", "1"}), 2,
              {"the data has 3 classes", "task=regression"});
  const auto wide = "libsvm:train=" + write("wide.svm", "1 1:1 4294967295:1\n0 1:2\n1 1:1\n");
  expect_line(run({"train", "--data", wide, "--model", "logistic", "--batch", "1", "--workers", "1"}), 2,
              {"more than 2147483647 parameters", "choose data with fewer"});
  expect_bad_data("csv:train=" + write("header.csv", "age,2020,y\n1,2,0\n2,3,1\n"), {"say header=yes"});
}

TEST_F(bad_input, takes_what_editors_and_file_systems_do) {
  write("graph.txt", "\xEF\xBB\xBF"
                     "0 1\n1 2\n2 3\n3 0\n");
  write("links.csv", "\xEF\xBB\xBF*,*,1,100\n");
  const words simulation{
      "simulate",  "--algorithm",          "d-psgd", "--steps", "2", "--topology", "file:path=graph.txt",
      "--network", "matrix:file=links.csv"};
  write("a,b.csv", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n9,1,0\n2,2,1\n");
  const auto ended = run(simulation + words{"--batch", "1", "--data", "csv:train=\"a,b.csv\"", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(run({"simulate", "--config", "run/config.toml", "--out", "again"}).status, 0);
}

TEST_F(bad_input, names_the_line_of_a_graph) {
  write("graph.txt", "0 1\n1 2\n2 9\n");
  expect_line(run(small + words{"--out", "run", "--algorithm", "d-psgd", "--topology", "file:path=graph.txt"}), 1,
              {"graph.txt:3: ", "'9'", "0 to 3"});
}

class bad_output : public bad_input {
protected:
  /// Expects the last line to say why the run ended. Evaluations may come first.
  void expect_failure(const support::outcome& ended, const words& said, bool has_summary = false) const {
    EXPECT_EQ(ended.status, 1) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    const auto last = ended.err.rfind('\n', ended.err.size() - 2);
    const auto line = ended.err.substr(last == std::string::npos ? 0 : last + 1);
    EXPECT_THAT(line, StartsWith("gossamer: "));
    for (const auto& word : said)
      EXPECT_THAT(line, HasSubstr(word));
    EXPECT_EQ(exists("run/summary.json"), has_summary);
    EXPECT_FALSE(exists("run/summary.json.part"));
  }
  /// Runs with files that cannot grow beyond this number of blocks of 512 bytes (in some shells: of 1024).
  support::outcome run_with_file_limit(int blocks, const words& given) const {
    const auto script = "ulimit -f " + std::to_string(blocks) + "; exec \"$0\" \"$@\"";
    return execute(words{"sh", "-c", script} + gossamer(given));
  }
};

TEST_F(bad_output, refuses_a_folder_that_cannot_be_made) {
  expect_line(run(small + words{"--out", "/dev/null/run"}), 1, {"/dev/null/run", "Not a directory", "--out"});
}

TEST_F(bad_output, does_not_write_over_a_run) {
  write("run/metrics.jsonl", "precious\n");
  expect_line(run(small + words{"--out", "run"}), 2, {"run already holds a run", "--overwrite"});
  EXPECT_EQ(read("run/metrics.jsonl"), "precious\n");
}

TEST_F(bad_output, says_what_memory_was_for) {
  const auto with_little_memory = [&](const words& given) {
    return execute(words{"sh", "-c", "ulimit -v 1000000; exec \"$0\" \"$@\""} + gossamer(given));
  };
  expect_line(with_little_memory(small + words{"--out", "run", "--model", "mlp:hidden=20000+20000"}), 1,
              {"memory ended while making a model of 415920010 parameters", "--model"});
  expect_line(with_little_memory({"train", "--data", "digits:samples=4000000", "--out", "run"}), 1,
              {"memory ended while loading the data 'digits:samples=4000000'"});
}

TEST_F(bad_output, says_that_more_files_have_to_be_allowed) {
  const auto with_few_files = [&](const std::string& flags, const words& given) {
    return execute(words{"sh", "-c", "ulimit " + flags + " 16; exec \"$0\" \"$@\""} + gossamer(given));
  };
  const auto three = words{"launch", "--hosts", "localhost:3", "--"} + small + words{"--out", "run"};
  const auto refused = with_few_files("-n", three);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("Too many open files; raise the limit on open files (ulimit -n)"));
  const auto ended = with_few_files("-S -n", three + words{"--overwrite"});
  EXPECT_EQ(ended.status, 0) << ended.err;
}

TEST_F(bad_output, says_that_more_threads_have_to_be_allowed) {
  const words one{"node", "--listen", "127.0.0.1:0", "--nodes", "1", "--"};
  const auto script = "ulimit -v 700000; exec \"$0\" \"$@\""; // of which each thread takes 72 MB
  const auto ended = execute(words{"sh", "-c", script} + gossamer(one + small + words{"--out", "run"}));
  expect_failure(ended, {"this process needs", "more threads, of which only", "ulimit -u, ulimit -v"});
}

TEST_F(bad_output, says_before_training_that_memory_will_not_do) {
  const auto too_many = std::to_string(physical_memory() / (2 * sizeof(float) * 7'950'010) + 1);
  expect_line(run({"train", "--data", "digits:samples=" + too_many + ",test=10", "--model", "mlp:hidden=10000",
                   "--workers", too_many, "--batch", "1", "--out", "run"}),
              2, {too_many + " workers with a model of 7950010 parameters take", "gossamer launch"});
}

TEST_F(bad_output, ends_when_the_disk_is_full) {
  expect_failure(run_with_file_limit(0, small + words{"--out", "run"}),
                 {"cannot write run/config.toml", "File too large"});
  EXPECT_FALSE(exists("run")) << "the next try would be refused";
  const words long_run{"train", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "1",
                       "--out", "run"};
  expect_failure(run_with_file_limit(4, long_run), {"cannot write run/metrics.jsonl", "File too large"});
}

TEST_F(bad_output, leaves_no_summary_when_there_is_no_room_for_it_and_a_whole_one_without_a_picture) {
  for (const std::string file : {"plot.svg", "summary.json"}) {
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::create_directories(folder_ / "run");
    std::filesystem::create_symlink("/dev/full", folder_ / "run" / (file + ".part"));
    const auto ended = run(small + words{"--out", "run"});
    expect_failure(ended, {"cannot write run/" + file, "No space left"}, file == "plot.svg");
    EXPECT_THAT(ended.err, HasSubstr("done after")) << "what the disk does not keep";
    EXPECT_FALSE(metrics().empty());
  }
}

TEST_F(bad_output, notices_that_nobody_gets_the_result) {
  for (const std::string what : {"list algorithms", "explain ad-psgd", "--help", "--version"}) {
    const auto ended = execute({"sh", "-c", "exec \"$0\" " + what + " > /dev/full", GOSSAMER_COMMAND});
    expect_line(ended, 1, {"standard output", "No space left"});
  }
}

TEST_F(bad_output, keeps_the_measurements_of_a_run_that_diverged) {
  const words divergent{"train", "--data", "quadratic", "--model", "quadratic", "--optimiser", "sgd", "--lr", "1e6"};
  for (const char* algorithm : {"ad-psgd", "d-psgd", "all-reduce-sgd"}) {
    SCOPED_TRACE(algorithm);
    std::filesystem::remove_all(folder_ / "run");
    expect_failure(run(divergent + words{"--algorithm", algorithm, "--out", "run"}),
                   {"diverged", "lower the learning rate"});
    EXPECT_TRUE(exists("run/metrics.jsonl"));
    metrics();
  }
}

TEST_F(bad_output, trains_on_when_nobody_can_see_it) {
  const auto ended = execute(words{"sh", "-c", "exec \"$0\" \"$@\" 2>&-"} + gossamer(small + words{"--out", "run"}));
  EXPECT_EQ(ended.status, 0);
  EXPECT_FALSE(metrics().empty()) << "which are JSON, and nothing else";
  EXPECT_TRUE(exists("run/summary.json"));
}

} // namespace
} // namespace gossamer
