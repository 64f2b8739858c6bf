#pragma once

#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/apps/detail/launch.hpp"

namespace gossamer::apps {

/// @error errc::usage unless the first host can be reached, in a way that is safe or that the user insists on
void require_reachable(const std::vector<host>& hosts, const node_options& node);

/// Adds the flags that a node on that host is given, whatever it does there.
void add_common(std::vector<std::string>& words, const host& where, const node_options& node);

/// Of a run that such a node leads; nothing with certificates, and without tokens. @error as `token_to_lead`
std::optional<actors::access_token> token_of(const host& leader, const node_options& node);

/// Starts a node whose command has what `add_common` adds, and tells it the token on its standard input: nobody else on
/// its machine sees that, wherever it is.
child start_node(const std::vector<std::string>& command, const std::optional<actors::access_token>& token);

/// Which processes a launch starts, where, and by which commands. Numbered as the nodes are: 0 leads.
class launch_plan {
public:
  /// @param job what stands behind `--`, read; `words` is it as it was written
  /// @error errc::usage when it cannot be, and as `read_hosts`
  launch_plan(const program& p, const launch_options& how, const run_options& job, std::vector<std::string> words);

  std::size_t nodes() const noexcept { return nodes_.size(); }
  const host& node(std::size_t k) const { return nodes_[k]; }
  /// Of the leader, without the port that it will find.
  std::string leader_address() const;
  /// Of a node when it is started first. @param leader HOST:PORT, of those that join
  std::vector<std::string> command(std::size_t k, const std::string& leader) const;

  /// Of one that joins, as all do that are started again.
  std::vector<std::string> joining_command(std::size_t k, const std::string& leader) const;

private:
  std::vector<std::string> leader_words() const;
  std::vector<std::string> joining_words(std::size_t k, const std::string& leader) const;

  const program& program_;
  const launch_options& how_;
  std::vector<host> nodes_; // one for each slot
  std::vector<std::string> words_;
  std::size_t threads_; // of each
};

} // namespace gossamer::apps
