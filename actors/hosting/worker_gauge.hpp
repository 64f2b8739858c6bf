#pragma once

#include "gossamer/actors/frames/traffic_table.hpp"
#include "gossamer/actors/protocol/worker_activity.hpp"
#include "gossamer/actors/worker/witness.hpp"
#include "gossamer/compress/coder.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gossamer::actors {

/// What a worker sends and how it uses its time, for those who look on: written by the worker, read by its node.
/// Threads: `sample` and `sent` may be called by any, the rest by the worker; nobody waits for longer than a copy
/// takes.
class worker_gauge final : public witness {
public:
  using time = time_sheet::time;

  /// @param measures true where time passes by itself: the worker's is measured, and this has to be its witness
  /// @param besides hears of all that a picture shows; null: nobody does
  explicit worker_gauge(rank who = 0, bool measures = false, witness* besides = nullptr, island_map islands = {})
      : who_(who), measures_(measures), besides_(besides),
        sent_(std::make_shared<traffic_table>(who, std::move(islands))) {}

  bool measures() const noexcept { return measures_; }
  const std::shared_ptr<traffic_table>& sent() const noexcept { return sent_; }

  /// 0 where nothing is measured.
  time now() const;
  void gradient_begins();
  void gradient_ends();
  /// A part of the present handler was compressing.
  void compressed(time took) { parts_.of(activity::compressing) += took.count(); }
  void wait_begins(rank who, rank whom, const tag& wanted) override;
  void wait_ends(rank who, rank whom) override;
  void pauses(rank who, time lasts) override;
  void ends(rank who, std::uint32_t incarnation) override;
  void adopts(rank who, const view& v) override;
  void delivered(rank who, const frame& f) override;

  /// The worker handles a message during the lifetime of such an object.
  class handling {
  public:
    explicit handling(worker_gauge& g) : gauge_(g) { gauge_.handler_begins(); }
    ~handling() { gauge_.handler_ends(); }
    handling(const handling&) = delete;
    handling& operator=(const handling&) = delete;

  private:
    worker_gauge& gauge_;
  };
  /// The present handler sends during the lifetime of such an object. No other part of it overlaps.
  class sending {
  public:
    explicit sending(worker_gauge& g) : gauge_(g), began_(g.now()) {}
    ~sending() { gauge_.parts_.of(activity::communicating) += (gauge_.now() - began_).count(); }
    sending(const sending&) = delete;
    sending& operator=(const sending&) = delete;

  private:
    worker_gauge& gauge_;
    time began_;
  };

  /// @param run_time moment in the time of the run, to which rates refer
  worker_activity sample(time run_time);

private:
  void handler_begins();
  void handler_ends();

  const rank who_;
  const bool measures_;
  witness* const besides_;
  const std::shared_ptr<traffic_table> sent_;
  time_use parts_;        // of the present handler
  time handler_began_{0}; // the present handler, or the last one
  time gradient_began_{0};
  std::mutex mutex_; // guards what follows
  time_sheet sheet_;
  time sampled_{0};
  std::map<rank, std::uint64_t> sampled_bits_;
};

/// A coder whose work counts as compressing, where time is measured. @param inner does the work
std::shared_ptr<const compress::coder> measured(std::shared_ptr<const compress::coder> inner,
                                                std::shared_ptr<worker_gauge> gauge);

/// The gauges of the workers of one process. Threads: one at a time.
class gauge_board {
public:
  /// @param besides as in `worker_gauge`
  explicit gauge_board(bool measures, witness* besides = nullptr, island_map islands = {})
      : measures_(measures), besides_(besides), islands_(std::move(islands)) {}

  /// True if payload between islands is counted.
  bool has_islands() const noexcept { return islands_ != nullptr; }

  /// Returns a new gauge for a life of this worker.
  std::shared_ptr<worker_gauge> open(rank who) {
    return gauges_[who] = std::make_shared<worker_gauge>(who, measures_, besides_, islands_);
  }
  std::vector<worker_activity> sample(worker_gauge::time run_time) const;

private:
  bool measures_;
  witness* besides_;
  island_map islands_;
  std::map<rank, std::shared_ptr<worker_gauge>> gauges_;
};

} // namespace gossamer::actors
