#pragma once

#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/apps/detail/order_desk.hpp"
#include "gossamer/apps/detail/page_server.hpp"

namespace gossamer::apps {

/// Returns where and with which tokens a page is served. @error errc::usage
page_server::settings settings_for(const live_options& wanted);

/// The live page of a run in this process, until this object ends.
class live_page {
public:
  /// @param command that is running: "gossamer train"
  /// @param wishes take the faults that the page asks for; null: it has no buttons
  /// @param held the simulation that the page may hold; null: none
  /// @error as `page_server`
  live_page(const run_setup& run, const std::string& command, const std::shared_ptr<actors::fault_wishes>& wishes,
            const std::shared_ptr<pace>& held);

  /// Returns what shall be told of the run; it may outlive the page.
  std::shared_ptr<actors::run_observer> observer() const;
  std::string url() const { return server_.url(); }
  /// Shows that the run has ended. @param how for people
  void end(const std::string& how);

private:
  std::shared_ptr<line_history> lines_ = std::make_shared<line_history>();
  page_server server_;
};

} // namespace gossamer::apps
