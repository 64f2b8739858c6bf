#include "gossamer/apps/detail/help_text.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

using testing::ElementsAre;

/// Returns the words that a program with the command `train` takes these for.
std::vector<std::string> meant(std::vector<std::string> words) {
  CLI::App app;
  app.add_subcommand("train", "");
  std::vector<char*> given;
  for (auto& word : words)
    given.push_back(word.data());
  const auto result = with_help_flag(app, given);
  return {result.begin(), result.end()};
}

TEST(the_word_help, is_the_flag_of_a_command) {
  EXPECT_THAT(meant({"gossamer", "help"}), ElementsAre("gossamer", "--help"));
  EXPECT_THAT(meant({"gossamer", "help", "train"}), ElementsAre("gossamer", "train", "--help"));
  EXPECT_THAT(meant({"gossamer", "help", "train", "--", "x"}), ElementsAre("gossamer", "train", "--help", "--", "x"));
}

TEST(the_word_help, leaves_other_words_as_they_are) {
  EXPECT_THAT(meant({"gossamer"}), ElementsAre("gossamer"));
  EXPECT_THAT(meant({"gossamer", "train", "help"}), ElementsAre("gossamer", "train", "help"));
  EXPECT_THAT(meant({"gossamer", "help", "trian"}), ElementsAre("gossamer", "trian")) << "it is refused";
}

} // namespace
} // namespace gossamer::apps
