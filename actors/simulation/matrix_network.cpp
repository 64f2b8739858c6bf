#include "gossamer/actors/simulation/detail/networks.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace gossamer::actors::detail {

namespace {

constexpr std::uint64_t longest_network_file = std::uint64_t{1} << 30;

/// The words of a line: between commas if it has any, else between blanks. Comments are left out.
std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line = line.substr(0, line.find('#'));
  std::vector<std::string> words;
  if (line.find(',') == std::string_view::npos) {
    for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;
         begin = line.find_first_not_of(blanks)) {
      line.remove_prefix(begin);
      words.emplace_back(line.substr(0, line.find_first_of(blanks)));
      line.remove_prefix(words.back().size());
    }
    return words;
  }
  for (const auto& part : split(line, ',')) {
    const auto begin = std::min(part.find_first_not_of(blanks), part.size());
    words.push_back(part.substr(begin, part.find_last_not_of(blanks) + 1 - begin));
  }
  return words;
}

/// Reads a file of measured links line by line.
class matrix_reader {
public:
  matrix_reader(std::string path, std::size_t nodes) : path_(std::move(path)), nodes_(nodes) {}

  std::shared_ptr<const network> read() {
    const auto text =
        read_text(path_, {"network file", longest_network_file, "give one line, *,*, to links that are alike"});
    std::string_view rest = text, line;
    for (line_ = 1; take_line(rest, line); ++line_)
      read_line(words_of(line));
    return result();
  }

private:
  struct direction {
    link_quality link;
    std::size_t line; // 0: the line of the opposite direction applies here, too
  };

  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
    throw error(errc::bad_data, fmt::format("{}:{}: {}", path_, line_, what), remedy);
  }

  void read_line(const std::vector<std::string>& words) {
    if (words.empty() || (line_ == 1 && words.front() == "from"))
      return;
    if (words.size() != 4 && words.size() != 5)
      refuse(fmt::format("a line has {} columns", words.size()),
             "write from,to,latency_ms,mbit_per_s and, if you like, jitter_ms");
    const link_quality link{1e-3 * number("latency_ms", words[2], 0, 3.6e6),
                            1e6 * number("mbit_per_s", words[3], 1e-6, std::numeric_limits<double>::infinity()),
                            words.size() == 5 ? 1e-3 * number("jitter_ms", words[4], 0, 3.6e6) : 0};
    if (words[0] == "*" && words[1] == "*") {
      if (default_)
        refuse("there is a second line for all other links", "leave one out");
      default_ = link;
    } else {
      add(node(words[0]), node(words[1]), link);
    }
  }

  double number(std::string_view column, std::string_view word, double min, double max) const {
    try {
      return parse_real(column, word, min, max);
    } catch (const error& e) {
      refuse(e.sentence(), e.remedy().empty() ? "write a number" : e.remedy());
    }
  }

  rank node(std::string_view word) const {
    try {
      return static_cast<rank>(parse_integer("a node", word, 0, static_cast<std::int64_t>(nodes_) - 1));
    } catch (const error&) {
      refuse(fmt::format("'{}' is not the number of a node", word),
             fmt::format("with {} nodes the numbers are 0 to {}; the line *,* is for all other links", nodes_,
                         nodes_ - 1));
    }
  }

  void add(rank from, rank to, const link_quality& link) {
    if (from == to)
      refuse(fmt::format("node {} is joined to itself", from), "leave the line out; that takes no time");
    auto& there = links_[link_number(from, to)];
    if (there.line != 0)
      refuse(fmt::format("line {} says already how {} reaches {}", there.line, from, to), "leave one out");
    there = {link, line_};
    links_.try_emplace(link_number(to, from), direction{link, 0});
  }

  std::shared_ptr<const network> result() const {
    if (!default_)
      require_all();
    std::vector<link_override> links;
    for (const auto& [number, d] : links_)
      links.push_back(
          {sender_of(number), receiver_of(number), d.link.latency_s, d.link.bits_per_second, d.link.jitter_s});
    return with_overrides(uniform_network(default_.value_or(link_quality{})), nodes_, links);
  }

  void require_all() const {
    for (rank from = 0; from < nodes_; ++from)
      for (rank to = 0; to < nodes_; ++to)
        if (from != to && !links_.contains(link_number(from, to)))
          throw error(errc::bad_data, fmt::format("{}: nothing says how {} reaches {}", path_, from, to),
                      "add the line, or one for all other links: *,*,latency_ms,mbit_per_s");
  }

  std::string path_;
  std::size_t nodes_;
  std::size_t line_ = 0;
  std::optional<link_quality> default_;
  std::unordered_map<std::uint64_t, direction> links_; // by link number
};

} // namespace

network_entry matrix_network() {
  return {
      .about = {.name = "matrix",
                .summary = "every link as measured, from a text file",
                .maths =
                    "a line 'from,to,latency_ms,mbit_per_s[,jitter_ms]' for each pair of nodes, in one direction or "
                    "both; '*,*,...' for all that have no line; # begins a comment; blanks may stand for commas",
                .cost = "memory: O(lines)",
                .parameters = {{.key = "file",
                                .kind = parameter::type::text,
                                .fallback = "",
                                .meaning = "the file, relative to the working directory",
                                .required = true}}},
      .make = [](const arguments& given, std::size_t nodes) {
        return matrix_reader{given.text("file"), nodes}.read();
      }};
}

} // namespace gossamer::actors::detail
