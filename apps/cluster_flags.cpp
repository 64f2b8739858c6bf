#include "gossamer/apps/detail/cluster_flags.hpp"

#include "gossamer/actors/run/allowed.hpp"
#include "gossamer/apps/detail/command_flags.hpp"
#include "gossamer/apps/detail/fetching.hpp"
#include "gossamer/apps/detail/flag_text.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/time_flag.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <map>

namespace gossamer::apps {

namespace {

/// Adds the flag of what a terminal shows.
void add_ui(CLI::App& command, ui& shown) {
  const auto set = [&shown](const std::string& given) {
    const std::map<std::string, ui> forms{{"live", ui::live}, {"plain", ui::plain}, {"json", ui::json}};
    const auto found = forms.find(given);
    if (found == forms.end())
      throw error(errc::usage, fmt::format("--ui is '{}'", given), "allowed: live, plain or json");
    shown = found->second;
  };
  command
      .add_option_function<std::string>("--ui", set,
                                        "live: lines that are renewed, where standard error is a terminal (default); "
                                        "plain: none are; json: what happens, as lines of JSON on standard output")
      ->type_name("live|plain|json");
}

/// Adds the flags of nodes that connect to other nodes.
void add_connection_flags(CLI::App& command, node_options& n) {
  add_time(command, "--patience", n.patience_s, "seconds until a node that cannot be reached is given up", {0.1, 1e6});
  command
      .add_option("--certs", n.certs,
                  "encrypt, and let in only who shows a certificate of the same authority: a folder of gossamer certs")
      ->type_name("DIR");
  auto* token_file = command.add_option("--token-file", n.token_file,
                                        "a file of mode 0600 that holds the run's token; -: the first line of standard "
                                        "input (default: $GOSSAMER_TOKEN, or what is kept for this user)");
  token_file->type_name("FILE")->excludes("--certs");
  command.add_flag("--no-token", n.no_token, "without --certs: do without a token, and let in whoever comes")
      ->excludes(token_file)
      ->excludes("--certs");
  command.add_flag("--insecure", n.insecure,
                   "use addresses that other machines reach, although nothing is encrypted without --certs");
}

void add_node_place(CLI::App& command, node_options& n) {
  command.add_option("--data-dir", n.data_dir, "where relative paths of files of data and model begin on this machine")
      ->type_name("DIR");
  command.add_flag("!--no-shared-memory", n.share_memory,
                   "use sockets also between nodes of one machine, as between machines");
}

/// Adds the flags of nodes that join.
void add_fetching(CLI::App& command, node_options& n) {
  auto* from_peers = command.add_flag("--data-from-peers", n.data_from_peers,
                                      "of one that joins: fetch the data, and the model of --initial, from other "
                                      "nodes of the run where they are not here");
  command
      .add_option("--data-cache", n.data_cache,
                  "where fetched data is kept (default: gossamer in $XDG_CACHE_HOME or ~/.cache)")
      ->type_name("DIR")
      ->needs(from_peers);
  const auto set_rate = [&n](const std::string& given) {
    parse_byte_rate("--data-rate", given); // now: a launch would start nodes that refuse it
    n.data_rate = given;
  };
  command.add_option_function<std::string>("--data-rate", set_rate, "fetch it no faster than this, e.g. 8MB/s")
      ->type_name("RATE")
      ->needs(from_peers);
}

} // namespace

void add_node_flags(CLI::App& command, node_options& n) {
  command.add_option("--listen", n.listen, "lead a run: other nodes join here; port 0: any")->type_name("HOST:PORT");
  command.add_option("--join", n.join, "take part in the run that one of these nodes is of; they are asked in turn")
      ->type_name("HOST:PORT,...");
  command
      .add_option("--rendezvous", n.rendezvous,
                  "one of --nodes that are started alike: --number 0 leads there, the others join it")
      ->type_name("HOST:PORT");
  command.add_flag("--slurm", n.slurm, "the same, with what srun says in the environment");
  command.add_option("--nodes", n.nodes, "of one that leads: how many there are, with itself")
      ->type_name("N")
      ->capture_default_str()
      ->check(within(1, 65'536));
  command.add_option("--slots", n.slots, "its share of the workers, in proportion to that of others")
      ->type_name("N")
      ->capture_default_str()
      ->check(within(1, 1'000'000));
  command.add_option("--number", n.number, "which node it is; of one that joins: that place or none")
      ->type_name("K")
      ->check(within(0, 65'535));
  add_time(command, "--wait", n.wait_s, "seconds until all must have come", {1, 1e6});
  command
      .add_option("--device", n.device, "where the gradients of its workers are computed (default: as the job says)")
      ->type_name("DEVICE");
  command.add_option("--threads", n.threads, "threads for messages; 0: of one that leads, as the job says")
      ->type_name("N")
      ->check(within(actors::allowed::threads.min, actors::allowed::threads.max));
  add_node_place(command, n);
  add_fetching(command, n);
  command.add_flag("--probe", n.probe, "obey gossamer measure, and train nothing")->group("");
  command.add_flag("--announce", n.announce,
                   "say on standard output what happens, for programs, in lines that begin with the byte 30");
  command.add_flag("--announce-live", n.announce_live, "say also what a live page shows")->needs("--announce");
  command.add_flag("--announce-trace", n.announce_trace, "say also what workers do, moment by moment")
      ->needs("--announce");
  command.add_flag("--until-input-ends", n.until_input_ends,
                   "take the end of standard input for an interrupt, for programs");
  command.add_flag("--heed-orders", n.heeds_orders, "inject the faults that come on standard input, for programs")
      ->needs("--until-input-ends");
  add_report_flag(command, n.report);
  add_connection_flags(command, n);
  command.footer("What one that leads is to train follows behind --, e.g. -- train --workers 8");
}

void add_live_flags(CLI::App& command, live_options& l) {
  command.add_option("--live", l.where, "serve a page that shows the run, at this port of this machine; 0: any")
      ->type_name("[HOST:]PORT");
  command.add_flag("--live-control", l.control, "the page has buttons that inject faults")->needs("--live");
}

void add_report_flag(CLI::App& command, bool& wanted) {
  const auto set = [&wanted](const std::string& given) {
    wanted = given == "yes";
    if (!wanted && given != "no")
      throw error(errc::usage, fmt::format("--report is '{}'", given), "allowed: yes or no");
    if (wanted)
      require_reports(); // now, and not after hours
  };
  command
      .add_option_function<std::string>("--report", set, "write report.html, a page about the run, when it has ended")
      ->type_name("yes|no")
      ->default_str("yes");
}

void add_feed_flags(CLI::App& command, feed_options& f, bool real_time) {
  command.add_option("--tensorboard", f.tensorboard, "write the run for TensorBoard, in a folder of its own in DIR")
      ->type_name("DIR");
  command.add_option("--events", f.events, "write what happens as lines of JSON, at once; -: to standard output")
      ->type_name("FILE");
  if (real_time)
    command.add_flag("--trace", f.trace, "write trace.json, a picture of the run for ui.perfetto.dev");
  add_ui(command, f.shown);
}

void add_launch_flags(CLI::App& command, launch_options& l) {
  command.add_option("--hosts", l.hosts, "NAME:SLOTS,... or a file; a slot is a node process")
      ->type_name("HOSTS")
      ->capture_default_str();
  add_live_flags(command, l.live);
  add_report_flag(command, l.report);
  add_ui(command, l.shown);
  command.add_option("--trace", l.trace, "write a picture of all nodes for ui.perfetto.dev")->type_name("FILE");
  command.add_flag("--dry-run", l.dry_run, "print the commands that would start the nodes");
  command.add_flag("--detach", l.detach,
                   "when the run is under way, leave it behind and give the terminal back; gossamer status, logs, stop "
                   "and attach come back to it");
  command.add_option("--restart", l.restarts, "start nodes that end again, so often all together")
      ->type_name("N")
      ->capture_default_str()
      ->check(within(0, 1'000'000));
  add_time(command, "--restart-delay", l.restart_delay_s, "seconds from the end of a node to its next start", {0, 1e6});
  add_node_place(command, l.node);
  add_fetching(command, l.node);
  add_connection_flags(command, l.node);
  command.footer("What the nodes are to train follows behind --, e.g. -- train --algorithm d-psgd; or a program that "
                 "brings model and settings itself, e.g. -- python train.py");
}

void add_measure_flags(CLI::App& command, measure_options& m) {
  command.add_option("--hosts", m.hosts, "NAME,NAME,... or a file of hosts")->type_name("HOSTS")->required();
  command.add_option("--out", m.out, "the file of hosts to write, with what was measured")
      ->type_name("FILE")
      ->capture_default_str();
  add_time(command, "--wait", m.wait_s, "seconds until a host must have answered: started, and each time it measures",
           {0.1, 1e6});
  add_connection_flags(command, m.node);
  add_node_place(command, m.node);
  command.footer("Whose model and data to compute with follows behind --, e.g. -- train --model mlp:hidden=50");
}

void add_visit_flags(CLI::App& command, visit_options& v, bool elsewhere) {
  command
      .add_option("run", v.run,
                  elsewhere ? "folder of a run that was launched here, or HOST:PORT where one is led (default: the "
                              "last that was detached)"
                            : "folder of a run that was launched here (default: the last that was detached)")
      ->type_name(elsewhere ? "RUN|HOST:PORT" : "RUN");
  if (elsewhere)
    add_connection_flags(command, v.node);
}

void add_own_visit_flags(CLI::App& leave, CLI::App& logs, CLI::App& attach, visit_options& v) {
  leave.add_option("--node", v.number, "number of the node that shall leave (default, with HOST:PORT: the one there)")
      ->type_name("N");
  logs.add_flag("--follow", v.follow, "go on with what comes until the run ends");
  attach.footer("Ctrl-C leaves the run alone and ends this command only; gossamer stop ends the run.");
}

void add_watch_flags(CLI::App& command, watch_options& o) {
  command
      .add_option(
          "run", o.run.run,
          "run folder, also of a run that goes on; or HOST:PORT of any node of a run, which loses nothing by it")
      ->required()
      ->type_name("RUN|HOST:PORT");
  command.add_option("--live", o.live.where, "where the page is served; 0: any port of this machine")
      ->capture_default_str()
      ->type_name("[HOST:]PORT");
  add_connection_flags(command, o.run.node);
}

} // namespace gossamer::apps
