#include "gossamer/actors/cluster/detail/file_sources.hpp"

#include <fmt/format.h>

namespace gossamer::actors::detail {

namespace {

constexpr std::uint32_t leader = 0;

struct call_member {
  std::uint32_t source = 0;
  endpoint where;
};
template <class Inspector>
decltype(auto) inspect(Inspector& f, call_member& m) {
  return f(m.source, m.where);
}

/// Connects in an actor of its own: the process that fetches has no time to wait for a connection.
caf::behavior caller(caf::event_based_actor* self, const caf::actor& middleman, std::chrono::milliseconds patience,
                     const caf::actor& client) {
  return {[=](const call_member& m) {
    self->request(middleman, patience, caf::connect_atom::value, m.where.host, m.where.port)
        .then(
            [=, source = m.source](const caf::node_id&, const caf::strong_actor_ptr& door,
                                   const std::set<std::string>&) {
              self->send(client, member_called{source, caf::actor_cast<caf::actor>(door)});
            },
            [=, source = m.source](const caf::error&) {
              self->send(client, member_called{source, {}});
            });
  }};
}

} // namespace

file_sources::file_sources(caf::scoped_actor& self, control_plane& control, std::chrono::milliseconds patience,
                           const door_interface::handle& door, std::vector<endpoint> others)
    : self_(self), caller_(control.system.spawn(caller, caf::actor_cast<caf::actor>(control.middleman()), patience,
                                                caf::actor{self})) {
  members_.emplace_back().door = caf::actor_cast<caf::actor>(door);
  for (auto& where : others)
    members_.emplace_back().where = std::move(where);
}

file_sources::~file_sources() {
  for (std::size_t k = leader + 1; k < members_.size(); ++k) // the joining process watches the leader
    if (members_[k].door)
      self_->demonitor(members_[k].door.address());
}

std::vector<std::string> file_sources::names() const {
  std::vector<std::string> result{"the leader"};
  for (std::size_t k = leader + 1; k < members_.size(); ++k)
    result.push_back("the node at " + to_string(members_[k].where));
  return result;
}

void file_sources::ask_for_all(std::uint32_t source) {
  if (source == leader)
    self_->send(members_[leader].door, catalogue_request{});
  else
    self_->send(caller_.actor, call_member{source, members_[source].where});
}

void file_sources::ask_for_piece(std::uint32_t source, const piece_request& m) {
  self_->send(members_[source].server, m);
}

void file_sources::on_called(const member_called& m) {
  if (!m.door)
    return lose(m.source, "cannot be reached");
  members_[m.source].door = m.door;
  self_->monitor(m.door);
  self_->send(m.door, catalogue_request{});
}

void file_sources::on_down(const caf::down_msg& m) {
  for (std::uint32_t k = 0; k < members_.size(); ++k)
    if (members_[k].door && members_[k].door.address() == m.source)
      lose(k, "is lost");
}

std::optional<file_news> file_sources::take() {
  if (news_.empty())
    return std::nullopt;
  auto first = std::move(news_.front());
  news_.pop_front();
  return first;
}

} // namespace gossamer::actors::detail
