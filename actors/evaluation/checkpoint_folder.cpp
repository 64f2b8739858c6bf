#include "gossamer/actors/evaluation/checkpoint_folder.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gossamer::actors {

namespace fs = std::filesystem;

namespace {

constexpr auto remedy = "make room on the disk, or choose a folder that can be written to";
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40; // of a part; memory may end earlier

bool is_there(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder, none);
}

std::string read_bytes(const fs::path& file) { return read_file(file.string(), {"checkpoint", most_bytes}); }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

fs::path manifest_in(const fs::path& folder) { return folder / "manifest"; }

} // namespace

checkpoint_folder::checkpoint_folder(fs::path where)
    : where_(std::move(where)), has_run_(is_there(where_.parent_path())) {}

fs::path checkpoint_folder::folder_of(std::uint64_t checkpoint) const { return where_ / std::to_string(checkpoint); }

fs::path checkpoint_folder::part_of(std::uint64_t checkpoint, rank who, std::size_t workers) const {
  return folder_of(checkpoint)
         / (who < workers ? fmt::format("worker-{}", who) : fmt::format("master-{}", who - workers));
}

void checkpoint_folder::make(std::uint64_t checkpoint) const {
  const auto folder = folder_of(checkpoint), run = where_.parent_path();
  if (has_run_ && !is_there(run))
    throw error(errc::io, fmt::format("{} has gone: it was moved or removed while the run went on", run.string()),
                "bring it back, or let the run end, which prints its result");
  std::error_code problem;
  const bool is_new = fs::create_directories(folder, problem);
  if (problem)
    throw error(errc::io, fmt::format("cannot make {}: {}", folder.string(), problem.message()), remedy);
  if (is_new)
    flush_folder(folder.parent_path().string(), remedy);
}

std::uint64_t checkpoint_folder::save(const saved_worker& part, std::size_t workers) const {
  make(part.checkpoint);
  const auto bytes = write(part);
  replace_durably(part_of(part.checkpoint, part.who, workers).string(), bytes, remedy);
  return digest_of(bytes);
}

void checkpoint_folder::complete(const manifest& m) const {
  make(m.checkpoint);
  replace_durably(manifest_in(folder_of(m.checkpoint)).string(), write(m), remedy);
}

/// Returns the numbers of all checkpoints, ascending.
std::vector<std::uint64_t> checkpoint_folder::numbers() const {
  std::vector<std::uint64_t> result;
  std::error_code problem;
  for (fs::directory_iterator entry{where_, problem}, end; !problem && entry != end; entry.increment(problem)) {
    const auto name = entry->path().filename().string();
    std::uint64_t number = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc{} && rest == name.data() + name.size())
      result.push_back(number);
  }
  std::ranges::sort(result);
  return result;
}

void checkpoint_folder::discard(std::uint64_t checkpoint) const {
  std::error_code ignored; // as in `keep_newest`
  if (!fs::exists(manifest_in(folder_of(checkpoint)), ignored))
    fs::remove_all(folder_of(checkpoint), ignored);
}

void checkpoint_folder::keep_newest(std::uint64_t newest) const {
  const auto all = numbers();
  bool has_one_before = false;
  for (auto number = all.rbegin(); number != all.rend(); ++number) {
    if (*number >= newest)
      continue;
    std::error_code ignored; // a folder that cannot be removed costs room, and nothing else
    if (!has_one_before && fs::exists(manifest_in(folder_of(*number)), ignored))
      has_one_before = true;
    else
      fs::remove_all(folder_of(*number), ignored);
  }
}

manifest checkpoint_folder::manifest_of(std::uint64_t checkpoint) const {
  const auto file = manifest_in(folder_of(checkpoint));
  auto result = read_manifest(bytes_of(read_bytes(file)), file.string());
  if (result.checkpoint != checkpoint)
    throw error(errc::bad_data, fmt::format("{} is that of checkpoint {}", file.string(), result.checkpoint));
  const auto masters = std::distance(result.parts.lower_bound(static_cast<rank>(result.workers)), result.parts.end());
  if (static_cast<std::uint64_t>(masters) != result.masters)
    throw error(errc::bad_data,
                fmt::format("{} lists parts of {} of {} masters", file.string(), masters, result.masters));
  return result;
}

saved_worker checkpoint_folder::part(const manifest& m, rank who) const {
  const auto file = part_of(m.checkpoint, who, m.workers);
  const auto bytes = read_bytes(file);
  if (digest_of(bytes_of(bytes)) != m.parts.at(who).digest)
    throw error(errc::bad_data, fmt::format("{} is damaged, or of another run", file.string()));
  return read_saved_worker(bytes_of(bytes), file.string());
}

resumption checkpoint_folder::read_newest(const std::function<resumption(std::uint64_t)>& read,
                                          const std::function<void(const std::string&)>& complain) const {
  std::error_code problem;
  if (fs::directory_iterator{where_, problem}; problem && problem != std::errc::no_such_file_or_directory)
    throw error(errc::io, fmt::format("cannot read {}: {}", where_.string(), problem.message()),
                "give this user the right to read it, or name another run");
  const auto all = numbers();
  for (auto number = all.rbegin(); number != all.rend(); ++number) {
    if (!fs::exists(manifest_in(folder_of(*number)), problem) && !problem)
      continue; // the run ended before it was complete
    try {
      return read(*number);
    } catch (const error& e) {
      complain(fmt::format("checkpoint {} cannot be used: {}", *number, e.sentence()));
    }
  }
  throw error(errc::bad_data, fmt::format("{} holds no checkpoint that is whole", where_.string()),
              "train with --checkpoint to have some");
}

resumption checkpoint_folder::newest(const std::function<void(const std::string&)>& complain) const {
  return read_newest(
      [this](std::uint64_t checkpoint) {
        resumption result{where_.string(), manifest_of(checkpoint), {}};
        for (const auto& [who, account] : result.all.parts)
          result.parts.emplace(who, part(result.all, who));
        return result;
      },
      complain);
}

resumption checkpoint_folder::newest_of_many(const std::function<void(const std::string&)>& complain) const {
  const auto rule_out = [](const std::string& why) { throw error(errc::bad_data, why); };
  return read_newest([&](std::uint64_t checkpoint) { return parts_here(manifest_of(checkpoint), rule_out); }, complain);
}

resumption checkpoint_folder::parts_here(manifest m, const std::function<void(const std::string&)>& complain) const {
  resumption result{where_.string(), std::move(m), {}};
  std::error_code none; // a path of another machine may be closed to this user
  for (const auto& [who, account] : result.all.parts)
    if (fs::exists(part_of(result.all.checkpoint, who, result.all.workers), none))
      try {
        result.parts.emplace(who, part(result.all, who));
      } catch (const error& e) {
        complain(e.sentence());
      }
  return result;
}

} // namespace gossamer::actors
