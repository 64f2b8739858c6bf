#pragma once

#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/simulation/observer.hpp"

namespace gossamer::actors {

/// Outermost of a simulated world's links: tells the auditor each frame that is sent, and charges for it.
class observed_link final : public link {
public:
  /// @param observer, meter outlive the link
  /// @param crosses whether it leads to another island
  observed_link(simulation_observer& observer, cost_meter& meter, bool crosses, std::unique_ptr<link> inner)
      : observer_(observer), meter_(meter), crosses_(crosses), inner_(std::move(inner)) {}

  void send(frame f) override {
    observer_.carries(f, crosses_);
    meter_.handling(f);
    inner_->send(std::move(f));
  }

private:
  simulation_observer& observer_;
  cost_meter& meter_;
  bool crosses_;
  std::unique_ptr<link> inner_;
};

} // namespace gossamer::actors
