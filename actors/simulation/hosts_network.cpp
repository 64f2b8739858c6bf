#include "gossamer/actors/simulation/detail/networks.hpp"

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

class hosts_network_model final : public network {
public:
  explicit hosts_network_model(hosts_file measured) : measured_(std::move(measured)) {
    cards_.resize(measured_.hosts.size());
    for (const auto& [number, link] : measured_.links) {
      auto& send = cards_[sender_of(number)].send;
      auto& receive = cards_[receiver_of(number)].receive;
      send = std::max(send, link.bits_per_second);
      receive = std::max(receive, link.bits_per_second);
    }
  }

  link_quality link(rank from, rank to) const override { return measured_.links.at(link_number(from, to)); }
  card_rates card(rank node) const override { return cards_.at(node); }
  std::optional<std::size_t> island(rank node) const override { return node; }
  const hosts_file* hosts() const override { return &measured_; }

private:
  hosts_file measured_;
  std::vector<card_rates> cards_;
};

} // namespace

network_entry hosts_network() {
  return {.about = {.name = "hosts",
                    .summary = "the hosts that gossamer measure has measured; workers live where launch would put them",
                    .maths = "links, cards and times for a gradient as the file says; a card is as fast as the fastest "
                             "link of its host, whose workers share it",
                    .cost = "memory: O(links)",
                    .parameters = {{.key = "file",
                                    .kind = parameter::type::text,
                                    .fallback = "",
                                    .meaning = "the file, relative to the working directory",
                                    .required = true}}},
          .make = [](const arguments& given, std::size_t) -> std::shared_ptr<const network> {
            return std::make_shared<hosts_network_model>(topology::read_hosts_file(given.text("file")));
          }};
}

} // namespace gossamer::actors::detail
