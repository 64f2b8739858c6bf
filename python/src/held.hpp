#pragma once

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <utility>

namespace gossamer::python {

namespace nb = nanobind;

/// A vector of the program, which may be read-only; and one that is written into.
using input = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using floats = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using read_only_floats = nb::ndarray<nb::numpy, const float, nb::ndim<1>, nb::c_contig>;

/// A Python object that threads without the interpreter's lock may copy and destroy.
class held {
public:
  explicit held(nb::object o)
      : object_(new nb::object(std::move(o)), [](nb::object* p) {
          if (!Py_IsInitialized())
            return; // the interpreter has gone, and the object with it
          const nb::gil_scoped_acquire lock;
          delete p;
        }) {}
  const nb::object& operator*() const { return *object_; }
  const nb::object* operator->() const { return object_.get(); }

private:
  std::shared_ptr<nb::object> object_;
};

/// The first exception of the user's functions; the run that it ends reports it as a sentence only.
struct first_exception {
  std::mutex mutex;
  std::exception_ptr what = nullptr;

  std::exception_ptr take() {
    const std::lock_guard lock{mutex};
    return std::exchange(what, nullptr);
  }
  void keep(std::exception_ptr e) {
    const std::lock_guard lock{mutex};
    if (!what)
      what = std::move(e);
  }
};

/// Calls Python. An exception there ends the run as a wrong request does, and is raised in its own form afterwards.
template <class Call>
auto in_python(const std::shared_ptr<first_exception>& kept, const Call& call) {
  const nb::gil_scoped_acquire lock;
  try {
    return call();
  } catch (const nb::cast_error&) {
    throw error(errc::usage, "a function of the program gave a value of a wrong type",
                "losses and accuracies are floats, steps whole numbers from 0 on");
  } catch (nb::python_error& e) {
    kept->keep(std::current_exception());
    throw error(errc::usage, fmt::format("a function of the program raised {}", nb::type_name(e.type()).c_str()));
  }
}

} // namespace gossamer::python
