#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include "gossamer/actors/cluster/detail/door_search.hpp"
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/hosting/delivery_thread.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/node/file_server.hpp"
#include "gossamer/actors/node/world.hpp"
#include "gossamer/actors/real_time/real_time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors::detail {

cluster_config::cluster_config(std::size_t threads) {
  load<caf::io::middleman>();
  set("middleman.workers", std::size_t{0}); // they would hand messages over once more
  set_scheduler(*this, threads);
  add_control_messages(*this);
}

control_plane::control_plane(const node_settings& s)
    : checked_(threads_of_system(s.threads) + threads_of_control), tunnel_(s.shows, s.patience), config_(s.threads),
      system(config_), middleman_(system, tunnel_) {
  // Prints of messages that no handler takes go there: CAF prints them byte by byte, as a peer has sent them.
  caf::actor_ostream::redirect_all(system, "/dev/null");
}

/// Waits until no actor waits for a connection any more. CAF 0.17 has its middleman connect in a thread of its own,
/// which hands over to a broker. A broker that ends keeps its unread messages (`abstract_broker::cleanup` closes no
/// mailbox), and with them the middleman, whose thread the system would wait for.
control_plane::~control_plane() {
  system.await_all_actors_done();
  caf::scoped_actor self{system, true};
  for (bool is_idle = false; !is_idle;) {
    stop_connecting(); // each time: the next of several attempts may have begun
    self->request(middleman(), look_every, caf::get_atom::value, system.node())
        .receive([&](const caf::node_id&, const std::string&, std::uint16_t) { is_idle = true; },
                 [&](const caf::error& e) { is_idle = e != caf::sec::request_timeout; });
  }
}

endpoint control_plane::publish(const caf::actor& door, const endpoint& where) {
  return middleman_.publish(door, where);
}

std::string control_plane::describe(const caf::error& e) const {
  if (const auto hitch = tunnel_.trouble(); !hitch.why.empty())
    return "it " + hitch.why;
  if (e == caf::sec::request_timeout)
    return "it does not answer";
  return e == caf::sec::disconnect_during_handshake ? fmt::format("it {}", tunnel::closed_unheard) : system.render(e);
}

void control_plane::require_right_token(const endpoint& where) const {
  const auto hitch = tunnel_.trouble();
  if (hitch.is_refused && hitch.where == where)
    throw error(errc::usage, fmt::format("{} {}", to_string(where), hitch.why),
                "whoever leads the run has printed its token: give that one, in GOSSAMER_TOKEN or by --token-file");
}

std::string control_plane::advice(const caf::error& e, const std::string& otherwise) const {
  const auto hitch = tunnel_.trouble();
  const auto& why = hitch.why;
  if (why == tunnel::closed_unheard || (why.empty() && e == caf::sec::disconnect_during_handshake))
    return "if the run has certificates, add --certs DIR; if it has not, use the same version of the program; over a "
           "network that needs more than half a second to and fro, give all nodes a longer --patience";
  if (why.find("certificate") != std::string::npos)
    return "give every node, with --certs, a folder that gossamer certs has made by the run's authority, for the name "
           "or address at which the others reach it";
  if (e == caf::sec::request_timeout || hitch.is_silence)
    return otherwise + "; over a network that needs more than a second to and fro, give all nodes a longer --patience";
  return otherwise;
}

namespace {

/// Asks the middleman for a connection, by an actor that is gone when an answer comes too late.
caf::expected<caf::strong_actor_ptr> reach(control_plane& control, const node_settings& s) {
  caf::scoped_actor asks{control.system};
  asks->send(caf::actor_cast<caf::actor>(control.middleman()), caf::connect_atom::value, s.where.host, s.where.port);
  const auto until = asks->clock().now() + s.patience;
  caf::strong_actor_ptr found;
  caf::error why;
  while (!found && !why) {
    asks->receive([&](const caf::node_id&, caf::strong_actor_ptr& door, const std::set<std::string>&) { found = door; },
                  [&](caf::error& e) { why = std::move(e); }, caf::after(look_every) >> [] {});
    if (!found && !why && (s.interrupted() || asks->clock().now() > until)) {
      control.stop_connecting();
      why = caf::sec::request_timeout;
    }
  }
  if (!found)
    return why;
  return found;
}

} // namespace

door_interface::handle connect(caf::scoped_actor& self, control_plane& control, const node_settings& s,
                               std::chrono::milliseconds wait, const std::string& remedy) {
  for (const auto until = self->clock().now() + wait;;) {
    const auto found = reach(control, s);
    if (found)
      return caf::actor_cast<door_interface::handle>(*found);
    control.require_right_token(s.where);
    if (s.interrupted() || self->clock().now() > until)
      throw error(errc::io,
                  fmt::format("nobody leads a run at {}: {}", to_string(s.where), control.describe(found.error())),
                  control.advice(found.error(), remedy));
    self->receive([](caf::unit_t) {}, caf::after(look_every) >> [] {}); // the leader may be a little later
  }
}

