#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::support {

/// The rules of viewers for a file in the Trace Event Format, applied to one file.
class trace_rules {
public:
  /// @returns a sentence for each broken rule; none when the file is in order
  static std::vector<std::string> problems(const std::string& text) {
    const auto file = nlohmann::json::parse(text, nullptr, false);
    if (file.is_discarded())
      return {"the file is not JSON"};
    if (!file.is_object() || !file.value("traceEvents", nlohmann::json()).is_array())
      return {"there is no array traceEvents"};
    trace_rules rules;
    for (const auto& event : file["traceEvents"])
      if (rules.has_fields(event))
        rules.take(event);
    rules.check_names();
    rules.check_nesting();
    rules.check_pairs(rules.spans_, "b", "e");
    rules.check_pairs(rules.flows_, "s", "f");
    return rules.problems_;
  }

private:
  using json = nlohmann::json;
  using thread = std::pair<std::int64_t, std::int64_t>; // pid, tid
  struct interval {
    std::int64_t begin_ns, end_ns;
  };
  struct ends {
    std::vector<std::int64_t> first, last;
  };
  using pairs = std::map<std::pair<std::string, std::string>, ends>; // by category and id

  void complain(const std::string& what, const json& event) { problems_.push_back(what + ": " + event.dump()); }

  bool has_fields(const json& event) {
    static const std::map<std::string, std::vector<std::string>> required{
        {"M", {"name", "pid", "args"}},
        {"X", {"name", "pid", "tid", "ts", "dur"}},
        {"i", {"name", "pid", "tid", "ts", "s"}},
        {"C", {"name", "pid", "ts", "args"}},
        {"b", {"name", "pid", "tid", "ts", "cat", "id"}},
        {"e", {"name", "pid", "tid", "ts", "cat", "id"}},
        {"s", {"name", "pid", "tid", "ts", "cat", "id"}},
        {"f", {"name", "pid", "tid", "ts", "cat", "id"}},
    };
    const auto phase = event.is_object() ? event.value("ph", json()) : json();
    const auto found = phase.is_string() ? required.find(phase.get<std::string>()) : required.end();
    if (found == required.end())
      return complain("an event of no known phase", event), false;
    const auto before = problems_.size();
    for (const auto& key : found->second)
      if (!event.contains(key))
        complain("no " + key, event);
    for (const auto& key : {"name", "cat", "s"})
      if (event.contains(key) && !event[key].is_string())
        complain(std::string(key) + " is no text", event);
    for (const auto& key : {"pid", "tid"})
      if (event.contains(key) && !event[key].is_number_integer())
        complain(std::string(key) + " is no whole number", event);
    for (const auto& key : {"ts", "dur"})
      if (event.contains(key) && !(event[key].is_number() && event[key].get<double>() >= 0))
        complain(std::string(key) + " is no number from 0 on", event);
    if (event.contains("args") && !event["args"].is_object())
      complain("args is no object", event);
    return problems_.size() == before;
  }

  void take(const json& event) {
    const auto phase = event["ph"].get<std::string>();
    if (phase == "M")
      return take_name(event);
    const std::int64_t pid = event["pid"];
    ++processes_[pid].first;
    const auto ns = nanoseconds(event["ts"]);
    if (phase == "C") {
      if (event["args"].empty() || !std::ranges::all_of(event["args"], [](const json& v) { return v.is_number(); }))
        complain("a counter without numbers", event);
      return;
    }
    const thread on{pid, event["tid"]};
    ++threads_[on].first;
    if (phase == "X")
      slices_[on].push_back({ns, ns + nanoseconds(event["dur"])});
    else if (phase == "i" && std::string("gpt").find(event["s"].get<std::string>()) == std::string::npos)
      complain("an instant of unknown scope", event);
    else if (phase != "i") {
      auto& pair = (phase == "b" || phase == "e" ? spans_ : flows_)[{event["cat"], event["id"].dump()}];
      (phase == "b" || phase == "s" ? pair.first : pair.last).push_back(ns);
    }
  }

  void take_name(const json& event) {
    const std::string name = event["name"];
    const bool of_thread = name.starts_with("thread_");
    if (of_thread && !event.contains("tid"))
      return complain("no tid", event);
    const bool sorts = name.ends_with("_sort_index");
    const auto value = event["args"].value(sorts ? "sort_index" : "name", json());
    if (sorts ? !value.is_number_integer() : !value.is_string())
      return complain("a name that names nothing", event);
    if (!sorts)
      ++(of_thread ? threads_[{event["pid"], event["tid"]}] : processes_[event["pid"]]).second;
  }

  void check_names() {
    const auto expect_one = [this](const std::string& what, int names) {
      if (names != 1)
        problems_.push_back(what + " has " + std::to_string(names) + " names");
    };
    for (const auto& [pid, counts] : processes_)
      expect_one("process " + std::to_string(pid), counts.second);
    for (const auto& [id, counts] : threads_)
      expect_one("thread " + std::to_string(id.second) + " of process " + std::to_string(id.first), counts.second);
  }

  void check_nesting() {
    for (auto& [id, slices] : slices_) {
      std::ranges::sort(slices, [](const interval& a, const interval& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
      });
      std::vector<std::int64_t> open_until;
      for (const auto& s : slices) {
        while (!open_until.empty() && open_until.back() <= s.begin_ns)
          open_until.pop_back();
        if (!open_until.empty() && open_until.back() < s.end_ns)
          problems_.push_back("slices of thread " + std::to_string(id.second) + " overlap at "
                              + std::to_string(s.begin_ns) + " ns without nesting");
        open_until.push_back(s.end_ns);
      }
    }
  }

  /// Expects one beginning and one end for each category and id, in this order.
  void check_pairs(const pairs& of, const std::string& first, const std::string& last) {
    for (const auto& [key, found] : of)
      if (found.first.size() != 1 || found.last.size() != 1)
        problems_.push_back(key.first + " " + key.second + " has " + std::to_string(found.first.size()) + " " + first
                            + " and " + std::to_string(found.last.size()) + " " + last);
      else if (found.last.front() < found.first.front())
        problems_.push_back(key.first + " " + key.second + ": " + last + " comes before " + first);
  }

  static std::int64_t nanoseconds(double microseconds) { return std::llround(microseconds * 1000); }

  std::vector<std::string> problems_;
  std::map<std::int64_t, std::pair<int, int>> processes_; // events, names
  std::map<thread, std::pair<int, int>> threads_;
  std::map<thread, std::vector<interval>> slices_;
  pairs spans_, flows_;
};

} // namespace gossamer::support
