#include "python_algorithm.hpp"

#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <algorithm>
#include <array>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <thread>
#include <variant>

namespace gossamer::python {

using namespace nb::literals;
using namespace actors;

namespace {

vec vec_of(const nb::handle& array, const buffer_pool& pool, std::size_t size, std::string_view what) {
  input values;
  if (!nb::try_cast<input>(array, values, true))
    throw error(errc::usage, fmt::format("{} is no contiguous vector of float32", what),
                "pass a NumPy array of one dimension");
  if (values.shape(0) != size)
    throw error(errc::usage, fmt::format("{} has {} elements, and the model {}", what, values.shape(0), size));
  auto own = pool;
  return {own, std::span<const float>{values.data(), values.shape(0)}};
}

/// Returns a copy that Python may write.
nb::object array_of(const vec& v) {
  const auto size = v.size();
  auto* const copy = new float[size];
  std::copy_n(v.data(), size, copy);
  nb::capsule owner{copy, [](void* p) noexcept { delete[] static_cast<float*>(p); }};
  return nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<1>>(copy, {size}, owner));
}

/// The part of a worker that a coroutine of Python uses while it runs: in the worker's thread, under the interpreter's
/// lock. Python may hold it for longer than the worker lives, and show it to other workers' coroutines.
class python_worker {
public:
  python_worker(worker& w, buffer_pool pool, std::size_t size) : worker_(&w), pool_(std::move(pool)), size_(size) {}

  worker& here() const {
    if (user_ != std::this_thread::get_id())
      throw error(errc::usage, "a worker is used outside of its own run",
                  "use it within its coroutine alone, and keep numbers and vectors of it in place of itself");
    return *worker_;
  }
  /// Python may use the worker for as long as this lives, in this thread.
  class use {
  public:
    explicit use(python_worker& w) : worker_(w) { worker_.user_ = std::this_thread::get_id(); }
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { worker_.user_ = {}; }

  private:
    python_worker& worker_;
  };
  /// The worker goes.
  void retire() { under_way_.reset(); }
  vec vec_from(const nb::handle& array, std::string_view what) const { return vec_of(array, pool_, size_, what); }

  void start_gradient(const nb::handle& x, std::uint64_t t) {
    if (under_way_)
      throw error(errc::usage, "a gradient is started while another one is under way", "await the first one");
    under_way_.emplace(here().start_gradient(vec_from(x, "the x of a gradient"), t));
  }
  worker::pending_gradient take_gradient() {
    if (!under_way_)
      throw error(errc::usage, "a gradient is awaited, and none is under way",
                  "await what start_gradient has returned once, before the next one is started");
    return *std::exchange(under_way_, std::nullopt);
  }

  nb::object update(const nb::handle& x, const nb::handle& gradient, std::uint64_t t, const nb::handle& at) const {
    auto moved = vec_from(x, "the x of an update");
    const auto g = vec_from(gradient, "the gradient of an update");
    here().update(moved, g, t, at.is_none() ? vec{moved} : vec_from(at, "the at of an update"));
    return array_of(moved);
  }

private:
  worker* worker_;
  buffer_pool pool_;
  std::size_t size_;
  std::optional<worker::pending_gradient> under_way_;
  std::thread::id user_;
};

/// What the coroutine waits for.
struct awaited {
  enum class kind { end, next_step, gradient, neighbour_mean, mean_of_all } what = kind::end;
  vec x = {};
  std::uint64_t t = 0;
};

awaited::kind kind_of(const std::string& name) {
  using kind = awaited::kind;
  if (name == "next_step")
    return kind::next_step;
  if (name == "gradient")
    return kind::gradient;
  return name == "neighbour_mean" ? kind::neighbour_mean : kind::mean_of_all;
}

/// What an attribute of a state may be. The number stands before its value in the state.
enum class attribute : std::uint64_t { vector, whole, floating };

/// NumPy's numbers are kinds of these, too.
attribute attribute_of(const nb::handle& value) {
  const auto numbers = nb::module_::import_("numbers");
  if (nb::isinstance(value, numbers.attr("Integral")))
    return attribute::whole;
  return nb::isinstance(value, numbers.attr("Real")) ? attribute::floating : attribute::vector;
}

std::string_view described(attribute a) {
  constexpr std::array<std::string_view, 3> names{"a vector", "a whole number", "a float"};
  const auto k = static_cast<std::uint64_t>(a);
  return k < names.size() ? names[k] : "of no known type";
}

class python_algorithm final : public algorithm {
public:
  python_algorithm(algorithm_class c, std::shared_ptr<first_exception> kept, vec initial)
      : class_(std::move(c)), kept_(std::move(kept)), model_(std::move(initial)) {
    object_.emplace(in_python(kept_, [&] { return held{(*class_.type)(array_of(model_))}; }));
  }
  python_algorithm(const python_algorithm&) = delete;
  python_algorithm& operator=(const python_algorithm&) = delete;
  ~python_algorithm() override { retire_worker(); }

