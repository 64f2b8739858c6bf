#include "gossamer/apps/detail/failure.hpp"

#include "gossamer/actors/faults/shrink.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace gossamer::apps {

namespace {

std::string stem(const run_options& o) {
  return o.world.interleaving == 0 ? fmt::format("failed-{}", o.run.seed)
                                   : fmt::format("failed-{}-{}", o.run.seed, o.world.interleaving);
}

std::string write_text(const std::string& text, const std::filesystem::path& folder, const std::string& name) {
  const auto file = folder / name;
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::create_directories(folder, ignored);
  std::ofstream out{file};
  out << text;
  out.close();
  if (!out)
    throw error(errc::io, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)),
                "choose another folder with --out");
  return file.string();
}

/// Prints the plan and the command, for people.
void show(const program& p, const failure& f, const std::string& folder, const std::string& name, bool twice,
          double run_limit_s) {
  auto o = f.run.options;
  o.out.clear();
  o.chaos.reset();
  o.horizon_s.reset();
  o.faults.clear();
  if (!f.run.plan.harms())
    fmt::print("no faults\n");
  else {
    o.faults = write_text(to_toml(f.run.plan), folder, name);
    fmt::print("faults: {}\n", o.faults);
  }
  if (o.cost == "measured")
    o.cost = write_text(to_toml(o.world.cost), folder, "costs-of-" + name);
  for (const auto& fault : f.run.plan.faults)
    fmt::print("  {}\n", describe(fault));
  std::vector<std::string> more;
  if (twice)
    more.emplace_back("--twice");
  if (f.needs_process)
    more.insert(more.end(),
                {"--seeds", fmt::format("{0}..{0}", o.run.seed), "--run-limit", fmt::format("{}", run_limit_s)});
  fmt::print("replay: {}\n", replay_command(p, o, more));
}

/// Returns what a message says of any run that fails in this way. Numbers differ with the plan, and so does what
/// follows a semicolon: who waits.
std::string without_particulars(const std::string& message) {
  std::string result;
  for (const auto& word : split(message.substr(0, message.find(';')), ' '))
    result += (std::ranges::any_of(word, [](char c) { return '0' <= c && c <= '9'; }) ? "#" : word) + ' ';
  return result;
}

} // namespace

std::string replay_command(const program& p, const run_options& o, const std::vector<std::string>& more) {
  const run_options defaults;
  auto command = fmt::format("{} simulate", shell_word(p.path()));
  for (const auto& one : simulate_options())
    if (const auto value = one.get(o); value != one.get(defaults))
      command += fmt::format(" --{} {}", one.name, shell_word(value));
  for (const auto& word : more)
    command += fmt::format(" {}", shell_word(word));
  return command;
}

void report(const program& p, const failure& f, const std::string& folder, const attempt_options& how) {
  const auto& o = f.run.options;
  fmt::print("seed {}{} failed: {}\n", o.run.seed,
             o.world.interleaving == 0 ? "" : fmt::format(", interleaving {},", o.world.interleaving), f.message);
  show(p, f, folder, stem(o) + ".toml", how.twice, how.run_limit_s);
}

void report_shrunk(const program& p, const failure& f, const std::string& folder, const attempt_options& how) {
  auto smallest = f;
  std::size_t attempts = 0;
  const auto wanted = without_particulars(f.message);
  const auto fails = [&](const actors::fault_plan& plan) {
    auto run = f.run;
    run.plan = plan;
    bool is_wanted = false;
    const auto look = [&](std::size_t, const attempt& a) {
      is_wanted = a.failed && a.code == f.code && without_particulars(a.message) == wanted;
      if (is_wanted)
        smallest = {run, a.code, a.message, a.too_long};
      return true;
    };
    ++attempts;
    try {
      attempt_all(
          1, how, [&](std::size_t) { return run; }, look);
    } catch (const error& e) {
      if (e.code() != errc::usage) // the plan does not fit the run
        throw;
    }
    return is_wanted;
  };
  const auto plan = actors::shrink(f.run.plan, fails, {.workers = f.run.options.run.workers});
  fmt::print("shrunk in {} runs from {} to {} fault{}: {}\n", attempts, f.run.plan.faults.size(), plan.faults.size(),
             plan.faults.size() == 1 ? "" : "s", smallest.message);
  show(p, smallest, folder, stem(f.run.options) + "-shrunk.toml", how.twice, how.run_limit_s);
}

} // namespace gossamer::apps
