// The example of docs/adding-a-topology.md works.
#include "gossamer/topology/graph.hpp"

#include <gmock/gmock.h>

namespace gossamer {

// The example code of the docs would declare these in the detail/entries.hpp of their folder.
namespace topology::detail {
topology_entry tree();
}

namespace {

topology::graph make_tree(std::string_view text, std::size_t size) {
  const auto entry = topology::detail::tree();
  return entry.make(arguments{"topology", entry.about, spec::parse(text)}, size, 1);
}

TEST(the_tree_of_the_docs, is_a_tree) {
  const auto g = make_tree("tree", 7);
  EXPECT_THAT(g.neighbours(1), testing::ElementsAre(0, 3, 4));
  EXPECT_EQ(g.diameter(), 4u);
  for (const std::size_t size : {1u, 2u, 31u, 32u, 33u})
    for (const auto* text : {"tree", "tree:children=1", "tree:children=40"}) {
      EXPECT_TRUE(make_tree(text, size).connected()) << text << " with " << size;
      EXPECT_EQ(make_tree(text, size).edges().size(), size - 1) << text << " with " << size;
    }
}

} // namespace
} // namespace gossamer
