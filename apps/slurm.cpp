#include "gossamer/apps/detail/slurm.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

// Above the ports of services, below those that systems give to outgoing connections.
constexpr std::uint64_t first_port = 20'000, ports = 10'000;
// Distance between two steps of a job, which may go on at the same time; simultaneous jobs have close numbers.
constexpr std::uint64_t ports_between_steps = 1'009;

using environment = std::function<std::string(const char*)>;

std::string text_of(const environment& variable, const char* name) {
  auto text = variable(name);
  if (text.empty())
    throw error(errc::usage, fmt::format("--slurm is given, but {} is not set", name),
                "start the nodes with srun, which tells each of them who it is");
  return text;
}

std::uint64_t number_of(const environment& variable, const char* name) {
  return static_cast<std::uint64_t>(parse_integer(name, text_of(variable, name), 0, 1'000'000'000));
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
  const auto host = first_host(text_of(variable, "SLURM_STEP_NODELIST"));
  const auto meeting = number_of(variable, "SLURM_JOB_ID") + ports_between_steps * number_of(variable, "SLURM_STEP_ID");
  result.rendezvous = fmt::format("{}:{}", host, first_port + meeting % ports);
  return result;
}

} // namespace gossamer::apps
