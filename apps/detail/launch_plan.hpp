#pragma once

#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/apps/detail/launch.hpp"

namespace gossamer::apps {

/// @error errc::usage unless the first host can be reached, in a way that is safe or that the user insists on
void require_reachable(const std::vector<host>& hosts, const node_options& node);

/// Adds the flags that every node on that host gets.
void add_common(std::vector<std::string>& words, const host& where, const node_options& node);

/// Returns the token of a run that such a node leads; `nullopt` with certificates, and without tokens. @error as
/// `token_to_lead`
std::optional<actors::access_token> token_of(const host& leader, const node_options& node);

/// Starts a node whose command has the flags of `add_common`, and tells it the token on its standard input, which no
/// other user of its machine sees.
child start_node(const std::vector<std::string>& command, const std::optional<actors::access_token>& token);

/// The processes that a launch starts, with their hosts and commands. They are numbered like the nodes: 0 leads.
class launch_plan {
public:
  /// @error errc::usage when the plan is impossible, and as `read_hosts`
  launch_plan(const program& p, const launch_options& how, const launched_job& job);

  std::size_t nodes() const noexcept { return nodes_.size(); }
  const host& node(std::size_t k) const { return nodes_[k]; }
  std::vector<std::string> names() const;
  /// The leader's address, without the port that it will find.
  std::string leader_address() const;
  /// Returns the command that starts a node first. @param leader HOST:PORT, for nodes that join
  std::vector<std::string> command(std::size_t k, const std::string& leader) const;

  /// Returns the command of a node that joins, as all nodes do that are started again.
  std::vector<std::string> joining_command(std::size_t k, const std::string& leader) const;

  /// True if nodes are programs of the user's.
  bool starts_a_program() const noexcept { return !job_.program.empty(); }

private:
  void add_telling(std::vector<std::string>& words) const;
  std::vector<std::string> leader_words() const;
  std::vector<std::string> joining_words(std::size_t k, const std::string& leader) const;
  std::vector<std::string> command_of(std::size_t k, const std::vector<std::string>& words) const;

  const program& program_;
  const launch_options& how_;
  std::vector<host> nodes_; // one for each slot
  launched_job job_;
};

} // namespace gossamer::apps
