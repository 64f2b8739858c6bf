#include "gossamer/actors/hosting/trace_moment.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace gossamer::actors {

namespace {

constexpr rank most_ranks = 2 * topology::max_workers;    // with masters
constexpr std::int64_t most_ns = 100'000'000'000'000'000; // three years: sums of some times fit into 64 bits

/// The numbers of a text, one after the other.
class numbers {
public:
  explicit numbers(std::string_view text) : rest_(text) {}

  bool are_left() const { return !rest_.empty(); }
  template <class Number>
  Number next() {
    Number value{};
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<std::size_t>(end - rest_.data());
    if (problem != std::errc{} || (length < rest_.size() && rest_[length] != ' '))
      throw error(errc::bad_data, "a moment of a trace is damaged");
    rest_.remove_prefix(std::min(rest_.size(), length + 1));
    return value;
  }

private:
  std::string_view rest_;
};

} // namespace

std::string to_text(std::span<const trace_moment> moments) {
  std::string result;
  for (const auto& m : moments)
    result += fmt::format("{}{} {} {} {} {} {} {} {} {} {}", result.empty() ? "" : " ", static_cast<unsigned>(m.what),
                          m.at_ns, m.who, m.other, m.incarnation, static_cast<unsigned>(m.label.kind), m.label.step,
                          m.label.part, m.label.view, m.value);
  return result;
}

std::vector<trace_moment> moments_from(std::string_view text) {
  std::vector<trace_moment> result;
  for (numbers from{text}; from.are_left();) {
    trace_moment m;
    const auto what = from.next<std::uint8_t>();
    if (what > static_cast<std::uint8_t>(trace_moment::kind::over))
      throw error(errc::bad_data, fmt::format("a trace has no moments of the kind {}", what));
    m.what = static_cast<trace_moment::kind>(what);
    m.at_ns = from.next<std::int64_t>();
    m.who = from.next<rank>();
    m.other = from.next<rank>();
    if (m.who > most_ranks || m.other > most_ranks)
      throw error(errc::bad_data, fmt::format("a trace has no worker {}", std::max(m.who, m.other)));
    m.incarnation = from.next<std::uint32_t>();
    m.label.kind = static_cast<frame_kind>(from.next<std::uint8_t>());
    m.label.step = from.next<std::uint64_t>();
    m.label.part = from.next<std::uint32_t>();
    m.label.view = from.next<std::uint32_t>();
    m.value = from.next<std::int64_t>();
    if (m.at_ns < -most_ns || m.at_ns > most_ns || m.value < 0 || m.value > most_ns)
      throw error(errc::bad_data, fmt::format("a trace has no moment {} of the value {}", m.at_ns, m.value));
    result.push_back(m);
  }
  return result;
}

} // namespace gossamer::actors
