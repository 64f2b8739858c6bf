#pragma once

#include "gossamer/apps/reproductions/detail/findings.hpp"

namespace gossamer::apps {

// Functions rather than objects, so that the table does not depend on the order in which files are initialised.
reproduction tang2018_figure1(bool quick);
reproduction tang2018_figure2(bool quick);
reproduction tang2018_figure3(bool quick);
reproduction tang2018_figure4(bool quick);
reproduction lian2018_table2(bool quick);
reproduction lian2018_figure5(bool quick);
reproduction lian2018_table4(bool quick);
reproduction lian2018_figure7(bool quick);
reproduction yu2019_table1(bool quick);
reproduction yu2019_mu(bool quick);
reproduction yu2019_figure3(bool quick);
reproduction xie2020_table2(bool quick);
reproduction xie2020_table2_1024(bool quick);
reproduction wu2022_table1(bool quick);
reproduction wu2022_figure1(bool quick);
reproduction wu2022_figure3(bool quick);
reproduction wu2022_table2(bool quick);
reproduction wu2022_figure5(bool quick);
reproduction douillard2023_h(bool quick);
reproduction douillard2025_table4(bool quick);
reproduction kolehmainen2025_noloco(bool quick);
reproduction douillard2026_goodput(bool quick);

} // namespace gossamer::apps
