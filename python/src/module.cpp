// The extension module gossamer._gossamer: the command of Gossamer, with a model and data that Python holds.
#include "gossamer/apps/embedded.hpp"
#include "gossamer/base/vec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <utility>

#include "held.hpp"
#include "python_algorithm.hpp"
#include "python_codec.hpp"
#include "python_group.hpp"
#include "source.hpp"

namespace gossamer::python {

using namespace nb::literals;

namespace {

using sample_numbers = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>, nb::c_contig>; // PyTorch takes no uint32

/// Python's exception class for a code is chosen in gossamer/errors.py.
void translate(const std::exception_ptr& problem, void*) {
  try {
    std::rethrow_exception(problem);
  } catch (const error& e) {
    const auto made = nb::module_::import_("gossamer.errors")
                          .attr("_error")(std::string{to_string(e.code())}, e.sentence(), e.remedy());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

input array_of(const nb::handle& result, std::size_t size, std::string_view what) {
  input array;
  if (!nb::try_cast<input>(result, array, true))
    throw error(errc::usage, fmt::format("{} returned a gradient that is no contiguous vector of float32", what),
                "return (loss, gradient), the gradient as a NumPy array or tensor of one dimension in main memory");
  if (array.shape(0) != size)
    throw error(errc::usage,
                fmt::format("{} returned a gradient of {} elements for {} parameters", what, array.shape(0), size),
                "return one element for each parameter, in their order");
  return array;
}

double call_gradient(const nb::object& f, std::span<const float> x, const compute::batch& at,
                     std::span<float> gradient) {
  std::vector<std::int64_t> samples(at.indices.begin(), at.indices.end());
  const auto result = f(read_only_floats(x.data(), {x.size()}, nb::handle()),
                        sample_numbers(samples.data(), {samples.size()}, nb::handle()), at.worker, at.step);
  nb::tuple pair;
  if (!nb::try_cast<nb::tuple>(result, pair) || pair.size() != 2)
    throw error(errc::usage, "gradient(x, samples, rank, step) returned no pair", "return (loss, gradient)");
  const auto g = array_of(pair[1], gradient.size(), "gradient(x, samples, rank, step)");
  std::copy_n(g.data(), gradient.size(), gradient.begin());
  return nb::cast<double>(nb::float_(nb::borrow<nb::object>(pair[0])));
}

double evaluated_number(const nb::handle& value) {
  try {
    return nb::cast<double>(nb::float_(nb::borrow<nb::object>(value)));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError))
      throw;
    throw error(errc::usage,
                fmt::format("evaluate gave a {} in place of a number", nb::type_name(value.type()).c_str()),
                "return the loss, or the pair (loss, accuracy)");
  }
}

double evaluated_accuracy(const nb::handle& value) {
  constexpr double rounding = 1e-6; // of means
  const auto accuracy = evaluated_number(value);
  if (!(accuracy >= 0 && accuracy <= 1 + rounding))
    throw error(errc::usage, fmt::format("evaluate gave the accuracy {:.7g}", accuracy), "return a share from 0 to 1");
  return accuracy;
}

compute::evaluation evaluation_of(const nb::object& result) {
  compute::evaluation e;
  nb::tuple pair;
  if (nb::try_cast<nb::tuple>(result, pair) && pair.size() == 2) {
    e.loss = evaluated_number(pair[0]);
    if (!pair[1].is_none())
      e.accuracy = evaluated_accuracy(pair[1]);
  } else {
    e.loss = evaluated_number(result);
  }
  return e;
}

class python_source {
public:
  python_source(std::vector<std::string> names, std::vector<std::vector<std::size_t>> shapes, const input& initial,
                std::size_t samples, std::vector<float> labels, std::size_t classes, std::string data_id)
      : all_(std::make_shared<source>()) {
    all_->shape = {std::move(names), std::move(shapes), {initial.data(), initial.data() + initial.shape(0)}};
    all_->samples = {samples, std::move(labels), classes, std::move(data_id)};
  }

  void compute_with(nb::object gradient, std::optional<nb::object> evaluate) {
    all_->gradient = [f = held{std::move(gradient)}, kept = kept_](std::span<const float> x, const compute::batch& at,
                                                                   std::span<float> g) {
      return in_python(kept, [&] { return call_gradient(*f, x, at, g); });
    };
    if (evaluate)
      all_->evaluate = [f = held{std::move(*evaluate)}, kept = kept_](std::span<const float> x) {
        return in_python(kept,
                         [&] { return evaluation_of((*f)(read_only_floats(x.data(), {x.size()}, nb::handle()))); });
      };
  }

  void give_directions() { all_->gives_directions = true; }
  void run_with(const algorithm_class& c) { algorithm_ = entry_of(c, kept_); }
  python_group serve_group() {
    const auto slot = std::make_shared<group_slot>();
    algorithm_ = collectives_entry(slot);
    all_->evaluates_in_loop = false;
    return {all_->loop, slot};
  }

  std::string model_spec() const { return all_->model_spec(); }
  std::string data_spec() const { return all_->data_spec(); }

  // -- the loop -------------------------------------------------------------------------------------------------------

