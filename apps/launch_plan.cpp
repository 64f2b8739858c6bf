#include "gossamer/apps/detail/launch_plan.hpp"

#include "gossamer/apps/detail/access.hpp"
#include "gossamer/apps/detail/progress.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/topology/islands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

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

/// The workers of each host, as `--islands` names them: nodes take blocks of ranks in their order.
std::string islands_of(const std::vector<host>& nodes, std::size_t workers) {
  const auto of_nodes = topology::even_sizes(workers, nodes.size());
  std::vector<std::size_t> hosts;
  for (std::size_t k = 0, host = 0; k < nodes.size(); ++k) {
    if (k > 0 && nodes[k].name != nodes[k - 1].name)
      ++host;
    hosts.insert(hosts.end(), of_nodes[k], host);
  }
  return topology::islands_text(hosts);
}

/// Sets a flag to another value than the words have for it.
void replace_flag(std::vector<std::string>& words, const std::string& flag, const std::string& value) {
  std::erase_if(words, [&](const std::string& w) { return w.starts_with(flag + "="); });
  if (const auto at = std::ranges::find(words, flag); at != words.end())
    words.erase(at, std::min(at + 2, words.end()));
  words.insert(words.end(), {flag, value});
}

void add_device(std::vector<std::string>& words, const host& where) {
  if (!where.device.empty())
    words.insert(words.end(), {"--device", where.device});
}

/// @error errc::usage for a job that asks for what the launcher does
void require_launchable(const feed_options& job) {
  if (job.trace)
    throw error(errc::usage, "--trace is given behind --", "launch has it, in front of --: --trace FILE");
  if (job.on_standard_output())
    throw error(errc::usage, "lines for standard output are asked for behind --, where nodes talk to the launcher",
                "--ui json in front of -- prints them; or, for --events, name a file, on the machine of the node that "
                "leads");
}

} // namespace

void require_reachable(const std::vector<host>& hosts, const node_options& node) {
  const auto leader = address_of(hosts[0]);
  require_private("--hosts", actors::to_string({leader, 0}), node.insecure || !certs_of(hosts[0], node).empty());
  require_certificates(hosts, node);
  if (is_loopback(leader) && !std::ranges::all_of(hosts, [](const host& h) { return is_loopback(address_of(h)); }))
    throw error(
        errc::usage, fmt::format("other machines cannot reach {}", leader),
        "in the hosts file, give the first host an address = \"...\" that they reach, or a name that they know");
}

void add_common(std::vector<std::string>& words, const host& where, const node_options& node) {
  if (const auto& certs = certs_of(where, node); !certs.empty())
    words.insert(words.end(), {"--certs", certs});
  else if (node.no_token)
    words.emplace_back("--no-token");
  else
    words.insert(words.end(), {"--token-file", "-"});
  if (node.insecure)
    words.emplace_back("--insecure");
  if (!node.share_memory)
    words.emplace_back("--no-shared-memory");
  words.insert(words.end(), {"--patience", fmt::format("{}", node.patience_s)});
  if (const auto& data = where.data_dir.empty() ? node.data_dir : where.data_dir; !data.empty())
    words.insert(words.end(), {"--data-dir", data});
}

std::optional<actors::access_token> token_of(const host& leader, const node_options& node) {
  return certs_of(leader, node).empty() ? token_to_lead(node) : std::nullopt;
}

child start_node(const std::vector<std::string>& command, const std::optional<actors::access_token>& token) {
  child result{command};
  if (token)
    result.write_line(token->text());
  return result;
}

launch_plan::launch_plan(const program& p, const launch_options& how, const launched_job& job)
    : program_(p), how_(how), nodes_(slots_of(read_hosts(how.hosts))), job_(job) {
  if (job.options.workers_given)
    require_workers(nodes_.size(), job.options.run.workers);
  else
    job_.words.insert(job_.words.end(), {"--workers", fmt::format("{}", nodes_.size())});
  if (job.options.run.islands == "hosts")
    replace_flag(job_.words, "--islands",
                 islands_of(nodes_, job.options.workers_given ? job.options.run.workers : nodes_.size()));
  require_reachable(nodes_, how.node);
  require_launchable(job.options.feeds);
}

std::vector<std::string> launch_plan::names() const {
  std::vector<std::string> result;
  for (const auto& one : nodes_)
    result.push_back(one.name);
  return result;
}

std::string launch_plan::leader_address() const { return address_of(nodes_[0]); }

std::vector<std::string> launch_plan::command(std::size_t k, const std::string& leader) const {
  if (k > 0)
    return joining_command(k, leader);
  auto words = leader_words();
  words.emplace_back("--until-input-ends");
  if (how_.live.control)
    words.emplace_back("--heed-orders");
  add_common(words, nodes_[0], how_.node);
  words.emplace_back("--");
  words.insert(words.end(), job_.words.begin(), job_.words.end());
  return command_of(0, words);
}

std::vector<std::string> launch_plan::joining_command(std::size_t k, const std::string& leader) const {
  auto words = joining_words(k, leader);
  words.emplace_back("--until-input-ends");
  if (how_.live.control)
    words.emplace_back("--heed-orders");
  add_common(words, nodes_[k], how_.node);
  return command_of(k, words);
}

std::vector<std::string> launch_plan::command_of(std::size_t k, const std::vector<std::string>& words) const {
  if (job_.program.empty())
    return command_on(nodes_[k], program_.path(), words);
  // Python writes lines when they are whole only where it is told to.
  std::vector<std::string> command{"env", "PYTHONUNBUFFERED=1", "GOSSAMER_NODE=" + shell_line(words)};
  command.insert(command.end(), job_.program.begin(), job_.program.end());
  return program_on(nodes_[k], command);
}

/// Adds what any node needs that leads, or may lead later.
void launch_plan::add_telling(std::vector<std::string>& words) const {
  const auto workers = job_.options.workers_given ? job_.options.run.workers : nodes_.size();
  const bool shows_workers = progress::shows_each_of(workers, how_.shown == ui::live);
  if (!how_.live.where.empty() || how_.shown == ui::json || shows_workers)
    words.emplace_back("--announce-live");
  if (!how_.trace.empty())
    words.emplace_back("--announce-trace");
  if (!how_.report)
    words.insert(words.end(), {"--report", "no"});
}

std::vector<std::string> launch_plan::leader_words() const {
  std::vector<std::string> words{
      "node",      "--listen", actors::to_string({leader_address(), 0}), "--nodes", fmt::format("{}", nodes_.size()),
      "--announce"};
  add_telling(words);
  add_device(words, nodes_[0]);
  return words;
}

std::vector<std::string> launch_plan::joining_words(std::size_t k, const std::string& leader) const {
  std::vector<std::string> words{"node", "--join", leader, "--number", fmt::format("{}", k), "--announce"};
  add_telling(words);
  if (const auto threads = job_.options.run.threads; threads > 0)
    words.insert(words.end(), {"--threads", fmt::format("{}", threads)});
  add_device(words, nodes_[k]);
  const auto& node = how_.node;
  if (node.data_from_peers)
    words.emplace_back("--data-from-peers");
  if (!node.data_cache.empty())
    words.insert(words.end(), {"--data-cache", node.data_cache});
  if (!node.data_rate.empty())
    words.insert(words.end(), {"--data-rate", node.data_rate});
  return words;
}

} // namespace gossamer::apps
