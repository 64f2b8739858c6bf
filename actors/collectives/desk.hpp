#pragma once

#include "gossamer/actors/runtime/worker.hpp"

#include <map>
#include <vector>

namespace gossamer::actors {

/// A master's book of questions (`ask`): which it has acted on, and who waits for an answer.
///
/// A worker that has not got its answer, because the master died, asks again. A new life of the master knows from its
/// saved state what it has acted on; so the state is saved after acting and before answering (`worker::save`), and no
/// question is acted on twice. Answers say how things are when they are given, not when the question first came.
///
/// A master serves two coroutines: one for questions, one for changes of who is there (`worker::change`), after which
/// it may owe answers that it had withheld. Threads: actor-confined.
class desk {
public:
  /// The one who asks waits from now on. @returns false when this has been acted on already
  bool accept(const frame& question) {
    const auto from = question.source;
    const bool known = incarnations_.contains(from) && incarnations_[from] == question.incarnation;
    std::erase_if(waiting_, [from](const auto& w) { return w.first == from; });
    waiting_.emplace_back(from, question.label.step);
    if (known && question.label.step <= last_[from])
      return false;
    incarnations_[from] = question.incarnation;
    last_[from] = question.label.step;
    return true;
  }

  /// Those who wait, in the order in which they asked.
  std::vector<rank> waiting() const {
    std::vector<rank> result;
    for (const auto& [who, number] : waiting_)
      result.push_back(who);
    return result;
  }

  /// Requires that it waits.
  void answer(worker& w, rank to, std::uint32_t part, packet body) {
    const auto found = std::ranges::find(waiting_, to, [](const auto& entry) { return entry.first; });
    GOSSAMER_ASSERT(found != waiting_.end(), "only those who asked are answered");
    const tag label{frame_kind::reply, found->second, part};
    waiting_.erase(found);
    w.send(to, label, std::move(body));
  }

  /// Nobody answers the dead, nor those who ask again anyway because they live anew.
  void forget_lost(const worker& w) {
    std::erase_if(waiting_, [&](const auto& entry) { return !w.is_present(entry.first); });
  }

  void fields(archive& a) { a(incarnations_)(last_); }

private:
  std::map<rank, std::uint32_t> incarnations_; // of those who have asked,
  std::map<rank, std::uint64_t> last_;         // and the number of their last question
  std::vector<std::pair<rank, std::uint64_t>> waiting_;
};

} // namespace gossamer::actors
