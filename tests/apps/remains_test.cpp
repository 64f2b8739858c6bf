#include "gossamer/apps/detail/program.hpp"
#include "gossamer/apps/detail/remains.hpp"
#include "gossamer/apps/detail/setup.hpp"

#include <gmock/gmock.h>

#include "support/scratch_folder.hpp"

namespace gossamer::apps {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

/// Saves a checkpoint of two workers.
void save(const actors::checkpoint_folder& to, std::uint64_t checkpoint) {
  actors::manifest all{.checkpoint = checkpoint, .workers = 2};
  for (actors::rank i = 0; i < 2; ++i)
    all.parts[i].digest = to.save({.checkpoint = checkpoint, .who = i, .sent = {}, .state = {}}, all.workers);
  to.complete(all);
}

TEST(remains_of_a_run, go_on_from_the_checkpoint_from_which_its_nodes_can) {
  const program p{"gossamer", {}};
  const test::scratch_folder run;
  const auto folder = checkpoints_in(run.path());
  save(folder, 20);
  save(folder, 30);
  fs::remove(folder.path() / "30" / "worker-1");
  const remains here{.folder = run.path(), .survivors = {}}, with_parts_elsewhere{run.path(), {}, true};
  EXPECT_THAT(what_is_left(here), HasSubstr("and checkpoint 20: go on with --resume"));
  EXPECT_THAT(what_is_left(with_parts_elsewhere), HasSubstr("and checkpoint 30: go on with --resume"));
  EXPECT_THAT(beginning_after(p, here, true).value().said, HasSubstr("from checkpoint 20 of "));
  EXPECT_THAT(beginning_after(p, with_parts_elsewhere, true).value().said, HasSubstr("from checkpoint 30 of "));
  fs::remove(folder.path() / "20" / "worker-1");
  EXPECT_FALSE(beginning_after(p, here, true)) << "no checkpoint is whole";
}

} // namespace
} // namespace gossamer::apps
