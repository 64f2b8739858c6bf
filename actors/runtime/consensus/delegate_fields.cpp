// A delegate as bytes. Messages are described once, by `inspect`; here an archive is what inspects them.
#include "gossamer/actors/runtime/consensus/delegate.hpp"

#include <type_traits>

namespace gossamer::actors::consensus {

template <class Inspector>
decltype(auto) inspect(Inspector& f, health& h) {
  return f(h.node, h.life, h.is);
}

namespace {

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

} // namespace

void delegate::fields(archive& a) {
  inspecting_archive all{a};
  all(self_, life_, promised_, last_, accepted_, held_, stand_still_, workers_);
  all(phase_, mine_, highest_term_, answers_, next_, agree_, as_wished_);
  all(nodes_, declined_, wished_, stop_wished_, why_, now_s_, held_since_s_, said_s_, not_before_s_);
}

} // namespace gossamer::actors::consensus
