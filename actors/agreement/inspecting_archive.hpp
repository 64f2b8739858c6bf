#pragma once

#include "gossamer/base/archive.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

namespace gossamer::actors::consensus {

/// Visits the fields that `inspect` describes, so that plain data for other machines is described once, and saved in
/// the same order.
class inspecting_archive {
public:
  explicit inspecting_archive(archive& to) : to_(to) {}

  template <class... Fields>
  inspecting_archive& operator()(Fields&... fields) {
    (visit(fields), ...);
    return *this;
  }

private:
  template <class Field>
  void visit(Field& field) {
    if constexpr (std::is_enum_v<Field>) {
      auto word = static_cast<std::uint32_t>(field);
      to_(word);
      field = static_cast<Field>(word);
    } else if constexpr (requires { inspect(*this, field); }) {
      inspect(*this, field);
    } else {
      to_(field);
    }
  }
  void visit(std::uint16_t& field) {
    std::uint32_t word = field;
    to_(word);
    field = static_cast<std::uint16_t>(word);
  }
  void visit(std::int64_t& field) {
    auto word = static_cast<std::uint64_t>(field);
    to_(word);
    field = static_cast<std::int64_t>(word);
  }
  void visit(std::string& field) {
    std::vector<std::uint32_t> letters(field.begin(), field.end());
    to_(letters);
    field.assign(letters.begin(), letters.end());
  }
  template <class Element>
  void visit(std::vector<Element>& field) { // one by one: a reader runs out of bytes before it runs out of memory
    std::uint64_t size = field.size();
    to_(size);
    std::vector<Element> visited;
    for (std::uint64_t i = 0; i < size; ++i) {
      visited.push_back(i < field.size() ? std::move(field[i]) : Element{});
      visit(visited.back());
    }
    field = std::move(visited);
  }
  template <class Key, class Value>
  void visit(std::map<Key, Value>& field) {
    std::vector<Key> keys;
    std::vector<Value> values;
    for (auto& [key, value] : field) {
      keys.push_back(key);
      values.push_back(std::move(value));
    }
    visit(keys);
    visit(values);
    field.clear();
    for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i)
      field.emplace(keys[i], std::move(values[i]));
  }

  archive& to_;
};

} // namespace gossamer::actors::consensus