namespace {

/// Returns the addresses of the nodes for the data plane.
std::map<std::uint32_t, node_address> addresses_of(const std::map<std::uint32_t, consensus::process>& there,
                                                   std::span<const std::uint32_t> homes) {
  std::map<std::uint32_t, node_address> result;
  for (const auto& [number, process] : there)
    result[number] = {
        .life = process.life, .where = process.data, .ranks = {evaluating_life(homes.size(), number).who}};
  for (rank i = 0; i < homes.size(); ++i)
    if (const auto home = result.find(homes[i]); home != result.end())
      home->second.ranks.push_back(i);
  return result;
}

} // namespace

scoped_plane::scoped_plane(control_plane& control, const experiment& e, const run_offer& offer,
                           const fingerprint& print, const node_settings& s, std::string host,
                           const std::shared_ptr<complaints>& complain) {
  data_plane_setup setup;
  setup.run = offer.run;
  setup.fingerprint = digest_of(print);
  setup.node = offer.node;
  setup.life = offer.life;
  setup.most = limits_for(std::max<std::uint64_t>(e.initial.size(), e.algorithm->traits.most_elements),
                          e.exchange() == exchange_pattern::neighbours ? e.settings.worker_ranks() : 0);
  setup.pool = e.pool;
  setup.listen_on = {std::move(host), 0};
  setup.shows = s.shows;
  setup.share_memory = s.share_memory;
  setup.complain = [complain](std::uint32_t node, std::string why) { complain->say({node, std::move(why)}); };
  setup.patience = s.patience;
  setup.on_thread = [&control] { return std::make_shared<delivery_thread>(control.system); };
  shared = std::make_shared<data_plane>(std::move(setup));
}

caf::actor spawn_files_of(caf::actor_system& system, const experiment& e) {
  return spawn_file_server(
      system, [s = e.settings, known = e.known] { return s.files.empty() ? files_of(s, known) : s.files; });
}

caf::actor spawn_injector(caf::actor_system& system, const experiment& e, const std::shared_ptr<fault_board>& board,
                          const run_surroundings& around, const std::shared_ptr<caf::actor>& node) {
  const auto tell_others = [node, board](std::size_t fault, bool on) {
    const auto text = board->live() ? to_toml({.faults = {board->at(fault)}}) : "";
    caf::anon_send(*node, switch_fault{fault, on, text});
  };
  return system.spawn(fault_injector, injector_setup{.board = board,
                                                     .workers = e.participants(),
                                                     .workers_per_node = around.workers_per_node,
                                                     .masters = e.masters,
                                                     .on_switch = tell_others,
                                                     .wishes = around.wishes});
}

endpoint announced(endpoint where, const node_settings& s) {
  if (s.shows.identity)
    where.host = s.shows.identity->name_for(where.host);
  return where;
}

namespace {

/// Switches faults as the leader does; says what does not fit.
std::function<void(const switch_fault&)> switch_of(std::shared_ptr<const real_time> world,
                                                   std::function<void(const std::string&)> tell) {
  return [world = std::move(world), tell = std::move(tell)](const switch_fault& m) {
    try {
      world->switch_fault(m);
    } catch (const error& problem) {
      tell(problem.sentence());
    }
  };
}

} // namespace

void join_others(node_setup& setup, control_plane& control, const std::shared_ptr<data_plane>& net,
                 std::shared_ptr<const real_time> world, const node_settings& s, const cluster_plan& plan) {
  actors::join_others(setup, plan, s.patience, net);
  setup.client.tell = s.tell;
  setup.client.read_lines = s.read_lines;
  setup.others.meet = [net, homes = plan.homes](const auto& there) { net->meet(addresses_of(there, homes)); };
  setup.others.switch_fault = switch_of(std::move(world), s.tell);
  setup.others.connector = caf::actor_cast<caf::actor>(control.middleman());
}

std::shared_ptr<run_observer> while_leading(const lead_flag& leads, std::shared_ptr<run_observer> observer,
                                            const caf::actor& injector) {
  *leads = true;
  auto* const seen_by = observer.get();
  const std::shared_ptr<void> lead{nullptr, [leads, observer = std::move(observer), injector](void*) {
                                     *leads = false;
                                     caf::anon_send(injector, stop_faults{});
                                   }};
  return {lead, seen_by};
}

std::string words_before_news(const caf::scoped_actor& self, const caf::actor& node) {
  const bool is_own = node && self->current_sender() == caf::actor_cast<caf::strong_actor_ptr>(node);
  return is_own ? "" : "the leader says: ";
}

void departure::go_on(const caf::actor& node) {
  const auto now = self_->clock().now();
  if (!asks_at_)
    asks_at_ = now + wait_;
  if (now >= *asks_at_ && !std::exchange(has_asked_, true))
    self_->send(node, leave_request{});
  else if (now - *asks_at_ > patience_)
    leave_interrupted();
}

farewell::~farewell() {
  constexpr std::chrono::milliseconds longest_farewell = std::chrono::seconds(5);
  self->monitor(node);
  self->send(node, leave_run{.why = why, .code = code});
  const auto until = self->clock().now() + std::min(longest_farewell, patience);
  for (bool gone = false; !gone && self->clock().now() < until;)
    self->receive([&](const caf::down_msg& m) { gone = m.source == node.address(); }, caf::after(look_every) >> [] {});
}

} // namespace gossamer::actors::detail
