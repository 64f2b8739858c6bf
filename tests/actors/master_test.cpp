// What a master remembers of workers that have pushed, over its lives and its runs.
#include "gossamer/actors/collectives/master.hpp"

#include <set>

#include "worker_fixture.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing_support::view_of;

constexpr rank founders = 2, newcomer = 2, master_rank = 3;

/// Takes pushes, and answers nobody.
class collector final : public master {
public:
  void begin_from(worker&, remembered_model) override {}
  const vec& model() const override { return nothing_; }

  std::set<rank> pushed;

private:
  void own_fields(archive& a) override { a(pushed); }
  void take(worker&, const frame& asked) override { pushed.insert(asked.source); }
  void forget(rank who) override { pushed.erase(who); }
  std::optional<answer> answer_to(worker&, const pending_request&) override { return std::nullopt; }

  vec nothing_;
};

/// One life of a master of two founders, which a third worker has joined.
struct collecting {
  explicit collecting(std::uint32_t life, std::vector<std::byte> saved = {})
      : w(settings(life, std::move(saved)), compute::make_optimiser("sgd"), host) {
    w.run(program);
  }

  static worker_settings settings(std::uint32_t life, std::vector<std::byte> saved) {
    worker_settings s;
    s.place.id = master_rank;
    s.place.incarnation = life;
    s.place.workers = founders;
    s.place.ranks = master_rank;
    s.place.masters = 1;
    s.place.everybody = view_of(1, 0, {0, 0, 0, life});
    if (!saved.empty())
      s.place.saved = std::make_shared<const std::vector<std::byte>>(std::move(saved));
    s.training.synchronous = false;
    s.packing.codec = compress::make_codec("identity");
    s.training.schedule = compute::make_schedule("constant");
    return s;
  }
  void push_from(rank i) { w.deliver({.source = i, .label = {frame_kind::request, 1}, .body = {}}); }

  testing_support::recording_host host;
  collector program;
  hosted_worker w;
};

TEST(master, goes_on_in_a_later_life_with_the_pushes_of_all_workers) {
  collecting first{0};
  for (const rank i : {rank{0}, newcomer})
    first.push_from(i);
  EXPECT_THAT(first.program.pushed, ElementsAre(0, newcomer));
  const collecting second{1, first.w.state()};
  EXPECT_THAT(second.program.pushed, ElementsAre(0, newcomer));
}

TEST(master, forgets_workers_of_a_checkpoint_that_the_resumed_run_does_not_have) {
  collecting first{0};
  for (const rank i : {rank{0}, newcomer})
    first.push_from(i);
  const collecting resumed{0, first.w.state()};
  EXPECT_THAT(resumed.program.pushed, ElementsAre(0));
}

} // namespace
} // namespace gossamer::actors
