#include "options.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace gossamer::apps {

namespace {

using actors::run_settings;

option text(std::string name, std::string value, std::string help, std::string run_settings::*field) {
  return {std::move(name), std::move(value), std::move(help), [field](const train_options& o) { return o.run.*field; },
          [field](train_options& o, const std::string& given) { o.run.*field = given; }};
}

template <class T>
T parse(const std::string& name, const std::string& given) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(parse_integer("--" + name, given, 0, std::numeric_limits<std::int64_t>::max()));
  else
    return parse_real("--" + name, given, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
}

template <class T>
option number(std::string name, std::string value, std::string help, T run_settings::*field) {
  return {name,
          std::move(value),
          std::move(help),
          [field](const train_options& o) { return fmt::format("{}", o.run.*field); },
          [field, name](train_options& o, const std::string& given) { o.run.*field = parse<T>(name, given); },
          false,
          true};
}

template <class T>
option number(std::string name, std::string value, std::string help, std::optional<T> run_settings::*field) {
  return {name,
          std::move(value),
          std::move(help),
          [field](const train_options& o) { return o.run.*field ? fmt::format("{}", *(o.run.*field)) : std::string{}; },
          [field, name](train_options& o, const std::string& given) { o.run.*field = parse<T>(name, given); },
          false,
          true};
}

/// A plan in epochs takes the place of one in steps, and the other way round: the last word counts.
template <class T>
option instead_of(option o, std::optional<T> run_settings::*other) {
  o.set = [set = std::move(o.set), other](train_options& into, const std::string& given) {
    set(into, given);
    (into.run.*other).reset();
  };
  return o;
}

/// "3:10x": worker 3 is ten times slower.
void set_slow(train_options& o, const std::string& given) {
  for (const auto& item : split(given, ',')) {
    const auto colon = item.find(':');
    auto factor = colon == std::string::npos ? std::string{} : item.substr(colon + 1);
    if (factor.ends_with('x'))
      factor.pop_back();
    if (factor.empty())
      throw error(errc::usage, fmt::format("--slow is '{}', which is not of the form RANK:FACTORx", item),
                  "for example 3:10x for a worker 3 that takes ten times as long");
    const auto worker =
        static_cast<actors::rank>(parse_integer("the rank in --slow", item.substr(0, colon), 0, 1'000'000));
    o.run.slow[worker] = parse_real("the factor in --slow", factor, 1, 1e6);
  }
}

std::string get_slow(const train_options& o) {
  std::string result;
  for (const auto& [worker, factor] : o.run.slow)
    result += fmt::format("{}{}:{}x", result.empty() ? "" : ",", worker, factor);
  return result;
}

} // namespace

const std::vector<option>& options() {
  static const std::vector<option> table{
      text("algorithm", "NAME", "how the workers train together", &run_settings::algorithm),
      number("workers", "N", "number of workers", &run_settings::workers),
      text("topology", "NAME", "who may talk to whom", &run_settings::topology),
      text("mixing", "RULE", "weights of gossip: auto, uniform or metropolis", &run_settings::mixing),
      text("codec", "NAME", "how vectors are compressed on the way", &run_settings::codec),
      text("model", "NAME", "what is learnt", &run_settings::model),
      text("data", "NAME", "what it is learnt from", &run_settings::data),
      text("partition", "NAME", "how the samples are dealt out to the workers", &run_settings::partition),
      number("batch", "N", "samples in a minibatch of one worker", &run_settings::batch),
      number("lr", "RATE", "learning rate", &run_settings::lr),
      text("schedule", "NAME", "how the learning rate changes", &run_settings::schedule),
      text("optimiser", "NAME", "how a gradient becomes an update; momentum and weight decay",
           &run_settings::optimiser),
      instead_of(
          number("epochs", "E", "passes over the data, all workers together (default: 30)", &run_settings::epochs),
          &run_settings::steps),
      instead_of(number("steps", "N", "gradients of each worker (on average, if asynchronous) instead of epochs",
                        &run_settings::steps),
                 &run_settings::epochs),
      number("seconds", "S", "stop after so long; alone, or before the epochs or steps are over",
             &run_settings::seconds),
      number("seed", "N", "the seed of everything random", &run_settings::seed),
      number("threads", "N", "threads for messages; 0: one for each processor. Gradients have a thread per worker",
             &run_settings::threads),
      number("eval-every", "E", "epochs between evaluations (default: 20 evaluations a run; 1 with --seconds alone)",
             &run_settings::eval_every),
      {"slow", "RANK:FACTORx", "make a worker compute so many times slower; may be repeated", get_slow, set_slow, true},
      {"out", "DIR", "run folder (default: the next free one under runs/)",
       [](const train_options& o) { return o.out; }, [](train_options& o, const std::string& given) { o.out = given; }},
  };
  return table;
}

namespace {

std::string location(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}:{}", file, region.begin.line);
}

/// The value of a key as text, however TOML spells it.
std::string as_text(const toml::node& node, const std::string& where, std::string_view key) {
  if (const auto* string = node.as_string())
    return string->get();
  if (const auto* integer = node.as_integer())
    return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point())
    return fmt::format("{}", real->get());
  if (const auto* items = node.as_array()) {
    std::string joined;
    for (const auto& item : *items)
      joined += fmt::format("{}{}", joined.empty() ? "" : ",", as_text(item, where, key));
    return joined;
  }
  throw error(errc::usage, fmt::format("{}: {} is neither text nor a number", where, key));
}

const option& find_option(std::string_view key, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& o : options()) {
    if (o.name == key)
      return o;
    names.push_back(o.name);
  }
  const auto problem = unknown_name("key", key, names);
  throw error(problem.code(), where + ": " + problem.sentence(), problem.remedy());
}

} // namespace

void read_config(const std::string& file, train_options& into) {
  std::ifstream in{file};
  std::stringstream content;
  if (in)
    content << in.rdbuf();
  if (!in || content.fail())
    throw error(errc::io, fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  toml::table table;
  try {
    table = toml::parse(content.str());
  } catch (const toml::parse_error& e) {
    throw error(errc::usage, fmt::format("{}: {}", location(file, e.source()), e.description()));
  }
  for (const auto& [key, node] : table) {
    const auto where = location(file, node.source());
    const auto& found = find_option(key.str(), where);
    try {
      found.set(into, as_text(node, where, key.str()));
    } catch (const error& e) {
      throw error(e.code(), e.sentence().starts_with(where) ? e.sentence() : where + ": " + e.sentence(), e.remedy());
    }
  }
}

std::string write_config(const train_options& from) {
  std::string result = "# gossamer train --config THIS-FILE repeats the run\n";
  for (const auto& o : options()) {
    const auto value = o.get(from);
    if (value.empty() || o.name == "out") // a repetition goes to a folder of its own
      continue;
    std::stringstream quoted;
    quoted << toml::value<std::string>{value};
    result += fmt::format("{} = {}\n", o.name, o.number ? value : quoted.str());
  }
  return result;
}

} // namespace gossamer::apps
