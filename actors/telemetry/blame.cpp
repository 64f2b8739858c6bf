#include "gossamer/actors/telemetry/blame.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace gossamer::actors {

namespace {

using json = nlohmann::ordered_json;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

} // namespace

struct blame_table::worker_row {
  std::uint32_t rank = 0;
  std::int64_t computed = 0, own_gradient = 0, peers = 0;
  std::optional<std::uint32_t> worst_peer{};
  std::int64_t worst = 0;
  std::int64_t blamed = 0; ///< time in which others waited for this worker
};

struct blame_table::wait_row {
  std::uint32_t waiter, culprit;
  std::int64_t ns;
};

std::vector<blame_table::worker_row> blame_table::workers() const {
  std::vector<worker_row> rows(computed_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].rank = i;
    rows[i].computed = computed_[i];
  }
  for (const auto& [pair, ns] : waited_) {
    auto& waiter = rows[pair.first];
    if (pair.first == pair.second) {
      waiter.own_gradient = ns;
      continue;
    }
    waiter.peers += ns;
    rows[pair.second].blamed += ns;
    if (ns > waiter.worst) {
      waiter.worst = ns;
      waiter.worst_peer = pair.second;
    }
  }
  return rows;
}

std::vector<blame_table::wait_row> blame_table::waits() const {
  std::vector<wait_row> rows;
  for (const auto& [pair, ns] : waited_)
    if (pair.first != pair.second && ns > 0)
      rows.push_back({pair.first, pair.second, ns});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return rows;
}

std::string blame_table::to_text(std::size_t top) const {
  const auto share = [this](std::int64_t ns) {
    return total_ns_ > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(total_ns_) : 0;
  };
  auto of_workers = workers();
  std::stable_sort(of_workers.begin(), of_workers.end(),
                   [](const auto& a, const auto& b) { return a.peers > b.peers; });
  const auto of_pairs = waits();

  const auto rest = [top](std::size_t rows) {
    return rows > top ? fmt::format("... and {} more\n", rows - top) : std::string{};
  };
  std::string out = "worker  computing s  own gradient s  for others s  longest for   that s  others for it s\n";
  for (std::size_t i = 0; i < std::min(top, of_workers.size()); ++i) {
    const auto& w = of_workers[i];
    out += fmt::format("{:>6}  {:>11.3f}  {:>14.3f}  {:>12.3f}  {:>11}  {:>7.3f}  {:>15.3f}\n", w.rank,
                       seconds(w.computed), seconds(w.own_gradient), seconds(w.peers),
                       w.worst_peer ? fmt::format("{}", *w.worst_peer) : "-", seconds(w.worst), seconds(w.blamed));
  }
  out += rest(of_workers.size());
  if (of_pairs.empty())
    return out + "\nnobody waited for another worker\n";
  out += "\nwaiter  for worker  seconds  of the run\n";
  for (std::size_t i = 0; i < std::min(top, of_pairs.size()); ++i)
    out += fmt::format("{:>6}  {:>10}  {:>7.3f}  {:>8.1f} %\n", of_pairs[i].waiter, of_pairs[i].culprit,
                       seconds(of_pairs[i].ns), share(of_pairs[i].ns));
  return out + rest(of_pairs.size());
}

std::string blame_table::to_json() const {
  json of_workers = json::array();
  for (const auto& w : workers())
    of_workers.push_back({{"rank", w.rank},
                          {"computing_s", seconds(w.computed)},
                          {"own_gradient_s", seconds(w.own_gradient)},
                          {"peers_s", seconds(w.peers)},
                          {"worst_peer", w.worst_peer ? json(*w.worst_peer) : json(nullptr)},
                          {"worst_peer_s", seconds(w.worst)},
                          {"blamed_s", seconds(w.blamed)}});
  json of_pairs = json::array();
  for (const auto& w : waits())
    of_pairs.push_back({{"waiter", w.waiter}, {"culprit", w.culprit}, {"seconds", seconds(w.ns)}});
  return json{{"total_s", seconds(total_ns_)}, {"workers", of_workers}, {"waits", of_pairs}}.dump(2);
}

} // namespace gossamer::actors
