#include "source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <xxhash.h>

namespace gossamer::python {

namespace {

constexpr double most_numbers = 9e15; // whole numbers that a double holds
constexpr const char* same_program =
    "start the same program, of the same version, on all nodes; and to go on with a run, the one that began it";

std::uint64_t digest_of(const parameters& p) {
  std::string text;
  for (std::size_t i = 0; i < p.names.size(); ++i)
    text += fmt::format("{} {}\n", p.names[i], fmt::join(p.shapes[i], "x"));
  return XXH3_64bits(text.data(), text.size());
}

std::size_t product_of(const std::vector<std::size_t>& sides) {
  return std::accumulate(sides.begin(), sides.end(), std::size_t{1}, std::multiplies<>{});
}

/// What both kinds of model have in common: the tensors, and evaluations on the user's own data.
class user_model : public compute::model {
public:
  user_model(std::shared_ptr<const source> s, const compute::dataset& train) : source_(std::move(s)), train_(&train) {}

  std::size_t dimension() const override { return source_->shape.initial.size(); }
  std::vector<tensor_shape> tensors() const override {
    std::vector<tensor_shape> result;
    for (const auto& sides : source_->shape.shapes) {
      const auto rows = sides.size() > 1 ? sides.front() : 1;
      result.push_back({rows, rows > 0 ? product_of(sides) / rows : 0});
    }
    return result;
  }
  std::vector<std::string> tensor_names() const override { return source_->shape.names; }
  std::vector<std::vector<std::size_t>> tensor_sides() const override { return source_->shape.shapes; }
  void initial_point(std::span<float> x, const random_stream&) const override {
    std::ranges::copy(source_->shape.initial, x.begin());
  }
  bool measures_training_loss() const override { return false; }
  compute::evaluation evaluate(std::span<const float> x, const compute::batch& samples) override {
    constexpr compute::evaluation unknown{.loss = NAN, .accuracy = {}};
    return &samples.data == train_ ? unknown : evaluate_on_own_data(x);
  }

protected:
  virtual compute::evaluation evaluate_on_own_data(std::span<const float> x) = 0;
  const source& from() const { return *source_; }
  static constexpr compute::evaluation nothing{.loss = NAN, .accuracy = {}};

private:
  std::shared_ptr<const source> source_;
  const compute::dataset* train_;
};

/// A function of the user computes.
class function_model final : public user_model {
public:
  using user_model::user_model;
  double loss_and_gradient(std::span<const float> x, const compute::batch& samples,
                           std::span<float> gradient) override {
    return from().gradient(x, samples, gradient);
  }
  std::unique_ptr<model> clone() const override { return std::make_unique<function_model>(*this); }

private:
  compute::evaluation evaluate_on_own_data(std::span<const float> x) override {
    return from().evaluate ? from().evaluate(x) : nothing;
  }
};

/// The user's loop computes, in a thread of its own: no thread of the run waits for it.
class loop_model final : public user_model {
public:
  using user_model::user_model;
  std::function<compute::gradient_and_loss()> start_gradient(const vec& x, const compute::batch& samples) override {
    if (samples.order != order_) {
      order_ = samples.order;
      order_of_loop_ = order_ ? std::make_shared<compute::sampler>(*order_) : nullptr;
    }
    last_ = from().loop->post({.x = x,
                               .samples = {samples.indices.begin(), samples.indices.end()},
                               .worker = samples.worker,
                               .step = samples.step,
                               .order = order_of_loop_,
                               .members = {samples.run.members.begin(), samples.run.members.end()},
                               .epoch = samples.run.epoch,
                               .planned_epochs = samples.run.planned_epochs});
    return [at = from().loop, t = last_] {
      at->wait(t);
      return std::move(t->gradient);
    };
  }
  bool computes_elsewhere() const override { return true; }
  const kept_beside* keeps() const override { return &from().beside; }
  void hear(const compute::mean_evaluation& e) const override { from().loop->hear(e); }
  bool when_done(std::function<void()> f) override { return from().loop->when_done(last_, std::move(f)); }
  double loss_and_gradient(std::span<const float> x, const compute::batch& samples,
                           std::span<float> gradient) override {
    buffer_pool pool;
    const auto [g, loss] = start_gradient(vec{pool, x}, samples)();
    std::ranges::copy(g.view(), gradient.begin());
    return loss;
  }
  std::unique_ptr<model> clone() const override { return std::make_unique<loop_model>(*this); }

private:
  compute::evaluation evaluate_on_own_data(std::span<const float> x) override {
    if (!from().evaluates_in_loop)
      return nothing;
    buffer_pool pool;
    const auto t = from().loop->post({.is_evaluation = true, .x = vec{pool, x}, .samples = {}});
    try {
      from().loop->wait(t);
    } catch (const loop_has_been_left&) {
      return nothing; // the others train on
    }
    return t->evaluation;
  }

