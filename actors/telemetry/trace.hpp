#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// A row of the picture: a worker, a link, a fault.
enum class trace_track : std::uint32_t {};
/// A text that events share: the name of an event, or of a number.
enum class trace_name : std::uint32_t {};

struct trace_argument {
  trace_name key;
  std::int64_t value;
};
using trace_arguments = std::initializer_list<trace_argument>;

/// Records events with their times, and writes them as a file for Perfetto (ui.perfetto.dev) and chrome://tracing.
///
/// Events may be recorded in any order. Times are nanoseconds since the start of the run and not negative. Slices of
/// one track may overlap: those that neither nest nor are disjoint, as frames in flight on one link, are spread over
/// the least number of lanes ("0 -> 1", "0 -> 1 (2)", ...), because viewers want the slices of a row to nest.
///
/// Cost: O(1) and 32 bytes an event, 16 bytes an argument. After `limit` events the recorder refuses further ones, and
/// the file says so. Threads: one at a time.
/// Format: "Trace Event Format", the JSON format of Chromium's trace viewer.
class trace_recorder {
public:
  static constexpr std::size_t default_limit = 500'000;

  explicit trace_recorder(std::size_t limit = default_limit) : limit_(limit) {}
  trace_recorder(const trace_recorder&) = delete;
  trace_recorder& operator=(const trace_recorder&) = delete;

  /// The row of that name in that group. Groups, and the rows within them, are shown in the order of their first
  /// mention. A row without events is left out of the file.
  trace_track track(std::string_view group, std::string_view name);
  /// The handle of a text, for all events that bear it.
  trace_name name(std::string_view text);

  /// An event with a duration; `begin_ns` <= `end_ns`.
  void slice(trace_track on, trace_name what, std::int64_t begin_ns, std::int64_t end_ns,
             trace_arguments arguments = {});
  /// An event without a duration.
  void instant(trace_track on, trace_name what, std::int64_t at_ns, trace_arguments arguments = {});
  /// The value of a curve, e.g. the loss; not drawn unless finite. Curves stand above the rows of the track's group.
  void counter(trace_track on, trace_name what, std::int64_t at_ns, double value);
  /// One event led to another: drawn from the slice of `from` that lasts at `from_ns` to the slice of `to` that lasts
  /// at `to_ns` >= `from_ns`, both limits included. Viewers leave out arrows that touch no slice.
  void arrow(trace_name what, trace_track from, std::int64_t from_ns, trace_track to, std::int64_t to_ns);

  std::size_t events() const noexcept { return events_.size(); }
  /// Number of events that came when the recorder was full.
  std::size_t refused() const noexcept { return refused_; }

  /// Writes the file, in the order of time, in pieces: the memory is 4 bytes an event. Failures are left in the
  /// stream's error indicator.
  void write(std::FILE* out) const;

private:
  enum class kind : std::uint8_t { slice, arrow, instant, counter };

  struct event {
    std::int64_t begin_ns;
    std::int64_t end_ns; ///< of a counter: the bits of its value
    trace_track track;
    trace_name name;
    std::uint32_t other; ///< the first argument; of an arrow: the track that it leads to
    std::uint8_t arguments;
    kind what;
  };
  static_assert(sizeof(event) == 32);

  struct row {
    std::uint32_t group;
    std::string name;
  };

  class writer; // trace_writing.cpp

  void record(event e, trace_arguments arguments);

  std::size_t limit_;
  std::size_t refused_ = 0;
  std::int64_t full_ns_ = 0; ///< when the first refused event began
  std::vector<event> events_;
  std::vector<trace_argument> arguments_;
  std::deque<std::string> names_; ///< a deque never moves its elements: the map's keys point into them
  std::unordered_map<std::string_view, trace_name> name_of_;
  std::vector<std::string> groups_;
  std::vector<row> rows_;
  std::map<std::pair<std::string, std::string>, trace_track> track_of_;
};

} // namespace gossamer::actors
