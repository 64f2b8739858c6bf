#include "gossamer/actors/hosting/run_picture.hpp"
#include "gossamer/actors/hosting/run_trace.hpp"
#include "gossamer/actors/hosting/worker_gauge.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

#include "support/trace_rules.hpp"

namespace gossamer::actors {
namespace {

using json = nlohmann::json;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// Keeps nothing of what it sends.
class trace_sink final : public link {
public:
  void send(frame) override {}
};

class a_trace_of_a_run : public testing::Test {
protected:
  void SetUp() override {
    trace.begin([this] { return now; }, 2);
  }

  /// "row: name begin-end" of each slice, in microseconds.
  std::vector<std::string> slices() const {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* memory = open_memstream(&text, &size);
    picture.write(memory);
    std::fclose(memory);
    const std::string written{text, size};
    std::free(text); // as the manual of open_memstream says
    EXPECT_THAT(support::trace_rules::problems(written), IsEmpty()) << written;
    const auto parsed = json::parse(written);
    std::map<int, std::string> row_of;
    for (const auto& e : parsed["traceEvents"])
      if (e["name"] == "thread_name")
        row_of[e["tid"]] = e["args"]["name"];
    std::vector<std::string> result;
    for (const auto& e : parsed["traceEvents"])
      if (e["ph"] == "X")
        result.push_back(fmt::format("{}: {} {}+{}", row_of.at(e["tid"]), e["name"].get<std::string>(),
                                     e["ts"].get<int>(), e["dur"].get<int>()));
    return result;
  }
  void at(int us) { now = std::chrono::microseconds{us}; }

  nanoseconds now{0};
  run_picture picture;
  run_trace trace{[this](const trace_moment& m) { picture.draw(m); }};
  const frame model{.source = 1, .label = {frame_kind::model, 7}};
};

TEST_F(a_trace_of_a_run, shows_who_waited_for_a_frame_and_its_way) {
  const auto from_1_to_0 = trace.watch(0, std::make_unique<trace_sink>());
  at(10);
  trace.wait_begins(0, 1, model.label);
  at(15);
  from_1_to_0->send(model);
  at(40);
  trace.delivered(0, model);
  trace.wait_ends(0, 1);
  EXPECT_THAT(slices(), ElementsAre("worker 0: waits for 1 10+30", "1 -> 0: model 15+25"));
}

TEST_F(a_trace_of_a_run, shows_only_the_wait_for_a_frame_of_another_process) {
  at(10);
  trace.wait_begins(0, 1, model.label);
  at(40);
  trace.delivered(0, model);
  trace.wait_ends(0, 1);
  EXPECT_THAT(slices(), ElementsAre("worker 0: waits for 1 10+30"));
}

TEST_F(a_trace_of_a_run, shows_gradients_and_codecs_of_workers_and_masters) {
  at(100);
  trace.computed(1, 3, std::chrono::microseconds{60});
  const auto coder = trace.watch(2, std::make_shared<const compress::coder>());
  const auto codec = compress::make_codec("identity");
  buffer_pool pool;
  const vec v{pool, std::vector<float>{1, 2}};
  EXPECT_EQ(coder->decode(coder->encode(*codec, v, random_stream{1, 2, purpose::quantise}, 0)), v);
  EXPECT_THAT(slices(), ElementsAre("worker 1: gradient 40+60", "master 0: encode 100+0", "master 0: decode 100+0"));
}

TEST_F(a_trace_of_a_run, shows_the_pauses_of_a_master_through_its_gauge) {
  worker_gauge gauge{2, true, &trace};
  at(30);
  gauge.pauses(2, std::chrono::microseconds{50});
  EXPECT_THAT(slices(), ElementsAre("master 0: pauses 30+50"));
}

TEST_F(a_trace_of_a_run, forgets_the_waits_of_a_worker_that_ends) {
  trace.wait_begins(0, 1, model.label);
  trace.ends(0, 0);
  trace.wait_ends(0, 1);
  EXPECT_THAT(slices(), IsEmpty());
}

TEST_F(a_trace_of_a_run, ends_with_its_clock) {
  trace.wait_begins(0, 1, model.label);
  trace.end();
  trace.wait_ends(0, 1);
  trace.computed(0, 1, nanoseconds{0});
  EXPECT_THAT(slices(), IsEmpty());
}

} // namespace
} // namespace gossamer::actors