  desk::ticket last_;
  std::shared_ptr<const compute::sampler> order_;
  std::shared_ptr<compute::sampler> order_of_loop_; // a copy, for another thread
};

void require_same_model(const arguments& given, const source& here) {
  const auto wanted = static_cast<std::size_t>(given.integer("parameters"));
  if (wanted != here.shape.initial.size())
    throw error(errc::usage,
                fmt::format("the model of this process has {} parameters, and the run's has {}",
                            here.shape.initial.size(), wanted),
                same_program);
  if (given.text("tensors") != fmt::format("{:016x}", digest_of(here.shape)))
    throw error(errc::usage, "the tensors of this process's model differ from the run's in their names or shapes",
                same_program);
}

void require_same_samples(const arguments& given, const source& here) {
  const auto wanted = static_cast<std::size_t>(given.integer("count"));
  if (wanted != here.samples.count)
    throw error(errc::usage,
                fmt::format("this process has {} samples, and the run deals out {}", here.samples.count, wanted),
                "give all nodes the same data; samples= is the number of all of them");
  if (given.text("id") != here.samples.id)
    throw error(
        errc::usage,
        fmt::format("the data of this process is '{}', and the run's is '{}'", here.samples.id, given.text("id")),
        "give all nodes the same data");
}

} // namespace

std::string source::model_spec() const {
  return fmt::format("module:parameters={},tensors={:016x}", shape.initial.size(), digest_of(shape));
}

std::string source::data_spec() const {
  spec result{"samples", {{"count", fmt::format("{}", samples.count)}}};
  if (!samples.id.empty())
    result.values.emplace_back("id", samples.id);
  return result.to_string();
}

compute::model_entry model_entry_of(const std::shared_ptr<const source>& s) {
  return {.about = {.name = "module",
                    .summary = "the model of the program around this command",
                    .maths = "as the program computes it",
                    .cost = "as the program has it",
                    .parameters = {{.key = "parameters",
                                    .kind = parameter::type::integer,
                                    .fallback = fmt::format("{}", s->shape.initial.size()),
                                    .meaning = "their number",
                                    .min = 1,
                                    .max = most_numbers},
                                   {.key = "tensors",
                                    .kind = parameter::type::text,
                                    .fallback = fmt::format("{:016x}", digest_of(s->shape)),
                                    .meaning = "hash of their names and shapes"}}},
          .make = [s](const arguments& given, const compute::dataset& train) -> std::unique_ptr<compute::model> {
            require_same_model(given, *s);
            if (s->gradient)
              return std::make_unique<function_model>(s, train);
            return std::make_unique<loop_model>(s, train);
          },
          .augments = true,
          .gives_directions = s->gives_directions};
}

compute::data_entry data_entry_of(const std::shared_ptr<const source>& s) {
  return {.about = {.name = "samples",
                    .summary = "numbers of samples that the program around this command holds",
                    .maths = "0 .. count - 1",
                    .cost = "4 bytes a sample",
                    .parameters = {{.key = "count",
                                    .kind = parameter::type::integer,
                                    .fallback = fmt::format("{}", s->samples.count),
                                    .meaning = "number of them",
                                    .min = 1,
                                    .max = 4294967295.0},
                                   {.key = "id",
                                    .kind = parameter::type::text,
                                    .fallback = "",
                                    .meaning = "the program's name for this data"}}},
          .load = [s](const arguments& given, const compute::data_files&, std::uint64_t) {
            require_same_samples(given, *s);
            compute::data_split split;
            split.train.samples = s->samples.count;
            split.train.classes = s->samples.classes;
            split.train.targets.assign(s->samples.labels.begin(), s->samples.labels.end());
            split.test.samples = 1; // stands for the user's own test data
            return split;
          }};
}

} // namespace gossamer::python
