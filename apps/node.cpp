// gossamer node: one process of a run that several machines share.
#include "gossamer/apps/detail/node.hpp"

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/access.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/fetching.hpp"
#include "gossamer/apps/detail/live_recorder.hpp"
#include "gossamer/apps/detail/order_desk.hpp"
#include "gossamer/apps/detail/recorder.hpp"
#include "gossamer/apps/detail/remains.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/slurm.hpp"
#include "gossamer/apps/detail/told_trace.hpp"
#include "gossamer/apps/detail/training.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace gossamer::apps {

namespace {

void follow(const node_options& node) {
  if (node.until_input_ends)
    clean_stop::follow_input();
}

/// Prints the line to paste on another machine.
void invite(const program& p, const node_options& node, const actors::credentials& shown, live_output& output,
            const actors::endpoint& where) {
  const auto address = to_string(where);
  output.announce(announcement, address);
  if (!output.announces() && node.nodes > 1)
    output.say(fmt::format("waits for {} more node{}; start each of them with\n  {}", node.nodes - 1,
                           node.nodes == 2 ? "" : "s", joining_line(p, node, shown.token, address)));
}

void tell_all_are_here(live_output& output, live_recorder& recorder, const std::vector<actors::node_place>& places) {
  recorder.begin();
  for (std::size_t k = 0; k < places.size(); ++k)
    output.announce(node_is, fmt::format("{} {} {}", k, to_string(places[k].door), fmt::join(places[k].ranks, ",")));
  output.announce(all_have_come);
}

/// Announces the node's door. Every node of the run lets others in, or sends them on.
void tell_door(live_output& output, const actors::endpoint& door) {
  output.announce(door_is, to_string(door));
  if (!output.announces())
    output.say(fmt::format("this node takes part; others may join here, too, at {}", to_string(door)));
}

void tell_lead(live_output& output, const actors::endpoint& door) {
  output.announce(announcement, to_string(door));
  if (!output.announces())
    output.say(fmt::format("this node leads the run from now on, at {}", to_string(door)));
}

void tell_departure(live_output& output) {
  output.announce(has_left);
  output.say("this node has left, as it was asked to; the run goes on");
}

/// Returns a function that shows lines. It makes them printable, because a line may repeat words of another node.
auto teller(live_output& output) {
  return [say = output.to_say()](const std::string& line) { say(printable(line)); };
}

auto keeper_of_survivors(live_output& output) {
  return [&output](const actors::survival& left) {
    if (!output.has_results())
      return;
    const auto folder = keep_survivor(left);
    output.announce(survivor_is, folder.string());
    output.say(fmt::format("what this node had come to is in {}: --resume goes on from that, and its model.npz begins "
                           "another run with --initial",
                           folder.string()));
  };
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

/// Adds this host's name to an error about a file, because files differ between machines.
/// @param besides a further remedy of the problem
template <class Prepare>
auto on_this_host(const Prepare& prepare, std::string_view besides = {}) {
  try {
    return prepare();
  } catch (const error& e) {
    if (e.code() != errc::io)
      throw;
    const auto* both = e.remedy().empty() || besides.empty() ? "" : "; or ";
    throw error(e.code(), fmt::format("on {}: {}", host_name(), e.sentence()),
                fmt::format("{}{}{}", e.remedy(), both, besides));
  }
}

/// Opens the former leader's folder, if this machine sees it; else a new folder of its own.
std::shared_ptr<actors::run_folder> folder_after(const actors::succession& s, const live_output::voice& say) {
  try {
    return std::make_shared<actors::run_folder>(actors::run_folder::taken_over(s.folder));
  } catch (const error& e) {
    const auto own = actors::run_folder::make_next("runs", s.run->algorithm->about.name);
    say(fmt::format("{}; the rest of the run is written to {}", e.what(), own.string()));
    auto folder = std::make_shared<actors::run_folder>(own, false);
    folder->write("settings.toml", to_text(s.run->settings));
    return folder;
  }
}

/// Heeds orders on standard input, from the program that has started this one, while a run is under way.
class heeded_orders {
public:
  heeded_orders(order_desk desk, live_output& output) {
    clean_stop::on_line([desk = std::move(desk), &output](const std::string& line) {
      try {
        const auto order = nlohmann::json::parse(line, nullptr, false);
        if (order.is_string())
          desk.obey(order.get<std::string>());
      } catch (const error& e) {
        output.say(e.what());
        const actors::event_record refusal{NAN, actors::event_kind::note, fmt::format("refused: {}", e.what())};
        output.announce(live_is, fmt::format("{} {}", event_type(to_string(refusal.kind)), to_line(refusal)));
      }
    });
  }
  heeded_orders(const heeded_orders&) = delete;
  heeded_orders& operator=(const heeded_orders&) = delete;
  ~heeded_orders() { clean_stop::on_line({}); }
};

/// Shows and writes down a run that this node leads from now on, because the leader has died.
class successor final {
public:
  /// @param p, output must outlive this object
  /// @param wishes faults that the program which has started the nodes orders from a page; null: it has none
  successor(const program& p, live_output& output, const actors::succession& s,
            const std::shared_ptr<actors::fault_wishes>& wishes)
      : wishes_(wishes), recorder_(output, [&p, s, say = output.to_say()] {
          auto folder = folder_after(s, say);
          p.tell_folder(folder->path());
          return folder;
        }) {
    const bool heeds = wishes != nullptr;
    if (heeds)
      heeded_.emplace(order_desk{s.run, s.workers_per_node, wishes}, output);
    recorder_.introduce(s.run->settings, p.name() + " train", {.faults = heeds, .processes = heeds});
    tell_lead(output, s.where);
  }
  actors::run_observer* observer() { return &recorder_; }
  void finish(const actors::run_summary& summary) {
    folder_ = recorder_.finish(summary);
    if (wishes_)
      write_text(folder_ / "faults.toml", to_toml(wishes_->plan()), "");
    status_ = exit_status(summary);
    results_ =
        fmt::format("{}{} holds metrics.jsonl, summary.json and plot.svg\n", describe(summary), folder_.string());
  }
  /// Writes the page about the run, if it has ended here.
  void report(const live_output::voice& say) {
    if (!folder_.empty())
      for (const auto& page : report_into(folder_, say))
        results_ += fmt::format("{} is a page about it\n", (folder_ / page).string());
  }

  const std::string& results() const noexcept { return results_; } ///< for standard output
  int status() const noexcept { return status_; }

private:
  std::shared_ptr<actors::fault_wishes> wishes_;
  live_recorder recorder_;
  std::optional<heeded_orders> heeded_;
  std::filesystem::path folder_; // empty: the run has not ended here
  std::string results_;
  int status_ = 0;
};

std::optional<actors::fetching_settings> fetching_of(const node_options& node) {
  if (!node.data_from_peers)
    return std::nullopt;
  actors::fetching_settings s;
  s.cache = node.data_cache.empty() ? cache_folder() : std::filesystem::path{node.data_cache};
  if (!node.data_rate.empty())
    s.bytes_per_second = parse_byte_rate("--data-rate", node.data_rate);
  return s;
}

} // namespace

actors::node_settings settings_of(const program& p, const node_options& node, const std::string& where,
                                  actors::credentials shows) {
  actors::node_settings s;
  s.where = actors::parse_endpoint(where);
  s.slots = node.slots;
  s.threads = node.threads;
  s.share_memory = node.share_memory;
  s.patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * node.patience_s));
  s.tell = [&p](const std::string& line) { p.say(printable(line)); }; // the line may repeat words of another node
  s.interrupted = clean_stop::is_requested;
  s.shows = std::move(shows);
  return s;
}

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
    (node.number.value_or(0) == 0 ? node.listen : node.join) = node.rendezvous;
  return node;
}