  /// Waits for the next job; null if none comes for a moment, so that Python can look after its signals.
  std::shared_ptr<job> take() const {
    return with_original_exceptions([&] {
      const nb::gil_scoped_release unlock;
      return all_->loop->take(std::chrono::milliseconds(50));
    });
  }
  void keep_with(nb::object save, nb::object restore) const {
    all_->loop->keep_with({.save =
                               [f = held{std::move(save)}, kept = kept_] {
                                 return in_python(kept, [&] {
                                   const auto words = nb::cast<read_only_floats>((*f)());
                                   buffer_pool pool;
                                   return vec{pool, {words.data(), words.shape(0)}};
                                 });
                               },
                           .restore =
                               [f = held{std::move(restore)}, kept = kept_](const vec& words) {
                                 in_python(kept,
                                           [&] { (*f)(read_only_floats(words.data(), {words.size()}, nb::handle())); });
                               }});
  }
  bool has_ended() const { return all_->loop->has_ended(); }
  using found = std::tuple<double, std::optional<double>, std::optional<double>, std::optional<double>>;
  std::optional<found> heard() const {
    const auto e = all_->loop->heard();
    const auto known = [](double loss) { return std::isnan(loss) ? std::nullopt : std::optional<double>{loss}; };
    return e ? std::optional<found>{{e->epoch, known(e->train_loss), known(e->test.loss), e->test.accuracy}}
             : std::nullopt;
  }
  std::shared_ptr<job> unanswered() const { return all_->loop->unanswered(); }
  /// What was moved away from x is the direction.
  /// @param trained number of parameters; statistics follow, which move by themselves
  /// @returns whether a parameter was moved
  bool answer_direction(const std::shared_ptr<job>& j, double loss, const input& now, std::size_t trained) const {
    const nb::gil_scoped_release unlock;
    vec g{j->x.pool().allocate(j->x.size() * sizeof(float))};
    const auto before = j->x.view(), after = std::span<const float>{now.data(), now.shape(0)};
    const auto moves = g.overwrite();
    const auto farthest = assign_difference(moves.first(trained), before.first(trained), after.first(trained));
    const auto of_rest = assign_difference(moves.subspan(trained), before.subspan(trained), after.subspan(trained));
    j->x = {}; // the worker's model is its own again, and is updated in place
    hand_over(j, {std::move(g), loss}, std::isfinite(farthest) && std::isfinite(of_rest));
    return farthest != 0;
  }
  void answer_gradient(const std::shared_ptr<job>& j, double loss, const input& gradient) const {
    const nb::gil_scoped_release unlock;
    auto pool = j->x.pool();
    vec g{pool, {gradient.data(), gradient.shape(0)}};
    const bool is_finite = std::isfinite(max_magnitude(g.view()));
    hand_over(j, {std::move(g), loss}, is_finite);
  }
  /// The loop has been left within this step, which counts as none.
  void answer_nothing(const std::shared_ptr<job>& j) const {
    const nb::gil_scoped_release unlock;
    all_->loop->answer(j, compute::gradient_and_loss{});
  }
  void answer_evaluation(const std::shared_ptr<job>& j, const nb::object& result) const {
    const auto e = evaluation_of(result);
    const nb::gil_scoped_release unlock;
    all_->loop->answer(j, e);
  }
  void leave(const std::string& why) const {
    const nb::gil_scoped_release unlock;
    all_->loop->leave(why);
  }

  // -- the run --------------------------------------------------------------------------------------------------------

  int run(const std::vector<std::string>& words, nb::object on_folder) const {
    const std::shared_ptr<const source> s = all_;
    const std::vector models{model_entry_of(s)};
    const std::vector data{data_entry_of(s)};
    std::vector<actors::algorithm_entry> algorithms;
    if (algorithm_)
      algorithms.push_back(*algorithm_);
    const held told{std::move(on_folder)};
    return with_original_exceptions([&] {
      const nb::gil_scoped_release unlock;
      const struct end_of_jobs {
        desk& loop;
        ~end_of_jobs() { loop.end(); }
      } ends{*s->loop};
      return apps::run_embedded(words, {.own = {.algorithms = algorithms, .models = models, .data = data},
                                        .on_folder =
                                            [&](const std::filesystem::path& folder) {
                                              const nb::gil_scoped_acquire lock;
                                              (*told)(folder.string());
                                            },
                                        .has_results = s->evaluates_in_loop});
    });
  }

private:
  /// A step that is not finite ends the run as a loss does that is not, for all, and here with a sentence of its own.
  void hand_over(const std::shared_ptr<job>& j, compute::gradient_and_loss step, bool is_finite) const {
    if (!is_finite && std::isfinite(step.loss)) {
      kept_->keep(std::make_exception_ptr(
          error{errc::diverged,
                fmt::format("training diverged at worker {}, step {}: what the loop has handed over is not finite",
                            j->worker, j->step),
                "lower the learning rate, or clip gradients"}));
      step.loss = NAN;
    }
    all_->loop->answer(j, std::move(step));
  }