  task<> run(worker& w) override {
    begin(w);
    for (;;) {
      const auto next = advance();
      switch (next.what) {
      case awaited::kind::end:
        co_return;
      case awaited::kind::next_step: {
        require_count(next.t);
        const bool goes_on = co_await w.next_step(next.t);
        answer_ = goes_on;
        is_over_ = !goes_on;
        if (goes_on)
          begun_ = next.t;
        break;
      }
      case awaited::kind::gradient: {
        auto pending = worker_->take_gradient();
        vec g = co_await pending;
        answer_ = std::move(g);
        break;
      }
      case awaited::kind::neighbour_mean: {
        vec mean = co_await neighbour_exchange(w, next.x, next.t);
        answer_ = std::move(mean);
        break;
      }
      case awaited::kind::mean_of_all: {
        vec mean = co_await mean_of_all(w, next.x, route::ring, next.t);
        answer_ = std::move(mean);
        break;
      }
      }
    }
  }

  /// Visits the attributes of the state, each behind its kind.
  void fields(archive& a) override {
    in_python(kept_, [&] {
      for (const auto& name : class_.state)
        visit(a, name);
      read_model();
    });
  }
  void inherit(worker&) override {
    in_python(kept_, [&] {
      std::optional<python_worker::use> now;
      if (worker_)
        now.emplace(*worker_);
      if (nb::hasattr(**object_, "inherit"))
        (*object_)->attr("inherit")();
    });
  }
  const vec& model() const override { return model_; }

private:
  /// Ends what Python, which may hold on to the worker, must not end later.
  void retire_worker() {
    if (worker_)
      worker_->retire();
  }

  std::string called() const { return nb::cast<std::string>(class_.type->attr("__name__")); }

  void begin(worker& w) {
    retire_worker();
    in_python(kept_, [&] {
      worker_ = std::make_shared<python_worker>(w, model_.pool(), model_.size());
      const auto type = nb::module_::import_("gossamer.algorithm").attr("Worker");
      const python_worker::use now{*worker_};
      nb::object made = (*object_)->attr("run")(type(nb::cast(worker_)));
      if (!nb::hasattr(made, "send"))
        throw error(errc::usage, fmt::format("{}.run is no coroutine", called()),
                    "write it as `async def run(self, w)`, without yield");
      coroutine_.emplace(std::move(made));
      answer_ = std::monostate{};
      is_over_ = false;
      begun_.reset();
    });
  }

  /// Runs the coroutine to the next point where it waits.
  awaited advance() {
    return in_python(kept_, [&] {
      nb::object wanted;
      const python_worker::use now{*worker_};
      try {
        wanted = (*coroutine_)->attr("send")(python_answer());
      } catch (nb::python_error& e) {
        if (!e.matches(PyExc_StopIteration))
          throw;
        read_model();
        require_end();
        return awaited{};
      }
      read_model();
      nb::tuple request;
      if (!nb::try_cast<nb::tuple>(wanted, request) || request.size() < 2)
        throw error(errc::usage, fmt::format("{}.run waits for something that is not its worker's", called()),
                    "await what next_step, start_gradient, neighbour_mean and mean_of_all of the worker return");
      awaited next{.what = kind_of(nb::cast<std::string>(request[0]))};
      require_members_exchange(next.what);
      next.t = nb::cast<std::uint64_t>(request[1]);
      if (request.size() > 2)
        next.x = worker_->vec_from(request[2], "the vector of a mean");
      return next;
    });
  }

  /// Says in Python's terms what the mean would refuse: a loss would not end its round.
  void require_members_exchange(awaited::kind what) const {
    if (what == awaited::kind::mean_of_all && class_.along_edges && class_.synchronous)
      throw error(errc::usage, fmt::format("{} awaits mean_of_all, and its exchange is \"neighbours\"", called()),
                  "give the class exchange = \"all\"");
  }

