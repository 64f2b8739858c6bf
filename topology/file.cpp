#include "gossamer/base/file.hpp"

#include "gossamer/topology/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gossamer::topology::detail {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

/// Takes the next word off the front of a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const auto word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

struct position {
  const std::string& path;
  std::size_t line;

  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
    throw error(errc::bad_data, fmt::format("{}:{}: {}", path, line, what), remedy);
  }
};

rank parse_worker(const position& at, std::string_view word, std::size_t size) {
  rank i = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), i);
  if (code != std::errc{} || end != word.data() + word.size() || i >= size)
    at.refuse(fmt::format("'{}' is not the number of a worker", word),
              fmt::format("with {} workers the numbers are 0 to {}", size, size - 1));
  return i;
}

/// The edge on one line, if there is one.
void read_line(const position& at, std::string_view line, std::size_t size, std::vector<graph::edge>& edges) {
  line = line.substr(0, line.find('#'));
  const auto first = next_word(line), second = next_word(line), rest = next_word(line);
  if (first.empty())
    return;
  if (second.empty() || !rest.empty())
    at.refuse("a line holds one edge", "write the numbers of two workers, e.g. '0 1'; a comment begins with #");
  const rank i = parse_worker(at, first, size), j = parse_worker(at, second, size);
  if (i == j)
    at.refuse(fmt::format("worker {} is joined to itself", i), "leave the line out");
  edges.emplace_back(i, j);
}

graph make_file(const arguments& values, std::size_t size, std::uint64_t) {
  const auto& path = values.text("path");
  const auto text = read_text(path, {"topology file", most_bytes, "leave out comments and edges that are there twice"});
  std::vector<graph::edge> edges;
  std::string_view rest = text, line;
  for (std::size_t number = 1; take_line(rest, line); ++number)
    read_line({path, number}, line, size, edges);
  return {size, edges};
}

} // namespace

topology_entry file() {
  return {{.name = "file",
           .summary = "the edges are listed in a text file",
           .maths = "one edge 'i j' a line, workers from 0, in either direction; # begins a comment",
           .cost = "as the file says",
           .parameters = {{.key = "path",
                           .kind = parameter::type::text,
                           .fallback = "",
                           .meaning = "the file, relative to the working directory",
                           .required = true}}},
          make_file};
}

} // namespace gossamer::topology::detail
