#pragma once

#include "gossamer/actors/runtime/worker.hpp"

#include <vector>

namespace gossamer::actors {

/// What each worker did and sent, in its present life and in former ones.
class ledger {
public:
  explicit ledger(std::size_t workers = 0) : of_(workers) {}

  /// So far, in this life; of one that is over nothing is recorded any more.
  void record(rank i, std::uint32_t incarnation, std::uint64_t steps, const traffic& sent) {
    if (incarnation < of_[i].incarnation)
      return;
    of_[i].incarnation = incarnation;
    of_[i].steps = steps;
    of_[i].sent = sent;
  }
  /// Whether what is known of this one is of that life, or of a later one.
  bool knows(rank i, std::uint32_t incarnation) const { return of_[i].incarnation >= incarnation; }
  std::size_t ranks() const noexcept { return of_.size(); }
  /// This life is over.
  void close(rank i, std::uint32_t incarnation) {
    of_[i].incarnation = incarnation + 1;
    of_[i].former_steps += std::exchange(of_[i].steps, 0);
    of_[i].former_sent += std::exchange(of_[i].sent, {});
  }

  /// Of a run that goes on: lives that were over when it was saved.
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
  traffic sent() const {
    traffic total;
    for (const auto& one : of_) {
      total += one.former_sent;
      total += one.sent;
    }
    return total;
  }

private:
  struct account {
    std::uint32_t incarnation = 0;
    std::uint64_t steps = 0, former_steps = 0;
    traffic sent, former_sent;
  };

  std::vector<account> of_;

public:
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, account& a) {
    return f(a.incarnation, a.steps, a.former_steps, a.sent, a.former_sent);
  }
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, ledger& l) {
    return f(l.of_);
  }
};

} // namespace gossamer::actors
