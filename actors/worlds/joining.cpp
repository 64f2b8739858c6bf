// The side of the cluster world that joins.
#include "gossamer/actors/data_plane/local_address.hpp"
#include "gossamer/actors/runtime/failure_detector.hpp"
#include "gossamer/actors/worlds/detail/cluster_parts.hpp"
#include "gossamer/actors/worlds/node_actor.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace gossamer::actors {

using namespace detail;

namespace {

/// What this process does until the leader says that it is over.
class membership_of_node {
public:
  membership_of_node(caf::scoped_actor& self, control_plane& control, const joining_settings& s)
      : self_(self), settings_(s), leader_(s.patience) {
    door_ =
        connect(self, control, s, s.wait, "start `gossamer node --listen` there first; it prints the line to use here");
    self->monitor(door_);
    leader_.heard(0, now());
  }

  /// The next message of one type. @error what else comes instead
  template <class Message>
  Message next() {
    std::optional<Message> result;
    while (!result) {
      watch_leader();
      self_->receive([&](Message& m) { result = std::move(m); }, [&](const run_status&) { leader_.heard(0, now()); },
                     [&](const run_failed& f) { throw error(f.code, "the leader says: " + f.sentence, f.remedy); },
                     [&](const caf::down_msg& m) { lose(m); }, caf::after(look_every) >> [] {});
      if (!result && settings_.interrupted())
        throw error(errc::failed, "interrupted; the run goes on without this node", "");
    }
    return std::move(*result);
  }

  template <class Message>
  void tell(Message m) {
    self_->send(door_, std::move(m));
  }

private:
  failure_detector::time now() const { return self_->clock().now().time_since_epoch(); }

  /// The node actor hears of the coordinator from the plan on. Before, there is the leader's door alone, which breaks
  /// no connection when its process is stopped, but says how the run is when it is asked.
  void watch_leader() {
    if (now() - asked_ >= heartbeat_every) {
      asked_ = now();
      tell(status_request{});
    }
    if (leader_.silent(now()).empty())
      return;
    const auto why = silent_leader(leader_.patience());
    throw error(why.code, why.sentence, why.remedy);
  }

  [[noreturn]] void lose(const caf::down_msg& m) const {
    if (m.source == door_.address())
      throw error(errc::failed, fmt::format("the leader at {} is lost", to_string(settings_.where)),
                  "what it has written is in its run folder");
    throw error(errc::failed, "the run goes on without this node", "its leader has given it up, or it has failed");
  }

  caf::scoped_actor& self_;
  const joining_settings& settings_;
  failure_detector leader_;
  failure_detector::time asked_{};
  door_interface::handle door_;
};

} // namespace

void join_cluster(const joining_settings& s, const preparation& prepare) {
  control_plane control{s};
  auto& system = control.system;
  caf::scoped_actor self{system};
  membership_of_node here{self, control, s};
  here.tell(join_request{.slots = s.slots, .wanted = s.wanted});
  const auto offer = here.next<run_offer>();
  s.tell(fmt::format("this is node {}, process {}", offer.node, getpid()));
  const auto e = prepare(offer.settings);
  const auto print = fingerprint_of(*e);
  run_surroundings around;
  if (!offer.faults.empty())
    around.faults = parse_plan(offer.faults, "the leader's plan of faults");
  around.workers_per_node = offer.workers_per_node;
  if (!offer.checkpoints.empty())
    around.checkpoints = checkpoint_folder{offer.checkpoints};
  if (offer.from > 0)
    around.from = std::make_shared<const resumption>(checkpoint_folder{offer.resumed}.parts_here(offer.from, s.tell));

  const auto complain = std::make_shared<complaints>();
  const scoped_plane plane{control, *e, offer, print, s, local_address_towards(s.where), complain};
  const auto meet = [plane = plane.shared, e](const std::vector<node_entry>& nodes) {
    plane->meet(addresses_of(nodes, e->participants()));
  };
  const auto world = std::make_shared<const real_time>(system, e, around, e->settings.workers);
  const scoped_life node{spawn_node(system, {offer.node, e, world, plane.shared, meet, s.patience, self})};
  complain->send_to(node.actor);
  self->monitor(node.actor);
  here.tell(
      node_ready{offer.node, print, announced(*plane.shared, s), caf::actor_cast<node_interface::handle>(node.actor)});
  if (const auto why = here.next<leave_run>().why; !why.empty())
    throw error(errc::failed, "the leader says: " + why, "");
}

} // namespace gossamer::actors
