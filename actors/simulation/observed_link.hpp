#pragma once

#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/simulation/observer.hpp"

namespace gossamer::actors {

/// Outermost of a simulated world's links: tells the auditor each frame that is sent, and charges for it.
class observed_link final : public link {
public:
  /// @param observer, meter outlive the link
  observed_link(simulation_observer& observer, cost_meter& meter, std::unique_ptr<link> inner)
      : observer_(observer), meter_(meter), inner_(std::move(inner)) {}

  void send(frame f) override {
    observer_.carries(f);
    meter_.handling(f);
    inner_->send(std::move(f));
  }

private:
  simulation_observer& observer_;
  cost_meter& meter_;
  std::unique_ptr<link> inner_;
};

} // namespace gossamer::actors
