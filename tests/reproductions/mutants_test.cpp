// Each reproduction with something broken in it: a claim that holds without has to fail.
#include "gossamer/apps/detail/table_flags.hpp"
#include "gossamer/apps/reproductions/detail/report.hpp"
#include "gossamer/apps/reproductions/detail/runs.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <ranges>

#include "mutants.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::apps {
namespace {

/// A change of words in the flags of a reproduction.
struct mutation {
  std::string reproduction;
  std::string what; ///< is broken
  std::string word; ///< begins words of flags
  std::string other;
};

void PrintTo(const mutation& m, std::ostream* out) { *out << m.reproduction << ": " << m.what; }

const std::array mutations{
    mutation{"tang2018-figure1", "the codec of ECD-PSGD loses a tenth", "min-max:bits=8", "lossy-min-max:bits=8"},
    mutation{"tang2018-figure2", "DCD-PSGD never averages", "dcd-psgd", "lone-dcd-psgd"},
    mutation{"tang2018-figure3", "D-PSGD computes before it sends", "d-psgd", "d-psgd:order=adapt-then-combine"},
    mutation{"tang2018-figure4", "DCD-PSGD's replicas have half the weight", "dcd-psgd", "half-dcd-psgd"},
    mutation{"lian2018-table2", "AD-PSGD never averages", "ad-psgd", "lone-ad-psgd"},
    mutation{"lian2018-figure5", "AD-PSGD never averages", "ad-psgd", "lone-ad-psgd"},
    mutation{"lian2018-table4", "AD-PSGD drops every other averaging", "ad-psgd",
             "ad-psgd:averaging=per-active-gradient"},
    mutation{"lian2018-figure7", "AD-PSGD waits for its neighbours", "ad-psgd", "d-psgd"},
    mutation{"yu2019-table1", "gradients are not quantised to 4 bits", "asy-lpg", "wide-asy-lpg"},
    mutation{"yu2019-mu", "mu chooses nothing", "asy-lpg:gradient-bits=4,model-bits=0",
             "asy-lpg:gradient-bits=4,model-bits=8"},
    mutation{"yu2019-figure3", "the model is not quantised", "asy-lpg:model-bits=8", "asy-lpg:model-bits=32"},
    mutation{"xie2020-table2", "CSER drops what its codecs leave out", "cser:", "forgetful-cser:"},
    mutation{"xie2020-table2-1024", "CSER drops what its codecs leave out", "cser:", "forgetful-cser:"},
    mutation{"wu2022-table1", "signs are compressed once, not at every hop", "cascading-ssdm", "ssdm"},
    mutation{"wu2022-figure1", "each element has its own norm", "cascading-ssdm:beta=0,norm-bucket=16",
             "cascading-ssdm:beta=0,norm-bucket=1"},
    mutation{"wu2022-figure3", "Marsit's compensation has the wrong sign", "marsit:period=0",
             "doubling-marsit:period=0"},
    mutation{"wu2022-table2", "Marsit's compensation has the wrong sign", "marsit", "doubling-marsit"},
    mutation{"wu2022-figure5", "every round of Marsit is full", "marsit:period=0", "marsit:period=1"},
    mutation{"douillard2023-h", "the outer step is a mean", "diloco:period", "diloco:outer=average,outer-lr=1,period"},
    mutation{"douillard2025-table4", "the last method sends all bits", "e3m0", "identity"},
    mutation{"kolehmainen2025-noloco", "pairs wait for all others", "noloco", "diloco"},
    mutation{"douillard2026-goodput", "the master waits for all", "async-diloco:period",
             "async-diloco:quorum=16,period"},
};

flags mutated(flags given, const mutation& m) {
  for (auto& word : given)
    if (word.starts_with(m.word))
      word.replace(0, m.word.size(), m.other);
  return given;
}

reproduction mutated(reproduction r, const mutation& m) {
  for (auto& method : r.methods)
    method.given = mutated(method.given, m);
  for (auto& setting : r.settings)
    setting.given = mutated(setting.given, m);
  if (r.together)
    r.together = [before = r.together, m](const variant& method, const variant& setting) {
      return mutated(before(method, setting), m);
    };
  return r;
}

const reproduction_entry& entry_of(const std::string& name) {
  return *std::ranges::find(reproductions(), name, &reproduction_entry::name);
}

run_options understood(const flags& given) {
  CLI::App app;
  const table_flags all{app, simulate_options()};
  app.parse(std::vector<std::string>{given.rbegin(), given.rend()});
  return all.options();
}

std::vector<judged_shape> found_in(const reproduction& r) {
  const std::array codecs{mutants::lossy_min_max};
  const program self{"mutants", {.own = {.algorithms = mutants::algorithms, .codecs = codecs}}};
  const test::scratch_folder folder;
  return judge(r, carry_out(r, {.self = self, .understand = understood, .folder = folder.path(), .jobs = 1}));
}

class mutant : public testing::TestWithParam<mutation> {};

TEST_P(mutant, fails_a_claim) {
  const auto right = entry_of(GetParam().reproduction).make(true);
  const auto found = found_in(mutated(right, GetParam()));
  EXPECT_GT(std::ranges::count_if(found, &judged_shape::missing), 0) << GetParam().what;
}

std::string test_name(const testing::TestParamInfo<mutation>& info) {
  auto name = info.param.reproduction;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(of, mutant, testing::ValuesIn(mutations), test_name);

TEST(mutants, are_of_every_reproduction) {
  for (const auto& entry : reproductions())
    EXPECT_TRUE(std::ranges::any_of(mutations, [&](const auto& m) { return m.reproduction == entry.name; }))
        << entry.name;
}

} // namespace
} // namespace gossamer::apps
