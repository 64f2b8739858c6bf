#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

const std::vector<reproduction_entry>& reproductions() {
  static const std::vector<reproduction_entry> table{
      {"tang2018-figure1", tang2018_figure1},
  };
  return table;
}

} // namespace gossamer::apps
