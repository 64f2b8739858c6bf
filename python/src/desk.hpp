#pragma once

#include "gossamer/compute/model.hpp"
#include "gossamer/compute/sampler.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace gossamer::python {

/// The reason why the run gets no answer any more: the loop has been left.
class loop_has_been_left : public error {
public:
  explicit loop_has_been_left(const std::string& why) : error(errc::device, why) {}
};

/// One thing that the run wants of the user's loop: a gradient, an evaluation, or what the loop keeps beside the model.
struct job {
  bool is_evaluation = false;
  bool is_to_keep = false;           ///< the desk answers it
  vec x;                             ///< where
  std::vector<std::int64_t> samples; ///< of which minibatch, as PyTorch indexes; empty for an evaluation
  std::uint32_t worker = 0;
  std::uint64_t step = 0;
  /// The worker's share: this and the following minibatches, as long as it stays the same; for the loop's thread. Null
  /// where the samples come from no share.
  std::shared_ptr<compute::sampler> order = nullptr;
  std::vector<std::uint32_t> members = {}; ///< ranks of the workers that take part
  double epoch = 0;                        ///< passes of all of them through the samples
  double planned_epochs = 0;               ///< infinite if only its time ends the run

  // the answer, guarded by the desk
  compute::gradient_and_loss gradient = {};
  compute::evaluation evaluation = {};
  vec kept = {};
  std::exception_ptr failure = nullptr;
  bool is_done = false;
  std::function<void()> on_done = {};
};

/// Where the threads of a run and the thread of the user's loop meet. Threads: safe.
class desk {
public:
  using ticket = std::shared_ptr<job>;

  // -- the run's side -------------------------------------------------------------------------------------------------

  ticket post(job wanted);
  /// Waits until the job is done. @error what the loop has failed with
  void wait(const ticket& t);
  /// @returns false if the job is done; else f is called when it is, in the loop's thread
  bool when_done(const ticket& t, std::function<void()> f);
  /// No job will be posted any more.
  void end();
  /// Returns what the loop keeps beside the model, between two of its steps; waits for the end of one. Empty where it
  /// keeps nothing, or has been left.
  vec kept();
  /// Gives back what was kept, before the next job of the loop.
  void restore(const vec& kept);
  void hear(const compute::mean_evaluation& e);

  // -- the loop's side ------------------------------------------------------------------------------------------------

  /// @param k its functions are called in the loop's thread, while it waits for a job or hands one over
  void keep_with(compute::model::kept_beside k);
  /// Waits for the next job, for a limited time. @returns null when none came
  ticket take(std::chrono::milliseconds patience);
  bool has_ended() const;
  /// The last evaluation that this process has heard of.
  std::optional<compute::mean_evaluation> heard() const;
  /// A job that was taken and got no answer: an exception may have come in between. Null if there is none.
  ticket unanswered() const;
  void answer(const ticket& t, compute::gradient_and_loss result);
  void answer(const ticket& t, compute::evaluation result);
  /// All jobs fail from now on, and those that are under way.
  void leave(const std::string& why);

private:
  void finish(job& j, std::unique_lock<std::mutex> lock);
  void give_back(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::deque<ticket> posted_;
  std::deque<ticket> taken_;
  std::exception_ptr left_ = nullptr;
  bool ended_ = false;
  std::optional<compute::model::kept_beside> keeper_;
  std::optional<vec> restored_; ///< to be given back
  std::optional<compute::mean_evaluation> heard_;
  std::thread::id loop_; ///< the thread that takes jobs
};

} // namespace gossamer::python
