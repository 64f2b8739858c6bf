#pragma once

#include "gossamer/actors/collectives/ask.hpp"

#include <map>
#include <vector>

namespace gossamer::actors {

/// A question that waits for its answer.
struct pending_request {
  rank from;
  tag label; ///< its number, and the question itself in the algorithm's own numbers
};

/// A master's log of questions: those that it has acted on, and those that wait for an answer. The former are part of
/// its state. The latter are not, since waiting workers ask the master's next incarnation again. Threads:
/// actor-confined.
class request_log {
public:
  /// True if this incarnation of the sender has asked before, or the one whose state it goes on from.
  bool knows(const frame& asked) const {
    const auto last = last_.find(asked.source);
    return last != last_.end() && last->second.first == asked.incarnation
           && last->second.second >> bits_of_count == asked.label.step >> bits_of_count;
  }

  /// Begins another run, from a checkpoint: all workers are in incarnation 0 again, whatever their incarnations were.
  void begin_run() {
    for (auto& [_, last] : last_)
      last.first = 0;
  }

  /// Notes that the sender waits from now on. @returns false if this question has been acted on already
  bool accept(const frame& asked) {
    forget(asked.source);
    waiting_.push_back({asked.source, asked.label});
    if (knows(asked) && asked.label.step <= last_[asked.source].second)
      return false;
    last_[asked.source] = {asked.incarnation, asked.label.step};
    return true;
  }

  /// Waiting questions in the order in which they were asked.
  const std::vector<pending_request>& waiting() const noexcept { return waiting_; }

  /// Answers a worker. Requires that it waits.
  void answer(worker& w, rank to, std::uint32_t part, packet body) {
    const auto found = std::ranges::find(waiting_, to, &pending_request::from);
    GOSSAMER_ASSERT(found != waiting_.end(), "only those who asked are answered");
    const tag label{frame_kind::reply, found->label.step, part};
    waiting_.erase(found);
    w.send(to, label, std::move(body));
  }

  /// Removes a worker's waiting question.
  void forget(rank who) {
    std::erase_if(waiting_, [who](const pending_request& q) { return q.from == who; });
  }

  /// All workers that have ever asked.
  std::vector<rank> known() const {
    std::vector<rank> result;
    for (const auto& [who, _] : last_)
      result.push_back(who);
    return result;
  }

  void fields(archive& a) { a(last_); }

private:
  std::map<rank, std::pair<std::uint32_t, std::uint64_t>>
      last_; // incarnation of the worker, number of its last question
  std::vector<pending_request> waiting_;
};

} // namespace gossamer::actors