  /// Raises an exception of the user's functions as it was, in place of the sentence about it.
  template <class Call>
  std::invoke_result_t<Call> with_original_exceptions(const Call& call) const {
    try {
      return call();
    } catch (const error&) {
      if (const auto original = kept_->take())
        std::rethrow_exception(original);
      throw;
    }
  }

  std::shared_ptr<source> all_;
  std::optional<actors::algorithm_entry> algorithm_;
  std::shared_ptr<first_exception> kept_ = std::make_shared<first_exception>();
};

sample_numbers samples_of(const std::shared_ptr<job>& j) {
  return sample_numbers(j->samples.data(), {j->samples.size()}, nb::find(j));
}

void copy_x(const std::shared_ptr<job>& j, const floats& to) {
  if (to.shape(0) != j->x.size())
    throw nb::value_error("the vector has another size than the model");
  std::copy_n(j->x.data(), j->x.size(), to.data());
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (auto& word : words)
    result.push_back(word.data());
  return result;
}

/// The command gossamer, as the only thing that this process does.
int run_main(std::vector<std::string> argv) {
  const nb::gil_scoped_release unlock;
  auto words = pointers_to(argv);
  return apps::run_command(static_cast<int>(words.size()), words.data());
}

/// A command without a model of the program.
int run_words(const std::vector<std::string>& words) {
  const nb::gil_scoped_release unlock;
  return apps::run_embedded(words);
}

nb::list algorithms() {
  nb::list result;
  for (const auto& entry : actors::algorithms()) {
    nb::dict one;
    one["name"] = entry.about.name;
    one["synchronous"] = entry.traits.synchronous;
    one["masters"] = entry.masters != nullptr;
    result.append(one);
  }
  return result;
}

} // namespace

NB_MODULE(_gossamer, m) {
  nb::register_exception_translator(&translate);
  m.doc() = "The C++ side of gossamer. Use the functions of the package instead.";
  nb::class_<compute::sampler>(m, "Order")
      .def(
          "batch_of",
          [](compute::sampler& s, std::uint64_t step) {
            const auto samples = s.batch_of(step);
            return std::vector<std::uint32_t>(samples.begin(), samples.end());
          },
          "step"_a);
  nb::class_<job>(m, "Job")
      .def_ro("is_evaluation", &job::is_evaluation)
      .def_ro("worker", &job::worker)
      .def_ro("step", &job::step)
      .def_ro("members", &job::members)
      .def_ro("epoch", &job::epoch)
      .def_ro("planned_epochs", &job::planned_epochs)
      .def_ro("order", &job::order, nb::for_getter(nb::sig("def order(self) -> Order | None")))
      .def_prop_ro("samples", &samples_of)
      .def("copy_x", &copy_x, "to"_a);
  nb::class_<python_source>(m, "Source")
      .def(nb::init<std::vector<std::string>, std::vector<std::vector<std::size_t>>, const input&, std::size_t,
                    std::vector<float>, std::size_t, std::string>(),
           "names"_a, "shapes"_a, "initial"_a, "samples"_a, "labels"_a, "classes"_a, "data_id"_a)
      .def("compute_with", &python_source::compute_with, "gradient"_a, "evaluate"_a.none())
      .def(
          "run_with",
          [](python_source& s, nb::object type, std::string name, bool along_edges, bool synchronous,
             std::vector<std::string> state) {
            s.run_with({held{std::move(type)}, std::move(name), along_edges, synchronous, std::move(state)});
          },
          "type"_a, "name"_a, "along_edges"_a, "synchronous"_a, "state"_a)
      .def("give_directions", &python_source::give_directions)
      .def("serve_group", &python_source::serve_group)
      .def_prop_ro("model_spec", &python_source::model_spec)
      .def_prop_ro("data_spec", &python_source::data_spec)
      .def("keep_with", &python_source::keep_with, "save"_a, "restore"_a)
      .def("take", &python_source::take, nb::sig("def take(self) -> Job | None"))
      .def_prop_ro("has_ended", &python_source::has_ended)
      .def_prop_ro("heard", &python_source::heard)
      .def("unanswered", &python_source::unanswered, nb::sig("def unanswered(self) -> Job | None"))
      .def("answer_direction", &python_source::answer_direction, "job"_a, "loss"_a, "now"_a, "trained"_a)
      .def("answer_gradient", &python_source::answer_gradient, "job"_a, "loss"_a, "gradient"_a)
      .def("answer_nothing", &python_source::answer_nothing, "job"_a)
      .def("answer_evaluation", &python_source::answer_evaluation, "job"_a, "result"_a.none())
      .def("leave", &python_source::leave, "why"_a)
      .def("run", &python_source::run, "words"_a, "on_folder"_a);
  m.def("stop", &apps::stop_embedded, "Asks the run of this process to stop.");
  bind_worker(m);
  bind_codec(m);
  bind_group(m);
  m.def("main", &run_main, "argv"_a, "Is the command gossamer; returns its exit status.");
  m.def("command", &run_words, "words"_a, "Runs a command, e.g. ['list', 'codecs']; returns its exit status.");
  m.def("algorithms", &algorithms, "The built-in algorithms.");
  m.attr("version") = GOSSAMER_VERSION;
}

} // namespace gossamer::python
