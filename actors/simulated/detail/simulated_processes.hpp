#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/node/world.hpp"
#include "gossamer/actors/simulated/detail/control_network.hpp"
#include "gossamer/actors/simulated/detail/simulated_planes.hpp"

#include <set>

namespace gossamer::actors::detail {

/// newcomer -> itself
struct nobody_answers {};

/// The processes of a simulated run: each has a node actor of its own, as in a cluster, and can die and be started
/// again. They are told apart by starts; a start that comes later has to ask to be let in, as in a cluster.
///
/// A process that fails ends, as its program would. The run fails when none is left.
class simulated_processes {
public:
  struct surroundings {
    std::shared_ptr<const experiment> run;
    std::vector<rank> homes;                              ///< the process of each worker and master, by number
    std::function<world_parts(std::uint32_t node)> parts; ///< parts of one process
    std::function<std::shared_ptr<run_observer>()> observe;
    std::function<bool()> interrupted;
    caf::actor client, steps_to;
    std::function<virtual_time(rank from, rank to, std::uint64_t number)> latency; ///< between two nodes
    std::function<virtual_time()> now;
    std::function<void(virtual_time when, std::function<void()> what)> at;
    std::shared_ptr<fault_board> board;
    std::size_t workers_per_node = 1; ///< for faults of nodes
    virtual_time detection{};
    virtual_time patience{}; ///< of nodes with each other
    virtual_time prepare{};  ///< time that a later process takes to prepare the run
    std::function<void(std::uint32_t node, const consensus::resolution&)> on_resolution;
    std::function<void(const std::string&)> tell; ///< told of events of a process
    std::function<void(run_failed)> fail;         ///< called when no process is left
    std::function<void(std::string)> complain;    ///< called when a promise is broken
    /// Returns since when nothing has been going wrong; the end of time while something does.
    std::function<virtual_time()> quiet_since;
  };

  simulated_processes(caf::actor_system& system, surroundings around);
  simulated_processes(const simulated_processes&) = delete;
  simulated_processes& operator=(const simulated_processes&) = delete;
  ~simulated_processes() { end(); }

  void begin();
  void end(); ///< ends all of them

  /// Sends a message to the process of this worker or master, or to all. Dead processes do not hear it.
  template <class Message>
  void tell_home_of(rank i, const Message& m) {
    if (const auto& at = newest(around_.homes[i]); at.runs)
      caf::anon_send(at.node, m);
  }
  template <class Message>
  void tell_all(const Message& m) {
    for (const auto number : numbers())
      if (newest(number).runs)
        caf::anon_send(newest(number).node, m);
  }

  /// True if the process of this worker or master takes part.
  bool has(rank i) const { return newest(around_.homes[i]).runs; }

  void on_fault(std::size_t index, const fault& f, bool on);

  /// Carries a worker's frame from the process of one number to that of another. @param leave sends it
  void carry_frame(std::uint32_t from, std::uint32_t to, std::function<void()> leave) {
    planes_.carry(from, to, std::move(leave));
  }
  /// Carries a frame that is no worker's, from the process of one number to that of another.
  void carry(std::uint32_t from, std::uint32_t to, std::function<void()> what) {
    if (net_.is_alive(seats_[to].newest))
      net_.carry(seats_[from].newest, seats_[to].newest, std::move(what));
  }
  /// Returns the process of a worker, master or evaluator.
  std::uint32_t home_of(rank i) const {
    const auto participants = static_cast<rank>(around_.homes.size());
    return i < participants ? around_.homes[i] : i - participants;
  }

  // -- messages of a node to its client

  void on_failure(const caf::strong_actor_ptr& node, const run_failed& why);
  void on_departure(const caf::strong_actor_ptr& node);

  // -- for processes that come back

  using start = control_network::start;
  /// Returns the node of a process as another process sees it; null if it has none, or is dead.
  caf::strong_actor_ptr door(start by, start of);
  bool is_cut(start a, start b) const;
  /// Returns a process that a returning one may ask. @param attempt number of attempts before
  std::optional<start> somebody(std::size_t attempt) const;
  std::uint32_t number_of(start who) const { return processes_[who].number; }
  /// Prepares the node of an admitted process. @param ready called with its announcement, when it is ready
  void prepare_node(start who, std::uint32_t life, std::function<void(const node_ready&)> ready);
  /// Ends a process that was not let in, and starts it once more.
  void try_again(start who);

private:
  struct process {
    std::uint32_t number = 0;
    std::uint32_t life = 0;               ///< as in consensus::seats
    bool runs = false;                    ///< its node takes part, or will
    bool leaves = false, returns = false; ///< it has been asked to leave; it is to come back then
    std::size_t attempt = 0;
    caf::actor node = {}, newcomer = {}, connector = {};
    consensus::resolution last = {}; ///< the one by which it goes
  };
  /// All starts of one number.
  struct seat {
    start newest = 0;
    std::vector<rank> ranks = {};
  };

  std::vector<std::uint32_t> numbers() const;
  const process& newest(std::uint32_t number) const { return processes_[seats_[number].newest]; }
  start add(std::uint32_t number);
  std::optional<start> start_of(const caf::strong_actor_ptr& node) const;
  caf::actor spawn_node_of(start who);
  node_setup setup_of(start who, const cluster_plan& plan);
  cluster_plan founding_plan() const;
  node_interface::handle handle(start by, start of);
  std::vector<std::uint32_t> victims_of(const fault& f) const;
  bool is_vacant(std::uint32_t number) const;
  void kill(std::uint32_t number);
  void ask_to_leave(std::uint32_t number);
  void bring_back(std::uint32_t number);
  void end(start who);
  void start_again(std::uint32_t number, std::size_t attempt);
  bool has_quorum(const consensus::resolution& r) const;
  void judge(const process& who, const run_failed& why);
  void on_exit(start who, const caf::error& reason);
  void fail_when_nobody_is_left();

  caf::actor_system& system_;
  surroundings around_;
  control_network net_;
  simulated_planes planes_;
  consensus::resolution newest_resolution_;
  std::deque<process> processes_;                             // by start
  std::vector<seat> seats_;                                   // by number
  std::map<std::size_t, std::vector<std::uint32_t>> victims_; // of faults that are on
  run_failed last_failure_{errc::failed, "every process of the run has been killed", "leave some of them alive"};
  bool over_ = false;
};

} // namespace gossamer::actors::detail

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::detail::nobody_answers)
