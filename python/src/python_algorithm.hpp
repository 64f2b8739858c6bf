#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

#include <memory>
#include <string>
#include <vector>

#include "held.hpp"

namespace gossamer::python {

/// A class of the user, derived from gossamer.Algorithm.
struct algorithm_class {
  held type;
  std::string name;
  bool along_edges = true; ///< frames travel between neighbours; false: among all workers
  bool synchronous = true;
  std::vector<std::string> state; ///< names of the attributes that are its state
};

/// An algorithm whose coroutine is one of Python's. It yields what it waits for to a coroutine here, which awaits it.
/// @param kept gets the exceptions of the class
actors::algorithm_entry entry_of(const algorithm_class& c, const std::shared_ptr<first_exception>& kept);

/// Binds the worker as Python sees it.
void bind_worker(nb::module_& m);

} // namespace gossamer::python
