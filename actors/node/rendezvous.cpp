#include "gossamer/actors/node/rendezvous.hpp"

#include "gossamer/actors/node/control_checks.hpp"
#include "gossamer/actors/node/detail/refusals.hpp"

#include <caf/all.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace gossamer::actors {

namespace {

class rendezvous_state {
public:
  rendezvous_state() = default;

  void open(caf::event_based_actor* self, rendezvous_setup setup) {
    self_ = self;
    setup_ = std::move(setup);
    seats_.resize(setup_.nodes + 1); // 0 is the leader's
    self_->set_down_handler([this](const caf::down_msg& m) { leave(m.source); });
    self_->set_error_handler([](caf::scheduled_actor*, caf::error&) {}); // any process may send one
  }

  void join(const join_request& m) {
    if (auto why = refusal_of(m))
      return refuse(*std::move(why));
    if (called_off_)
      return refuse(*called_off_);
    const auto who = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    const auto number = seat_for(who, m.wanted);
    if (number == 0) {
      const bool is_early = setup_.may_grow && m.wanted >= seats_.size(); // its place may come to be
      return refuse(no_place(is_early ? join_request::any_number : m.wanted, seats_.size(), "--nodes"));
    }
    auto& taken = seats_[number];
    if (std::exchange(taken.who, who) != who)
      self_->monitor(who);
    taken.slots = m.slots;
    auto offer = setup_.offer;
    offer.node = number;
    for (const auto& one : seats_)
      if (one.ready)
        offer.files.members.push_back(one.ready->control);
    answer(std::move(offer));
  }

  void ready(const node_ready& m) {
    const auto sender = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    if (m.node == 0 || m.node >= seats_.size() || seats_[m.node].who != sender)
      return;
    if (auto why = refusal_of(setup_.print, m)) {
      seats_[m.node].leave();
      refusals_.tell(fmt::format("node {} is refused: {}", m.node, why->sentence), setup_.tell);
      return answer(*std::move(why));
    }
    seats_[m.node].ready = m;
    setup_.tell(fmt::format("node {} of {} is ready ({})", m.node, setup_.nodes + 1, to_string(m.control)));
    if (present() == setup_.nodes)
      assemble();
  }

  void say_status(std::uint32_t control) {
    if (auto why = refusal_of(control))
      return answer(*std::move(why));
    answer(run_status{.algorithm = setup_.algorithm,
                      .nodes = static_cast<std::uint32_t>(setup_.nodes + 1),
                      .there = static_cast<std::uint32_t>(present() + 1)});
  }

  /// Before the run there is nothing to see.
  void say_lines(const lines_request& m) {
    if (auto why = refusal_of(m.control))
      return answer(*std::move(why));
    answer(run_lines{});
  }

  void stop(std::uint32_t control) {
    if (control == control_version)
      setup_.stop();
    say_status(control);
  }

  void call_off(const run_called_off& m) {
    called_off_ = m.why;
    for (const auto& one : seats_)
      if (one.who)
        self_->send(caf::actor_cast<caf::actor>(one.who), m.why);
    end_when_empty();
  }

  const caf::actor& files() const { return setup_.files; }

  void let_nobody_leave() {
    answer(run_failed{errc::failed, "the run has not begun", "a node that waits for its begin may be ended"});
  }

private:
  struct seat {
    caf::actor_addr who; // the process that asked for it
    std::uint32_t slots = 1;
    std::optional<node_ready> ready;

    void leave() {
      who = {};
      ready.reset();
    }
  };

  template <class Message>
  void answer(Message m) {
    self_->send(caf::actor_cast<caf::actor>(self_->current_sender()), std::move(m));
  }

  void refuse(run_failed why) {
    refusals_.tell("a node is refused: " + why.sentence, setup_.tell);
    answer(std::move(why));
  }

  /// Nodes that are ready, without the leader.
  std::size_t present() const {
    return static_cast<std::size_t>(std::ranges::count_if(seats_, [](const seat& s) { return s.ready.has_value(); }));
  }

  /// Returns the seat that this process has, or else a free one; 0 if there is none. Who asks again has waited too long
  /// for an answer, and may take that one when it comes.
  std::uint32_t seat_for(const caf::actor_addr& who, std::uint32_t wanted) const {
    for (const auto& of : {who, caf::actor_addr{}})
      for (std::uint32_t i = 1; i < seats_.size(); ++i)
        if (seats_[i].who == of && (wanted == join_request::any_number || wanted == i))
          return i;
    return 0;
  }

  void leave(const caf::actor_addr& who) {
    for (std::uint32_t i = 1; i < seats_.size(); ++i)
      if (seats_[i].who == who) {
        seats_[i].leave();
        if (!called_off_)
          setup_.tell(fmt::format("node {} is gone before the run has begun", i));
      }
    if (called_off_)
      end_when_empty();
  }

