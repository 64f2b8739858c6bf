// The fields of control messages, pinned to their version.
#include "gossamer/actors/node/interfaces.hpp"

#include <caf/all.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace gossamer::actors {
namespace {

/// Writes down the types of all fields that `inspect` names, in their order: "(u32 [(u32 text)])".
class schema {
public:
  template <class Message>
  static std::string of() {
    schema s;
    Message m{};
    inspect(s, m);
    return s.text_;
  }

  template <class... Fields>
  schema& operator()(Fields&... fields) {
    text_ += '(';
    std::string_view between;
    ((text_ += std::exchange(between, " "), visit(fields)), ...);
    text_ += ')';
    return *this;
  }

private:
  template <class Field>
  void visit(Field& field) {
    if constexpr (std::is_same_v<Field, bool>)
      text_ += "bool";
    else if constexpr (std::is_enum_v<Field>)
      text_ += fmt::format("enum{}", 8 * sizeof(Field));
    else if constexpr (std::is_floating_point_v<Field>)
      text_ += fmt::format("f{}", 8 * sizeof(Field));
    else if constexpr (std::is_integral_v<Field>)
      text_ += fmt::format("{}{}", std::is_unsigned_v<Field> ? 'u' : 'i', 8 * sizeof(Field));
    else if constexpr (std::is_same_v<Field, std::string>)
      text_ += "text";
    else if constexpr (std::is_same_v<Field, node_interface::handle>)
      text_ += "node";
    else
      inspect(*this, field);
  }
  template <class Element>
  void visit(std::vector<Element>&) {
    list<Element>('[', ']');
  }
  template <class Element>
  void visit(std::set<Element>&) {
    list<Element>('{', '}');
  }
  template <class Key, class Value>
  void visit(std::map<Key, Value>&) {
    list<Key, Value>('{', '}');
  }
  template <class... Elements>
  void list(char open, char close) {
    text_ += open;
    (*this)(static_cast<Elements&>(element<Elements>())...);
    text_ += close;
  }
  template <class Element>
  static Element& element() {
    static Element one{};
    return one;
  }

  std::string text_;
};

template <class Message>
std::string line(const named_message<Message>& m) {
  return fmt::format("{} {}\n", m.name, schema::of<Message>());
}

TEST(control_messages, are_made_of_what_their_version_says) {
  auto now = fmt::format("control_version {}\n", control_version);
  std::apply([&](const auto&... each) { ((now += line(each)), ...); }, plain_messages);
  now += line(named_message<greeting>{"gossamer::greeting"});
  now += line(named_message<node_ready>{"gossamer::node_ready"});
  now += line(named_message<cluster_plan>{"gossamer::cluster_plan"});

  const auto path = GOSSAMER_SOURCE_DIR "/tests/golden/control/messages.txt";
  std::ostringstream pinned;
  pinned << std::ifstream{path}.rdbuf();
  EXPECT_EQ(pinned.str(), now)
      << "Nodes of different programs understand each other only while these lines hold: raise "
         "control_version in actors/protocol/versions.hpp, and write them into "
      << path;
}

TEST(control_messages, stand_on_their_page) {
  std::ostringstream page;
  page << std::ifstream{GOSSAMER_SOURCE_DIR "/docs/control-messages.md"}.rdbuf();
  const auto expect_row = [&](std::string_view name) {
    EXPECT_NE(page.str().find(fmt::format("| `{}` |", name.substr(name.find("::") + 2))), std::string::npos)
        << "docs/control-messages.md has no row for " << name;
  };
  std::apply([&](const auto&... each) { (expect_row(each.name), ...); }, plain_messages);
  for (const char* name : {"gossamer::greeting", "gossamer::node_ready", "gossamer::cluster_plan"})
    expect_row(name);
}

} // namespace
} // namespace gossamer::actors
