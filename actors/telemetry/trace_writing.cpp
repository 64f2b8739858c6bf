// Writes a recorded trace to a file.
#include "gossamer/actors/telemetry/trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>

namespace gossamer::actors {

namespace {

/// The text as a string in JSON; bytes that are no UTF-8 are replaced.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The format's unit is the microsecond.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// Slices that nest: a thread in the viewers' terms.
struct lane {
  struct interval {
    std::int64_t begin_ns, end_ns;
  };
  std::uint32_t id;
  std::vector<interval> open{}; ///< outermost first; ended ones are removed when the next one comes

  bool admits(const interval& next) {
    while (!open.empty() && open.back().end_ns <= next.begin_ns)
      open.pop_back();
    return open.empty() || next.end_ns <= open.back().end_ns;
  }
};

} // namespace

class trace_recorder::writer {
public:
  writer(const trace_recorder& from, std::FILE* to)
      : from_(from), to_(to), lanes_(from.rows_.size()), group_is_shown_(from.groups_.size()) {
    for (const auto& name : from.names_)
      names_.push_back(json_text(name));
  }

  void write() {
    add("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (const auto& o : occasions())
      write(o);
    if (from_.refused_ > 0)
      write_full();
    write_names();
    add("\n],\"otherData\":{{\"events\":{},\"limit\":{},\"refused\":{}}}}}\n", from_.events_.size(), from_.limit_,
        from_.refused_);
    flush();
  }

private:
  /// An event at its time, or the arrival of an arrow.
  struct occasion {
    std::uint32_t event;
    bool arrival;
  };

  /// All occasions in the order of time. At the same time slices come first, the longest before those that nest in it,
  /// and then the arrows that touch them.
  std::vector<occasion> occasions() const {
    std::vector<occasion> all;
    all.reserve(from_.events_.size());
    for (std::uint32_t i = 0; i < from_.events_.size(); ++i) {
      all.push_back({i, false});
      if (from_.events_[i].what == kind::arrow)
        all.push_back({i, true});
    }
    const auto order = [this](occasion o) {
      const auto& e = from_.events_[o.event];
      const bool slice = e.what == kind::slice;
      return std::tuple(o.arrival ? e.end_ns : e.begin_ns, !slice, slice ? -e.end_ns : 0, o.arrival, o.event);
    };
    std::sort(all.begin(), all.end(), [&](occasion a, occasion b) { return order(a) < order(b); });
    return all;
  }

  void write(occasion o) {
    const auto& e = from_.events_[o.event];
    switch (e.what) {
    case kind::slice:
      begin("X", e, e.track, e.begin_ns);
      add(",\"tid\":{},\"dur\":{}", lane_for(e), microseconds(e.end_ns - e.begin_ns));
      return end(e);
    case kind::instant:
      begin("i", e, e.track, e.begin_ns);
      add(",\"tid\":{},\"s\":\"t\"", lane_at(e.track, e.begin_ns));
      return end(e);
    case kind::counter:
      begin("C", e, e.track, e.begin_ns);
      return add(",\"args\":{{\"value\":{}}}}}", std::bit_cast<double>(e.end_ns));
    case kind::arrow:
      const auto on = o.arrival ? trace_track{e.other} : e.track;
      const auto when = o.arrival ? e.end_ns : e.begin_ns;
      begin(o.arrival ? "f" : "s", e, on, when);
      return add(",\"tid\":{},\"cat\":\"arrow\",\"id\":{}{}}}", lane_at(on, when), o.event,
                 o.arrival ? ",\"bp\":\"e\"" : ""); // to the slice around it, not to the next one
    }
  }

  void begin(std::string_view phase, const event& e, trace_track on, std::int64_t ns) {
    const auto group = row_of(on).group;
    group_is_shown_[group] = true;
    add("{}{{\"ph\":\"{}\",\"name\":{},\"ts\":{},\"pid\":{}", next_line(), phase, name(e.name), microseconds(ns),
        process(group));
  }

  void end(const event& e) {
    for (std::uint32_t i = 0; i < e.arguments; ++i) {
      const auto& [key, value] = from_.arguments_[e.other + i];
      add("{}{}:{}", i == 0 ? ",\"args\":{" : ",", name(key), value);
    }
    add("{}", e.arguments > 0 ? "}}" : "}");
  }

  /// Marks the time from which the recorder refused events, across all rows.
  void write_full() {
    const auto group = static_cast<std::uint32_t>(from_.groups_.size());
    add("{}{{\"ph\":\"i\",\"name\":\"trace full\",\"ts\":{},\"pid\":{},\"tid\":{},\"s\":\"g\"}}", next_line(),
        microseconds(from_.full_ns_), process(group), next_lane_);
    write_thread_name(group, next_lane_, "trace", 0);
    write_process_name(group, "trace");
  }

  void write_names() {
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
      const auto& row = from_.rows_[i];
      for (std::size_t k = 0; k < lanes_[i].size(); ++k)
        write_thread_name(row.group, lanes_[i][k].id, k == 0 ? row.name : fmt::format("{} ({})", row.name, k + 1), i);
    }
    for (std::uint32_t group = 0; group < group_is_shown_.size(); ++group)
      if (group_is_shown_[group])
        write_process_name(group, from_.groups_[group]);
  }

