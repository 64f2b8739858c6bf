#pragma once

#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/actors/simulation/work_costs.hpp"
#include "gossamer/actors/telemetry/time_use.hpp"
#include "gossamer/actors/worker/work_clock.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace gossamer::actors {

/// A part of a handler with one activity.
struct work_share {
  activity what;
  double ns;
};

/// Charges the handlers of a simulated world, one after the other, for the work that is counted in them.
/// Deterministic: sums of counts times costs, in the order of the work. Threads: one at a time.
class cost_meter final : public work_clock {
public:
  /// Told of a handler that has taken time, and of its shares, in order.
  using listener = std::function<void(rank who, std::span<const work_share> shares)>;

  /// @param known the codecs of the run
  cost_meter(const work_costs& costs, const registry<compress::codec_entry>& known, listener on_end)
      : costs_(costs), coding_(by_wire_number(costs, known)), on_end_(std::move(on_end)) {}

  void begin(rank who) override;
  void handling(const frame& f) override;
  std::chrono::nanoseconds spent() const override { return from_seconds(1e-9 * std::min(spent_ns_, longest_ns)); }
  std::chrono::nanoseconds end() override;

  void arithmetic(std::uint64_t bytes) override;
  void drawing(std::uint64_t words) override;
  void encoding(std::uint8_t codec, std::uint64_t elements) override;
  void decoding(std::uint8_t codec, std::uint64_t elements) override;

private:
  static constexpr double longest_ns = 1e15; // eleven days: far longer than any useful run

  void charge(activity what, std::uint64_t count, double ns_each);

  work_costs costs_;
  std::array<work_costs::coding, 256> coding_;
  listener on_end_;
  rank who_ = 0;
  double spent_ns_ = 0;
  std::vector<work_share> shares_;
};

} // namespace gossamer::actors
