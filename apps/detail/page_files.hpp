#pragma once

#include <string_view>

namespace gossamer::apps {

/// A file of the live page, which the build has put into this program.
struct page_file_entry {
  std::string_view path; ///< "/page.js"
  const char* type;      ///< for Content-Type
  std::string_view text;
};

/// Returns the file at a path of the page; null if there is none.
const page_file_entry* page_file(std::string_view path);

} // namespace gossamer::apps
