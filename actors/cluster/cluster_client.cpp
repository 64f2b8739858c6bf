#include "gossamer/actors/cluster/cluster_client.hpp"

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

using namespace detail;

namespace {

/// A visitor at the door of a node.
class visitor {
public:
  explicit visitor(const node_settings& s) : settings_(s), control_(s) { knock(); }

  /// Asks the leader, wherever that is.
  template <class Answer, class Question>
  Answer ask(const Question& question) {
    std::optional<Answer> answer;
    std::optional<ask_there> elsewhere;
    for (int sent_on = 0; !answer && sent_on < most_sent_on; ++sent_on) {
      if (door_ == nullptr)
        refuse("it is gone");
      self()->send(door_, question);
      self()->receive([&](Answer& m) { answer = std::move(m); }, [&](ask_there& m) { elsewhere = std::move(m); },
                      [&](const run_failed& f) { throw error(f.code, "the leader says: " + f.sentence, f.remedy); },
                      [&](const caf::down_msg&) { door_ = door_interface::handle{}; },
                      caf::after(settings_.patience) >> [] {});
      if (!elsewhere)
        break;
      go_to(std::exchange(elsewhere, std::nullopt)->where);
    }
    if (!answer)
      refuse(door_ == nullptr ? "it is gone" : "it does not answer");
    return std::move(*answer);
  }

  template <class Question>
  run_status ask_for_status(const Question& question) {
    auto answer = ask<run_status>(question);
    if (answer.there > answer.nodes)
      refuse("it speaks nonsense");
    return answer;
  }

  /// Goes to another door, or to the same again. What has been asked before is answered to nobody.
  void go_to(const endpoint& where) {
    settings_.where = where;
    knock();
  }

  std::uint32_t ask_to_leave(const leave_request& m) {
    std::optional<std::uint32_t> answer;
    self()->send(door_, m);
    self()->receive([&](const will_leave& who) { answer = who.node; },
                    [&](const run_failed& f) { throw error(f.code, f.sentence, f.remedy); },
                    [&](const caf::down_msg&) { refuse("it is gone"); }, caf::after(settings_.patience) >> [] {});
    if (!answer)
      refuse("it does not answer");
    return *answer;
  }

  void wait_for_its_end() {
    for (bool gone = false; !gone;) {
      self()->receive([&](const caf::down_msg&) { gone = true; }, caf::after(look_every) >> [] {});
      if (!gone && settings_.interrupted())
        throw error(errc::failed, "interrupted; the run ends without being waited for", "");
    }
  }

private:
  static constexpr int most_sent_on = 5; // to nodes that have taken the lead meanwhile

  caf::scoped_actor& self() { return *self_; }

  void knock() {
    door_ = door_interface::handle{};
    self_.emplace(control_.system);
    door_ = connect(self(), control_, settings_, std::chrono::milliseconds(0),
                    "gossamer launch and gossamer node --listen say where they lead");
    self()->monitor(door_);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw error(errc::io, fmt::format("what listens at {} leads no run: {}", to_string(settings_.where), why),
                "gossamer launch and gossamer node --listen say where they lead");
  }

  node_settings settings_;
  control_plane control_;
  std::optional<caf::scoped_actor> self_;
  door_interface::handle door_;
};

} // namespace

run_status ask_leader(const node_settings& s) { return visitor{s}.ask_for_status(status_request{}); }

class onlooker::impl {
public:
  explicit impl(const node_settings& s) : at_door_(s), doors_{s.where} { at_door_.ask_for_status(status_request{}); }

  std::vector<std::string> look() {
    try {
      return next_lines();
    } catch (const error& e) {
      if (e.code() != errc::io)
        throw;
      return ask_elsewhere(e);
    }
  }

private:
  std::vector<std::string> next_lines() {
    auto news = at_door_.ask<run_lines>(lines_request{.next = next_});
    if (std::exchange(leader_, news.leader) != news.leader && next_ != 0) {
      news = at_door_.ask<run_lines>(lines_request{}); // it counts its own lines
      if (!news.lines.empty())
        news.lines.erase(news.lines.begin()); // {"type":"begin"}: they follow on those of the leader before
    }
    next_ = news.next;
    if (!news.doors.empty())
      doors_ = std::move(news.doors);
    return std::move(news.lines);
  }

  std::vector<std::string> ask_elsewhere(const error& why) {
    for (const auto& door : std::vector{doors_})
      try {
        at_door_.go_to(door);
        return next_lines();
      } catch (const error& e) {
        if (e.code() != errc::io)
          throw;
      }
    throw why;
  }

  visitor at_door_;
  std::vector<endpoint> doors_; // of nodes that may know who leads
  std::uint32_t leader_ = 0;
  std::uint64_t next_ = 0;
};

onlooker::onlooker(const node_settings& s) : impl_(std::make_unique<impl>(s)) {}
onlooker::~onlooker() = default;
std::vector<std::string> onlooker::look() { return impl_->look(); }

void stop_cluster(const node_settings& s) {
  visitor at_door{s};
  at_door.ask_for_status(stop_request{});
  at_door.wait_for_its_end();
}

std::uint32_t let_leave(const node_settings& s, std::optional<std::uint32_t> node) {
  return visitor{s}.ask_to_leave({.node = node.value_or(leave_request::whoever_is_asked)});
}

} // namespace gossamer::actors
