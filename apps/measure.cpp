// gossamer measure: has the hosts of a file measure the links between them, and the time that they compute.
#include "gossamer/apps/detail/measure.hpp"

#include "gossamer/apps/detail/child.hpp"
#include "gossamer/apps/detail/launch_plan.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/base/entropy.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/settings_text.hpp"
#include "gossamer/topology/hosts_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <span>

namespace gossamer::apps {

namespace {

std::vector<host> distinct_hosts(const std::string& given) {
  auto hosts = read_hosts(given);
  for (auto one = hosts.begin(); one != hosts.end(); ++one)
    if (std::find_if(hosts.begin(), one, [&](const host& h) { return h.name == one->name; }) != one)
      throw error(errc::usage, fmt::format("two hosts of {} are called {}", given, one->name),
                  "links name hosts, so each needs a name of its own; several processes of one are its slots");
  return hosts;
}

/// The probes on all hosts.
class probes {
public:
  probes(const program& p, const measure_options& how, const std::vector<host>& hosts, std::vector<std::string> words)
      : program_(p), how_(how), hosts_(hosts), words_(std::move(words)) {
    const auto run = fmt::format("run {}", secret_number() >> 1); // a number of 63 bits, as texts hold them
    const auto token = token_of(hosts_[0], how_.node);
    std::vector<std::string> places;
    for (std::size_t k = 0; k < hosts_.size(); ++k) {
      children_.push_back(start_node(command(k, places), token));
      places.push_back(ask(k, run, announcement));
    }
    for (std::size_t k = 0; k < hosts_.size(); ++k) {
      for (const auto& place : places)
        children_[k].write_line("host " + place);
      ask(k, "meet", "met");
    }
  }

  /// Gives host k an order, and returns its answer without the prefix `reply`.
  std::string ask(std::size_t k, const std::string& order, std::string_view reply) {
    auto& asked = children_[k];
    asked.write_line(order);
    const stopwatch waits;
    std::optional<std::string> result;
    while (!result && asked.outputs() != std::array{-1, -1}) {
      const auto [out, err] = asked.outputs();
      std::array<pollfd, 2> polled{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
      const double left_s = how_.wait_s - waits.seconds();
      if (left_s <= 0)
        throw no_answer(k, fmt::format("has not answered '{}' within {} s", word_of(order), how_.wait_s));
      poll(polled.data(), polled.size(), static_cast<int>(std::ceil(1000 * left_s)));
      asked.read_lines([&](bool error, const std::string& line) {
        if (!error && line.starts_with(reply))
          result = line.substr(reply.size());
      });
    }
    if (!result)
      throw no_answer(k, fmt::format("ended before it answered '{}'", word_of(order)));
    return *result;
  }

private:
  static std::string word_of(const std::string& order) { return order.substr(0, order.find(' ')); }

  error no_answer(std::size_t k, const std::string& what) const {
    const auto& said = children_[k].last_line();
    return {errc::failed, fmt::format("{} {}{}{}", hosts_[k].name, what, said.empty() ? "" : ": ", said),
            "its command was " + shell_line(command(k, {"HOST:PORT"}))};
  }

  /// @param places addresses of the hosts before it
  std::vector<std::string> command(std::size_t k, const std::vector<std::string>& places) const {
    std::vector<std::string> words{"node", "--probe", "--number", fmt::format("{}", k)};
    if (k == 0)
      words.insert(words.end(), {"--listen", actors::to_string({address_of(hosts_[0]), 0})});
    else
      words.insert(words.end(), {"--join", places.front()});
    add_common(words, hosts_[k], how_.node);
    words.emplace_back("--");
    words.insert(words.end(), words_.begin(), words_.end());
    return command_on(hosts_[k], program_.path(), words);
  }

  const program& program_;
  const measure_options& how_;
  const std::vector<host>& hosts_;
  std::vector<std::string> words_;
  std::vector<child> children_;
};

/// Returns a number that a probe has said, rounded to its significant digits.
double rounded(const std::string& said) {
  return std::stod(fmt::format("{:.4g}", parse_real("a probe", said, 0, 1e15)));
}

topology::measured_link link_between(probes& all, const std::vector<host>& hosts, std::size_t from, std::size_t to) {
  const auto said = split(all.ask(from, fmt::format("link {}", to), "link "), ' ');
  return {hosts[from].name, hosts[to].name, rounded(said.front()), rounded(said.back())};
}

/// Finds out before minutes of measuring.
void require_writable(const std::string& path) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  if (!std::ofstream{path, std::ios::app})
    throw error(errc::io, fmt::format("cannot write {}", path), "choose another file with --out");
  if (is_new)
    std::filesystem::remove(path, ignored);
}

} // namespace

void measure_cluster(const program& p, const measure_options& how, const std::vector<std::string>& job) {
  auto hosts = distinct_hosts(how.hosts);
  require_reachable(hosts, how.node);
  require_writable(how.out);
  probes all{p, how, hosts, job};
  auto text = fmt::format("# written by {} measure; a sample of: {}\n\n", p.name(), printable(shell_line(job)));
  fmt::print("{:20} {:>16}\n", "host", "us a sample");
  for (std::size_t k = 0; k < hosts.size(); ++k) {
    hosts[k].seconds_per_sample = rounded(all.ask(k, "sample", "sample "));
    fmt::print("{:20} {:16.4g}\n", hosts[k].name, 1e6 * *hosts[k].seconds_per_sample);
    text += to_text(hosts[k]) + '\n';
  }
  if (hosts.size() > 1)
    fmt::print("\n{:20} {:20} {:>12} {:>14}\n", "from", "to", "latency ms", "Mbit/s");
  for (std::size_t from = 0; from < hosts.size(); ++from)
    for (std::size_t to = 0; to < hosts.size(); ++to)
      if (from != to) {
        const auto link = link_between(all, hosts, from, to);
        fmt::print("{:20} {:20} {:12.4g} {:14.4g}\n", link.from, link.to, 1e3 * link.latency_s,
                   1e-6 * link.bits_per_second);
        std::fflush(stdout);
        text += "[[link]]\n" + to_text(topology::link_table(), link) + '\n';
      }
  replace_durably(how.out, std::as_bytes(std::span{text}), "choose another file with --out");
  fmt::print("\n{} has the same hosts, with this\n", how.out);
}

} // namespace gossamer::apps
