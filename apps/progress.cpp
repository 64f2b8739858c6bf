#include "gossamer/apps/detail/progress.hpp"

#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/apps/detail/write_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

/// 1234567 -> "1.23 M".
std::string with_prefix(double value) {
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < std::size(prefixes); ++i)
    value /= 1000;
  return fmt::format("{:.3g}{}", value, prefixes[i]);
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : std::string{"-"};
}

std::string clock(double s) {
  if (!std::isfinite(s))
    return "?";
  const auto whole = static_cast<long>(std::max(0.0, std::ceil(s)));
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// Virtual times may be short, so they have more digits.
std::string seconds(double s) { return s < 1 ? fmt::format("{:.3g} s", s) : fmt::format("{:.1f} s", s); }

/// "-" for a loss that nothing measures.
std::string loss(double value) {
  if (std::isnan(value))
    return "-";
  return value < 1e5 ? fmt::format("{:.4f}", value) : fmt::format("{:.3e}", value);
}

/// "  3 of 4 nodes", if there are several.
std::string nodes(const actors::progress_record& p) {
  return p.nodes > 1 ? fmt::format("  {} of {} nodes", p.nodes - p.nodes_lost, p.nodes) : "";
}

/// What has become of averagings of pairs, where there were any; and a warning where models hardly met.
std::string averagings(const actors::evaluation_record& r, std::size_t workers) {
  if (!r.averagings || workers == 1)
    return "";
  const auto& [asked, done, dropped] = *r.averagings;
  const bool hardly_any = 10 * done < r.step;
  return fmt::format("averagings of pairs: {} asked for, {} done, {} dropped\n{}", asked, done, dropped,
                     hardly_any
                         ? "fewer than one gradient in ten came with an averaging: gradients are faster than the "
                           "links, so workers have learnt alone; raise --batch or ad-psgd:in-flight, or set "
                           "ad-psgd:owed\n"
                         : "");
}

void show_text(const std::string& text) { write_all(STDERR_FILENO, text); }

/// Width of the terminal; unlimited if unknown.
std::size_t columns_of_terminal() {
  return columns_of(STDERR_FILENO).value_or(std::numeric_limits<std::size_t>::max());
}

} // namespace

live_line::~live_line() { clear(); }

bool live_line::is_seen() { return can_rewrite(STDERR_FILENO); }

void live_line::clear() {
  if (std::exchange(open_, false))
    show_text("\r\033[K");
}

void live_line::show(const std::string& text) {
  if (!seen_)
    return;
  show_text("\r\033[K" + fitted(text, columns_of_terminal() - 1)); // terminals differ in what the last column does
  open_ = true;
}

std::string fitted(std::string line, std::size_t columns) {
  while (line.size() > columns) {
    const auto end = line.rfind("  ");
    line.resize(end != std::string::npos ? end : columns);
  }
  return line;
}

std::string progress_line(const actors::progress_record& p) {
  return fmt::format("epoch {:.2f}{}  loss {}  accuracy {}  {} left{}  {} steps/s  {}bit/s{}", p.epoch,
                     std::isfinite(p.planned_epochs) ? fmt::format("/{:.4g}", p.planned_epochs) : "", loss(p.loss),
                     percent(p.accuracy), clock(p.remaining_s), nodes(p), with_prefix(p.steps_per_second),
                     with_prefix(p.bits_per_second) + " ",
                     p.averagings_per_step ? fmt::format("  {:.2f} averagings/step", *p.averagings_per_step) : "");
}

void progress::on_progress(const actors::progress_record& p) { line_.show(progress_line(p)); }

void progress::on_evaluation(const actors::evaluation_record& r) {
  say(fmt::format("epoch {:6.2f}  {:7.2f} s  training loss {}  test loss {}  test accuracy {:>8}  sent {}bit\n",
                  r.epoch, r.time_s, loss(r.train_loss), loss(r.test_loss), percent(r.test_accuracy),
                  with_prefix(static_cast<double>(r.payload_bits)) + " "));
}

void progress::on_event(const actors::event_record& r) { say(fmt::format("{:>14.4g} s  {}\n", r.time_s, r.what)); }

void progress::say(const std::string& text) {
  line_.clear();
  show_text(text);
}

std::string describe(const actors::run_summary& s) {
  const auto& f = s.final;
  const auto missing =
      s.unreported == 0 ? ""
                        : fmt::format("not counted: what {} worker{} did last, before {} process died\n", s.unreported,
                                      s.unreported == 1 ? "" : "s", s.unreported == 1 ? "its" : "their");
  return fmt::format(
      "{} with {} worker{}: {} after {} and {:.2f} epochs ({} steps)\n"
      "test accuracy {}, test loss {}, training loss {}\n"
      "sent {}bit of payload, {}bit on the wire; models are {:.3g} apart\n{}{}",
      s.algorithm, s.workers, s.workers == 1 ? "" : "s", s.end == actors::run_end::interrupted ? "interrupted" : "done",
      seconds(f.time_s), f.epoch, f.step, percent(f.test_accuracy), loss(f.test_loss), loss(f.train_loss),
      with_prefix(static_cast<double>(f.payload_bits)) + " ", with_prefix(static_cast<double>(f.wire_bits)) + " ",
      f.consensus_distance, averagings(f, s.workers), missing);
}

} // namespace gossamer::apps
