// The headings of the flags in help texts and manual pages.
#include "gossamer/apps/detail/flag_text.hpp"

namespace gossamer::apps {

namespace {

using headings = std::vector<flag_heading>;

const headings& of_runs() {
  static const headings all{
      {"Algorithm", {"algorithm", "workers", "min-workers", "max-workers", "topology", "mixing", "islands", "codec"}},
      {"Model and data", {"model", "initial", "data", "partition", "batch", "lr", "schedule", "optimiser"}},
      {"Length of the run", {"epochs", "steps", "seconds", "eval-every", "seed"}},
      {"Machine", {"device", "threads", "under-way", "workers-per-node"}},
      {"Network and computing time",
       {"network", "link", "bandwidth-factor", "sample-time", "cost", "jitter", "interleaving", "detection", "patience",
        "processes", "process-patience", "prepare"}},
      {"Faults", {"slow", "faults", "chaos", "horizon"}},
      {"Checks and many runs", {"check", "seeds", "explore", "jobs", "run-limit", "keep-going", "shrink", "twice"}},
      {"Settings and output", {"config", "resume", "checkpoint", "out", "overwrite", "json", "trace"}},
      {"Watching", {"live", "live-control", "ui", "report", "tensorboard", "events"}},
  };
  return all;
}

const flag_heading connections{"Connections", {"patience", "certs", "token-file", "no-token", "insecure"}};
const flag_heading data{"Data", {"data-dir", "data-from-peers", "data-cache", "data-rate"}};

const headings& of_nodes() {
  static const headings all{
      {"Place in the run", {"listen", "join", "rendezvous", "slurm", "nodes", "slots", "number", "wait"}},
      {"Machine", {"device", "threads", "no-shared-memory"}},
      data,
      connections,
      {"Watching", {"report"}},
      {"For programs", {"announce", "announce-live", "announce-trace", "until-input-ends", "heed-orders"}},
  };
  return all;
}

const headings& of_launches() {
  static const headings all{
      {"Nodes", {"hosts", "restart", "restart-delay", "no-shared-memory", "dry-run"}},
      {"Watching", {"live", "live-control", "ui", "report", "trace", "detach"}},
      data,
      connections,
  };
  return all;
}

} // namespace

const std::vector<flag_heading>& headings_of(const std::string& command) {
  static const headings none;
  if (command == "train" || command == "simulate")
    return of_runs();
  if (command == "node")
    return of_nodes();
  return command == "launch" ? of_launches() : none;
}

} // namespace gossamer::apps
