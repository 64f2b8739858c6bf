#include "gossamer/actors/hosting/run_trace.hpp"

#include "gossamer/actors/hosting/timed_coder.hpp"

#include <utility>

namespace gossamer::actors {

using std::chrono::nanoseconds;
using kind = trace_moment::kind;

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

void run_trace::begin(clock now, rank first_master) {
  {
    const std::scoped_lock lock{mutex_};
    now_ = std::move(now);
  }
  tell({.what = kind::begins, .who = first_master});
}

void run_trace::end() {
  tell({.what = kind::over});
  const std::scoped_lock lock{mutex_};
  now_ = nullptr;
}

nanoseconds run_trace::now() const {
  const std::scoped_lock lock{mutex_};
  return now_ ? now_() : nanoseconds{0};
}

void run_trace::tell(trace_moment m) {
  const std::scoped_lock lock{mutex_};
  if (!now_)
    return;
  m.at_ns = now_().count();
  take_(m);
}

void run_trace::computed(rank who, std::uint64_t step, nanoseconds took) {
  tell({.what = kind::gradient, .who = who, .label = {frame_kind::model, step}, .value = took.count()});
}

std::shared_ptr<const compress::coder> run_trace::watch(rank who, std::shared_ptr<const compress::coder> inner) {
  return timed(
      std::move(inner), [this] { return now(); },
      [this, who](coding what, nanoseconds took) {
        tell({.what = what == coding::encode ? kind::encode : kind::decode, .who = who, .value = took.count()});
      });
}

std::unique_ptr<link> run_trace::watch(rank to, std::unique_ptr<link> inner) {
  return std::make_unique<watched_link>(*this, to, std::move(inner));
}

void run_trace::sent(rank to, const frame& f) {
  if (f.label.kind != frame_kind::acknowledgement)
    tell({.what = kind::sent,
          .who = f.source,
          .other = to,
          .incarnation = f.incarnation,
          .label = f.label,
          .value = static_cast<std::int64_t>(f.wire_bytes())});
}

void run_trace::delivered(rank who, const frame& f) {
  tell({.what = kind::delivered,
        .who = who,
        .other = f.source,
        .incarnation = f.incarnation,
        .label = f.label,
        .value = static_cast<std::int64_t>(f.wire_bytes())});
}

void run_trace::adopts(rank who, const view& v) {
  tell({.what = kind::view, .who = who, .value = static_cast<std::int64_t>(v.number)});
}

void run_trace::wait_begins(rank who, rank whom, const tag&) {
  tell({.what = kind::wait_begins, .who = who, .other = whom});
}

void run_trace::wait_ends(rank who, rank whom) { tell({.what = kind::wait_ends, .who = who, .other = whom}); }

void run_trace::pauses(rank who, nanoseconds lasts) { tell({.what = kind::pause, .who = who, .value = lasts.count()}); }

void run_trace::ends(rank who, std::uint32_t) { tell({.what = kind::ends, .who = who}); }

} // namespace gossamer::actors
