#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <functional>
#include <span>

namespace gossamer::actors {

/// A number of TensorBoard: one point of the curve `tag`.
struct tensorboard_scalar {
  std::string_view tag;
  double value = 0; ///< kept as a float
};

// Records of TensorBoard's event files (tfevents): a message Event in the encoding of Protocol Buffers, between its
// length and its masked CRC-32C. `wall_s` is seconds since 1970; steps are never negative.

/// The first record of every file: its version.
std::string tensorboard_beginning(double wall_s);
/// The start of a run at a step. A reader forgets what earlier files of the folder have from this step on.
std::string tensorboard_start(double wall_s, std::uint64_t step);
std::string tensorboard_scalars(double wall_s, std::uint64_t step, std::span<const tensorboard_scalar> all);
/// @param text Markdown in UTF-8
std::string tensorboard_text(double wall_s, std::uint64_t step, std::string_view tag, std::string_view text);

/// A run as an event file of TensorBoard; its steps are gradients of all workers (docs/exports.md has the tags).
/// Threads: as `run_observer`; the functions given are called by its members.
class tensorboard_observer final : public run_observer {
public:
  struct settings {
    std::function<double()> wall_s;              ///< seconds since 1970
    std::function<void(std::string_view)> write; ///< takes whole records; may throw
    double steps_per_epoch = 1;                  ///< gradients of all workers
    double epochs_ahead = 0;                     ///< as in experiment
    std::uint64_t first_step = 0;                ///< of a run that goes on from a checkpoint
  };

  /// Writes the beginning of the file. @param about the run, as text of any kind
  tensorboard_observer(settings s, std::string_view about);

  void on_progress(const progress_record& r) override;
  void on_evaluation(const evaluation_record& r) override;
  void on_event(const event_record& r) override;

private:
  settings settings_;
  std::uint64_t step_; // the last one that is known
};

} // namespace gossamer::actors
