#include "gossamer/actors/hosting/run_picture.hpp"

#include "gossamer/actors/worker/name_of.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {
constexpr std::size_t most_under_way = 65536;
} // namespace

trace_track run_picture::track(const std::string& group, rank who) {
  return recorder_.track(group, name_of(who, first_master_));
}

trace_track run_picture::link(rank from, rank to) {
  return recorder_.track("links", fmt::format("{} -> {}", from, to));
}

void run_picture::begin_again() {
  under_way_.clear();
  waits_.clear();
}

void run_picture::draw(const trace_moment& m, const std::string& place) {
  using kind = trace_moment::kind;
  switch (m.what) {
  case kind::begins:
    first_master_ = m.who;
    for (rank i = 0; i < first_master_; ++i)
      track(place + "workers", i); // fixes the order of rows
    return;
  case kind::gradient:
    return draw_work(m, place + "compute", "gradient");
  case kind::encode:
    return draw_work(m, place + "work", "encode");
  case kind::decode:
    return draw_work(m, place + "work", "decode");
  case kind::sent:
    if (under_way_.size() < most_under_way)
      under_way_.try_emplace({m.who, m.other, m.incarnation, m.label}, m.at_ns);
    return;
  case kind::delivered:
    return draw_frame(m);
  case kind::view:
    return recorder_.instant(track(place + "workers", m.who), recorder_.name("view"), m.at_ns,
                             {{recorder_.name("number"), m.value}});
  case kind::wait_begins:
    return waits_[m.who].push_back({m.other, m.at_ns});
  case kind::wait_ends:
    return draw_wait(m, place);
  case kind::pause:
    return recorder_.slice(track(place + "workers", m.who), recorder_.name("pauses"), m.at_ns, m.at_ns + m.value);
  case kind::ends:
    waits_.erase(m.who);
    return;
  case kind::over:
    return;
  }
}

void run_picture::draw_work(const trace_moment& m, const std::string& group, const char* name) {
  const auto began_ns = std::clamp<std::int64_t>(m.at_ns - m.value, 0, m.at_ns);
  const auto row = track(group, m.who);
  if (m.what == trace_moment::kind::gradient)
    recorder_.slice(row, recorder_.name(name), began_ns, m.at_ns,
                    {{recorder_.name("step"), static_cast<std::int64_t>(m.label.step)}});
  else
    recorder_.slice(row, recorder_.name(name), began_ns, m.at_ns);
}

void run_picture::draw_frame(const trace_moment& m) {
  last_delivered_[m.who] = m.at_ns;
  const auto found = under_way_.extract({m.other, m.who, m.incarnation, m.label});
  if (!found)
    return; // its sending is not known
  recorder_.slice(
      link(m.other, m.who), recorder_.name(to_string(m.label.kind)), found.mapped(), m.at_ns,
      {{recorder_.name("step"), static_cast<std::int64_t>(m.label.step)}, {recorder_.name("bytes"), m.value}});
}

void run_picture::draw_wait(const trace_moment& m, const std::string& place) {
  auto& open = waits_[m.who];
  const auto found = std::ranges::find(open, m.other, &wait::whom);
  if (found == open.end())
    return;
  const auto row = track(place + "workers", m.who);
  recorder_.slice(row, recorder_.name(fmt::format("waits for {}", m.other)), found->since_ns, m.at_ns);
  recorder_.arrow(recorder_.name("ends the wait"), link(m.other, m.who), last_delivered_[m.who], row, m.at_ns);
  open.erase(found);
}

} // namespace gossamer::actors