std::chrono::seconds waiting_time(const node_options& node) {
  return std::chrono::seconds(static_cast<std::int64_t>(std::ceil(node.wait_s)));
}

int lead(const program& p, const node_options& node, run_options job) {
  require_workers(node.nodes, job.run.workers);
  require_private("--listen", node.listen, node.insecure || !node.certs.empty());
  const auto shown = credentials_to_lead(node); // before standard input is followed: the token may come from there
  follow(node);
  const auto elsewhere = std::make_shared<onlookers>();
  live_output output{p, {.announces = node.announce, .live = node.announce_live, .elsewhere = elsewhere}};
  actors::leader_settings s{settings_of(p, node, node.listen, shown), node.nodes, waiting_time(node)};
  s.read_lines = [elsewhere](actors::run_lines& into) { elsewhere->read(into); };
  s.tell = teller(output);
  s.survives = keeper_of_survivors(output);
  s.threads = node.threads > 0 ? node.threads : job.run.threads;
  s.device_of_others = job.run.device;
  if (!node.device.empty())
    job.run.device = node.device;
  kept_token kept;
  s.listens = [&](const auto& where) {
    kept = keep_for_visitors(p, shown.token, to_string(where));
    invite(p, node, shown, output, where);
  };
  s.stop = clean_stop::request;
  job.run.data_dir = node.data_dir;
  job.live.control = job.live.control || node.heeds_orders;
  job.report = node.report;
  job.parts_elsewhere = node.nodes > 1 && !is_loopback(s.where.host);
  const auto world = [&](const run_setup& run, const auto& around, live_recorder& recorder, const auto& folder) {
    s.begins = [&](const auto& places) { tell_all_are_here(output, recorder, places); };
    s.leads_again = [&](const auto& where) {
      recorder.take_back();
      tell_lead(output, where);
    };
    s.ends = [&](const auto& summary) { recorder.finish(summary); };
    s.folder = absolute(folder).string();
    if (p.has_results()) // a folder that nobody looks at goes when the run is over: nothing is to be kept there
      output.announce(folder_is, s.folder);
    recorder.introduce(run.experiment->settings, p.name() + " train",
                       {.faults = around.wishes != nullptr, .processes = node.heeds_orders});
    std::optional<heeded_orders> heeds;
    if (around.wishes)
      heeds.emplace(order_desk{run, around.wishes}, output);
    auto traced = around;
    if (node.announce_trace)
      traced.trace = told_trace(output);
    return actors::lead_cluster(run.experiment, s, traced);
  };
  try {
    return on_this_host([&] { return train_in(p, job, output, world); });
  } catch (const actors::node_has_gone&) {
    tell_departure(output);
    return 0;
  } catch (const error& e) {
    if (e.code() != errc::interrupted)
      throw;
    output.say(e.sentence());
    return 128 + clean_stop::requested();
  }
}

