#include "gossamer/apps/detail/launch_plan.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

std::vector<host> slots_of(const std::vector<host>& hosts) {
  std::vector<host> result;
  for (const auto& one : hosts)
    result.insert(result.end(), one.slots, one);
  return result;
}

std::string address_of(const host& where) {
  return !where.address.empty() ? where.address : where.local() ? "127.0.0.1" : where.name;
}

} // namespace

launch_plan::launch_plan(const program& p, const launch_options& how, const run_options& job,
                         std::vector<std::string> words)
    : program_(p), how_(how), nodes_(slots_of(read_hosts(how.hosts))), words_(std::move(words)),
      threads_(job.run.threads) {
  if (job.workers_given)
    require_workers(nodes_.size(), job.run.workers);
  else
    words_.insert(words_.end(), {"--workers", fmt::format("{}", nodes_.size())});
  require_private("--hosts", fmt::format("{}:0", address_of(nodes_[0])),
                  how.node.insecure || !certs_of(nodes_[0]).empty());
  require_certificates();
  require_reachable_leader();
}

std::string launch_plan::leader_address() const { return address_of(nodes_[0]); }

std::vector<std::string> launch_plan::command(std::size_t k, const std::string& leader) const {
  const auto& where = nodes_[k];
  auto words = k == 0 ? leader_words() : joining_words(k, leader);
  words.emplace_back("--until-input-ends");
  if (const auto& certs = certs_of(where); !certs.empty())
    words.insert(words.end(), {"--certs", certs});
  if (how_.node.insecure)
    words.emplace_back("--insecure");
  if (!how_.node.share_memory)
    words.emplace_back("--no-shared-memory");
  words.insert(words.end(), {"--patience", fmt::format("{}", how_.node.patience_s)});
  if (const auto& data = where.data_dir.empty() ? how_.node.data_dir : where.data_dir; !data.empty())
    words.insert(words.end(), {"--data-dir", data});
  if (k == 0) {
    words.emplace_back("--");
    words.insert(words.end(), words_.begin(), words_.end());
  }
  return command_on(where, program_.path(), words);
}

std::vector<std::string> launch_plan::leader_words() const {
  return {"node",      "--listen", fmt::format("{}:0", leader_address()), "--nodes", fmt::format("{}", nodes_.size()),
          "--announce"};
}

std::vector<std::string> launch_plan::joining_words(std::size_t k, const std::string& leader) const {
  std::vector<std::string> words{"node", "--join", leader, "--number", fmt::format("{}", k)};
  if (threads_ > 0)
    words.insert(words.end(), {"--threads", fmt::format("{}", threads_)});
  if (!nodes_[k].device.empty())
    words.insert(words.end(), {"--device", nodes_[k].device});
  return words;
}

void launch_plan::require_certificates() const {
  const auto without = std::ranges::find_if(nodes_, [this](const host& h) { return certs_of(h).empty(); });
  const auto with = std::ranges::find_if(nodes_, [this](const host& h) { return !certs_of(h).empty(); });
  if (without != nodes_.end() && with != nodes_.end())
    throw error(errc::usage, fmt::format("{} has certificates, and {} has none", with->name, without->name),
                "in the hosts file, give every host a folder: certs = \"...\"; or all the same one: --certs DIR");
}

void launch_plan::require_reachable_leader() const {
  const bool others = !std::ranges::all_of(nodes_, &host::local);
  if (others && is_loopback(leader_address()))
    throw error(
        errc::usage, fmt::format("other machines cannot reach {}", leader_address()),
        "in the hosts file, give the first host an address = \"...\" that they reach, or a name that they know");
}

} // namespace gossamer::apps
