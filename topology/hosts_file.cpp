#include "gossamer/topology/hosts_file.hpp"

#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"
#include "gossamer/topology/islands.hpp"
#include "gossamer/topology/launch_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::topology {

namespace {

/// Makes a setting whose name in messages has no dashes, as a file's key.
template <class Settings, class T>
setting<Settings> quantity_in_file(quantity what, setting_key key, T Settings::*at, interval<double> allowed) {
  auto result = quantity_setting(what, std::move(key), at, allowed);
  result.set = [what, name = result.name, at, allowed](Settings& s, const std::string& given) {
    s.*at = parse_quantity(what, name, given, allowed.min, allowed.max);
  };
  return result;
}

constexpr std::uint64_t longest_hosts_file = std::uint64_t{1} << 28;
constexpr double longest_s = 1e6;

const settings_table<measured_host>& measured_host_table() {
  static const settings_table<measured_host> table{
      text_setting({"host", "NAME", "what links call it"}, &measured_host::name),
      number_setting({"slots", "N", "processes there"}, &measured_host::slots, {1, 65'536}),
      quantity_in_file(quantity::time, {"seconds_per_sample", "S", "of a minibatch"},
                       &measured_host::seconds_per_sample, {0, longest_s}),
  };
  return table;
}

/// Returns the keys that a host may have, whoever heeds them.
std::vector<setting_key> keys_of_hosts() {
  auto keys = keys_of(measured_host_table());
  keys.insert(keys.end(), launch_keys().begin(), launch_keys().end());
  return keys;
}

/// Passes over what is not in the table.
template <class Settings>
Settings made_of(const given_table& given, const settings_table<Settings>& table) {
  Settings result;
  for (const auto& one : given.settings)
    if (std::ranges::find(table, one.name, &setting_key::name) != table.end())
      apply(one, table, result);
  return result;
}

/// Combines the tables of one file.
class hosts_reader {
public:
  explicit hosts_reader(std::string path) : path_(std::move(path)) {}

  hosts_file read() {
    const auto text = read_text(path_, {"hosts file", longest_hosts_file, "it has a few lines for each host and link"});
    const auto tables = parse_tables(text, path_, {{"host", keys_of_hosts()}, {"link", keys_of(link_table())}});
    for (const auto& one : tables[0])
      add_host(one);
    for (const auto& one : tables[1])
      add_link(one);
    require_all();
    return std::move(result_);
  }

private:
  void add_host(const given_table& given) {
    auto one = made_of(given, measured_host_table());
    if (one.name.empty())
      one.name = "localhost";
    if (std::ranges::find(names_, one.name) != names_.end())
      throw error(errc::usage, fmt::format("{}: there is a second host '{}'", given.where, one.name),
                  "links name hosts, so each needs a name of its own");
    names_.push_back(one.name);
    result_.hosts.push_back(std::move(one));
  }

  void add_link(const given_table& given) {
    for (const auto& key : link_table())
      if (std::ranges::find(given.settings, key.name, &given_setting::name) == given.settings.end())
        throw error(errc::usage, fmt::format("{}: the link has no {}", given.where, key.name),
                    fmt::format("add {} = {}: {}", key.name, key.value, key.help));
    const auto one = made_of(given, link_table());
    const auto from = number_of(one.from, given.where, "from"), to = number_of(one.to, given.where, "to");
    if (from == to)
      throw error(errc::usage, fmt::format("{}: '{}' is linked to itself", given.where, one.from),
                  "leave the link out; that takes no time");
    if (!result_.links.emplace(link_number(from, to), link_quality{one.latency_s, one.bits_per_second}).second)
      throw error(errc::usage, fmt::format("{}: a second link leads from '{}' to '{}'", given.where, one.from, one.to),
                  "leave one of them out");
  }

  rank number_of(const std::string& name, const std::string& where, std::string_view key) const {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end())
      return static_cast<rank>(found - names_.begin());
    const auto problem = unknown_name("host", name, names_);
    throw error(errc::usage, fmt::format("{}: {}: {}", where, key, problem.sentence()), problem.remedy());
  }

  void require_all() const {
    if (names_.empty())
      throw error(errc::usage, fmt::format("{} names no hosts", path_), "it has a table [[host]] for each of them");
    for (rank from = 0; from < names_.size(); ++from)
      for (rank to = 0; to < names_.size(); ++to)
        if (from != to && !result_.links.contains(link_number(from, to)))
          throw error(errc::usage,
                      fmt::format("{}: no [[link]] leads from '{}' to '{}'", path_, names_[from], names_[to]),
                      "gossamer measure writes one for each two hosts, in both directions");
  }

  std::string path_;
  std::vector<std::string> names_;
  hosts_file result_;
};

} // namespace

std::size_t hosts_file::slots() const {
  return std::accumulate(hosts.begin(), hosts.end(), std::size_t{0},
                         [](std::size_t sum, const measured_host& h) { return sum + h.slots; });
}

std::vector<rank> hosts_file::homes(std::size_t workers, std::size_t masters) const {
  std::vector<rank> processes;
  for (rank host = 0; host < hosts.size(); ++host)
    processes.insert(processes.end(), hosts[host].slots, host);
  std::vector<rank> result;
  const islands blocks{even_sizes(workers, processes.size())};
  for (rank i = 0; i < workers; ++i)
    result.push_back(processes[blocks.of(i)]);
  for (std::size_t k = 0; k < masters; ++k)
    result.push_back(processes[k % processes.size()]);
  return result;
}

const settings_table<measured_link>& link_table() {
  static const settings_table<measured_link> table{
      text_setting({"from", "NAME", "the host that sends"}, &measured_link::from),
      text_setting({"to", "NAME", "the host that receives"}, &measured_link::to),
      quantity_in_file(quantity::time, {"latency", "S", "seconds one way"}, &measured_link::latency_s, {0, longest_s}),
      quantity_in_file(quantity::rate, {"bandwidth", "BITS", "bits per second"}, &measured_link::bits_per_second,
                       {1, std::numeric_limits<double>::infinity()}),
  };
  return table;
}

const std::vector<setting_key>& launch_keys() {
  static const std::vector<setting_key> keys{
      {"address", "ADDRESS", "where the others reach it"},
      {"user", "NAME", "of ssh"},
      {.name = "port", .value = "N", .help = "of ssh", .excludes = "through"},
      {.name = "through",
       .value = "WORD",
       .help = "instead of ssh: words that take a command line as their last",
       .joined_by = "\n",
       .excludes = "user"},
      {"binary", "FILE", "the program there"},
      {"directory", "DIR", "to work in"},
      {"data_dir", "DIR", "where relative paths of the data begin"},
      {"device", "DEVICE", "of its workers"},
      {"certs", "DIR", "its certificates there"},
      {.name = "environment", .value = "NAME=VALUE", .help = "variables for the program", .joined_by = "\n"},
  };
  return keys;
}

hosts_file read_hosts_file(const std::string& file) { return hosts_reader{file}.read(); }

} // namespace gossamer::topology
