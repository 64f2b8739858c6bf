// The part of one host in gossamer measure: it answers the frames of others, and measures on order.
#include "gossamer/actors/data_plane/data_plane.hpp"
#include "gossamer/actors/data_plane/local_address.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/apps/detail/access.hpp"
#include "gossamer/apps/detail/measure.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <mutex>
#include <optional>

namespace gossamer::apps {

namespace {

using actors::endpoint, actors::frame, actors::rank;

constexpr auto question_kind = actors::frame_kind::request, answer_kind = actors::frame_kind::reply;
constexpr std::size_t small_bytes = 8, first_bytes = std::size_t{1} << 16, most_bytes = std::size_t{1} << 26;
constexpr std::size_t round_trips = 101, large_frames = 3;
constexpr double long_enough_s = 0.3; // for a frame beside which latencies, bursts and clocks are small
constexpr double latency_within_s = 2, longest_answer_s = 60;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A data plane that answers the questions of other hosts, and times the answers to its own.
class echo {
public:
  echo(std::uint64_t run, rank own, const node_options& node, const actors::credentials& shown, endpoint listen_on)
      : own_(own), shown_(shown),
        plane_({.run = run,
                .node = own,
                .most = actors::limits_for(most_bytes / sizeof(float)),
                .pool = pool_,
                .listen_on = std::move(listen_on),
                .shows = shown_,
                .share_memory = node.share_memory,
                .complain = [this](std::uint32_t, const std::string& why) { give_up(why); },
                .patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * node.patience_s))}) {}

  endpoint announced() const {
    auto where = plane_.listens_on();
    if (shown_.identity)
      where.host = shown_.identity->name_for(where.host);
    return where;
  }

  void meet(const std::vector<endpoint>& all) {
    std::map<std::uint32_t, actors::node_address> nodes;
    for (rank k = 0; k < all.size(); ++k)
      nodes[k] = {.where = all[k], .ranks = {k}};
    plane_.meet(std::move(nodes));
    for (rank k = 0; k < all.size(); ++k)
      links_.push_back(k == own_ ? nullptr : plane_.link_to(own_, {.who = k}));
    plane_.attach({.who = own_}, [this](const frame& f) { receive(f); });
  }

  bool reaches(rank to) const { return to < links_.size() && links_[to]; }

  /// Seconds for so many bytes to get there, and an empty answer back. Requires that it `reaches` the host.
  double round_trip(rank to, std::size_t bytes) {
    auto f = frame_of({question_kind, ++asked_}, bytes);
    std::future<void> back;
    {
      const std::scoped_lock lock{mutex_};
      back = awaited_.emplace().get_future();
    }
    const stopwatch watch;
    links_[to]->send(std::move(f));
    if (back.wait_for(std::chrono::duration<double>(longest_answer_s)) != std::future_status::ready)
      throw error(errc::failed, fmt::format("{} bytes are not answered within {} s", bytes, longest_answer_s), "");
    back.get();
    return watch.seconds();
  }

  frame frame_of(actors::tag label, std::size_t bytes) {
    return {.source = own_, .label = label, .body = compress::opaque(std::vector<std::byte>(bytes), pool_)};
  }

private:
  void receive(const frame& f) {
    if (f.label.kind == question_kind && reaches(f.source))
      links_[f.source]->send(frame_of({answer_kind, f.label.step}, 0));
    else if (f.label.kind == answer_kind)
      tell([](auto& waits) { waits.set_value(); });
  }

  void give_up(const std::string& why) {
    tell([&](auto& waits) { waits.set_exception(std::make_exception_ptr(error(errc::failed, why, ""))); });
  }

  template <class What>
  void tell(What what) {
    const std::scoped_lock lock{mutex_};
    if (awaited_)
      what(*awaited_);
    awaited_.reset();
  }

  rank own_;
  actors::credentials shown_;
  buffer_pool pool_;
  std::uint64_t asked_ = 0;
  std::mutex mutex_;
  std::optional<std::promise<void>> awaited_; // for one question at a time
  std::vector<std::unique_ptr<actors::link>> links_;
  actors::data_plane plane_; // the last member: its thread ends first
};

double latency_to(echo& here, rank to) {
  here.round_trip(to, small_bytes); // opens the connection
  std::vector<double> seconds;
  for (const stopwatch watch; seconds.size() < round_trips && (seconds.empty() || watch.seconds() < latency_within_s);)
    seconds.push_back(here.round_trip(to, small_bytes));
  return median(seconds) / 2;
}

/// Measures with frames so large that even the fastest of several takes long: a single frame may only have met a lost
/// packet.
double bits_per_second_to(echo& here, rank to, double latency_s) {
  std::vector<double> seconds;
  auto bytes = first_bytes;
  while (seconds.size() < large_frames) {
    seconds.push_back(seconds_of_bytes(here.round_trip(to, bytes), latency_s));
    if (seconds.back() < long_enough_s && bytes < most_bytes) {
      seconds.clear();
      bytes *= 2;
    }
  }
  return 8 * static_cast<double>(here.frame_of({question_kind}, bytes).wire_bytes()) / median(seconds);
}

/// Reads the next line of `gossamer measure`; `nullopt` at the end.
std::optional<std::vector<std::string>> next_order() {
  std::array<char, 1024> line{};
  if (std::fgets(line.data(), line.size(), stdin) == nullptr)
    return std::nullopt;
  std::string_view text{line.data()};
  return split(text.substr(0, text.find('\n')), ' ');
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Returns the address where a node listens for frames: the leader's is given, and others use the one that faces the
/// leader.
endpoint own_address(const node_options& node) {
  if (!node.listen.empty())
    return actors::parse_endpoint(node.listen);
  return {actors::local_address_towards(actors::parse_endpoint(node.join)), 0};
}

} // namespace

int probe(const program& p, const node_options& node, const run_options& job) {
  const auto shown = node.listen.empty() ? credentials_to_reach(node, node.join) : credentials_to_lead(node);
  const auto e = actors::prepare(job.run, p.known());
  std::optional<echo> here;
  std::vector<endpoint> all;
  while (const auto order = next_order()) {
    const auto& what = order->front();
    const auto& about = order->back();
    if (what == "run") {
      here.emplace(static_cast<std::uint64_t>(parse_integer("the run", about, 0, INT64_MAX)), node.number.value_or(0),
                   node, shown, own_address(node));
      say(fmt::format("{}{}", announcement, to_string(here->announced())));
    } else if (what == "host") {
      all.push_back(actors::parse_endpoint(about));
    } else if (what == "meet" && here) {
      here->meet(all);
      say("met");
    } else if (what == "sample") {
      say(fmt::format("sample {}", actors::measure_sample_time(*e)));
    } else if (const auto to = static_cast<rank>(parse_integer("a host", about, 0, UINT32_MAX));
               what == "link" && here && here->reaches(to)) {
      const auto latency_s = latency_to(*here, to);
      say(fmt::format("link {} {}", latency_s, bits_per_second_to(*here, to, latency_s)));
    } else {
      throw error(errc::usage, fmt::format("'{} {}' is no order", what, about), "gossamer measure gives them");
    }
  }
  return 0;
}

} // namespace gossamer::apps
