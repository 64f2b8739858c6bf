#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

const std::vector<reproduction_entry>& reproductions() {
  static const std::vector<reproduction_entry> table{
      {"tang2018-figure1", tang2018_figure1},
      {"tang2018-figure2", tang2018_figure2},
      {"tang2018-figure3", tang2018_figure3},
      {"tang2018-figure4", tang2018_figure4},
      {"lian2018-table2", lian2018_table2},
      {"lian2018-figure5", lian2018_figure5},
      {"lian2018-table4", lian2018_table4},
      {"lian2018-figure7", lian2018_figure7},
      {"yu2019-table1", yu2019_table1},
      {"yu2019-mu", yu2019_mu},
      {"yu2019-figure3", yu2019_figure3},
      {"xie2020-table2", xie2020_table2},
      {"xie2020-table2-1024", xie2020_table2_1024},
      {"wu2022-table1", wu2022_table1},
      {"wu2022-figure1", wu2022_figure1},
      {"wu2022-figure3", wu2022_figure3},
      {"wu2022-table2", wu2022_table2},
      {"wu2022-figure5", wu2022_figure5},
      {"douillard2023-h", douillard2023_h},
      {"douillard2025-table4", douillard2025_table4},
      {"kolehmainen2025-noloco", kolehmainen2025_noloco},
      {"douillard2026-goodput", douillard2026_goodput},
  };
  return table;
}

} // namespace gossamer::apps
