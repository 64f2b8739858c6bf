#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/page_server.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace gossamer::apps {

/// What a page orders the launcher to do.
struct kill_process {
  std::optional<std::size_t> node; ///< absent: the one that leads
};
struct stop_process {
  std::optional<std::size_t> node;
  double seconds = 0; ///< then it goes on
};
/// An order for the leader's `order_desk`.
struct leaders_order {
  std::string text;
};
using launch_order = std::variant<kill_process, stop_process, leaders_order>;

/// Reads "kill [K]", "stop [K] SECONDS", or another order, which is the leader's.
/// @param nodes number of the nodes @error errc::usage
launch_order parse_launch_order(const std::string& text, std::size_t nodes);

/// The live page of a launched run. The launcher serves it, so it survives every node, the leader too.
/// Threads: one, which neither waits for browsers nor for disks.
class launch_page {
public:
  /// Says on standard error where the page is. @error as `page_server`
  launch_page(const program& p, const live_options& wanted, std::size_t nodes);

  /// Takes in what a node has announced as `live_is`. Nodes are trusted to send JSON; anything else is ignored.
  void hear(const std::string& type, const std::string& line);
  /// Shows news of the launcher itself.
  void tell(const std::string& what);
  void end(const std::string& how);
  /// The orders since the last call.
  std::vector<launch_order> take_orders();

private:
  struct waiting {
    std::mutex mutex;
    std::vector<launch_order> orders;
  };

  std::shared_ptr<line_history> lines_ = std::make_shared<line_history>();
  std::shared_ptr<waiting> waiting_ = std::make_shared<waiting>();
  double time_s_ = 0; // the run's, as far as is known
  std::optional<page_server> server_;
};

} // namespace gossamer::apps
