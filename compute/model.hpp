#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/npz.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gossamer::compute {

class sampler;

/// The state of a run when a gradient is asked for, as the worker knows it; empty but for models that compute
/// elsewhere.
struct run_standing {
  std::span<const std::uint32_t> members; ///< ranks of the workers that take part, ascending
  double epoch = 0;                       ///< passes through the samples, by all workers together
  double planned_epochs = 0;              ///< infinite if only its time ends the run
};

/// Some samples of a dataset, by index.
struct batch {
  const dataset& data;
  std::span<const std::uint32_t> indices;
  /// The stream that augments the samples, in this step; null: the samples are taken as they are.
  const random_stream* random = nullptr;
  std::uint64_t step = 0;
  std::uint32_t worker = 0; ///< the rank for which a gradient is computed
  /// The order from which this minibatch comes, and the next ones as long as the worker's share stays the same; null if
  /// it comes from none.
  std::shared_ptr<const sampler> order = nullptr;
  run_standing run = {};
};

struct evaluation {
  double loss = 0;                ///< mean over the samples, regularisation included
  std::optional<double> accuracy; ///< share of samples classified rightly; none for regression
};

/// What a run has found at the mean of all models.
struct mean_evaluation {
  double epoch = 0;      ///< passes through the samples, by all workers together
  double train_loss = 0; ///< not a number: none
  evaluation test;       ///< likewise its loss
};

struct gradient_and_loss {
  vec gradient; ///< as `model::loss_and_gradient` writes it; empty: none, and the step counts as no update
  double loss = 0;
};

/// An objective: f(x) = mean over samples of loss(x; sample) + (l2 / 2) ||w||^2 + l1 ||w||_1, where
/// w are the weights among x; the biases are not regularised.
///
/// x is one flat vector, layer by layer: the weights (inputs x outputs, row-major), then the bias.
/// Sums over samples are in a fixed order; losses are added up in double precision. Numbers that
/// are not finite pass through: the caller looks for them.
///
/// A model owns the workspace of its computations, so a gradient allocates nothing once the largest
/// batch was seen. Threads: one thread at a time; `clone()` gives another thread its own.
class model {
public:
  virtual ~model() = default;

  virtual std::size_t dimension() const = 0;
  /// Returns the tensors that x consists of, in order; by default one row.
  virtual std::vector<tensor_shape> tensors() const { return {{1, dimension()}}; }
  /// Returns their names in files of models; by default tensor0, tensor1, ...
  virtual std::vector<std::string> tensor_names() const;
  /// Returns their shapes in files of models; by default (columns) for a single row and (rows, columns) for more.
  virtual std::vector<std::vector<std::size_t>> tensor_sides() const;
  /// The tensors that a file of a model holds beside x. They follow from x and the training data: the statistics by
  /// which layers normalise, and tensors of x under their other names. By default none.
  virtual std::vector<std::string> buffer_names() const { return {}; }
  virtual std::vector<named_tensor> buffers_at(std::span<const float> /*x*/) const { return {}; }
  /// Writes the point where training starts: 0 for convex models, random otherwise; the same on every worker that
  /// passes the same stream. `x` has `dimension()` elements.
  virtual void initial_point(std::span<float> x, const random_stream& random) const = 0;
  /// The data may be dense or sparse, of as many features as the training data; a batch has at
  /// least one sample.
  /// @param gradient overwritten with the gradient of the mean over the batch, the l2 term included and the l1 term
  ///        left to `proximal_step`
  /// @returns the mean loss over the batch, without the l1 term
  virtual double loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) = 0;
  /// Begins `loss_and_gradient` where x is. A model on a GPU does not wait, and the gradient stays there.
  /// @returns a function that gives the result, once; it waits until there is one. The model must outlive it; x and the
  ///          indices need not
  virtual std::function<gradient_and_loss()> start_gradient(const vec& x, const batch& samples);
  /// Calls f, later and in another thread, when all gradients that were started are done or have failed. f must neither
  /// wait nor throw.
  /// @returns false when all are done already; f is then not called
  virtual bool when_done(std::function<void()> /*f*/) { return false; }
  /// True if `start_gradient` only hands the work on, to a thread of the program's own that also calls what `when_done`
  /// is given, and there has time: the worker goes on right in it.
  virtual bool computes_elsewhere() const { return false; }
  /// False for a model whose loss on the training data is known from its minibatches alone: `evaluate` gives no number
  /// there, and evaluations show the smoothed loss of all workers' minibatches.
  virtual bool measures_training_loss() const { return true; }
  /// The state that a program keeps beside x in the computation of its gradients, such as that of an optimiser of its
  /// own. It is part of the states of workers: saved in checkpoints, and given to workers that come anew.
  struct kept_beside {
    std::function<vec()> save; ///< any bytes, as elements; may wait for the program
    /// Hands a former result of `save` to the program, which takes it over before it computes the next gradient.
    std::function<void(const vec&)> restore;
  };
  /// Returns null if nothing is kept. Threads: any.
  virtual const kept_beside* keeps() const { return nullptr; }
  /// Hears of an evaluation in every process of the run, if it computes elsewhere. Threads: any.
  virtual void hear(const mean_evaluation& /*e*/) const {}
  /// Loss and accuracy on any number of samples but 0, the l1 and l2 terms included.
  virtual evaluation evaluate(std::span<const float> x, const batch& samples) = 0;
  /// w <- argmin_z ||z - w||^2 / (2 step) + l1 ||z||_1, i.e. soft thresholding of the weights by
  /// step * l1. Does nothing without l1.
  virtual void proximal_step(vec& x, float step) const;

  virtual std::unique_ptr<model> clone() const = 0;
};

struct model_entry {
  description about;
  /// @error errc::usage when the model cannot learn from such data (e.g. classification of real targets)
  std::function<std::unique_ptr<model>(const arguments&, const dataset& train)> make;
  bool augments = false; ///< true if it changes samples as the data asks for
  /// True if its gradients are the steps of an optimiser that a program has of its own, at a rate of 1.
  bool gives_directions = false;
};

/// All models. Adding one: a file in models/ with its `model_entry`, one line in
/// models/detail/entries.hpp and one in models/registry.cpp.
const registry<model_entry>& models();

/// Returns the model that a user names, e.g. "mlp:hidden=100+50", shaped for the data.
/// @param train must live as long as the model and its clones
/// @param known the models that the text may name
std::unique_ptr<model> make_model(std::string_view text, const dataset& train,
                                  const registry<model_entry>& known = models());

} // namespace gossamer::compute
