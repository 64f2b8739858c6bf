// The page of a report: its data, and the files of the page, in one text.
#include "gossamer/actors/fetch/digest.hpp"
#include "gossamer/apps/detail/page_files.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace gossamer::apps {

namespace {

/// In the order in which they use each other.
constexpr std::array scripts{"/words.js",         "/charts.js",       "/report_runs.js", "/report_tables.js",
                             "/report_curves.js", "/report_times.js", "/report.js"};
constexpr std::array styles{"/dygraph.css", "/page.css", "/report.css"};

std::string_view text_of(std::string_view name) {
  const auto* file = page_file(name);
  GOSSAMER_ASSERT(file != nullptr, "the build embeds all files of the pages");
  return file->text;
}

/// The scripts as one module: what they import from each other is above them.
std::string joined_scripts() {
  constexpr std::string_view import = "import ", exported = "export ";
  std::string all;
  for (const auto* name : scripts) {
    auto rest = text_of(name);
    while (!rest.empty()) {
      auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.starts_with(import))
        continue;
      if (line.starts_with(exported))
        line.remove_prefix(exported.size());
      all.append(line).push_back('\n');
    }
  }
  return all;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u; };
    const unsigned word = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// A source for a policy of contents: lets this script run, and no other.
std::string hash_of(std::string_view script) {
  return fmt::format("'sha256-{}'", base64(actors::digest_of(script).raw()));
}

/// Puts texts into the places "{{name}}" of a template; what is put in is not looked at.
std::string filled(std::string_view with_places, const std::map<std::string_view, std::string_view>& texts) {
  std::string result;
  for (auto begin = with_places.find("{{"); begin != std::string_view::npos; begin = with_places.find("{{")) {
    const auto end = with_places.find("}}", begin);
    result.append(with_places.substr(0, begin)).append(texts.at(with_places.substr(begin + 2, end - begin - 2)));
    with_places.remove_prefix(end + 2);
  }
  return result.append(with_places);
}

} // namespace

bool has_reports() noexcept { return true; }

void require_reports() {}

std::string report_of(const std::vector<std::string>& folders) {
  const auto data = report_data(folders), script = joined_scripts();
  std::string style;
  for (const auto* name : styles)
    style.append(text_of(name)).push_back('\n');
  const auto chart = text_of("/dygraph.js");
  const auto hashes = fmt::format("{} {}", hash_of(chart), hash_of(script));
  return filled(text_of("/report.html"),
                {{"hashes", hashes}, {"style", style}, {"chart", chart}, {"script", script}, {"data", data}});
}

} // namespace gossamer::apps
