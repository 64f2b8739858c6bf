# Writes a C++ source with files in it, as apps/detail/page_files.hpp has them.
#   cmake -D OUT=FILE -D FILES=path;... -P embed_page.cmake
set(types .html "text/html\; charset=utf-8" .css text/css .js text/javascript)
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  string(REPLACE ".min." "." name ${name})
  cmake_path(GET name EXTENSION LAST_ONLY kind)
  list(FIND types ${kind} at)
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char file_${number}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"/${name}\", \"${type}\", {reinterpret_cast<const char*>(file_${number}), sizeof file_${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"gossamer/apps/detail/page_files.hpp\"

#include <algorithm>
#include <iterator>

namespace gossamer::apps {

namespace {
${arrays}
const page_file_entry files[] = {
${entries}};
} // namespace

const page_file_entry* page_file(std::string_view path) {
  const auto* found = std::find_if(std::begin(files), std::end(files), [&](const auto& f) { return f.path == path; });
  return found == std::end(files) ? nullptr : found;
}

} // namespace gossamer::apps
")
