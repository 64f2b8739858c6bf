#include "gossamer/apps/detail/progress.hpp"

#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/apps/detail/write_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

std::string with_prefix(double value) {
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < std::size(prefixes); ++i)
    value /= 1000;
  return fmt::format("{:.3g}{}", value, prefixes[i]);
}

namespace {

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

/// "epoch 2.50/30"
std::string epochs(const actors::progress_record& p) {
  return fmt::format("epoch {:.2f}{}", p.epoch,
                     std::isfinite(p.planned_epochs) ? fmt::format("/{:.4g}", p.planned_epochs) : "");
}

/// "  3 of 4 nodes", if there are several.
std::string nodes(const actors::progress_record& p) {
  return p.nodes > 1 ? fmt::format("  {} of {} nodes", p.nodes - p.nodes_lost, p.nodes) : "";
}

std::string averagings(const actors::progress_record& p) {
  return p.averagings_per_step ? fmt::format("  {:.2f} averagings/step", *p.averagings_per_step) : "";
}

bool is_ad_psgd(std::string_view algorithm) { return algorithm.substr(0, algorithm.find(':')) == "ad-psgd"; }

/// What has become of averagings of pairs, where there were any; and a warning where models hardly met. An algorithm of
/// a program may exchange between pairs and count nothing.
std::string averagings(const actors::run_summary& s) {
  const auto& r = s.final;
  if (!r.averagings || s.workers == 1)
    return "";
  const auto& [asked, done, dropped] = *r.averagings;
  if (asked + done + dropped == 0)
    return "";
  auto text = fmt::format("averagings of pairs: {} asked for, {} done, {} dropped\n", asked, done, dropped);
  if (10 * done < r.step)
    text += fmt::format("fewer than one gradient in ten came with an averaging: gradients are faster than the links, "
                        "so workers have learnt alone; raise --batch{}\n",
                        is_ad_psgd(s.algorithm) ? " or ad-psgd:in-flight, or set ad-psgd:owed" : "");
  return text;
}

void show_text(const std::string& text) { write_all(STDERR_FILENO, text); }

/// Number of characters of a text in UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns what removes lines of these widths, at the end of which the cursor is.
std::string erasing(const std::vector<std::size_t>& widths, std::size_t columns) {
  std::size_t rows = 0;
  for (const auto w : widths)
    rows += std::max<std::size_t>(1, w / columns + (w % columns == 0 ? 0 : 1));
  return rows > 1 ? fmt::format("\r\033[{}A\033[J", rows - 1) : "\r\033[J";
}

/// The heights of values between the least and the greatest, which are not equal.
std::string curve_of(const std::vector<double>& values) {
  static constexpr std::array bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto [least, greatest] = std::ranges::minmax(values);
  std::string result;
  for (const auto v : values)
    result += bars.at(static_cast<std::size_t>(std::lround((v - least) / (greatest - least) * (bars.size() - 1.0))));
  return result;
}

std::string bar_of(double share) {
  constexpr std::size_t length = 24;
  const auto done = static_cast<std::size_t>(std::lround(length * std::clamp(share, 0.0, 1.0)));
  return "[" + std::string(done, '#') + std::string(length - done, '.') + "]";
}

/// Width of the terminal; unlimited if unknown.
std::size_t columns_of_terminal() {
  return columns_of(STDERR_FILENO).value_or(std::numeric_limits<std::size_t>::max());
}

} // namespace

live_block::~live_block() { clear(); }

bool live_block::is_seen() { return can_rewrite(STDERR_FILENO); }

void live_block::clear() {
  if (!shown_.empty())
    show_text(erasing(std::exchange(shown_, {}), columns_of_terminal()));
}

void live_block::show(const std::vector<std::string>& lines) {
  if (!seen_)
    return;
  auto text = shown_.empty() ? std::string{} : erasing(std::exchange(shown_, {}), columns_of_terminal());
  const auto most = rows_of(STDERR_FILENO).value_or(lines.size());
  for (const auto& line : lines) {
    if (shown_.size() == most)
      break;
    const auto shown = fitted(line, columns_of_terminal() - 1); // terminals differ in what the last column does
    text += (shown_.empty() ? "" : "\n") + shown;
    shown_.push_back(width(shown));
  }
  show_text(text); // in one piece, so that nothing flickers
}

std::string fitted(std::string line, std::size_t columns) {
  while (width(line) > columns) {
    const auto end = line.rfind("  ");
    line.resize(end != std::string::npos ? end : columns);
  }
  return line;
}

std::string progress_line(const actors::progress_record& p) {
  return fmt::format("{}  loss {}  accuracy {}  {} left{}  {} steps/s  {}bit/s{}", epochs(p), loss(p.loss),
                     percent(p.accuracy), clock(p.remaining_s), nodes(p), with_prefix(p.steps_per_second),
                     with_prefix(p.bits_per_second) + " ", averagings(p));
}

