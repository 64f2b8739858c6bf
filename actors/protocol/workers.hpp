#pragma once

#include "gossamer/actors/frames/frame.hpp"

namespace gossamer::actors {

// Messages about lives of workers and masters: their begin, pauses and end.

/// worker -> node -> leader: the sender has got the state of another worker
struct worker_joined {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
};

/// worker -> node -> leader: the sender has paused as the `parting` says, and has given or got what is handed over
struct worker_paused {
  rank source = 0;
  std::uint32_t incarnation = 0;
};

/// worker -> node -> leader: the sender's coroutines have ended
struct worker_finished {
  rank source = 0;
  std::uint32_t incarnation = 0;
};

/// node -> leader: this life is over
struct worker_lost {
  rank who = 0;
  std::uint32_t incarnation = 0;
};

/// node -> leader: this worker does not live, and may be started anew
struct worker_waits {
  rank who = 0;
};

/// fault injector -> leader -> node
struct kill_worker {
  rank who = 0;
  bool comes_back = false; ///< a restart_worker will follow
};

struct restart_worker {
  rank who = 0;
  bool if_gone = false; ///< a worker that lives stays as it is, even if it is about to leave
};

/// The worker shall leave: hand over what it has, and then end.
struct retire_worker {
  rank who = 0;
};

struct pause_worker {
  rank who = 0;
  bool paused = false; ///< false: it is to be resumed
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_joined& m) {
  return f(m.source, m.incarnation, m.step);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_paused& m) {
  return f(m.source, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_finished& m) {
  return f(m.source, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_lost& m) {
  return f(m.who, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_waits& m) {
  return f(m.who);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, kill_worker& m) {
  return f(m.who, m.comes_back);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, restart_worker& m) {
  return f(m.who, m.if_gone);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, retire_worker& m) {
  return f(m.who);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, pause_worker& m) {
  return f(m.who, m.paused);
}

} // namespace gossamer::actors
