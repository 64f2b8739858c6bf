// The orders of a node's protocol, carried out.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::actors::detail {

void node_state::obey(const node_protocol::orders& all) {
  for (const auto& what : all)
    std::visit([&](const auto& one) { obey(one); }, what);
}

void node_state::obey(const consensus::post& m) {
  for (const auto number : m.to)
    if (const auto* other = others_->numbered(number); other != nullptr && other->is_met())
      std::visit([&](const auto& one) { self_->send(other->handle, one); }, m.what);
}

void node_state::obey(const decision& m) {
  if (setup_.client.on_resolution)
    setup_.client.on_resolution(protocol_->delegate().last());
  if (!leadership_)
    review_losses(); // before workers send frames to nodes that have been taken back
  own_node_->obey(m);
  show_workers();
}

/// Forgets the handles of moved nodes: frames for a new life must not go to the one before.
void node_state::obey(const nodes_moved& m) {
  for (const auto number : m.which)
    if (auto* other = others_->numbered(number))
      other->handle = node_interface::handle{};
  meet_on_data_plane();
}

void node_state::obey(const report_to& m) {
  if (leadership_ == std::nullopt)
    hand_on_news();
  if (const auto* other = others_->numbered(m.node); other != nullptr && other->is_met())
    std::visit([&](const auto& one) { self_->send(other->handle, one); }, m.what);
}

void node_state::obey(const account_for& m) {
  leaders_end_.clear(); // the new leader tells it
  news_ = {};
  if (const auto* leader = others_->numbered(m.leader); leader != nullptr && leader->is_met())
    self_->send(leader->handle, books_);
}

void node_state::obey(const lead_taken&) {
  leadership_.emplace(*setup_.run, protocol_->delegate().last().number(), setup_.from.get(), books_,
                      setup_.spawn.gauges->has_islands());
  leadership_->summary.algorithm = setup_.run->algorithm->about.name;
  leadership_->summary.workers = setup_.run->settings.workers;
  leadership_->summary.seed = setup_.run->settings.seed;
  leadership_->summary.steps_per_worker.assign(workers(), 0);
  close_ended_lives();
  observer_ = setup_.client.observe();
  vigil_->lead();
  if (const auto news = std::exchange(leaders_end_, {}); !news.empty())
    tell_observer(event_kind::loss, news);
  if (evaluator_)
    tell_observer(event_kind::leader, fmt::format("node {} leads the run from now on", setup_.number));
}

/// Closes lives that have ended since the books that were taken over.
void node_state::close_ended_lives() {
  const auto& members = protocol_->leader()->members();
  auto& counted = leadership_->progress.ledger();
  for (rank i = 0; i < setup_.run->participants(); ++i)
    members.alive(i) ? counted.begin(i, members.incarnation(i)) : counted.close(i, members.incarnation(i));
}

void node_state::obey(const lead_left&) {
  books_ = leadership_->books();
  leadership_.reset();
  observer_.reset();
  vigil_->follow();
}

void node_state::obey(const snapshot_request& m) {
  leadership_->evaluating.open_final();
  tell_workers(m);
  tell_others(m);
}

void node_state::obey(const save_checkpoint& m) {
  if (!writer_)
    return;
  leadership_->saving.open(m.number, protocol_->leader()->members());
  save_workers(m);
  tell_others(m);
}

void node_state::obey(const forget_worker& m) {
  leadership_->progress.add(m.who, leadership_->evaluating.evaluated());
  // A former leader may have counted it, and died before others agreed to it.
  const bool is_news = leadership_->progress.ledger().end(m.who, m.incarnation, !m.retired);
  leadership_->evaluating.forget(m.who);
  for (const auto checkpoint : leadership_->saving.lose(m.who))
    discard_parts({checkpoint, "a worker was lost before its part was safe"});
  if (is_news) {
    const bool is_master = setup_.run->is_master(m.who), with_its_node = !m.retired && has_died_with_its_node(m.who);
    leadership_->unreported += with_its_node && !is_master;
    const auto others = !is_master ? fmt::format("{} go on", m.left)
                        : with_its_node
                            ? "workers wait until its node is back: gossamer node --join, or launch --restart"
                            : "workers wait until it is back";
    tell_observer(event_kind::loss,
                  fmt::format("{} {}; {}", setup_.run->name_of(m.who), m.retired ? "has left" : "is lost", others));
  }
  evaluate_what_is_complete();
}

void node_state::obey(const welcome_worker& m) {
  leadership_->progress.ledger().come(m.who, m.incarnation);
  const bool was_there = m.who < setup_.run->settings.workers || setup_.run->is_master(m.who);
  tell_observer(event_kind::arrival, fmt::format("{} comes{}", setup_.run->name_of(m.who), was_there ? " back" : ""));
}

void node_state::obey(const node_has_left&) {
  has_left_ = true;
  std::vector<std::string> left;
  for (const auto& other : *others_)
    if (is_spoken_to(other))
      left.push_back(fmt::format("node {} ({})", other.number, to_string(seats()[other.number].by.control)));
  setup_.client.tell(fmt::format("the run goes on with {}", fmt::join(left, ", ")));
  if (!std::exchange(ended_, true))
    self_->send(setup_.client.actor, node_has_left{});
}

void node_state::obey(const end_run& m) {
  for (const auto i : m.missing)
    tell_observer(event_kind::note, fmt::format("{} does not answer; its model is left out", setup_.run->name_of(i)));
  leadership_->ended_s = elapsed();
  leadership_->summary.end = m.why;
  leadership_->summary.unfinished = m.unfinished;
  if (!leadership_->evaluating.close_final(leadership_->progress.ledger(), elapsed()))
    return fail(extinction());
  evaluate_next();
}

} // namespace gossamer::actors::detail
