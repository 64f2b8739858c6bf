#pragma once

#include <string>
#include <vector>

namespace gossamer::apps {

/// Returns the rows as lines, with columns as wide as their widest cell. All rows have the same number of cells.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

} // namespace gossamer::apps
