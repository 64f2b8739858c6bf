#include "gossamer/actors/simulation/network_model.hpp"

#include "gossamer/actors/frames/link.hpp"
#include "gossamer/base/philox.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

virtual_time transmission(std::size_t bytes, double bits_per_second) {
  return from_seconds(8 * static_cast<double>(bytes) / bits_per_second);
}

} // namespace

network_model::network_model(std::shared_ptr<const network> net, std::size_t nodes, std::uint64_t seed)
    : network_(std::move(net)), seed_(seed) {
  for (std::size_t i = 0; i < nodes; ++i)
    cards_.push_back({.rates = network_->card(static_cast<rank>(i))});
}

flight network_model::send(virtual_time now, rank from, rank to, std::size_t bytes, std::uint64_t number) {
  if (from == to)
    return {now, now};
  auto& sender = cards_.at(from);
  const auto starts = std::max(now, sender.free_to_send);
  sender.free_to_send = later(starts, transmission(bytes, sender.rates.send));

  const auto link = network_->link(from, to);
  auto& line_free = line_free_[network_->line(from, to)];
  const auto delay = later(from_seconds(link.latency_s), jitter(link, from, to, number));
  const auto arrives = std::max(later(starts, delay), line_free);
  line_free = later(arrives, transmission(bytes, link.bits_per_second));
  return {sender.free_to_send, arrives};
}

virtual_time network_model::latency(rank from, rank to, std::uint64_t number) const {
  constexpr std::uint64_t apart = std::uint64_t{1} << 39; // no run has so many frames
  const auto link = network_->link(from, to);
  return later(from_seconds(link.latency_s), jitter(link, from, to, apart | number));
}

virtual_time network_model::receive(virtual_time arrival, rank to, rank from, std::size_t bytes) {
  if (from == to)
    return arrival;
  auto& receiver = cards_.at(to);
  GOSSAMER_ASSERT(arrival >= receiver.last_arrival, "frames are received in the order of their arrival");
  receiver.last_arrival = arrival;
  receiver.free_to_receive =
      later(std::max(arrival, receiver.free_to_receive), transmission(bytes, receiver.rates.receive));
  // The last bit of a slow link comes later than the card could have taken it.
  return std::max(receiver.free_to_receive,
                  later(arrival, transmission(bytes, network_->link(from, to).bits_per_second)));
}

virtual_time network_model::jitter(const link_quality& link, rank from, rank to, std::uint64_t number) const {
  if (link.jitter_s == 0)
    return {};
  random_sequence draws{random_stream{seed_, from, purpose::network}, frame_step(to, number)};
  return from_seconds(-link.jitter_s * std::log1p(-draws.uniform_double()));
}

} // namespace gossamer::actors
