#include "gossamer/actors/cluster/detail/door_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gossamer::actors::detail {

namespace {

constexpr std::chrono::milliseconds least_patience = std::chrono::seconds(1); // with one door of several
constexpr int most_sent_on = 5;

} // namespace

joining_settings sent_on::settings_to_ask_again(const joining_settings& s) const {
  auto result = s;
  result.where = doors_.front();
  result.more_doors.insert(result.more_doors.begin(), doors_.begin() + 1, doors_.end());
  if (longest_)
    result.wait = std::min(result.wait, *longest_);
  return result;
}

door_search::door_search(caf::scoped_actor& self, control_plane& control, const joining_settings& s)
    : self_(self), control_(control), settings_(s), doors_{s.where} {
  doors_.insert(doors_.end(), s.more_doors.begin(), s.more_doors.end());
}

run_offer door_search::ask() {
  const auto until = self_->clock().now() + settings_.wait;
  for (std::size_t k = 0;; ++k)
    try {
      return ask_at(doors_[k % doors_.size()]);
    } catch (const not_let_in&) {
      const bool may_go_better = k + 1 < doors_.size() || self_->clock().now() < until;
      if (settings_.interrupted())
        leave_interrupted();
      if (!may_go_better)
        throw;
      if ((k + 1) % doors_.size() == 0)
        self_->receive([](caf::unit_t) {}, caf::after(look_every) >> [] {});
    }
}

void door_search::search_elsewhere(const run_offer& given, std::chrono::milliseconds wait) {
  settings_.wanted = given.node;
  settings_.wait = wait;
  doors_ = given.files.members;
}

/// Asks behind that door, or where it sends this node on to.
run_offer door_search::ask_at(endpoint where) {
  for (int sent_on = 0; sent_on < most_sent_on; ++sent_on) {
    if (door_)
      self_->demonitor(door_.address());
    settings_.where = std::move(where);
    door_ = connected();
    self_->monitor(door_);
    self_->send(door_,
                join_request{.slots = settings_.slots, .wanted = settings_.wanted.value_or(join_request::any_number)});
    auto said = answer_at_door();
    if (auto* offer = std::get_if<run_offer>(&said)) {
      const bool is_under_way = offer->life > 0; // else there are no nodes yet that could elect another leader
      others_ = is_under_way ? offer->files.members : std::vector<endpoint>{};
      return std::move(*offer);
    }
    where = std::get<ask_there>(said).where;
  }
  throw not_let_in{errc::failed, "nodes of the run send this one from one to another, and none leads it",
                   "they may agree on one soon: start the node again"};
}

/// Returns the patience with one door: less where there are many, since the next may answer.
std::chrono::milliseconds door_search::patience() const {
  return std::max(settings_.patience / static_cast<int>(doors_.size()), std::min(settings_.patience, least_patience));
}

door_interface::handle door_search::connected() const {
  node_settings s = settings_;
  s.patience = patience();
  try {
    return connect(self_, control_, s, {},
                   "start `gossamer node --listen` there first; it prints the line to use here");
  } catch (const error& e) {
    if (e.code() == errc::usage)
      throw;
    throw not_let_in{e};
  }
}

door_search::answer door_search::answer_at_door() {
  std::optional<answer> said;
  const auto until = self_->clock().now() + patience();
  const auto take = [&](auto& m) {
    if (is_heard()) // else an earlier door answers
      said = std::move(m);
  };
  while (!said) {
    self_->receive([&](run_offer& m) { take(m); }, [&](ask_there& m) { take(m); },
                   [&](const run_failed& f) {
                     if (is_heard())
                       throw_refusal(f);
                   },
                   [&](const caf::down_msg& m) {
                     if (m.source == door_.address())
                       throw lost();
                   },
                   caf::after(look_every) >> [] {});
    if (!said && settings_.interrupted())
      leave_interrupted();
    if (!said && self_->clock().now() > until)
      throw not_let_in{errc::failed, fmt::format("what listens at {} does not answer", to_string(where())),
                       "its process may be stopped, or too busy: join at the address of another node"};
  }
  return std::move(*said);
}

/// A node that wants a certain place waits for it: the loss of the node there may not have been noticed yet.
void door_search::throw_refusal(const run_failed& why) const {
  const auto sentence = "the leader says: " + why.sentence;
  if (why.code == errc::failed && settings_.wanted)
    throw not_let_in{why.code, sentence, why.remedy};
  throw error(why.code, sentence, why.remedy);
}

bool door_search::is_heard() const {
  const auto sender = self_->current_sender();
  return sender && sender->node() == door_.node();
}

not_let_in door_search::lost() const {
  return {
      errc::failed, fmt::format("the leader at {} is lost", to_string(where())),
      "if the run was under way, another node leads it: join at the address of any of its nodes. What the leader has "
      "written is in its run folder"};
}

void door_search::throw_loss() const {
  if (others_.empty())
    throw lost();
  throw sent_on{lost(), others_, 2 * settings_.patience};
}

void leave_interrupted() { throw error(errc::interrupted, "interrupted; this node leaves the run", ""); }

} // namespace gossamer::actors::detail
