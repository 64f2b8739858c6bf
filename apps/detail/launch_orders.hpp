#pragma once

#include "gossamer/apps/detail/launch_page.hpp"

#include <map>

namespace gossamer::apps {

/// The processes of a launch, as orders of its page see them.
struct ordered_processes {
  std::function<std::size_t()> leader;                      ///< number of the node that leads
  std::function<bool(std::size_t node, int signal)> signal; ///< false: there is no such process here
  /// To the standard input of the node that leads. False: it does not read what was written before.
  std::function<bool(const std::string& line)> write_to_leader;
};

/// Carries out what the page of a launch orders. Threads: one at a time.
class launch_orders {
public:
  explicit launch_orders(ordered_processes all) : all_(std::move(all)) {}

  /// @param now_s seconds since any moment
  void obey(launch_page& page, double now_s);

private:
  void obey(const kill_process& m, launch_page& page, double now_s);
  void obey(const stop_process& m, launch_page& page, double now_s);
  void obey(const leaders_order& m, launch_page& page, double now_s);
  bool signal(std::size_t node, int signal, const std::string& done, launch_page& page);

  ordered_processes all_;
  std::map<std::size_t, double> stopped_; // until when
};

} // namespace gossamer::apps
