#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Steps and traffic of each worker, in its present incarnation and in former ones, and how many of these were lost.
class ledger {
public:
  ledger() = default;
  explicit ledger(std::size_t workers) : of_(workers) {}

  /// Records the counts of this incarnation so far; counts only grow.
  void record(rank i, std::uint32_t incarnation, std::uint64_t steps, const traffic& sent) {
    of_[i].merge({.incarnation = incarnation, .steps = steps, .sent = sent});
  }
  /// Resets a worker's counts to the moment when its model was taken, even if later counts are known.
  void rewind(rank i, std::uint32_t incarnation, std::uint64_t steps, const traffic& sent) {
    if (incarnation < of_[i].incarnation)
      return;
    of_[i].begin(incarnation);
    of_[i].steps = steps;
    of_[i].sent = sent;
  }
  /// Resets the counts of a rank's present incarnation to those of an earlier ledger: 0 if it began later.
  void rewind(rank i, const ledger& earlier) {
    const auto& before = earlier.of_[i];
    const bool was_there = before.incarnation == of_[i].incarnation;
    of_[i].steps = was_there ? before.steps : 0;
    of_[i].sent = was_there ? before.sent : traffic{};
  }
  /// Merges another ledger of the same run. Counts of one incarnation only grow, so the maximum is the newest, and the
  /// order of merging does not matter. Of earlier incarnations only the sum is known: it may stay below the truth if
  /// each ledger has missed another one, and never exceeds it.
  void merge(const ledger& other) {
    for (rank i = 0; i < std::min(of_.size(), other.of_.size()); ++i)
      merge(i, other);
  }
  /// Merges one rank. @param other of the same size
  void merge(rank i, const ledger& other) { of_[i].merge(other.of_[i]); }
  /// Closes all incarnations before this one.
  void begin(rank i, std::uint32_t incarnation) { of_[i].begin(incarnation); }
  std::size_t ranks() const noexcept { return of_.size(); }
  /// The largest of all counts.
  std::uint64_t largest() const {
    std::uint64_t result = 0;
    for (const auto& one : of_)
      result = std::max(result, one.largest());
    return result;
  }
  /// Sets the size, which a ledger from another process may have wrong.
  void resize(std::size_t workers) { of_.resize(workers); }
  /// Closes this incarnation.
  void close(rank i, std::uint32_t incarnation) { of_[i].begin(incarnation + 1); }
  /// Closes it, and counts it as lost, or as one that has left because it was told to.
  /// @returns false for an end that was counted before, also in a ledger that has been merged
  bool end(rank i, std::uint32_t incarnation, bool lost) {
    close(i, incarnation);
    return of_[i].lost.count(incarnation, lost);
  }
  /// Counts a worker that begins this incarnation while the run goes on.
  void come(rank i, std::uint32_t incarnation) { of_[i].returned.count(incarnation, true); }
  std::uint64_t lost() const { return sum(&account::lost); }
  std::uint64_t returned() const { return sum(&account::returned); }

  /// Adds the incarnations that were over when the run was saved.
  void bring(std::uint64_t former_steps, const traffic& former_sent) {
    of_.front().former_steps += former_steps;
    of_.front().former_sent += former_sent;
  }
  std::uint64_t former_steps() const {
    std::uint64_t total = 0;
    for (const auto& one : of_)
      total += one.former_steps;
    return total;
  }
  traffic former_sent() const {
    traffic total;
    for (const auto& one : of_)
      total += one.former_sent;
    return total;
  }

  std::uint64_t steps(rank i) const { return of_[i].former_steps + of_[i].steps; }
  std::uint64_t steps() const {
    std::uint64_t total = 0;
    for (rank i = 0; i < of_.size(); ++i)
      total += steps(i);
    return total;
  }
  traffic sent(rank i) const {
    auto total = of_[i].former_sent;
    total += of_[i].sent;
    return total;
  }
  traffic sent() const {
    traffic total;
    for (const auto& one : of_) {
      total += one.former_sent;
      total += one.sent;
    }
    return total;
  }

private:
  static traffic most_of(const traffic& a, const traffic& b) {
    return {std::max(a.frames, b.frames),
            std::max(a.payload_bits, b.payload_bits),
            std::max(a.wire_bits, b.wire_bits),
            std::max(a.bits_between_islands, b.bits_between_islands),
            {std::max(a.averaged.asked, b.averaged.asked), std::max(a.averaged.done, b.averaged.done),
             std::max(a.averaged.dropped, b.averaged.dropped)}};
  }

  /// Events of incarnations, which come once for each, in their order.
  struct tally {
    std::uint32_t next = 0, number = 0; ///< events of incarnations before `next` are counted; number of them

    bool count(std::uint32_t incarnation, bool adds) {
      if (incarnation < next)
        return false;
      next = incarnation + 1;
      number += adds;
      return true;
    }
    void merge(const tally& other) {
      next = std::max(next, other.next);
      number = std::max(number, other.number);
    }
  };

  struct account {
    std::uint32_t incarnation = 0;
    std::uint64_t steps = 0, former_steps = 0;
    traffic sent{}, former_sent{};
    tally lost{}, returned{};

    void begin(std::uint32_t life) {
      if (life <= incarnation)
        return;
      incarnation = life;
      former_steps += std::exchange(steps, 0);
      former_sent += std::exchange(sent, {});
    }
    std::uint64_t largest() const {
      const auto all = most_of(sent, former_sent);
      return std::max({steps, former_steps, all.frames, all.payload_bits, all.wire_bits, all.bits_between_islands,
                       all.averaged.asked, all.averaged.done, all.averaged.dropped});
    }
    void merge(account other) {
      begin(other.incarnation);
      other.begin(incarnation);
      steps = std::max(steps, other.steps);
      former_steps = std::max(former_steps, other.former_steps);
      sent = most_of(sent, other.sent);
      former_sent = most_of(former_sent, other.former_sent);
      lost.merge(other.lost);
      returned.merge(other.returned);
    }
  };

  std::uint64_t sum(tally account::*of) const {
    std::uint64_t total = 0;
    for (const auto& one : of_)
      total += (one.*of).number;
    return total;
  }

  std::vector<account> of_;

public:
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, tally& t) {
    return f(t.next, t.number);
  }
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, account& a) {
    return f(a.incarnation, a.steps, a.former_steps, a.sent, a.former_sent, a.lost, a.returned);
  }
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, ledger& l) {
    return f(l.of_);
  }
};

} // namespace gossamer::actors