int join(const program& p, const node_options& node) {
  const auto doors = split(node.join, ',');
  for (const auto& door : doors)
    require_private("--join", door, node.insecure || !node.certs.empty());
  const auto fetching = fetching_of(node);
  const auto shown = credentials_to_reach(node, node.join);
  const clean_stop stop;
  clean_stop::outlive_readers();
  follow(node);
  const auto elsewhere = std::make_shared<onlookers>();
  live_output output{p, {.announces = node.announce, .live = node.announce_live, .elsewhere = elsewhere}};
  actors::joining_settings s{settings_of(p, node, doors.front(), shown)};
  s.read_lines = [elsewhere](actors::run_lines& into) { elsewhere->read(into); };
  if (node.heeds_orders)
    s.wishes = std::make_shared<actors::fault_wishes>();
  if (node.announce_trace)
    s.trace = told_trace(output);
  for (std::size_t k = 1; k < doors.size(); ++k)
    s.more_doors.push_back(actors::parse_endpoint(doors[k]));
  s.wanted = node.number;
  s.tell = teller(output);
  s.survives = keeper_of_survivors(output);
  kept_token kept;
  s.listens = [&](const auto& where) { kept = keep_for_visitors(p, shown.token, to_string(where)); };
  // Nodes that are all started alike may be there before the leader.
  s.wait = node.rendezvous.empty() ? s.patience : waiting_time(node);
  s.joined = [&](const auto& door) { tell_door(output, door); };
  std::shared_ptr<successor> leads; // used by one thread at a time
  s.leads = [&](const actors::succession& run) {
    leads.reset(); // of an earlier lead: its end would take the orders and the folder's lock from the next one
    leads = std::make_shared<successor>(p, output, run, s.wishes);
    return std::shared_ptr<actors::run_observer>{leads, leads->observer()};
  };
  s.ends = [&](const auto& summary) { leads->finish(summary); };
  s.stop = clean_stop::request;
  s.fetching = fetching;
  s.leaves = clean_stop::is_requested;
  s.ends_with_others = !node.rendezvous.empty(); // schedulers tell all nodes that they have started
  bool is_over = true;
  try {
    is_over = actors::join_cluster(s, [&](const std::string& settings, const compute::data_files& fetched) {
      auto own = actors::parse_run_settings(settings, "the leader's settings");
      if (!node.device.empty())
        own.device = node.device;
      own.data_dir = node.data_dir;
      own.files = fetched;
      return on_this_host([&] { return actors::prepare(std::move(own), p.known()); },
                          node.data_from_peers ? "" : "--data-from-peers fetches what is missing from other nodes");
    });
  } catch (const error& e) {
    const bool is_interrupted = e.code() == errc::interrupted;
    if (is_interrupted || (clean_stop::requested() && !leads)) {
      output.say(is_interrupted ? e.sentence() : e.what());
      return 128 + clean_stop::requested();
    }
    if (node.announce && dynamic_cast<const actors::not_let_in*>(&e) != nullptr)
      output.announce(is_not_let_in);
    throw;
  }
  is_over ? output.say("the run is over") : tell_departure(output);
  if (leads && node.report && has_reports() && p.has_results())
    leads->report(output.to_say());
  const auto missing = output.close();
  if (leads)
    fmt::print("{}{}{}", p.has_results() ? leads->results() : "", missing, missing.empty() ? "" : "\n");
  return leads ? leads->status() : 0;
}

} // namespace gossamer::apps
