#include "gossamer/actors/run/run_settings.hpp"

#include "gossamer/actors/run/allowed.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/settings_text.hpp"
#include "gossamer/compute/model.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace gossamer::actors {

namespace {

using settings = run_settings;

/// "3:10x,5:2x": worker 3 is ten times slower.
void set_slow(settings& s, const std::string& given) {
  std::set<rank> named;
  for (const auto& item : split(given, ',')) {
    const auto colon = item.find(':');
    auto factor = colon == std::string::npos ? std::string{} : item.substr(colon + 1);
    if (factor.ends_with('x'))
      factor.pop_back();
    if (factor.empty())
      throw error(errc::usage, fmt::format("--slow is '{}', which is not of the form RANK:FACTORx", item),
                  "for example 3:10x for a worker 3 that takes ten times as long");
    const auto worker =
        static_cast<rank>(parse_integer("the rank in --slow", item.substr(0, colon), 0, topology::max_workers));
    if (!named.insert(worker).second)
      throw error(errc::usage, fmt::format("--slow names worker {} twice", worker), "leave one of them out");
    s.slow[worker] = parse_number("slow (factor)", factor, allowed::slow);
  }
}

std::string get_slow(const settings& s) {
  std::string result;
  for (const auto& [worker, factor] : s.slow)
    result += fmt::format("{}{}:{}x", result.empty() ? "" : ",", worker, factor);
  return result;
}

setting<settings> slow_setting() {
  return {{.name = "slow",
           .value = "RANK:FACTORx",
           .help = "make a worker compute so many times slower; may be repeated",
           .joined_by = ","},
          get_slow,
          set_slow};
}

std::string get_lr(const settings& s) { return s.lr ? number_text(*s.lr) : std::string{}; }

void set_lr(settings& s, const std::string& given) {
  s.lr.reset();
  if (given != "auto")
    s.lr = parse_number("lr", given, allowed::lr);
}

setting<settings> lr_setting() {
  return {{.name = "lr",
           .value = "auto|RATE",
           .help =
               "learning rate; auto, the default: what the algorithm, or else the optimiser, suggests, times up to the "
               "number of workers",
           .number = true},
          get_lr,
          set_lr};
}

/// "30s": every half minute; "1000": every thousand steps.
void set_checkpoint(settings& s, const std::string& given) {
  expect_text("checkpoint", given);
  s.checkpoint = {};
  if (given.find_first_not_of("0123456789.e+-") == std::string::npos)
    s.checkpoint.steps = parse_number("checkpoint (steps)", given, allowed::steps);
  else
    s.checkpoint.seconds =
        parse_quantity(quantity::time, "--checkpoint", given, allowed::seconds.min, allowed::seconds.max);
}

std::string get_checkpoint(const settings& s) {
  const auto& [seconds, steps] = s.checkpoint;
  if (seconds > 0)
    return number_text(seconds) + "s";
  return steps > 0 ? number_text(steps) : std::string{};
}

} // namespace

const settings_table<settings>& run_settings_table() {
  static const settings_table<settings> table{
      text_setting({"algorithm", "NAME", "how the workers train together"}, &settings::algorithm),
      number_setting({"workers", "N", "number of workers; not given: one for each GPU of --device"}, &settings::workers,
                     allowed::workers),
      number_setting({"min-workers", "N", "end the run when fewer have been left for half a minute"},
                     &settings::min_workers, allowed::workers),
      number_setting({"max-workers", "N", "how many there may be when others have come (default: those of the start)"},
                     &settings::max_workers, allowed::workers),
      text_setting({"device", "NAME",
                    "where gradients are computed: cpu, cuda:0, cuda:all, or several joined by +, dealt out in turn"},
                   &settings::device),
      text_setting({"topology", "NAME", "who may talk to whom; auto: a ring, or what the algorithm needs instead"},
                   &settings::topology),
      text_setting({"mixing", "auto|uniform|metropolis|lazy", "weights of gossip"}, &settings::mixing),
      text_setting({"islands", "N|N,N,...",
                    "groups of workers with fast links, which average in each step: their number, their sizes, or, in "
                    "launch and simulate, hosts"},
                   &settings::islands),
      text_setting({"codec", "NAME", "how vectors are compressed on the way"}, &settings::codec),
      text_setting({"model", "NAME", "what is learnt"}, &settings::model),
      text_setting({"initial", "FILE", "an .npz file that holds the model to start from (default: as --model says)"},
                   &settings::initial),
      text_setting({"data", "NAME", "what it is learnt from"}, &settings::data),
      text_setting({"partition", "NAME", "how the samples are dealt out to the workers"}, &settings::partition),
      number_setting({"batch", "N", "samples in a minibatch of one worker"}, &settings::batch, allowed::batch),
      lr_setting(),
      text_setting({"schedule", "NAME", "how the learning rate changes"}, &settings::schedule),
      text_setting({"optimiser", "NAME", "how a gradient becomes an update; momentum and weight decay"},
                   &settings::optimiser),
      instead_of(number_setting({"epochs", "E", "passes over the data, all workers together (default: 30)"},
                                &settings::epochs, allowed::epochs),
                 "steps", [](settings& s) { s.steps.reset(); }),
      instead_of(
          number_setting({"steps", "N", "gradients of each worker (on average, if asynchronous) instead of epochs"},
                         &settings::steps, allowed::steps),
          "epochs", [](settings& s) { s.epochs.reset(); }),
      quantity_setting(quantity::time,
                       {"seconds", "S", "stop after so long; alone, or before the epochs or steps are over"},
                       &settings::seconds, allowed::seconds),
      number_setting({"seed", "N", "the seed of everything random"}, &settings::seed, allowed::seed),
      number_setting({"threads", "N",
                      "threads for messages; 0: one for each processor. Gradients have a thread per worker; a "
                      "simulation has one thread"},
                     &settings::threads, allowed::threads),
      number_setting(
          {"eval-every", "E", "epochs between evaluations (default: 20 evaluations a run; 1 with --seconds alone)"},
          &settings::eval_every, allowed::eval_every),
      {{.name = "checkpoint",
        .value = "SECONDSs|STEPS",
        .help = "save the state of the run so often, such as 30s or 1000 (steps of each worker), and at its end"},
       get_checkpoint,
       set_checkpoint},
      number_setting(
          {"under-way", "BYTES",
           "of one worker's frames to another, before its next step waits (default: 8 models, at least 8 MiB)"},
          &settings::under_way, allowed::under_way),
      slow_setting(),
  };
  return table;
}

std::string to_text(const settings& s) { return to_text(run_settings_table(), s); }

compute::data_files files_of(const settings& s, const tables& known) {
  auto files = compute::find_data(s.data, s.data_dir, known.data);
  const auto add = [&](std::string_view role, const std::string& file) {
    files.emplace(role, (std::filesystem::path{s.data_dir} / file).string());
  };
  if (!s.initial.empty())
    add(initial_role, s.initial);
  const auto [model, given] = known.models.resolve(s.model);
  for (const auto& p : model.about.parameters)
    if (p.kind == parameter::type::path)
      add(model_role, given.text(p.key));
  return files;
}

settings parse_run_settings(std::string_view text, const std::string& source) {
  settings result;
  for (const auto& given : parse_settings(text, source, keys_of(run_settings_table())))
    apply(given, run_settings_table(), result);
  return result;
}

} // namespace gossamer::actors