  void write_thread_name(std::uint32_t group, std::uint32_t thread, std::string_view text, std::uint32_t place) {
    const auto of = fmt::format("\"pid\":{},\"tid\":{}", process(group), thread);
    add("{}{{\"ph\":\"M\",\"name\":\"thread_name\",{},\"args\":{{\"name\":{}}}}}", next_line(), of, json_text(text));
    add("{}{{\"ph\":\"M\",\"name\":\"thread_sort_index\",{},\"args\":{{\"sort_index\":{}}}}}", next_line(), of, place);
  }

  void write_process_name(std::uint32_t group, std::string_view text) {
    const auto of = fmt::format("\"pid\":{}", process(group));
    add("{}{{\"ph\":\"M\",\"name\":\"process_name\",{},\"args\":{{\"name\":{}}}}}", next_line(), of, json_text(text));
    add("{}{{\"ph\":\"M\",\"name\":\"process_sort_index\",{},\"args\":{{\"sort_index\":{}}}}}", next_line(), of, group);
  }

  /// The first lane of the row that takes the slice without breaking the nesting.
  std::uint32_t lane_for(const event& slice) {
    const lane::interval next{slice.begin_ns, slice.end_ns};
    auto& lanes = lanes_of(slice.track);
    auto found = std::find_if(lanes.begin(), lanes.end(), [&](lane& l) { return l.admits(next); });
    if (found == lanes.end())
      found = lanes.insert(found, {next_lane_++});
    found->open.push_back(next);
    return found->id;
  }

  /// The lane with a slice that lasts at that time; the slice that began last, if there are several.
  std::uint32_t lane_at(trace_track on, std::int64_t ns) {
    auto& lanes = lanes_of(on);
    if (lanes.empty())
      lanes.push_back({next_lane_++});
    const auto begun = [ns](const lane& l) {
      return l.open.empty() || l.open.back().end_ns < ns ? -1 : l.open.back().begin_ns;
    };
    return std::max_element(lanes.begin(), lanes.end(),
                            [&](const lane& a, const lane& b) { return begun(a) < begun(b); })
        ->id;
  }

  const row& row_of(trace_track on) const { return from_.rows_[static_cast<std::uint32_t>(on)]; }
  std::vector<lane>& lanes_of(trace_track on) { return lanes_[static_cast<std::uint32_t>(on)]; }
  const std::string& name(trace_name id) const { return names_[static_cast<std::uint32_t>(id)]; }
  static std::uint32_t process(std::uint32_t group) { return group + 1; }

  std::string_view next_line() { return std::exchange(first_, false) ? "\n" : ",\n"; }

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...);
    if (text_.size() >= piece)
      flush();
  }
  void flush() {
    std::fwrite(text_.data(), 1, text_.size(), to_);
    text_.clear();
  }

  static constexpr std::size_t piece = 1 << 16;

  const trace_recorder& from_;
  std::FILE* to_;
  std::vector<std::vector<lane>> lanes_; ///< by row
  std::vector<bool> group_is_shown_;
  /// Starts above the processes' numbers: some viewers treat a thread with the number of its process differently.
  std::uint32_t next_lane_ = process(static_cast<std::uint32_t>(from_.groups_.size())) + 1;
  std::vector<std::string> names_; ///< as JSON
  bool first_ = true;
  std::string text_;
};

void trace_recorder::write(std::FILE* out) const { writer(*this, out).write(); }

} // namespace gossamer::actors
