#include "gossamer/actors/telemetry/run_folder.hpp"

#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/actors/telemetry/plot.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <unistd.h>
#include <utility>

namespace gossamer::actors {

namespace fs = std::filesystem;

namespace {

constexpr std::array file_names{"config.toml", "faults.toml", "costs.toml", "metrics.jsonl", "summary.json", "plot.svg",
                                "trace.json",  "blame.txt",   "blame.json", "events.jsonl",  "report.html"};

constexpr auto replaced = ".replaced"; // what this run takes the place of, until it has begun
constexpr auto other_folder = "check the path and the room there, or choose another folder with --out";
constexpr std::size_t most_waiting = std::size_t{1} << 16; // bytes of a file's lines: minutes of a run

/// EFBIG comes of a limit on files, which is a full disk to this program.
bool is_lack_of_room(int problem) { return problem == ENOSPC || problem == EDQUOT || problem == EFBIG; }

[[noreturn]] void refuse(const fs::path& file, const char* reason) {
  throw error(errc::io, fmt::format("cannot write {}: {}", file.string(), reason), other_folder);
}

/// The numbers of the run folders in a folder.
std::set<int> numbers_in(const fs::path& parent) {
  std::set<int> numbers;
  std::error_code problem;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(parent, problem); !problem && at != end; at.increment(problem)) {
    const auto name = at->path().filename().string();
    int number = 0;
    const auto [stop, code] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (code == std::errc{} && stop - name.data() >= 3 && *stop == '-')
      numbers.insert(number);
  }
  if (problem)
    refuse(parent, problem.message().c_str());
  return numbers;
}

/// Locks the folder, or returns null: the silent process that this one follows may still hold the lock.
std::unique_ptr<const folder_lock> lock_if_free(const fs::path& folder) {
  try {
    return std::make_unique<const folder_lock>(folder);
  } catch (const error&) {
    return nullptr;
  }
}

/// Returns the events in the folder. Damage, as by a leader that died within a line, must cost marks in a picture and
/// no summary.
std::vector<event_record> events_if_whole(const fs::path& folder) {
  try {
    return read_events(folder);
  } catch (const error&) {
    return {};
  }
}

} // namespace

run_folder::run_folder(fs::path folder, bool overwrite) : folder_(std::move(folder)) {
  std::error_code problem;
  is_new_ = fs::create_directories(folder_, problem);
  if (problem)
    refuse(folder_, problem.message().c_str());
  lock_ = std::make_unique<const folder_lock>(folder_);
  const auto make_room = [&](const fs::path& old) {
    if (!overwrite)
      throw error(errc::usage, fmt::format("{} already holds a run", folder_.string()),
                  "choose another folder with --out, or pass --overwrite");
    fs::create_directory(folder_ / replaced, problem);
    fs::rename(old, folder_ / replaced / old.filename(), problem);
    if (problem)
      refuse(old, problem.message().c_str());
  };
  if (overwrite)
    fs::remove_all(folder_ / replaced, problem);
  for (const auto* name : file_names)
    if (file_exists((folder_ / name).string()))
      make_room(folder_ / name);
  // Otherwise this run could be resumed from a checkpoint of another one.
  if (fs::is_directory(folder_ / "checkpoints", problem))
    make_room(folder_ / "checkpoints");
  try {
    open_files("we");
  } catch (...) {
    discard();
    throw;
  }
}

run_folder::run_folder(fs::path folder) : folder_(std::move(folder)), lock_(lock_if_free(folder_)), has_begun_(true) {
  forget_replaced();
  take_back();
}

run_folder run_folder::taken_over(fs::path folder) { return run_folder{std::move(folder)}; }

/// Writes whole lines into new files: the former writer may wake, and go on writing to the old ones for a moment.
void run_folder::take_back() {
  write("metrics.jsonl", [this](std::FILE* out) {
    visit_evaluations(folder_, [out](std::string_view line, const evaluation_record&) {
      std::fwrite(line.data(), 1, line.size(), out);
      std::fputc('\n', out);
    });
  });
  if (const auto events = folder_ / "events.jsonl"; file_exists(events.string()))
    write("events.jsonl", [&events](std::FILE* out) {
      constexpr std::uint64_t longest_line = std::uint64_t{1} << 20;
      read_lines(events.string(), {.noun = "file of events", .most_bytes = longest_line}, [out](std::string_view line) {
        std::fwrite(line.data(), 1, line.size(), out);
        std::fputc('\n', out);
      });
    });
  open_files("ae");
  for (auto* file : {&metrics_, &events_})
    file->waiting.clear(); // older than the lines of the former writer
}

void run_folder::open_files(const char* mode) {
  for (auto* file : {&metrics_, &events_}) {
    file->out.reset(std::fopen((folder_ / file->name).c_str(), mode));
    if (!file->out)
      refuse(folder_ / file->name, std::strerror(errno));
    std::setvbuf(file->out.get(), nullptr, _IONBF, 0);
  }
}

void run_folder::write(std::string_view name, std::string_view text) {
  write(name, [text](std::FILE* out) { std::fwrite(text.data(), 1, text.size(), out); });
}

/// Makes the folder, if it was moved or removed: what is left to write is better there than nowhere.
void run_folder::make_again() {
  std::error_code problem;
  is_made_again_ = fs::create_directories(folder_, problem) || is_made_again_;
  if (problem)
    refuse(folder_, problem.message().c_str());
}

