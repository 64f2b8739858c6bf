#pragma once

#include <memory>
#include <nanobind/nanobind.h>
#include <utility>

#include "desk.hpp"
#include "group_calls.hpp"

namespace gossamer::python {

/// The program's side of a group. Threads: one at a time.
class python_group {
public:
  python_group(std::shared_ptr<desk> loop, std::shared_ptr<group_slot> slot)
      : loop_(std::move(loop)), slot_(std::move(slot)) {}

  /// Answers the job with which the worker asks for a call.
  void call(const std::shared_ptr<job>& asks, group_call what) const;
  group_outcome last() const { return slot_->last(); }

private:
  std::shared_ptr<desk> loop_;
  std::shared_ptr<group_slot> slot_;
};

/// Defines the class Group.
void bind_group(nanobind::module_& m);

} // namespace gossamer::python
