#include "gossamer/actors/cluster/cluster_client.hpp"

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

using namespace detail;

namespace {

/// A visitor at the door of a node.
class visitor {
public:
  explicit visitor(const node_settings& s) : settings_(s), control_(s), self_(control_.system) { knock(); }

  template <class Question>
  run_status ask(const Question& question) {
    std::optional<run_status> answer;
    std::optional<ask_there> elsewhere;
    for (int sent_on = 0; !answer && sent_on < most_sent_on; ++sent_on) {
      self_->send(door_, question);
      self_->receive([&](run_status& m) { answer = std::move(m); }, [&](ask_there& m) { elsewhere = std::move(m); },
                     [&](const run_failed& f) { throw error(f.code, "the leader says: " + f.sentence, f.remedy); },
                     [&](const caf::down_msg&) { refuse("it is gone"); }, caf::after(settings_.patience) >> [] {});
      if (!elsewhere)
        break;
      self_->demonitor(door_.address());
      settings_.where = std::exchange(elsewhere, std::nullopt)->where;
      knock();
    }
    if (!answer)
      refuse("it does not answer");
    if (answer->there > answer->nodes)
      refuse("it speaks nonsense");
    return std::move(*answer);
  }

  std::uint32_t ask_to_leave(const leave_request& m) {
    std::optional<std::uint32_t> answer;
    self_->send(door_, m);
    self_->receive([&](const will_leave& who) { answer = who.node; },
                   [&](const run_failed& f) { throw error(f.code, f.sentence, f.remedy); },
                   [&](const caf::down_msg&) { refuse("it is gone"); }, caf::after(settings_.patience) >> [] {});
    if (!answer)
      refuse("it does not answer");
    return *answer;
  }

  void wait_for_its_end() {
    for (bool gone = false; !gone;) {
      self_->receive([&](const caf::down_msg&) { gone = true; }, caf::after(look_every) >> [] {});
      if (!gone && settings_.interrupted())
        throw error(errc::failed, "interrupted; the run ends without being waited for", "");
    }
  }

private:
  static constexpr int most_sent_on = 5; // to nodes that have taken the lead meanwhile

  void knock() {
    door_ = connect(self_, control_, settings_, std::chrono::milliseconds(0),
                    "gossamer launch and gossamer node --listen say where they lead");
    self_->monitor(door_);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw error(errc::io, fmt::format("what listens at {} leads no run: {}", to_string(settings_.where), why),
                "gossamer launch and gossamer node --listen say where they lead");
  }

  node_settings settings_;
  control_plane control_;
  caf::scoped_actor self_;
  door_interface::handle door_;
};

} // namespace

run_status ask_leader(const node_settings& s) { return visitor{s}.ask(status_request{}); }

void stop_cluster(const node_settings& s) {
  visitor at_door{s};
  at_door.ask(stop_request{});
  at_door.wait_for_its_end();
}

std::uint32_t let_leave(const node_settings& s, std::optional<std::uint32_t> node) {
  return visitor{s}.ask_to_leave({.node = node.value_or(leave_request::whoever_is_asked)});
}

} // namespace gossamer::actors
