#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/node/world.hpp"

namespace gossamer::actors {

/// An actor that ends with its scope, even if an exception leaves that: its system waits for its end.
struct scoped_life {
  explicit scoped_life(caf::actor whose) : actor(std::move(whose)) {}
  scoped_life(const scoped_life&) = delete;
  scoped_life& operator=(const scoped_life&) = delete;
  ~scoped_life() { caf::anon_send_exit(actor, caf::exit_reason::user_shutdown); }
  const caf::actor actor;
};

/// The common parts of worlds in real time: gradients in threads of their own, links that a plan of faults may harm.
class real_time {
public:
  /// @param workers number of the run's workers in this process
  real_time(caf::actor_system& system, std::shared_ptr<const experiment> e, const run_surroundings& around,
            std::size_t workers);
  real_time(const real_time&) = delete;
  real_time& operator=(const real_time&) = delete;
  ~real_time();

  /// @param net carries the frames of this process
  /// @param node the number of this one @param homes as in `mean_place`; empty: this process is all
  world_parts parts(std::shared_ptr<transport> net, std::uint32_t node = 0,
                    std::vector<std::uint32_t> homes = {}) const;
  const std::shared_ptr<fault_board>& board() const noexcept { return board_; }
  /// Switches a fault, as the injector of another process has.
  /// @error errc::usage where the message has a text that is no fault of this run
  void switch_fault(const actors::switch_fault& m) const;

private:
  double now() const;
  std::shared_ptr<transport> drawn(std::shared_ptr<transport> net) const;
  std::shared_ptr<transport> harmed(std::shared_ptr<transport> net) const;

  caf::actor_system& system_;
  std::shared_ptr<const experiment> run_;
  run_surroundings around_;
  std::size_t workers_;
  std::shared_ptr<fault_board> board_;
  caf::actor_clock::time_point began_;
  scoped_life line_;
};

/// Makes sure that the threads for a run can be made. Call it before there is an actor system (threads.hpp).
/// @param workers number in this process; evaluator, writer of checkpoints and system are counted besides
/// @param others  threads that this process has besides
/// @error errc::failed
void require_threads_of(const experiment& e, std::size_t workers, std::size_t others = 0);

/// Returns the number of threads that an actor system has by itself. @param threads as in `set_scheduler`
std::size_t threads_of_system(std::size_t threads);

/// Sets `scheduler.*` as workers need it. @param threads 0: one for each processor, and four at least
void set_scheduler(caf::actor_system_config& config, std::size_t threads);

} // namespace gossamer::actors
