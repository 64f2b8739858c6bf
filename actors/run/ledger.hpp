#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// What each worker did and sent, in its present life and in former ones.
class ledger {
public:
  ledger() = default;
  explicit ledger(std::size_t workers) : of_(workers) {}

  /// So far, in this life: counts only grow.
  void record(rank i, std::uint32_t incarnation, std::uint64_t steps, const traffic& sent) {
    of_[i].merge({incarnation, steps, 0, sent, {}});
  }
  /// As it was when its model was taken, though more may have been heard of it since.
  void rewind(rank i, std::uint32_t incarnation, std::uint64_t steps, const traffic& sent) {
    if (incarnation < of_[i].incarnation)
      return;
    of_[i].begin(incarnation);
    of_[i].steps = steps;
    of_[i].sent = sent;
  }
  /// What another ledger of the same run knows. The most that either has heard of a life is the newest, so no order of
  /// merging matters. Of lives before the newest only the sum is known: it may stay below the truth where each ledger
  /// has missed another one, and never exceeds it.
  void merge(const ledger& other) {
    for (rank i = 0; i < std::min(of_.size(), other.of_.size()); ++i)
      merge(i, other);
  }
  /// Of one rank. @param other of as many
  void merge(rank i, const ledger& other) { of_[i].merge(other.of_[i]); }
  /// Lives before this one are over.
  void begin(rank i, std::uint32_t incarnation) { of_[i].begin(incarnation); }
  std::size_t ranks() const noexcept { return of_.size(); }
  /// The largest of all counts.
  std::uint64_t largest() const {
    std::uint64_t result = 0;
    for (const auto& one : of_)
      result = std::max(result, one.largest());
    return result;
  }
  /// What came from another process is not trusted to be of this size.
  void resize(std::size_t workers) { of_.resize(workers); }
  /// This life is over.
  void close(rank i, std::uint32_t incarnation) { of_[i].begin(incarnation + 1); }

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
  static traffic most_of(const traffic& a, const traffic& b) {
    return {std::max(a.frames, b.frames), std::max(a.payload_bits, b.payload_bits), std::max(a.wire_bits, b.wire_bits)};
  }

  struct account {
    std::uint32_t incarnation = 0;
    std::uint64_t steps = 0, former_steps = 0;
    traffic sent, former_sent;

    void begin(std::uint32_t life) {
      if (life <= incarnation)
        return;
      incarnation = life;
      former_steps += std::exchange(steps, 0);
      former_sent += std::exchange(sent, {});
    }
    std::uint64_t largest() const {
      const auto all = most_of(sent, former_sent);
      return std::max({steps, former_steps, all.frames, all.payload_bits, all.wire_bits});
    }
    void merge(account other) {
      begin(other.incarnation);
      other.begin(incarnation);
      steps = std::max(steps, other.steps);
      former_steps = std::max(former_steps, other.former_steps);
      sent = most_of(sent, other.sent);
      former_sent = most_of(former_sent, other.former_sent);
    }
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
