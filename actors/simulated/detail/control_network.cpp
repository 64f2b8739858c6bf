#include "gossamer/actors/simulated/detail/control_network.hpp"

#include "gossamer/actors/node/rendezvous.hpp"

namespace gossamer::actors::detail {

namespace {

constexpr virtual_time between_held{1}; // some time: else a long partition's end is taken for a standstill

/// A proxy like CAF's own of actors in other processes, but for the connection.
class proxy final : public caf::actor_proxy {
public:
  proxy(caf::actor_config& cfg, control_network& net, control_network::start by, control_network::start of,
        caf::strong_actor_ptr who)
      : caf::actor_proxy(cfg), net_(net), by_(by), of_(of), who_(std::move(who)) {}

  void enqueue(caf::mailbox_element_ptr letter, caf::execution_unit*) override {
    net_.deliver(by_, of_, who_, *letter);
  }
  void kill_proxy(caf::execution_unit* context, caf::error reason) override { cleanup(std::move(reason), context); }

private:
  control_network& net_;
  control_network::start by_, of_;
  caf::strong_actor_ptr who_;
};

/// Replaces the handle in a message, if there is one, by the receiver's view of it. True if the message is of this
/// type.
template <class Message, class Exchange>
bool exchanged(caf::message& m, const Exchange& exchange) {
  if (!m.match_elements<Message>())
    return false;
  auto copy = m.get_as<Message>(0);
  if (const auto handle = caf::actor_cast<caf::strong_actor_ptr>(copy.handle))
    copy.handle = caf::actor_cast<node_interface::handle>(exchange(handle));
  m = caf::make_message(std::move(copy));
  return true;
}

} // namespace

caf::strong_actor_ptr control_network::seen(start by, start of, const caf::strong_actor_ptr& who) {
  if (by == of)
    return who;
  auto& known = proxies_[{by, of, who->id()}];
  if (!known) {
    caf::actor_config config;
    known = caf::make_actor<proxy, caf::strong_actor_ptr>(system_.next_actor_id(), system_.node(), &system_, config,
                                                          *this, by, of, who);
  }
  return known;
}

void control_network::deliver(start from, start to, const caf::strong_actor_ptr& target, caf::mailbox_element& letter) {
  carry(from, to,
        [this, from, to, target, sender = letter.sender, id = letter.mid,
         content = letter.move_content_to_message()]() mutable {
          const auto exchange = [&](const caf::strong_actor_ptr& who) { return seen(to, from, who); };
          exchanged<greeting>(content, exchange) || exchanged<cluster_plan>(content, exchange)
              || exchanged<node_ready>(content, exchange);
          target->get()->enqueue(sender ? exchange(sender) : nullptr, id, std::move(content), nullptr);
        });
}

void control_network::carry(start from, start to, virtual_time least, std::function<void()> what) {
  if (from == to)
    return what();
  auto& way = ways_[{from, to}];
  const auto due = later(around_.now(), std::max(least, around_.latency(from, to, way.sent++)));
  way.last = std::max(way.last, due);
  around_.at(way.last, [this, from, to, what = std::move(what)] { arrive(from, to, what); });
}

void control_network::arrive(start from, start to, std::function<void()> what) {
  if (auto& held = ways_[{from, to}].held; !held.empty() || around_.is_cut(from, to))
    held.push_back(std::move(what));
  else if (alive_[to])
    what();
}

void control_network::flush() {
  for (const auto& [ends, _] : ways_)
    let_through(ends.first, ends.second);
}

/// Delivers the first message that was held back, and then the next: they come one behind the other, and not at once.
void control_network::let_through(start from, start to) {
  auto& held = ways_[{from, to}].held;
  if (held.empty() || around_.is_cut(from, to))
    return;
  const auto what = std::move(held.front());
  held.pop_front();
  if (alive_[to])
    what();
  if (!held.empty())
    around_.at(later(around_.now(), between_held), [this, from, to] { let_through(from, to); });
}

void control_network::kill(start dead) {
  if (!alive_[dead])
    return;
  alive_[dead] = false;
  for (start other = 0; other < alive_.size(); ++other)
    if (alive_[other])
      carry(dead, other, around_.detection, [this, dead, other] {
        const auto first = proxies_.lower_bound({other, dead, 0});
        const auto last = proxies_.lower_bound({other, dead + 1, 0});
        for (auto one = first; one != last; ++one)
          static_cast<proxy*>(one->second->get())->kill_proxy(nullptr, caf::exit_reason::remote_link_unreachable);
      });
}

} // namespace gossamer::actors::detail
