// Pictures for programs that take no SVG, by a converter of the system.
#include "gossamer/apps/detail/png.hpp"

#include "gossamer/apps/detail/child.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <string_view>
#include <system_error>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr int program_is_missing = 127;
constexpr std::string_view from = "picture.svg", to = "picture.png";

using program_call = std::vector<std::string>;

/// The calls that make `to` of `from`, in the order in which they are tried.
std::array<program_call, 5> converters(const std::string& svg, const std::string& png) {
  return {{{"rsvg-convert", "--format=png", "--output=" + png, svg},
           {"inkscape", "--export-type=png", "--export-filename=" + png, svg},
           {"cairosvg", "--format=png", "--output=" + png, svg},
           {"magick", svg, png},
           {"convert", svg, png}}};
}

/// A folder for files that nobody else needs.
class passing_folder {
public:
  passing_folder() {
    constexpr auto remedy = "name another place with TMPDIR";
    std::error_code unusable;
    auto name = (fs::temp_directory_path(unusable) / "gossamer-XXXXXX").string();
    if (unusable)
      throw error(errc::io, "there is no folder for files that pass: " + unusable.message(), remedy);
    if (!mkdtemp(name.data()))
      throw error(errc::io, fmt::format("cannot make the folder {}: {}", name, std::strerror(errno)), remedy);
    path_ = name;
  }
  passing_folder(const passing_folder&) = delete;
  passing_folder& operator=(const passing_folder&) = delete;
  ~passing_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
  fs::path path_;
};

/// The end of a program, and its last words.
struct finished {
  int status;
  std::string last_line;
};

finished finish(const program_call& call) {
  child program{call};
  program.end_input();
  for (;;) {
    auto outputs = program.outputs();
    if (outputs[0] < 0 && outputs[1] < 0)
      break;
    std::array<pollfd, 2> waited{{{outputs[0], POLLIN, 0}, {outputs[1], POLLIN, 0}}};
    poll(waited.data(), waited.size(), -1);
    program.read_lines([](bool, const std::string&) {});
  }
  return {program.wait(), program.last_line()};
}

} // namespace

std::string png_of(const std::string& svg) {
  const passing_folder folder;
  const auto drawn = folder / from, converted = folder / to;
  write_text(drawn, svg, "name another place with TMPDIR");
  for (const auto& call : converters(drawn, converted)) {
    const auto [status, last_line] = finish(call);
    if (status == program_is_missing)
      continue;
    if (status != 0 || !file_exists(converted))
      throw error(errc::failed,
                  fmt::format("{} made no picture: {}", call.front(),
                              last_line.empty() ? fmt::format("it ended with status {}", status) : last_line),
                  "let the name end in .svg, or install another converter: librsvg2-bin");
    return read_file(converted, {.noun = "picture", .most_bytes = 1 << 28});
  }
  throw error(errc::usage, "no program that makes PNG of SVG is installed",
              "let the name end in .svg, or install one: apt-get install librsvg2-bin (or inkscape, python3-cairosvg, "
              "imagemagick)");
}

} // namespace gossamer::apps
