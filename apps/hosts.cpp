#include "gossamer/apps/detail/hosts.hpp"

#include "gossamer/actors/data_plane/local_address.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"
#include "gossamer/base/spec.hpp"
#include "gossamer/topology/launch_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gossamer::apps {

namespace {

constexpr std::size_t most_slots = 65'536;

/// Returns a key that simulations pass over.
const setting_key& key(std::string_view name) {
  const auto& all = topology::launch_keys();
  const auto found = std::ranges::find(all, name, &setting_key::name);
  GOSSAMER_ASSERT(found != all.end(), "all keys of hosts are listed");
  return *found;
}

const settings_table<host>& host_table() {
  static const settings_table<host> table{
      text_setting({"host", "NAME", "as ssh calls it; localhost: this machine, without ssh"}, &host::name),
      number_setting({"slots", "N", "node processes there"}, &host::slots, interval<std::size_t>{1, most_slots}),
      text_setting(key("address"), &host::address),
      text_setting(key("user"), &host::user),
      number_setting(key("port"), &host::port, interval<std::uint64_t>{1, 65535}),
      text_setting(key("through"), &host::through), // a list is kept as a text with a line for each word
      text_setting(key("binary"), &host::binary),
      text_setting(key("directory"), &host::directory),
      text_setting(key("data_dir"), &host::data_dir),
      text_setting(key("device"), &host::device),
      text_setting(key("certs"), &host::certs),
      text_setting(key("environment"), &host::environment),
      quantity_setting(quantity::time, {"seconds_per_sample", "S", "of a minibatch, as gossamer measure has found"},
                       &host::seconds_per_sample, {0, 1e6}),
  };
  return table;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> result;
  for (std::string_view line; take_line(text, line);)
    if (!line.empty())
      result.emplace_back(line);
  return result;
}

/// Refuses what `env` would take for a command, or for a flag.
void require_variables(const given_setting& environment) {
  for (const auto& one : lines_of(environment.value)) {
    const auto name = one.substr(0, one.find('='));
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (name == one || name.empty() || !std::ranges::all_of(name, is_of_name))
      throw error(errc::usage, fmt::format("{}: environment has '{}', which sets no variable", environment.where, one),
                  "write NAME=VALUE, in one line; a name has letters, digits and _");
  }
}

/// "NAME:SLOTS"
host parse_host(const std::string& given) {
  host result;
  const auto colon = given.find(':');
  result.name = given.substr(0, colon);
  if (result.name.empty())
    throw error(errc::usage, fmt::format("--hosts has '{}', which names no host", given),
                "it is NAME:SLOTS,NAME:SLOTS,... or a file that ends in .toml");
  if (colon != std::string::npos)
    result.slots = static_cast<std::size_t>(
        parse_integer("--hosts (slots)", given.substr(colon + 1), 1, static_cast<std::int64_t>(most_slots)));
  return result;
}

std::vector<host> parse_list(std::string_view given) {
  std::vector<host> result;
  while (true) {
    const auto comma = given.find(',');
    result.push_back(parse_host(std::string{given.substr(0, comma)}));
    if (comma == std::string_view::npos)
      return result;
    given.remove_prefix(comma + 1);
  }
}

std::vector<host> read_file_of_hosts(const std::string& file) {
  std::vector<host> result;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;
  const auto text = read_text(file, {"hosts file", most_bytes, "it has a few lines for each host"});
  // Links matter to simulations only, which read them by themselves.
  const auto tables =
      parse_tables(text, file, {{"host", keys_of(host_table())}, {.name = "link", .known = {}, .open = true}});
  for (const auto& table : tables.front())
    for (auto& one = result.emplace_back(); const auto& given : table.settings) {
      if (given.name == "environment")
        require_variables(given);
      apply(given, host_table(), one);
    }
  if (result.empty())
    throw error(errc::usage, fmt::format("{} names no hosts", file), "it has a table [[host]] for each of them");
  return result;
}

/// Returns the words before a line for the shell there.
std::vector<std::string> way_to(const host& where) {
  if (!where.through.empty())
    return lines_of(where.through);
  if (where.local())
    return {"sh", "-c"};
  std::vector<std::string> ssh{"ssh", "-o", "BatchMode=yes"};
  if (where.port)
    ssh.insert(ssh.end(), {"-p", fmt::format("{}", *where.port)});
  ssh.push_back(where.user.empty() ? where.name : fmt::format("{}@{}", where.user, where.name));
  return ssh;
}

} // namespace

std::vector<host> read_hosts(const std::string& given) {
  return given.ends_with(".toml") ? read_file_of_hosts(given) : parse_list(given);
}

std::string to_text(const host& h) { return "[[host]]\n" + gossamer::to_text(host_table(), h); }

std::string address_of(const host& where) {
  return !where.address.empty() ? where.address : where.local() ? actors::loopback_address() : where.name;
}

std::vector<std::string> command_on(const host& where, const std::string& binary,
                                    const std::vector<std::string>& arguments) {
  std::vector words{!where.binary.empty() ? where.binary : where.local() ? binary : "gossamer"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return program_on(where, words);
}

std::vector<std::string> program_on(const host& where, const std::vector<std::string>& words) {
  std::vector<std::string> command{"env"};
  for (const auto& one : lines_of(where.environment))
    command.push_back(one);
  if (command.size() == 1)
    command.clear();
  command.insert(command.end(), words.begin(), words.end());
  if (where.local() && where.directory.empty())
    return command;
  const auto line =
      (where.directory.empty() ? "" : "cd " + shell_word(where.directory) + " && ") + "exec " + shell_line(command);
  auto result = way_to(where);
  result.push_back(line);
  return result;
}

} // namespace gossamer::apps
