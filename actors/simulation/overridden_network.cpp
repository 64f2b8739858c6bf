#include "gossamer/actors/simulation/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace gossamer::actors {

namespace {

/// The fastest of a node's changed links in one direction, and their number.
struct fastest {
  double bits_per_second = 0;
  std::size_t links = 0;

  void count(const link_quality& link) {
    bits_per_second = std::max(bits_per_second, link.bits_per_second);
    ++links;
  }
  /// Rate of the fastest of all links. `base`: the rate of the card without the changes.
  double rate(double base, std::size_t nodes) const {
    return links == nodes - 1 ? bits_per_second : std::max(base, bits_per_second);
  }
};

class overridden final : public network {
public:
  overridden(std::shared_ptr<const network> base, std::size_t nodes, std::span<const link_override> overrides)
      : base_(std::move(base)), nodes_(nodes) {
    for (const auto& o : overrides)
      add(o);
    for (const auto& [number, link] : links_) {
      sending_[sender_of(number)].count(link);
      receiving_[receiver_of(number)].count(link);
    }
  }

  link_quality link(rank from, rank to) const override {
    const auto found = links_.find(link_number(from, to));
    return found == links_.end() ? base_->link(from, to) : found->second;
  }

  card_rates card(rank node) const override {
    auto rates = base_->card(node);
    if (const auto found = sending_.find(node); found != sending_.end())
      rates.send = found->second.rate(rates.send, nodes_);
    if (const auto found = receiving_.find(node); found != receiving_.end())
      rates.receive = found->second.rate(rates.receive, nodes_);
    return rates;
  }

  std::uint64_t line(rank from, rank to) const override { return base_->line(from, to); }
  std::optional<std::size_t> island(rank node) const override { return base_->island(node); }
  const hosts_file* hosts() const override { return base_->hosts(); }

private:
  void add(const link_override& o) {
    const auto [first_from, end_from] = range(o.from);
    const auto [first_to, end_to] = range(o.to);
    for (auto from = first_from; from < end_from; ++from)
      for (auto to = first_to; to < end_to; ++to)
        if (from != to)
          change(from, to, o);
  }

  std::pair<rank, rank> range(const std::optional<rank>& end) const {
    if (!end)
      return {0, static_cast<rank>(nodes_)};
    if (*end >= nodes_)
      throw error(errc::usage, fmt::format("a link is changed that ends at node {}, which does not exist", *end),
                  fmt::format("with {} nodes the numbers are 0 to {}", nodes_, nodes_ - 1));
    return {*end, *end + 1};
  }

  void change(rank from, rank to, const link_override& o) {
    auto& link = links_.try_emplace(link_number(from, to), base_->link(from, to)).first->second;
    link = {o.latency_s.value_or(link.latency_s), o.bits_per_second.value_or(link.bits_per_second),
            o.jitter_s.value_or(link.jitter_s)};
  }

  std::shared_ptr<const network> base_;
  std::size_t nodes_;
  std::unordered_map<std::uint64_t, link_quality> links_; // by link number
  std::unordered_map<rank, fastest> sending_, receiving_; // by node
};

class accelerated final : public network {
public:
  accelerated(double factor, std::shared_ptr<const network> base) : factor_(factor), base_(std::move(base)) {}

  link_quality link(rank from, rank to) const override {
    auto quality = base_->link(from, to);
    quality.bits_per_second *= factor_;
    return quality;
  }
  card_rates card(rank node) const override {
    const auto rates = base_->card(node);
    return {.send = factor_ * rates.send, .receive = factor_ * rates.receive};
  }
  std::uint64_t line(rank from, rank to) const override { return base_->line(from, to); }
  std::optional<std::size_t> island(rank node) const override { return base_->island(node); }
  const hosts_file* hosts() const override { return base_->hosts(); }

private:
  double factor_;
  std::shared_ptr<const network> base_;
};

} // namespace

std::shared_ptr<const network> with_bandwidth_times(double factor, std::shared_ptr<const network> base) {
  return std::make_shared<accelerated>(factor, std::move(base));
}

std::shared_ptr<const network> with_overrides(std::shared_ptr<const network> base, std::size_t nodes,
                                              std::span<const link_override> overrides) {
  return std::make_shared<overridden>(std::move(base), nodes, overrides);
}

} // namespace gossamer::actors
