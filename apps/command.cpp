#include "gossamer/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "commands.hpp"

namespace {

using namespace gossamer;

constexpr auto help = "gossamer --help and gossamer train --help list what there is";

/// "unknown flag '--algoritm'; did you mean --algorithm?".
error unexpected(const CLI::App& app) {
  const auto word = app.remaining(true).front();
  const bool flag = word.starts_with("--");
  const bool no_command = app.get_subcommands().empty();
  if (flag && no_command)
    return {errc::usage, fmt::format("the command must come before '{}'", word),
            fmt::format("gossamer train {}", word)};
  std::vector<std::string> names;
  if (flag) {
    names = {"config", "json", "overwrite", "help", "version"};
    for (const auto& o : apps::options())
      names.push_back(o.name);
  } else if (no_command) {
    for (const auto* command : app.get_subcommands({}))
      names.push_back(command->get_name());
  }
  const auto meant = flag ? nearest(word.substr(2, word.find('=') - 2), names) : nearest(word, names);
  return {errc::usage, fmt::format("{} '{}'", flag ? "unknown flag" : "unexpected argument", word),
          meant.empty() ? help : fmt::format("did you mean {}?", flag ? "--" + meant : "'" + meant + "'")};
}

/// Output that nobody receives is a failure, also when the system says so only at the end.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw error(errc::io, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

/// Never throws, not even when standard error is closed.
void complain(const char* what) { std::fputs(fmt::format("gossamer: {}\n", what).c_str(), stderr); }

int run(int argc, char** argv) {
  CLI::App app{"Gossamer: actors for distributed SGD over slow, lossy and uneven networks", "gossamer"};
  app.set_version_flag("--version", "gossamer " GOSSAMER_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);

  auto* train = app.add_subcommand("train", "train a model with several workers on this machine");
  apps::train_options defaults;
  std::map<std::string, std::vector<std::string>> given;
  for (const auto& o : apps::options()) {
    auto* flag = train->add_option("--" + o.name, given[o.name], o.help)->type_name(o.value);
    flag->expected(1)->default_str(o.get(defaults));
    o.repeatable ? flag->take_all() : flag->take_last();
  }
  std::string config;
  bool json = false;
  train->add_option("--config", config, "read settings from a TOML file; flags win")->type_name("FILE");
  train->add_flag("--json", json, "print the summary as JSON on standard output");
  train->add_flag("--overwrite", defaults.overwrite, "replace the run that --out already holds");

  auto* list = app.add_subcommand("list", "list what there is to choose from");
  std::string kind;
  list->add_option("kind", kind, "algorithms, codecs, topologies, models, data, partitions, optimisers or schedules")
      ->required();
  list->add_flag("--json", json, "print as JSON");

  auto* explain = app.add_subcommand("explain", "explain an algorithm, codec, topology, model, ...");
  std::string name;
  explain->add_option("name", name, "what to explain, e.g. ad-psgd")->required();

  auto* plot = app.add_subcommand("plot", "draw the curves of several runs in one picture");
  apps::plot_options picture;
  plot->add_option("runs", picture.runs, "run folders")->required()->type_name("RUN");
  plot->add_option("--x", picture.x, "seconds, epochs or bits")->capture_default_str()->type_name("WHAT");
  plot->add_option("--y", picture.y, "train-loss, test-loss or accuracy")->capture_default_str()->type_name("WHAT");
  plot->add_option("--out", picture.out, "the SVG file to write")->capture_default_str()->type_name("FILE");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)
      return app.exit(e); // --help and --version
    if (!app.remaining(true).empty())
      throw unexpected(app);
    throw error(errc::usage, e.what(), help);
  }

  if (*list)
    return apps::list(kind, json), 0;
  if (*explain)
    return apps::explain(name), 0;
  if (*plot)
    return apps::plot(picture), 0;
  if (!config.empty())
    apps::read_config(config, defaults);
  for (const auto& o : apps::options())
    for (const auto& value : given[o.name])
      o.set(defaults, value);
  return apps::train(defaults, json);
}

} // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("gossamer")); // standard output is for results
  try {
    const int status = run(argc, argv);
    flush_output();
    return status;
  } catch (const error& e) {
    complain(e.what());
    return e.exit_status();
  } catch (const std::exception& e) {
    complain(e.what());
    return 1;
  }
}
