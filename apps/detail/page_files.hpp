#pragma once

#include <string_view>

namespace gossamer::apps {

/// A file of the live page or of reports, which the build has put into this program.
struct page_file_entry {
  std::string_view path; ///< "/page.js"
  const char* type;      ///< for Content-Type
  std::string_view text;
};

/// Returns the file at a path; null if there is none.
const page_file_entry* page_file(std::string_view path);

} // namespace gossamer::apps
