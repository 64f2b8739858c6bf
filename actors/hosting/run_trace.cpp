#include "gossamer/actors/hosting/run_trace.hpp"

#include "gossamer/actors/hosting/timed_coder.hpp"
#include "gossamer/actors/worker/name_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gossamer::actors {

using std::chrono::nanoseconds;

class run_trace::watched_link final : public link {
public:
  watched_link(run_trace& trace, rank to, std::unique_ptr<link> inner)
      : trace_(trace), to_(to), inner_(std::move(inner)) {}

  void send(frame f) override {
    trace_.sent(to_, f); // before: the receiver may run within the call
    inner_->send(std::move(f));
  }

private:
  run_trace& trace_;
  rank to_;
  std::unique_ptr<link> inner_;
};

namespace {
constexpr std::size_t most_under_way = 65536;
} // namespace

void run_trace::begin(clock now, rank first_master) {
  const std::scoped_lock lock{mutex_};
  now_ = std::move(now);
  first_master_ = first_master;
  for (rank i = 0; i < first_master; ++i)
    track("workers", i); // fixes the order of rows
}

void run_trace::end() {
  const std::scoped_lock lock{mutex_};
  now_ = nullptr;
}

void run_trace::write(std::FILE* out) const {
  const std::scoped_lock lock{mutex_};
  recorder_.write(out);
}

nanoseconds run_trace::now() const {
  const std::scoped_lock lock{mutex_};
  return now_ ? now_() : nanoseconds{0};
}

template <class Draw>
void run_trace::record(Draw draw) {
  const std::scoped_lock lock{mutex_};
  if (now_)
    draw(now_().count());
}

trace_track run_trace::track(const char* group, rank who) {
  return recorder_.track(group, name_of(who, first_master_));
}

void run_trace::computed(rank who, std::uint64_t step, nanoseconds took) {
  record([&](std::int64_t now_ns) {
    recorder_.slice(track("compute", who), recorder_.name("gradient"), std::max<std::int64_t>(0, now_ns - took.count()),
                    now_ns, {{recorder_.name("step"), static_cast<std::int64_t>(step)}});
  });
}

std::shared_ptr<const compress::coder> run_trace::watch(rank who, std::shared_ptr<const compress::coder> inner) {
  const auto draw = [this, who](coding what, nanoseconds took) {
    record([&](std::int64_t now_ns) {
      recorder_.slice(track("work", who), recorder_.name(what == coding::encode ? "encode" : "decode"),
                      std::max<std::int64_t>(0, now_ns - took.count()), now_ns);
    });
  };
  return timed(
      std::move(inner), [this] { return now(); }, draw);
}

std::unique_ptr<link> run_trace::watch(rank to, std::unique_ptr<link> inner) {
  return std::make_unique<watched_link>(*this, to, std::move(inner));
}

void run_trace::sent(rank to, const frame& f) {
  record([&](std::int64_t now_ns) {
    if (f.label.kind != frame_kind::acknowledgement && under_way_.size() < most_under_way)
      under_way_.try_emplace({f.source, to, f.incarnation, f.label}, now_ns);
  });
}

void run_trace::delivered(rank who, const frame& f) {
  record([&](std::int64_t now_ns) {
    last_delivered_[who] = now_ns;
    const auto found = under_way_.extract({f.source, who, f.incarnation, f.label});
    if (!found)
      return; // it comes from another process
    const auto row = recorder_.track("links", fmt::format("{} -> {}", f.source, who));
    recorder_.slice(row, recorder_.name(to_string(f.label.kind)), found.mapped(), now_ns,
                    {{recorder_.name("step"), static_cast<std::int64_t>(f.label.step)},
                     {recorder_.name("bytes"), static_cast<std::int64_t>(f.wire_bytes())}});
  });
}

void run_trace::adopts(rank who, const view& v) {
  record([&](std::int64_t now_ns) {
    recorder_.instant(track("workers", who), recorder_.name("view"), now_ns,
                      {{recorder_.name("number"), static_cast<std::int64_t>(v.number)}});
  });
}

void run_trace::wait_begins(rank who, rank whom, const tag&) {
  record([&](std::int64_t now_ns) { waits_[who].push_back({whom, now_ns}); });
}

void run_trace::wait_ends(rank who, rank whom) {
  record([&](std::int64_t now_ns) {
    auto& open = waits_[who];
    const auto found = std::ranges::find(open, whom, &wait::whom);
    if (found == open.end())
      return;
    const auto row = track("workers", who);
    recorder_.slice(row, recorder_.name(fmt::format("waits for {}", whom)), found->since_ns, now_ns);
    recorder_.arrow(recorder_.name("ends the wait"), recorder_.track("links", fmt::format("{} -> {}", whom, who)),
                    last_delivered_[who], row, now_ns);
    open.erase(found);
  });
}

void run_trace::ends(rank who, std::uint32_t) {
  record([&](std::int64_t) { waits_.erase(who); });
}

} // namespace gossamer::actors
