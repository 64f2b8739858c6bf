#pragma once

#include "gossamer/actors/telemetry/observers.hpp"
#include "gossamer/apps/detail/pace.hpp"
#include "gossamer/apps/detail/setup.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gossamer::apps {

/// Those who watch a run besides its folder and its terminal, as `live_options` and `feed_options` ask for: the live
/// page, readers of its lines, TensorBoard. Each has a thread of its own; a run waits for none of them. An error of one
/// (a full disk) is thrown by the next record, and so ends the run.
class audience final {
public:
  /// @param command that is running: "gossamer train"
  /// @param folder of the run, after which TensorBoard's folder is called
  /// @param say takes lines for people, without the newline
  /// @param held the simulation that a page with control may hold; null: none
  /// @error errc::usage, errc::io before the run begins
  audience(const run_setup& run, const std::string& command, const std::filesystem::path& folder,
           const std::function<void(const std::string&)>& say, std::shared_ptr<pace> held = nullptr);
  audience(const audience&) = delete;
  audience& operator=(const audience&) = delete;
  /// Gives the watchers of a run that has failed a little time to learn why.
  ~audience();

  /// Returns the observer of a run: first this one, then the audience. @param first outlives the result, as this does
  actors::observers behind(actors::run_observer& first) const;
  /// Tells all that the run has ended, and waits until files are written. @error errc::io
  void end(const actors::run_summary& summary);

  /// The faults that a page with control asks for; null: nobody may interfere.
  const std::shared_ptr<actors::fault_wishes>& wishes() const noexcept { return wishes_; }

private:
  class seat;

  std::shared_ptr<actors::fault_wishes> wishes_;
  std::shared_ptr<pace> held_;
  std::vector<std::unique_ptr<seat>> seats_;
};

} // namespace gossamer::apps