  /// A worker that is done sooner than the run would make its neighbours wait without end.
  void require_end() const {
    if (!is_over_)
      throw error(errc::usage, fmt::format("{}.run has returned before training is over", called()),
                  "return where `await w.next_step(t)` is False");
  }

  /// As the worker does, in Python's words.
  void require_count(std::uint64_t t) const {
    if (begun_ && t <= *begun_)
      throw error(
          errc::usage,
          in_python(kept_, [&] { return fmt::format("{}.run begins step {} after step {}", called(), t, *begun_); }),
          "count the steps: self.t += 1 at the end of each");
  }

  nb::object python_answer() {
    const auto answer = std::exchange(answer_, std::monostate{});
    if (const auto* yes = std::get_if<bool>(&answer))
      return nb::cast(*yes);
    if (const auto* v = std::get_if<vec>(&answer))
      return array_of(*v);
    return nb::none();
  }

  void read_model() { model_ = vec_of((*object_)->attr("x"), model_.pool(), model_.size(), "the attribute x"); }

  /// Sets the attribute if the archive has read another value. One that writes leaves it as it is: the coroutine may
  /// hold the same array, and go on changing it.
  void visit(archive& a, const std::string& name) {
    const nb::object value = (*object_)->attr(name.c_str());
    const auto kind = attribute_of(value);
    auto archived = static_cast<std::uint64_t>(kind);
    a(archived);
    if (static_cast<attribute>(archived) != kind)
      throw error(errc::usage,
                  fmt::format("the attribute {} of {} is {} here, and {} in the state that it goes on from", name,
                              called(), described(kind), described(static_cast<attribute>(archived))),
                  "let it have one type from __init__ on: 0.0 in place of 0 where it becomes a float");
    if (kind == attribute::whole) {
      const auto before = nb::cast<std::uint64_t>(value);
      auto field = before;
      a(field);
      if (field != before)
        nb::setattr(**object_, name.c_str(), nb::cast(field));
    } else if (kind == attribute::floating) {
      const auto before = nb::cast<double>(value);
      auto field = before;
      a(field);
      if (field != before)
        nb::setattr(**object_, name.c_str(), nb::cast(field));
    } else {
      auto field = vec_of(value, model_.pool(), model_.size(), fmt::format("the attribute {}", name));
      const auto* const before = field.data();
      a(field);
      if (field.data() != before)
        nb::setattr(**object_, name.c_str(), array_of(field));
    }
  }

  algorithm_class class_;
  std::shared_ptr<first_exception> kept_;
  vec model_;
  std::optional<held> object_;
  std::shared_ptr<python_worker> worker_;
  std::variant<std::monostate, bool, vec> answer_;
  std::optional<std::uint64_t> begun_; // the last step of this life
  bool is_over_ = false;               // next_step has said so
  std::optional<held> coroutine_;      // last: its end may use the rest
};

} // namespace

algorithm_entry entry_of(const algorithm_class& c, const std::shared_ptr<first_exception>& kept) {
  return {.about = {.name = c.name,
                    .summary = "an algorithm of the program around this command",
                    .maths = "as the program has it",
                    .cost = "as the program has it"},
          .traits = {.exchange = c.along_edges ? exchange_pattern::neighbours : exchange_pattern::all,
                     .synchronous = c.synchronous,
                     .on_loss = c.along_edges ? interrupted_round::finish : interrupted_round::repeat},
          .make = [c, kept](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
            return std::make_unique<python_algorithm>(c, kept, s.initial);
          }};
}

void bind_worker(nb::module_& m) {
  const auto list_of = [](const auto& ranks) { return std::vector<std::uint32_t>(ranks.begin(), ranks.end()); };
  nb::class_<python_worker>(m, "Worker")
      .def_prop_ro("id", [](const python_worker& w) { return w.here().id(); })
      .def_prop_ro("members", [=](const python_worker& w) { return list_of(w.here().members()); })
      .def_prop_ro("neighbours", [=](const python_worker& w) { return list_of(w.here().neighbours()); })
      .def("mixing", [](const python_worker& w, std::uint32_t j) { return w.here().mixing(j); })
      .def("learning_rate", [](const python_worker& w, std::uint64_t t) { return w.here().learning_rate(t); })
      .def("start_gradient", &python_worker::start_gradient)
      .def("update", &python_worker::update, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

} // namespace gossamer::python
