// gossamer reproduce: tables and figures of papers, made again and judged.
#include "gossamer/apps/detail/reproduce.hpp"

#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/reproductions/detail/report.hpp"
#include "gossamer/apps/reproductions/detail/runs.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gossamer::apps {

namespace {

constexpr auto elsewhere = "choose another folder with --out";

const reproduction_entry& entry_of(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& entry : reproductions()) {
    if (entry.name == name)
      return entry;
    known.push_back(entry.name);
  }
  throw unknown_name("reproduction", name, known);
}

std::vector<const reproduction_entry*> wanted(const reproduce_options& o) {
  if (o.all == !o.names.empty())
    throw error(errc::usage, o.all ? "both --all and names are given" : "no reproduction is named",
                "name some, or say --all, which takes four hours of one processor; --list says what there is");
  std::vector<const reproduction_entry*> entries;
  for (const auto& name : o.names)
    entries.push_back(&entry_of(name));
  if (o.all)
    for (const auto& entry : reproductions())
      entries.push_back(&entry);
  return entries;
}

void print_list() {
  for (const auto& entry : reproductions()) {
    const auto r = entry.make(false);
    fmt::print("{:<20} {}\n{:<20} {}\n", r.name, r.title, "", r.reference);
  }
}

/// Returns the command that repeats this, and no more: whatever the file of the program was called.
std::string command_of(const reproduce_options& o, const std::string& name) {
  auto text = fmt::format("gossamer reproduce {}{}", name, o.quick ? " --quick" : "");
  if (!o.data.empty())
    text += " --data " + shell_word(o.data);
  if (!o.model.empty())
    text += " --model " + shell_word(o.model);
  if (!o.more.empty())
    text += " --";
  for (const auto& word : o.more)
    text += ' ' + shell_word(word);
  return text;
}

flags more_of(const reproduce_options& o) {
  flags more;
  if (!o.data.empty())
    more.insert(more.end(), {"--data", o.data});
  if (!o.model.empty())
    more.insert(more.end(), {"--model", o.model});
  more.insert(more.end(), o.more.begin(), o.more.end());
  return more;
}

/// Paths of a reproduction's results.
struct files {
  std::filesystem::path folder;
  std::string name;

  std::string with(std::string_view ending) const { return (folder / (name + std::string{ending})).string(); }
  std::string picture(std::size_t i) const {
    return fmt::format("{}{}.svg", name, i == 0 ? "" : fmt::format("-{}", i + 1));
  }
};

std::vector<std::string> picture_names(const reproduction& r, const files& at, const std::string& folder) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < r.pictures.size(); ++i)
    names.push_back(folder + at.picture(i));
  return names;
}

void write_results(const reproduction& r, const findings& f, const files& at) {
  write_text(at.with(".json"), to_json(f).dump(1) + '\n', elsewhere);
  write_text(at.with(".csv"), csv(f), elsewhere);
  write_text(at.with(".md"), markdown(r, f, picture_names(r, at, "")), elsewhere);
  const auto pictures = svgs(r, f);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    write_text((at.folder / at.picture(i)).string(), pictures[i], elsewhere);
}

/// Makes one reproduction. @returns number of shapes that have not come back
std::size_t make(const program& p, const reproduce_options& o, const reproduction_entry& entry,
                 const std::function<run_options(const flags&)>& understand) {
  const auto r = entry.make(o.quick);
  const files at{o.out, r.name};
  const auto runs = at.folder / "runs";
  make_folder(runs, elsewhere);
  auto f = carry_out(r, {.self = p,
                         .understand = understand,
                         .more = more_of(o),
                         .folder = runs,
                         .jobs = o.jobs,
                         .run_limit_s = o.run_limit_s});
  f.version = GOSSAMER_VERSION;
  f.command = command_of(o, r.name);
  f.quick = o.quick;
  write_results(r, f, at);
  fmt::print("{}\n", markdown(r, f, picture_names(r, at, (at.folder / "").string())));
  std::fflush(stdout);
  return static_cast<std::size_t>(std::ranges::count_if(judge(r, f), &judged_shape::missing));
}

/// Returns the path of the page, which lies beside the folder of results.
std::string page_of(const std::string& out) {
  const auto folder = (std::filesystem::path{out} / "").parent_path().filename().string() + '/';
  std::string lines = "| reproduction | what the paper shows | came back | did not | cannot be decided here |\n"
                      "|---|---|---|---|---|\n",
              sections;
  double real_s = 0;
  for (const auto& entry : reproductions()) {
    const files at{out, entry.name};
    if (!file_exists(at.with(".json"))) {
      lines += fmt::format("| {} | {} | not run yet | | |\n", entry.name, entry.make(false).title);
      continue;
    }
    const auto f = read_findings(at.with(".json"));
    real_s += f.real_s;
    const auto r = entry.make(f.quick);
    const auto shapes = judge(r, f);
    const auto held = std::ranges::count_if(shapes, &judged_shape::came_back);
    const auto missing = std::ranges::count_if(shapes, &judged_shape::missing);
    lines += fmt::format("| [{0}](#{0}) | {1} | {2} | {3} | {4} |\n", r.name, r.title, held, missing,
                         static_cast<std::ptrdiff_t>(shapes.size()) - held - missing);
    sections += '\n' + markdown(r, f, picture_names(r, at, folder));
  }
  return fmt::format("The runs took {:.1f} h of one processor.\n\n", real_s / 3600) + lines + sections;
}

} // namespace

void check_not_compared(const reproduce_options& o) {
  for (const auto& entry : reproductions())
    if (o.all || std::ranges::find(o.names, entry.name) != o.names.end())
      check_not_compared(entry.make(o.quick), o.more);
  reproduction any;
  any.name = "every reproduction";
  check_not_compared(any, o.more);
}

int reproduce(const program& p, const reproduce_options& o,
              const std::function<run_options(const std::vector<std::string>&)>& understand) {
  if (o.list)
    return print_list(), 0;
  if (o.page)
    return fmt::print("{}", page_of(o.out)), 0;
  std::size_t missing = 0;
  try {
    for (const auto* entry : wanted(o))
      missing += make(p, o, *entry, understand);
  } catch (const error& e) {
    return after_interrupt(p, e);
  }
  if (missing > 0)
    throw error(errc::failed, fmt::format("{} of what must come back did not", missing),
                fmt::format("the tables above say what; {} has the numbers", o.out));
  return 0;
}

} // namespace gossamer::apps
