#pragma once

#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/model.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "desk.hpp"

namespace gossamer::python {

/// The tensors of a user's model, one behind the other in a flat vector.
struct parameters {
  std::vector<std::string> names;
  std::vector<std::vector<std::size_t>> shapes;
  std::vector<float> initial;
};

/// The samples that a run deals out: numbers from 0 on, whatever they stand for.
struct sample_set {
  std::size_t count = 1;
  std::vector<float> labels = {}; ///< class of each; empty: partitions by label are not possible
  std::size_t classes = 0;
  std::string id = {}; ///< the user's name for this data; all processes have the same
};

/// A user's model and data, in the form of entries for the tables of a run.
///
/// A function computes a gradient where the run's thread calls it; without one the run's thread asks the user's loop,
/// at the desk.
struct source {
  using function = std::function<double(std::span<const float> x, const compute::batch&, std::span<float> gradient)>;
  using evaluation = std::function<compute::evaluation(std::span<const float> x)>;

  parameters shape;
  sample_set samples;
  function gradient = {};
  evaluation evaluate = {};      ///< of a function's model; empty: nothing is evaluated
  bool evaluates_in_loop = true; ///< false: the loop computes no evaluation
  bool gives_directions = false; ///< the loop has an optimiser of its own, and hands over what that moves
  std::shared_ptr<desk> loop = std::make_shared<desk>();
  compute::model::kept_beside beside{[at = loop] { return at->kept(); }, [at = loop](const vec& v) { at->restore(v); }};

  /// "module:parameters=79510,tensors=0f3c5d7e9a1b2c3d": what all processes must have alike
  std::string model_spec() const;
  /// "samples:count=60000,id=..."
  std::string data_spec() const;
};

compute::model_entry model_entry_of(const std::shared_ptr<const source>& s);
compute::data_entry data_entry_of(const std::shared_ptr<const source>& s);

} // namespace gossamer::python
