#pragma once

#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/apps/detail/order_desk.hpp"
#include "gossamer/apps/detail/page_server.hpp"

namespace gossamer::apps {

/// Returns where and with which tokens a page is served. @error errc::usage
page_server::settings settings_for(const live_options& wanted);

/// The live page of a run in this process, from its beginning until this object ends. Nothing that the page or a
/// browser does holds up the run.
class live_page {
public:
  /// @param command that is running: "gossamer train"
  /// @param wishes take the faults that the page asks for; null: it has no buttons
  /// @param held the simulation that the page may hold; null: none
  /// @error as `page_server`
  live_page(const live_options& wanted, const run_setup& run, const std::string& command,
            const std::shared_ptr<actors::fault_wishes>& wishes, const std::shared_ptr<pace>& held);

  /// To be told of the run.
  actors::run_observer* observer() const noexcept { return observer_.get(); }
  std::string url() const { return server_.url(); }
  /// Shows that the run has ended.
  void end(const actors::run_summary& summary);

private:
  std::shared_ptr<line_history> lines_ = std::make_shared<line_history>();
  actors::side_thread thread_;
  std::shared_ptr<actors::run_observer> observer_;
  page_server server_;
};

/// Opens the page that is wanted, and says where it is; null if none is wanted.
/// @param say takes lines for people, without the newline
std::unique_ptr<live_page> open_page(const run_setup& run, const std::string& command,
                                     const std::shared_ptr<actors::fault_wishes>& wishes,
                                     const std::function<void(const std::string&)>& say,
                                     const std::shared_ptr<pace>& held = nullptr);

} // namespace gossamer::apps
