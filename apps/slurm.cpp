#include "gossamer/apps/detail/slurm.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

// Above the ports that services have, below those that systems give to outgoing connections.
constexpr std::uint64_t first_port = 20'000, ports = 10'000;

std::uint64_t number_of(const std::function<std::string(const char*)>& variable, const char* name) {
  const auto text = variable(name);
  if (text.empty())
    throw error(errc::usage, fmt::format("--slurm is given, but {} is not set", name),
                "start the nodes with srun, which tells each of them who it is");
  return static_cast<std::uint64_t>(parse_integer(name, text, 0, 1'000'000'000));
}

} // namespace

std::string first_host(const std::string& list) {
  const auto bracket = list.find('[');
  auto prefix = list.substr(0, std::min(bracket, list.find(',')));
  if (bracket == std::string::npos || prefix.size() < bracket)
    return prefix;
  return prefix + list.substr(bracket + 1, list.find_first_of("-,]", bracket) - bracket - 1);
}

task_place slurm_task(const std::function<std::string(const char*)>& variable) {
  task_place result;
  result.number = static_cast<std::uint32_t>(number_of(variable, "SLURM_PROCID"));
  result.nodes = number_of(variable, "SLURM_NTASKS");
  const auto step = variable("SLURM_STEP_NODELIST");
  const auto host = first_host(step.empty() ? variable("SLURM_JOB_NODELIST") : step);
  if (host.empty())
    throw error(errc::usage, "--slurm is given, but neither SLURM_STEP_NODELIST nor SLURM_JOB_NODELIST is set",
                "start the nodes with srun, which tells them who the others are");
  result.rendezvous = fmt::format("{}:{}", host, first_port + number_of(variable, "SLURM_JOB_ID") % ports);
  return result;
}

} // namespace gossamer::apps
