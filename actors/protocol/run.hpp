#pragma once

#include "gossamer/base/error.hpp"

#include <string>

namespace gossamer::actors {

// Messages for the beginning of a run, for signs of life, and for its end.

/// leader -> node: workers that were started before begin together; workers started later begin at once
struct begin_run {};

/// leader -> node: the leader lives. A node's own signs of life are its `work_report`s
struct heartbeat {
  bool watched = false; ///< somebody looks on: reports shall tell what workers do
};

/// node -> leader: the sender cannot exchange frames with that node any more
struct node_lost {
  std::uint32_t node = 0;
  std::string why;
};

/// fault injector -> node of its process: worth a line to the observer
struct run_event {
  std::string what;
};

/// any -> leader -> main
struct run_failed {
  errc code = errc::failed;
  std::string sentence, remedy;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, begin_run&) {
  return f();
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, heartbeat& m) {
  return f(m.watched);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, node_lost& m) {
  return f(m.node, m.why);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_event& m) {
  return f(m.what);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_failed& m) {
  return f(m.code, m.sentence, m.remedy);
}

} // namespace gossamer::actors
