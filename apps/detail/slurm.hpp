#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace gossamer::apps {

/// A process's number among all, and their meeting point.
struct task_place {
  std::uint32_t number = 0;
  std::size_t nodes = 1;
  std::string rendezvous; ///< HOST:PORT of number 0
};

/// Returns the place of a task that srun started, from its environment: SLURM_PROCID, SLURM_NTASKS, and the hosts in
/// SLURM_STEP_NODELIST, of which the first has task 0. The port follows from SLURM_JOB_ID and SLURM_STEP_ID, so that
/// jobs and steps on one host do not meet.
/// @param variable the value of a variable; empty if it is not set
/// @error errc::usage when this is no task of Slurm, or one that it does not describe as expected
task_place slurm_task(const std::function<std::string(const char*)>& variable);

/// "gpu[07-09,12],login" -> "gpu07"
std::string first_host(const std::string& list);

} // namespace gossamer::apps
