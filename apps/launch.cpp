// gossamer launch: starts the nodes of a run, and shows it as if it were one process.
#include "gossamer/apps/detail/launch.hpp"

#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <poll.h>

namespace gossamer::apps {

namespace {

constexpr double longest_farewell_s = 5; // of the others when the leader has ended, but no longer than the patience

/// One for each node.
std::vector<host> slots_of(const std::vector<host>& hosts) {
  std::vector<host> result;
  for (const auto& one : hosts)
    result.insert(result.end(), one.slots, one);
  return result;
}

const std::string& certs_of(const host& where, const node_options& node) {
  return where.certs.empty() ? node.certs : where.certs;
}

void require_certificates(const std::vector<host>& hosts, const node_options& node) {
  const auto has = [&](const host& h) { return !certs_of(h, node).empty(); };
  const auto with = std::ranges::find_if(hosts, has), without = std::ranges::find_if_not(hosts, has);
  if (without != hosts.end() && with != hosts.end())
    throw error(errc::usage, fmt::format("{} has certificates, and {} has none", with->name, without->name),
                "in the hosts file, give every host a folder: certs = \"...\"; or all the same one: --certs DIR");
}

class launcher {
public:
  launcher(const program& p, const launch_options& how, const run_options& job, std::vector<std::string> words)
      : program_(p), how_(how), nodes_(slots_of(read_hosts(how.hosts))), words_(std::move(words)),
        threads_(job.run.threads) {
    if (job.workers_given)
      require_workers(nodes_.size(), job.run.workers);
    else
      words_.insert(words_.end(), {"--workers", fmt::format("{}", nodes_.size())});
    require_reachable(nodes_, how.node);
  }

  void print_commands() const {
    fmt::print("{}\n", shell_line(leader_command()));
    for (std::size_t k = 1; k < nodes_.size(); ++k)
      fmt::print("{}\n", shell_line(joining_command(k, fmt::format("{}:PORT", address_of(nodes_[0])))));
  }

  /// @returns the leader's exit status
  int run() {
    const clean_stop stop;
    children_.reserve(nodes_.size()); // who polls them refers to them
    children_.emplace_back(leader_command(), false);
    stopwatch since_end;
    while (!children_[0].ended() || children_[0].output() >= 0) {
      look();
      pass_on_interrupt();
      since_end = {};
    }
    while (!all_ended() && since_end.seconds() < std::min(longest_farewell_s, how_.node.patience_s))
      look();
    if (failure_)
      throw *failure_;
    return *children_[0].ended();
  }

private:
  std::vector<std::string> leader_command() const {
    std::vector<std::string> words{"node",
                                   "--listen",
                                   fmt::format("{}:0", address_of(nodes_[0])),
                                   "--nodes",
                                   fmt::format("{}", nodes_.size()),
                                   "--announce"};
    add_common(words, nodes_[0], how_.node);
    words.emplace_back("--");
    words.insert(words.end(), words_.begin(), words_.end());
    return command_on(nodes_[0], program_.path(), words);
  }

  std::vector<std::string> joining_command(std::size_t k, const std::string& leader) const {
    std::vector<std::string> words{"node", "--join", leader, "--number", fmt::format("{}", k)};
    add_common(words, nodes_[k], how_.node);
    if (threads_ > 0)
      words.insert(words.end(), {"--threads", fmt::format("{}", threads_)});
    if (!nodes_[k].device.empty())
      words.insert(words.end(), {"--device", nodes_[k].device});
    return command_on(nodes_[k], program_.path(), words);
  }

  /// What the nodes have written, and who of them has ended.
  void look() {
    std::vector<pollfd> polled;
    for (const auto& one : children_)
      polled.push_back({one.output(), POLLIN, 0});
    constexpr int look_every_ms = 100;
    poll(polled.data(), polled.size(), look_every_ms);
    for (std::size_t k = 0; k < polled.size(); ++k)
      if ((polled[k].revents & (POLLIN | POLLHUP)) != 0)
        children_[k].read_lines([&](const std::string& line) { show(k, line); });
    for (std::size_t k = 1; k < children_.size(); ++k)
      if (const auto status = children_[k].ended(); status.value_or(0) != 0 && !failure_ && !children_[0].ended())
        begun_ ? start_again(k) : give_up(k, *status);
  }

  void show(std::size_t k, const std::string& line) {
    if (k > 0) {
      std::fputs(fmt::format("[{} {}] {}\n", k, nodes_[k].name, line).c_str(), stderr);
    } else if (line.starts_with(announcement)) {
      leader_ = line.substr(announcement.size());
      for (std::size_t i = 1; i < nodes_.size(); ++i)
        children_.emplace_back(joining_command(i, leader_), true);
    } else if (line == all_have_come) {
      begun_ = true;
    } else {
      fmt::print("{}\n", line);
      std::fflush(stdout);
    }
  }

  void give_up(std::size_t k, int status) {
    failure_.emplace(
        errc::failed,
        fmt::format("node {} on {} ended with status {}: {}", k, nodes_[k].name, status, children_[k].last_line()),
        "its command was " + shell_line(joining_command(k, "HOST:PORT")));
    children_[0].send_signal(SIGTERM);
  }

  void start_again(std::size_t k) {
    if (restarts_ == how_.restarts || children_[k].output() >= 0) // which is read to its end first
      return;
    ++restarts_;
    show(k, fmt::format("is started again ({} of {})", restarts_, how_.restarts));
    children_[k] = child{joining_command(k, leader_), true};
  }

  void pass_on_interrupt() {
    if (clean_stop::requested() && !std::exchange(interrupted_, true))
      children_[0].send_signal(SIGINT);
  }

  bool all_ended() {
    return std::ranges::all_of(children_, [](child& one) { return one.ended().has_value(); });
  }

  const program& program_;
  const launch_options& how_;
  std::vector<host> nodes_;
  std::vector<std::string> words_;
  std::size_t threads_;         // of each
  std::vector<child> children_; // by the number of the node
  std::string leader_;          // where it listens
  std::size_t restarts_ = 0;
  bool begun_ = false, interrupted_ = false;
  std::optional<error> failure_;
};

} // namespace

void require_reachable(const std::vector<host>& hosts, const node_options& node) {
  const auto leader = address_of(hosts[0]);
  require_private("--hosts", fmt::format("{}:0", leader), node.insecure || !certs_of(hosts[0], node).empty());
  require_certificates(hosts, node);
  if (is_loopback(leader) && !std::ranges::all_of(hosts, [](const host& h) { return is_loopback(address_of(h)); }))
    throw error(
        errc::usage, fmt::format("other machines cannot reach {}", leader),
        "in the hosts file, give the first host an address = \"...\" that they reach, or a name that they know");
}

void add_common(std::vector<std::string>& words, const host& where, const node_options& node) {
  if (const auto& certs = certs_of(where, node); !certs.empty())
    words.insert(words.end(), {"--certs", certs});
  if (node.insecure)
    words.emplace_back("--insecure");
  words.insert(words.end(), {"--patience", fmt::format("{}", node.patience_s)});
}

int launch(const program& p, const launch_options& how, const run_options& job, const std::vector<std::string>& words) {
  launcher all{p, how, job, words};
  if (how.dry_run)
    return all.print_commands(), 0;
  return all.run();
}

} // namespace gossamer::apps