std::string evaluation_line(const actors::evaluation_record& r) {
  return fmt::format("epoch {:6.2f}  {:7.2f} s  training loss {}  test loss {}  test accuracy {:>8}  sent {}bit",
                     r.epoch, r.time_s, loss(r.train_loss), loss(r.test_loss), percent(r.test_accuracy),
                     with_prefix(static_cast<double>(r.payload_bits)) + " ");
}

void progress_picture::take(const actors::progress_record& p) {
  constexpr std::size_t most = 32;
  now_ = p;
  if (!std::isfinite(p.loss) || seen_++ % every_ != 0)
    return;
  losses_.push_back(p.loss);
  if (losses_.size() < 2 * most)
    return;
  for (std::size_t i = 0; i < most; ++i)
    losses_[i] = losses_[2 * i];
  losses_.resize(most);
  every_ *= 2;
}

void progress_picture::take(const actors::view_record& r) { view_ = r; }

void progress_picture::take(const actors::workers_record& r) { before_ = std::exchange(workers_, r); }

void progress_picture::add_members(std::vector<std::string>& lines) const {
  const auto passed = workers_.time_s - before_.time_s;
  if (view_.members.size() > most_workers || workers_.of.size() != before_.of.size() || passed <= 0)
    return;
  const auto rate = [passed](std::uint64_t now, std::uint64_t then) {
    return with_prefix(static_cast<double>(now - std::min(now, then)) / passed);
  };
  for (const auto i : view_.members) {
    const auto &now = workers_.of.at(i), &then = before_.of.at(i);
    lines.push_back(fmt::format("{:>9}  {:>9} steps  {:>7} steps/s  {:>7}bit/s", fmt::format("worker {}", i), now.steps,
                                rate(now.steps, then.steps), rate(now.payload_bits, then.payload_bits) + " "));
  }
}

std::vector<std::string> progress_picture::lines(bool unicode) const {
  const auto& p = now_;
  const bool has_bar = std::isfinite(p.planned_epochs) && p.planned_epochs > 0;
  const bool has_curve = unicode && losses_.size() > 1 && std::ranges::min(losses_) < std::ranges::max(losses_);
  std::vector<std::string> result{fmt::format("{}  {} left{}{}", epochs(p), clock(p.remaining_s), nodes(p),
                                              has_bar ? "  " + bar_of(p.epoch / p.planned_epochs) : ""),
                                  fmt::format("loss {}  accuracy {}  {} steps/s  {}bit/s{}{}", loss(p.loss),
                                              percent(p.accuracy), with_prefix(p.steps_per_second),
                                              with_prefix(p.bits_per_second) + " ", averagings(p),
                                              has_curve ? "  " + curve_of(losses_) : "")};
  add_members(result);
  return result;
}

void progress::on_progress(const actors::progress_record& p) {
  picture_.take(p);
  block_.show(picture_.lines(shows_unicode()));
}

void progress::on_evaluation(const actors::evaluation_record& r) { say(evaluation_line(r) + '\n'); }

void progress::on_event(const actors::event_record& r) { say(fmt::format("{:>14.4g} s  {}\n", r.time_s, r.what)); }

void progress::say(const std::string& text) {
  block_.clear();
  show_text(text);
}

std::string describe(const actors::run_summary& s) {
  const auto& f = s.final;
  const auto missing =
      s.unreported == 0 ? ""
                        : fmt::format("not counted: what {} worker{} did last, before {} node was lost\n", s.unreported,
                                      s.unreported == 1 ? "" : "s", s.unreported == 1 ? "its" : "their");
  const auto crossed = f.payload_bits_between_islands
                           ? fmt::format("{}bit of payload between islands\n",
                                         with_prefix(static_cast<double>(*f.payload_bits_between_islands)) + " ")
                           : "";
  return fmt::format(
      "{} with {} worker{}: {} after {} and {:.2f} epochs ({} steps)\n"
      "test accuracy {}, test loss {}, training loss {}\n"
      "sent {}bit of payload, {}bit on the wire; models are {:.3g} apart\n{}{}{}",
      s.algorithm, s.workers, s.workers == 1 ? "" : "s", s.end == actors::run_end::interrupted ? "interrupted" : "done",
      seconds(f.time_s), f.epoch, f.step, percent(f.test_accuracy), loss(f.test_loss), loss(f.train_loss),
      with_prefix(static_cast<double>(f.payload_bits)) + " ", with_prefix(static_cast<double>(f.wire_bits)) + " ",
      f.consensus_distance, crossed, averagings(s), missing);
}

} // namespace gossamer::apps
