#include "gossamer/actors/simulated/detail/simulated_processes.hpp"

#include "gossamer/actors/node/control_checks.hpp"

#include <caf/atom.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

using start = control_network::start;

constexpr auto start_again_after = std::chrono::seconds(1);

/// The address of a start of a process. Ports would be too few.
endpoint address_of(start who) { return {std::to_string(who), 0}; }
start start_at(const std::string& host) { return std::stoull(host); }

/// Opens connections to nodes, as a middleman does. A process that is cut off gets no answer.
caf::behavior connector(caf::event_based_actor* self, simulated_processes* all, start own) {
  return {[=](caf::connect_atom, const std::string& host, std::uint16_t) {
    auto answer = self->make_response_promise<caf::node_id, caf::strong_actor_ptr, std::set<std::string>>();
    const auto other = start_at(host);
    if (const auto door = all->door(own, other); !door)
      answer.deliver(caf::make_error(caf::sec::cannot_connect_to_node));
    else if (!all->is_cut(own, other) && !all->is_cut(other, own))
      answer.deliver(self->node(), door, std::set<std::string>{});
    return answer;
  }};
}

/// Asks to be let in, as `join_cluster` does.
class newcomer final : public caf::event_based_actor {
public:
  newcomer(caf::actor_config& cfg, simulated_processes& all, start own, std::size_t attempt,
           std::chrono::nanoseconds patience)
      : caf::event_based_actor(cfg), all_(all), own_(own), attempt_(attempt), patience_(patience) {}

  caf::behavior make_behavior() override {
    set_down_handler([this](caf::down_msg& m) {
      if (door_ && m.source == door_->address())
        all_.try_again(own_);
    });
    knock(all_.somebody(attempt_));
    delayed_send(this, patience_, nobody_answers{});
    return {
        [this](const run_offer& m) { // another seat would be one of another machine
          if (m.node != all_.number_of(own_))
            return all_.try_again(own_);
          all_.prepare_node(own_, m.life,
                            [self = caf::actor_cast<caf::actor>(this), door = door_](const node_ready& own) {
                              caf::send_as(self, caf::actor_cast<door_interface::handle>(door), own);
                            });
        },
        [this](const ask_there& m) { knock(start_at(m.where.host)); },
        [this](const run_failed&) { all_.try_again(own_); },
        [this](nobody_answers) { all_.try_again(own_); },
    };
  }

private:
  void knock(std::optional<start> where) {
    if (door_)
      demonitor(door_->address());
    door_ = where ? all_.door(own_, *where) : nullptr;
    if (!door_)
      return all_.try_again(own_);
    const auto door = caf::actor_cast<door_interface::handle>(door_);
    monitor(door);
    send(door, join_request{.wanted = all_.number_of(own_)});
  }

  simulated_processes& all_;
  start own_;
  std::size_t attempt_;
  std::chrono::nanoseconds patience_;
  caf::strong_actor_ptr door_;
};

/// Drops evaluations of a leader that was cut off and has a successor: they are not the run's.
class leaders_observer final : public run_observer {
public:
  leaders_observer(std::shared_ptr<run_observer> all, std::function<bool()> leads)
      : all_(std::move(all)), leads_(std::move(leads)) {}

  void on_progress(const progress_record& r) override { all_->on_progress(r); }
  void on_evaluation(const evaluation_record& r) override {
    if (leads_())
      all_->on_evaluation(r);
  }
  void on_event(const event_record& r) override { all_->on_event(r); }
  bool watches_workers() const override { return all_->watches_workers(); }
  void on_view(const view_record& r) override {
    if (leads_())
      all_->on_view(r);
  }
  void on_workers(workers_record r) override {
    if (leads_())
      all_->on_workers(std::move(r));
  }

private:
  std::shared_ptr<run_observer> all_;
  std::function<bool()> leads_;
};

} // namespace

simulated_processes::simulated_processes(caf::actor_system& system, surroundings around)
    : system_(system), around_(std::move(around)),
      net_(system, {.latency =
                        [this](start a, start b, std::uint64_t number) {
                          return around_.latency(processes_[a].number, processes_[b].number, number);
                        },
                    .now = around_.now,
                    .at = around_.at,
                    .is_cut = [this](start a, start b) { return is_cut(a, b); },
                    .detection = around_.detection}),
      planes_({.now = around_.now,
               .at = around_.at,
               .patience = around_.patience,
               .complain = [this](std::uint32_t by, std::uint32_t about, std::string why) {
                 if (newest(by).runs)
                   caf::anon_send(newest(by).node, node_lost{about, std::move(why)});
               }}) {
  for (rank i = 0; i < around_.homes.size(); ++i) {
    const auto number = around_.homes[i];
    seats_.resize(std::max<std::size_t>(seats_.size(), number + 1));
    seats_[number].ranks.push_back(i);
  }
}

// -- starts -----------------------------------------------------------------------------------------------------------

start simulated_processes::add(std::uint32_t number) {
  const auto who = net_.add();
  processes_.push_back({.number = number});
  processes_.back().connector = system_.spawn(connector, this, who);
  seats_[number].newest = who;
  return who;
}

/// Returns the start that this node is of; `nullopt` if it is another actor.
std::optional<start> simulated_processes::start_of(const caf::strong_actor_ptr& node) const {
  const auto found = std::ranges::find_if(processes_, [&](const auto& one) { return one.node == node; });
  return found == processes_.end() ? std::nullopt : std::optional{static_cast<start>(found - processes_.begin())};
}

