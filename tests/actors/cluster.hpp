#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>

// Several nodes, each with an actor system and a data plane of its own, on sockets of this machine. All run in one
// process here; tests/process has them in several.
namespace gossamer::actors {

inline run_settings small_run(const std::string& algorithm) {
  run_settings s;
  s.algorithm = algorithm;
  s.data = "digits:samples=600,test=100";
  s.model = "mlp:hidden=16";
  s.epochs = 3;
  return s;
}

struct recorder final : run_observer {
  void on_evaluation(const evaluation_record& r) override { records.push_back(r); }
  void on_event(const event_record& r) override { events.push_back(r.what); }
  std::vector<evaluation_record> records;
  std::vector<std::string> events;
};

/// The conduct of a node that has joined.
struct joiner {
  preparation prepare_run = [](const std::string& settings, const compute::data_files&) {
    return prepare(parse_run_settings(settings, "the leader's settings"));
  };
  std::function<bool()> leaves = [] { return false; };
  std::function<bool()> quits = [] { return false; }; ///< true: leaves cleanly
  std::function<bool()> then = {};                    ///< as `leaves`, for a second start; empty: no second start
  credentials shows = {};
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  std::chrono::milliseconds wait = patience;         ///< for a leader to let it in; 0: asks once
  std::optional<endpoint> first_door = std::nullopt; ///< asked before the leader's
};

/// A run among nodes that join over loopback.
class cluster {
public:
  /// @param late number of joiners, the last ones, that are absent when the run begins
  explicit cluster(std::vector<joiner> joiners, std::size_t late = 0) : joiners_(std::move(joiners)), late_(late) {}

  run_summary run(const std::shared_ptr<const experiment>& e, const run_surroundings& around = {}) {
    leader_settings s;
    s.where = {"127.0.0.1", 0};
    s.nodes = joiners_.size() + 1 - late_;
    s.wait = wait;
    s.interrupted = [this] { return ends_without_joiners && ended_ == joiners_.size(); };
    s.tell = [this](const std::string& line) { say(line); };
    s.shows = shows;
    s.read_lines = read_lines;
    s.listens = [this](const endpoint& where) {
      port = where.port;
      const endpoint here{"127.0.0.1", port}; // always this address, whatever name the certificate has
      for (std::uint32_t k = 1; k <= joiners_.size(); ++k)
        threads_.emplace_back([this, here, k] { join(here, k); });
    };
    const auto summary = lead_cluster(e, s, around);
    threads_.clear(); // waits until all nodes have left
    return summary;
  }

  std::vector<std::string> said() const {
    const std::scoped_lock lock{mutex_};
    return said_;
  }
  /// Returns the ports of all nodes that take part, for control messages.
  std::vector<std::uint16_t> doors() const {
    const std::scoped_lock lock{mutex_};
    auto all = doors_;
    all.push_back(port);
    return all;
  }
  /// Waits until all nodes have left.
  /// @returns the error that ended each node, by number; empty: none
  std::vector<std::string> ends() {
    threads_.clear();
    return ends_;
  }

  std::chrono::seconds wait = std::chrono::minutes(1);
  credentials shows = {};                                         ///< credentials of the leader
  std::uint16_t port = 0;                                         ///< port for control messages
  std::function<void(run_lines&)> read_lines = [](run_lines&) {}; ///< the leader's
  bool ends_without_joiners = false; ///< the leader waits no longer when all joiners have been turned away

private:
  void say(const std::string& line) {
    const std::scoped_lock lock{mutex_};
    said_.push_back(line);
  }

  void join(const endpoint& where, std::uint32_t k) {
    joining_settings s;
    s.where = where;
    s.wanted = k;
    const auto& how = joiners_[k - 1];
    s.shows = how.shows;
    s.patience = how.patience;
    s.wait = how.wait;
    if (how.first_door) {
      s.more_doors.assign(9, where); // many, so that each is given a second
      s.where = *how.first_door;
    }
    s.interrupted = how.leaves;
    s.leaves = how.quits;
    s.joined = [this](const endpoint& door) {
      const std::scoped_lock lock{mutex_};
      doors_.push_back(door.port);
    };
    auto end = end_of(s, how);
    while (end.find("run has all of its") != end.npos) // the run has not begun
      end = end_of(s, how);
    if (how.then) {
      s.interrupted = how.then;
      end = end_of(s, how);
    }
    const std::scoped_lock lock{mutex_};
    ends_.resize(joiners_.size() + 1);
    ends_[k] = end;
    ++ended_;
  }

  static std::string end_of(const joining_settings& s, const joiner& how) {
    try {
      join_cluster(s, how.prepare_run);
      return "";
    } catch (const error& e) {
      return e.what();
    }
  }

  std::vector<joiner> joiners_;
  std::size_t late_;
  mutable std::mutex mutex_;
  std::vector<std::string> said_, ends_;
  std::vector<std::uint16_t> doors_;
  std::atomic<std::size_t> ended_ = 0; // number of joiners
  std::vector<std::jthread> threads_;
};

/// Notices that training has begun, that an event has happened, and that training has continued after the event.
struct event_watch final : run_observer {
  explicit event_watch(std::string words) : words_(std::move(words)) {}
  void on_evaluation(const evaluation_record& r) override {
    begun = begun || r.step > 0;
    gone_on = gone_on || happened_;
  }
  void on_event(const event_record& r) override { happened_ = happened_ || r.what.find(words_) != r.what.npos; }
  std::atomic<bool> begun{false}, gone_on{false};

private:
  std::string words_;
  bool happened_ = false;
};

inline auto what_it_comes_to(const evaluation_record& r) {
  return std::tuple{r.step, r.epoch, r.train_loss, r.test_loss, r.test_accuracy, r.consensus_distance};
}

/// @param sends_beside_steps whether a message may leave within one step or the next, as other messages come
inline void expect_alike(const std::vector<evaluation_record>& across, const std::vector<evaluation_record>& here,
                         bool sends_beside_steps = false) {
  ASSERT_EQ(across.size(), here.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    EXPECT_EQ(what_it_comes_to(across[k]), what_it_comes_to(here[k])) << "evaluation " << k;
    if (!sends_beside_steps || k + 1 == here.size()) {
      EXPECT_EQ(across[k].payload_bits, here[k].payload_bits) << "evaluation " << k;
    }
  }
}

} // namespace gossamer::actors
