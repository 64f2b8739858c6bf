#include "gossamer/actors/frames/connections.hpp"

#include "gossamer/base/marks.hpp"

#include <algorithm>

namespace gossamer::actors {

std::vector<frame> connections::meet(std::shared_ptr<const roster> who) {
  const auto before = std::exchange(who_, std::move(who));
  if (before)
    for (auto p = peers_.begin(); p != peers_.end();) {
      if (before->incarnations[p->first] != who_->incarnations[p->first] || !who_->present[p->first])
        p = peers_.erase(p);
      else
        ++p;
    }
  return std::exchange(strangers_, {});
}

void connections::send(rank to, frame f, time now) {
  auto& p = peers_[to];
  if (!p.load)
    p.load = std::make_shared<under_way>(room_.more);
  f.on_the_way = under_way::share(p.load, f.wire_bytes());
  p.ends.number(f, now, acknowledged_);
  send_over_link(to, p, std::move(f));
}

bool connections::has_room(std::optional<rank> to) const {
  const auto exceeds = [](const peer& p, std::uint64_t most) { return p.load && p.load->exceeds(most); };
  if (!to)
    return std::ranges::none_of(peers_, [&](const auto& p) { return exceeds(p.second, room_.most_bytes); });
  const auto found = peers_.find(*to);
  return found == peers_.end() || !exceeds(found->second, room_.most_bytes / 2);
}

connections::peer* connections::accept(frame& f, time now) {
  if (who_ && f.source >= who_->incarnations.size())
    return nullptr;
  if (who_
      && (f.incarnation < who_->incarnations[f.source]
          || (f.incarnation == who_->incarnations[f.source] && !who_->present[f.source]))) {
    pass(mark::shunned_frame);
    return nullptr; // the sender's incarnation is over
  }
  if (!who_ || f.incarnation > who_->incarnations[f.source]) {
    pass(mark::frame_of_stranger);
    strangers_.push_back(std::move(f));
    return nullptr;
  }
  auto& p = peers_[f.source];
  if (f.label.kind != frame_kind::acknowledgement)
    return &p;
  if (p.ends.acknowledged(f.label.step, now))
    send_over_link(f.source, p, p.ends.repeat_early(now));
  return nullptr;
}

void connections::acknowledge(rank to, peer& p) {
  send_over_link(to, p,
                 {.source = self_.who,
                  .incarnation = self_.incarnation,
                  .label = {frame_kind::acknowledgement, p.ends.received()},
                  .body = {}});
}

std::optional<connections::time> connections::timeout() const {
  std::optional<time> first;
  for (const auto& [to, p] : peers_)
    if (const auto due = p.ends.timeout(); due && (!first || *due < *first))
      first = due;
  return first;
}

void connections::repeat(time now) {
  for (auto& [to, p] : peers_)
    if (const auto due = p.ends.timeout(); due && *due <= now)
      send_over_link(to, p, p.ends.repeat(now));
}

void connections::send_over_link(rank to, peer& p, frame f) {
  if (!p.out)
    p.out = transport_->link_to(self_.who, {to, who_->incarnations[to]});
  sent_->count(to, f);
  p.out->send(std::move(f));
}

} // namespace gossamer::actors
