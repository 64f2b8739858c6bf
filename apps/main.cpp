#include "commands.hpp"

#include "gossamer/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <map>

namespace {

using namespace gossamer;

/// "--algoritm" -> "did you mean --algorithm?".
std::string suggestion(const std::string& unexpected) {
  if (!unexpected.starts_with("--"))
    return {};
  std::vector<std::string> names{"config", "json", "overwrite"};
  for (const auto& o : apps::options())
    names.push_back(o.name);
  const auto name = nearest(unexpected.substr(2), names);
  return name.empty() ? std::string{} : fmt::format("did you mean --{}?", name);
}

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
    if (o.repeatable)
      flag->take_all();
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& e) {
    const auto unexpected = app.remaining(true);
    throw error(errc::usage, e.what(), unexpected.empty() ? "" : suggestion(unexpected.front()));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)
      return app.exit(e); // --help and --version
    throw error(errc::usage, e.what(), "gossamer --help and gossamer train --help list what there is");
  }

  if (*list)
    return apps::list(kind, json), 0;
  if (*explain)
    return apps::explain(name), 0;
  if (!config.empty())
    apps::read_config(config, defaults);
  for (const auto& o : apps::options())
    for (const auto& value : given[o.name])
      o.set(defaults, value);
  return apps::train(defaults, json);
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const error& e) {
    fmt::print(stderr, "gossamer: {}\n", e.what());
    return e.exit_status();
  } catch (const std::exception& e) {
    fmt::print(stderr, "gossamer: {}\n", e.what());
    return 1;
  }
}