  void end_when_empty() {
    if (std::ranges::none_of(seats_, [](const seat& s) { return static_cast<bool>(s.who); }))
      self_->quit();
  }

  void assemble() {
    assembly all;
    for (std::uint32_t i = 1; i < seats_.size(); ++i)
      all.nodes.push_back({*seats_[i].ready, seats_[i].slots});
    self_->send(setup_.client, std::move(all));
  }

  caf::event_based_actor* self_ = nullptr;
  rendezvous_setup setup_;
  std::vector<seat> seats_; // by the number of the node
  std::optional<run_failed> called_off_;
  detail::refusals refusals_;
};

template <class... Messages>
struct handing_on {
  static auto to(caf::event_based_actor* self, const caf::actor& node) {
    return std::tuple{[self, node](const Messages& m) { return self->delegate(node, m); }...};
  }
};

/// Lets the node answer every process from now on.
caf::behavior open_door(caf::event_based_actor* self, const caf::actor& node) {
  self->set_down_handler([](const caf::down_msg&) {});
  return door_interface::behaviour(messages_as<door_interface, handing_on>::to(self, node));
}

caf::behavior rendezvous_actor(caf::stateful_actor<rendezvous_state>* self, rendezvous_setup setup) {
  self->state.open(self, std::move(setup));
  return door_interface::behaviour(std::tuple{
      [self](const join_request& m) { self->state.join(m); },
      [self](const node_ready& m) { self->state.ready(m); },
      [self](const status_request& m) { self->state.say_status(m.control); },
      [self](const lines_request& m) { self->state.say_lines(m); },
      [self](const stop_request& m) { self->state.stop(m.control); },
      [self](const leave_request&) { self->state.let_nobody_leave(); },
      [](const greeting&) {},
      [self](const catalogue_request& m) { return self->delegate(self->state.files(), m); },
      [self](const run_called_off& m) { self->state.call_off(m); },
      [self](const run_begins& m) { self->become(open_door(self, m.node)); },
  });
}

/// Returns what is wrong with a message; `nullopt` if it makes sense.
template <class Message>
std::optional<run_failed> nonsense_in(const Message& m) {
  try {
    check(m);
    return std::nullopt;
  } catch (const error& e) {
    return run_failed{errc::usage, e.sentence(), e.remedy()};
  }
}

} // namespace

std::optional<run_failed> refusal_of(std::uint32_t control) {
  if (control == control_version)
    return std::nullopt;
  return run_failed{errc::usage,
                    fmt::format("it speaks version {} of the control messages, and the run's leader version {}",
                                control, control_version),
                    "use the same version of the program on all nodes"};
}

std::optional<run_failed> refusal_of(const join_request& m) {
  auto why = refusal_of(m.control);
  return why ? why : nonsense_in(m);
}

std::optional<run_failed> refusal_of(const fingerprint& own, const node_ready& m) {
  if (auto nonsense = nonsense_in(m))
    return nonsense;
  const auto different = differences(own, m.print);
  if (different.empty())
    return std::nullopt;
  return run_failed{errc::usage,
                    fmt::format("it has prepared another run (here: at the leader): {}", fmt::join(different, "; ")),
                    "give all nodes the same data and the same version of the program"};
}

run_failed no_place(std::uint32_t wanted, std::size_t nodes, std::string_view flag) {
  const bool any_would_do = wanted == join_request::any_number;
  if (!any_would_do && wanted >= nodes)
    return {errc::usage, fmt::format("--number is {}, and the run has the places 0 to {}", wanted, nodes - 1),
            fmt::format("a run with more places is started with {}", flag)};
  return {errc::failed,
          any_would_do ? fmt::format("the run has all of its {} nodes", nodes)
                       : fmt::format("node {} is there, or has not been missed yet", wanted),
          fmt::format("a place is free again when its node is lost, or has left; a run with more places is started "
                      "with {}",
                      flag)};
}

std::vector<std::vector<rank>> deal_ranks(std::size_t workers, std::size_t masters,
                                          std::span<const std::uint32_t> slots) {
  const auto all = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  std::vector<std::vector<rank>> result(slots.size());
  rank next = 0;
  std::uint64_t slots_so_far = 0;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    slots_so_far += slots[k];
    while (next < workers * slots_so_far / all)
      result[k].push_back(next++);
  }
  for (std::size_t k = 0; k < masters; ++k)
    result[k % slots.size()].push_back(static_cast<rank>(workers + k));
  return result;
}

caf::actor spawn_rendezvous(caf::actor_system& system, rendezvous_setup setup) {
  return system.spawn(rendezvous_actor, std::move(setup));
}

} // namespace gossamer::actors
