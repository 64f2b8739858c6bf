// gossamer node: one process of a run that several machines share.
#include "gossamer/apps/detail/node.hpp"

#include "gossamer/actors/worlds/cluster_world.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/slurm.hpp"
#include "gossamer/apps/detail/training.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace gossamer::apps {

namespace {

void say(const program& p, const std::string& line) {
  std::fputs(fmt::format("{}: {}\n", p.name(), line).c_str(), stderr);
}

bool stop_requested() { return clean_stop::requested() != 0; }

actors::node_settings common(const program& p, const node_options& node, const std::string& where) {
  actors::node_settings s;
  s.where = actors::parse_endpoint(where);
  s.slots = node.slots;
  s.threads = node.threads;
  s.patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * node.patience_s));
  s.tell = [&p](const std::string& line) { say(p, line); };
  s.interrupted = stop_requested;
  s.identity = identity_of(node);
  return s;
}

/// The line to paste on another machine.
void invite(const program& p, const node_options& node, const actors::endpoint& where) {
  const auto address = to_string(where);
  if (node.announce) {
    fmt::print("{}{}\n", announcement, address);
    std::fflush(stdout);
  } else if (node.nodes > 1)
    say(p, fmt::format("waits for {} more node{}; start each of them with\n  {} node --join {}{}", node.nodes - 1,
                       node.nodes == 2 ? "" : "s", p.name(), address,
                       !node.certs.empty() ? " --certs DIR"
                       : node.insecure     ? " --insecure"
                                           : ""));
}

void tell_all_are_here(const node_options& node) {
  if (!node.announce)
    return;
  fmt::print("{}\n", all_have_come);
  std::fflush(stdout);
}

} // namespace

std::shared_ptr<const actors::tls_identity> identity_of(const node_options& node) {
  if (node.certs.empty())
    return nullptr;
  auto identity = std::make_shared<const actors::tls_identity>(node.certs);
  identity->require_valid();
  return identity;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

void require_private(const std::string& flag, const std::string& address, bool allowed) {
  if (allowed || is_loopback(actors::parse_endpoint(address).host))
    return;
  throw error(errc::usage, fmt::format("{} is {}, which other machines reach, and nothing is encrypted", flag, address),
              "add --certs DIR, with what gossamer certs has made; in a network that you trust, add --insecure; or use "
              "an address of this machine alone, such as 127.0.0.1");
}

void require_workers(std::size_t nodes, std::size_t workers) {
  if (nodes > workers)
    throw error(errc::usage, fmt::format("{} nodes cannot share {} workers", nodes, workers),
                "each node has at least one: use fewer nodes or more --workers");
}

node_options placed(node_options node) {
  const auto ways = !node.listen.empty() + !node.join.empty() + !node.rendezvous.empty() + node.slurm;
  if (ways != 1)
    throw error(errc::usage,
                ways == 0 ? "a node either leads or joins"
                          : "more than one of --listen, --join, --rendezvous and --slurm is given",
                "--listen HOST:PORT -- train ... leads a run; --join HOST:PORT takes part in it");
  if (node.slurm) {
    const auto task = slurm_task([](const char* name) {
      const char* value = std::getenv(name);
      return std::string{value != nullptr ? value : ""};
    });
    node.number = task.number;
    node.nodes = task.nodes;
    node.rendezvous = task.rendezvous;
  }
  if (!node.rendezvous.empty())
    (node.number == 0 ? node.listen : node.join) = node.rendezvous;
  return node;
}

int lead(const program& p, const node_options& node, const run_options& job, bool json) {
  require_workers(node.nodes, job.run.workers);
  require_private("--listen", node.listen, node.insecure || !node.certs.empty());
  actors::leader_settings s{common(p, node, node.listen), node.nodes, std::chrono::seconds(node.wait_s),
                            [&](const actors::endpoint& where) { invite(p, node, where); },
                            [&] { tell_all_are_here(node); }};
  s.threads = job.run.threads;
  return train_in(p, job, json,
                  [&](const auto& run, const auto& around) { return actors::lead_cluster(run.experiment, s, around); });
}

int join(const program& p, const node_options& node) {
  require_private("--join", node.join, node.insecure || !node.certs.empty());
  const clean_stop stop;
  actors::joining_settings s{common(p, node, node.join), node.number};
  // Where all are started alike, nobody says that the leader is there first.
  s.wait = node.rendezvous.empty() ? s.patience : std::chrono::seconds(node.wait_s);
  try {
    actors::join_cluster(s, [&](const std::string& settings) {
      auto own = actors::parse_run_settings(settings, "the leader's settings");
      if (!node.device.empty())
        own.device = node.device;
      return actors::prepare(std::move(own), p.algorithms());
    });
  } catch (const error&) {
    if (!clean_stop::requested())
      throw;
    say(p, "interrupted; the run goes on without this node");
    return 128 + clean_stop::requested();
  }
  say(p, "the run is over");
  return 0;
}

} // namespace gossamer::apps