cluster_plan simulated_processes::founding_plan() const {
  cluster_plan plan{.nodes = static_cast<std::uint32_t>(seats_.size()),
                    .homes = around_.homes,
                    .last = {},
                    .handle = {},
                    .books = {}};
  std::map<consensus::node_number, consensus::process> there;
  for (std::uint32_t number = 0; number < seats_.size(); ++number)
    if (!is_vacant(number))
      there[number].control = address_of(number);
  plan.last = founding_of(*around_.run, *charter_of(*around_.run, plan.nodes, plan.homes, around_.patience), there);
  return plan;
}

/// True if only workers that may come later live in this process.
bool simulated_processes::is_vacant(std::uint32_t number) const {
  const auto absent = around_.run->vacancies();
  return std::ranges::all_of(seats_[number].ranks, [&](rank i) { return absent.contains(i); });
}

/// Begins as `lead_cluster` does: the leading node has met all others, and tells them where they are. The first start
/// of each number has that number, even where it is over before it begins.
void simulated_processes::begin() {
  for (std::uint32_t number = 0; number < seats_.size(); ++number)
    if (const auto who = add(number); is_vacant(number))
      end(who);
  for (start who = 1; who < processes_.size(); ++who)
    if (net_.is_alive(who))
      processes_[who].node = spawn_node_of(who);
  auto plan = founding_plan();
  auto setup = setup_of(0, plan);
  newest_resolution_ = plan.last;
  for (start who = 1; who < processes_.size(); ++who)
    if (net_.is_alive(who))
      setup.others.met[processes_[who].number] = handle(0, who);
  auto& leader = processes_[0].node = spawn_node(system_, std::move(setup));
  leader->attach_functor([this](const caf::error& reason) { on_exit(0, reason); });
  for (start who = 1; who < processes_.size(); ++who) {
    if (!net_.is_alive(who))
      continue;
    processes_[who].runs = true;
    plan.handle = handle(who, 0);
    caf::anon_send(processes_[who].node, plan);
  }
  caf::anon_send(leader, start_run{});
}

caf::actor simulated_processes::spawn_node_of(start who) {
  auto node = spawn_node_later(
      system_,
      [this, who](const cluster_plan& plan) {
        check(plan, number_of(who), around_.run->participants());
        return setup_of(who, plan);
      },
      around_.client);
  node->attach_functor([this, who](const caf::error& reason) { on_exit(who, reason); });
  return node;
}

node_setup simulated_processes::setup_of(start who, const cluster_plan& plan) {
  auto& own = processes_[who];
  const auto parts = around_.parts(own.number);
  auto setup = actors::setup_of(system_, around_.run, parts);
  setup.number = own.number;
  join_others(setup, plan, around_.patience, parts.transport);
  if (!plan.begins) {
    auto& here = setup.comes_as.emplace();
    here.life = own.life;
    here.control = address_of(who);
  }
  setup.others.meet = [this, number = own.number](const auto& there) { planes_.meet(number, there); };
  own.last = plan.last;
  setup.others.connector = own.connector;
  setup.client.on_resolution = [this, who](const consensus::resolution& r) {
    processes_[who].last = r;
    if (r.number() > newest_resolution_.number())
      newest_resolution_ = r;
    around_.on_resolution(processes_[who].number, r);
  };
  setup.client.observe = [this, who] {
    return std::make_shared<leaders_observer>(around_.observe(), [this, who] {
      const auto& one = processes_[who];
      return newest_resolution_.leader == one.number && newest_resolution_.knows(one.number, one.life);
    });
  };
  setup.client.interrupted = around_.interrupted;
  setup.client.steps_to = around_.steps_to;
  setup.client.actor = around_.client;
  own.runs = true;
  return setup;
}

node_interface::handle simulated_processes::handle(start by, start of) {
  return caf::actor_cast<node_interface::handle>(
      net_.seen(by, of, caf::actor_cast<caf::strong_actor_ptr>(processes_[of].node)));
}

// -- processes that come back -----------------------------------------------------------------------------------------

void simulated_processes::start_again(std::uint32_t number, std::size_t attempt) {
  const auto who = add(number);
  processes_[who].attempt = attempt;
  processes_[who].newcomer = system_.spawn<newcomer>(*this, who, attempt, around_.patience);
}

void simulated_processes::try_again(start who) {
  const auto& one = processes_[who];
  if (one.runs || !net_.is_alive(who) || over_)
    return;
  const auto number = one.number;
  end(who);
  around_.at(later(around_.now(), start_again_after), [this, who, number, next = one.attempt + 1] {
    if (!over_ && seats_[number].newest == who) // else a plan has started it meanwhile
      start_again(number, next);
  });
}

caf::strong_actor_ptr simulated_processes::door(start by, start of) {
  if (of >= processes_.size() || !net_.is_alive(of) || !processes_[of].node)
    return nullptr;
  return net_.seen(by, of, caf::actor_cast<caf::strong_actor_ptr>(processes_[of].node));
}

std::optional<start> simulated_processes::somebody(std::size_t attempt) const {
  const auto there = numbers();
  if (there.empty())
    return std::nullopt;
  return seats_[there[attempt % there.size()]].newest;
}

void simulated_processes::prepare_node(start who, std::uint32_t life, std::function<void(const node_ready&)> ready) {
  around_.at(later(around_.now(), around_.prepare), [this, who, life, ready = std::move(ready)] {
    auto& own = processes_[who];
    if (!net_.is_alive(who) || over_)
      return;
    own.life = life;
    if (!own.node)
      own.node = spawn_node_of(who);
    ready({.node = own.number,
           .print = {},
           .data = {},
           .control = address_of(who),
           .handle = caf::actor_cast<node_interface::handle>(own.node)});
  });
}

bool simulated_processes::is_cut(start a, start b) const {
  return around_.board->parts(seats_[processes_[a].number].ranks, seats_[processes_[b].number].ranks);
}

} // namespace gossamer::actors::detail
