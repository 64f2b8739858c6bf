#pragma once

#include "gossamer/actors/node/rendezvous.hpp"

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gossamer::testing_support {

/// Fills control messages of any type with likely and with impossible values. Works through their `inspect`, so a new
/// field is filled, too.
class arbitrary {
public:
  struct surroundings {
    std::function<std::uint64_t()> draw;
    actors::consensus::resolution last; ///< the resolution from which others are made
    std::vector<actors::node_interface::handle> handles;
    std::uint32_t by = 0; ///< the node in whose name most messages speak
    unsigned odd_in = 4;  ///< one field in this many is odd
  };

  explicit arbitrary(surroundings around) : around_(std::move(around)) {}

  template <class Message>
  Message make() {
    return made<Message>();
  }

  /// The call that `inspect` makes.
  template <class... Fields>
  bool operator()(Fields&... fields) {
    (fill(fields), ...);
    return true;
  }

private:
  struct bending {
    arbitrary& all;
    template <class... Fields>
    bool operator()(Fields&... fields) {
      (all.bend(fields), ...);
      return true;
    }
  };

  std::uint64_t below(std::uint64_t bound) { return around_.draw() % bound; }
  bool odd() { return below(around_.odd_in) == 0; }

  std::uint64_t number() {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t odd_ones[] = {
        most,  most - 1, most / 2 + 1, std::uint64_t{1} << 62, std::uint64_t{1} << 36, most >> 32, 1u << 31,
        65536, 65535,    1000};
    return odd() ? odd_ones[below(std::size(odd_ones))] + below(2) : below(6);
  }

  template <class Field>
  void fill(Field& field) {
    if constexpr (std::is_same_v<Field, bool>) {
      field = below(2) == 0;
    } else if constexpr (std::is_enum_v<Field>) {
      field = static_cast<Field>(odd() ? below(256) : below(3));
    } else if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(number());
    } else if constexpr (std::is_floating_point_v<Field>) {
      constexpr double odd_ones[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
                                     -1, 1e300};
      field = static_cast<Field>(odd() ? odd_ones[below(std::size(odd_ones))] : 0.5);
    } else {
      inspect(*this, field);
    }
  }
  void fill(std::string& field) { field.assign(odd() ? below(200'000) : below(30), static_cast<char>(around_.draw())); }
  void fill(actors::node_interface::handle& field) {
    const auto which = below(around_.handles.size() + 1);
    field = which == around_.handles.size() ? actors::node_interface::handle{} : around_.handles[which];
  }
  void fill(actors::consensus::resolution& field) {
    field = around_.last;
    field.what.number += static_cast<std::uint32_t>(below(3));
    bend(field);
  }
  /// Changes some fields of a value that made sense.
  template <class Field>
  void bend(Field& field) {
    bending some{*this};
    if constexpr (requires { inspect(some, field); })
      inspect(some, field);
    else if (below(8) == 0)
      fill(field);
  }
  void fill(actors::consensus::ballot& field) {
    fill(field.term);
    odd() ? fill(field.node) : void(field.node = around_.by);
    fill(field.life);
  }
  template <class Element>
  void fill(std::vector<Element>& field) {
    field.resize(odd() ? below(300) : below(6));
    for (auto& one : field)
      fill(one);
  }
  template <class Element>
  void fill(std::set<Element>& field) {
    for (auto left = below(6); left > 0; --left)
      field.insert(made<Element>());
  }
  template <class Key, class Value>
  void fill(std::map<Key, Value>& field) {
    for (auto left = below(6); left > 0; --left)
      field.emplace(made<Key>(), made<Value>());
  }
  template <class Field>
  Field made() {
    auto field = Field();
    fill(field);
    return field;
  }

  surroundings around_;
};

} // namespace gossamer::testing_support