void run_folder::write(std::string_view name, const std::function<void(std::FILE*)>& content) {
  make_again();
  const auto file = folder_ / name;
  const auto beside = folder_ / fmt::format("{}.part", name);
  std::unique_ptr<std::FILE, close_file> out{std::fopen(beside.c_str(), "we")};
  if (!out)
    refuse(file, std::strerror(errno));
  const auto give_up = [&] {
    out.reset();
    std::error_code ignored;
    fs::remove(beside, ignored);
  };
  try {
    content(out.get());
  } catch (...) {
    give_up();
    throw;
  }
  const bool is_safe = std::fflush(out.get()) == 0 && (fsync(fileno(out.get())) == 0 || errno == EINVAL); // a pipe
  if (!is_safe || std::ferror(out.get()) != 0 || std::fclose(out.release()) != 0) {
    const auto* reason = std::strerror(errno);
    give_up();
    refuse(file, reason);
  }
  std::error_code problem;
  fs::rename(beside, file, problem);
  if (problem) {
    give_up();
    refuse(file, problem.message().c_str());
  }
  flush_folder(folder_.string(), other_folder);
}

void run_folder::on_evaluation(const evaluation_record& record) {
  bring(record);
  begin();
}

void run_folder::bring(const evaluation_record& record) { append(metrics_, to_json(record)); }

void run_folder::on_event(const event_record& record) { append(events_, to_line(record)); }

void run_folder::on_progress(const progress_record& record) {
  if (record.time_s < next_progress_s_)
    return;
  next_progress_s_ = std::max(record.time_s + 1, 1.01 * record.time_s);
  append(events_, to_line(record));
}

void run_folder::append(line_file& to, std::string_view line) {
  to.waiting.append(line) += '\n';
  write_waiting(to, most_waiting);
}

/// Writes as much as there is room for. @param most_left bytes that may go on waiting
void run_folder::write_waiting(line_file& to, std::size_t most_left) {
  const auto written = std::fwrite(to.waiting.data(), 1, to.waiting.size(), to.out.get());
  const auto problem = errno;
  to.waiting.erase(0, written);
  if (!to.waiting.empty() && (to.waiting.size() > most_left || !is_lack_of_room(problem)))
    refuse(folder_ / to.name, std::strerror(problem));
}

std::string run_folder::finish(const run_summary& summary) { return finish(summary, to_json(summary) + '\n'); }

std::string run_folder::finish(const run_summary& summary, std::string_view json) {
  write("summary.json", json); // first: a disk that is nearly full shall keep the result
  for (auto* file : {&metrics_, &events_})
    write_waiting(*file, 0);
  std::vector<evaluation_record> evaluations;
  try {
    evaluations = read_evaluations(folder_);
  } catch (const error& e) {
    return fmt::format("{}there is no plot.svg: {}",
                       is_made_again_ ? fmt::format("{} was moved or removed while the run went on, with all that had "
                                                    "been written there, and is a new folder now; ",
                                                    folder_.string())
                                      : "",
                       e.sentence());
  }
  write("plot.svg",
        plot(evaluations, events_if_whole(folder_),
             fmt::format("{}, {} worker{}", summary.algorithm, summary.workers, summary.workers == 1 ? "" : "s")));
  return "";
}

void run_folder::begin() noexcept {
  if (!std::exchange(has_begun_, true))
    forget_replaced();
}

void run_folder::forget_replaced() noexcept {
  std::error_code ignored;
  fs::remove_all(folder_ / replaced, ignored);
}

void run_folder::discard() noexcept {
  std::error_code ignored;
  if (has_begun_ || fs::is_directory(folder_ / "checkpoints", ignored))
    return;
  for (const auto* name : file_names)
    fs::remove(folder_ / name, ignored);
  const fs::directory_iterator end;
  for (fs::directory_iterator at(folder_ / replaced, ignored); !ignored && at != end; at.increment(ignored))
    fs::rename(at->path(), folder_ / at->path().filename(), ignored);
  forget_replaced();
  lock_.reset();
  if (is_new_)
    fs::remove(folder_, ignored); // fails if other files are in it
}

run_folder run_folder::next_in(const fs::path& parent, std::string_view name) {
  run_folder result{make_next(parent, name), false};
  result.is_new_ = true;
  return result;
}

fs::path run_folder::make_next(const fs::path& parent, std::string_view name) {
  std::error_code problem;
  fs::create_directories(parent, problem);
  if (problem)
    refuse(parent, problem.message().c_str());
  auto taken = numbers_in(parent);
  for (int number = 1;; ++number) {
    if (taken.contains(number))
      continue;
    // A folder of the bare number is a lock: the process that makes it decides about the number, and gives it its name.
    const auto lock = parent / fmt::format("{:03}", number);
    if (!fs::create_directory(lock, problem)) {
      if (problem && problem != std::errc::file_exists) // the error, too, for a folder that has been named since
        refuse(lock, problem.message().c_str());
      continue;
    }
    taken = numbers_in(parent); // another process may have named a folder since the last look
    if (taken.contains(number)) {
      fs::remove(lock, problem);
      continue;
    }
    auto folder = parent / fmt::format("{:03}-{}", number, name);
    fs::rename(lock, folder, problem);
    if (problem)
      refuse(folder, problem.message().c_str());
    return folder;
  }
}

} // namespace gossamer::actors
