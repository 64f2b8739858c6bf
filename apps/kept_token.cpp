#include "gossamer/apps/detail/kept_token.hpp"

#include "gossamer/apps/detail/detached_runs.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".token";
constexpr char before_process = ','; // no part of an address

/// @error errc::usage when the environment does not say where it is
fs::path folder_of_tokens() {
  return state_folder("the token of a run", "set one of them, or give the run and later commands about it the same "
                                            "token, in GOSSAMER_TOKEN or by --token-file")
         / "tokens";
}

error cannot_keep(const fs::path& file) {
  return {errc::io, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)),
          "other programs have to be given the token"};
}

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }

/// Returns the token in a file, if the file is this user's alone and its process lives. The file of a dead process is
/// removed.
std::string read_live(const fs::path& file) {
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0)
    return "";
  struct stat about {};
  std::array<char, actors::access_token::longest> text{};
  ssize_t count = 0;
  if (flock(opened, LOCK_SH | LOCK_NB) == 0)
    unlink(file.c_str());
  else if (fstat(opened, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0)
    count = read(opened, text.data(), text.size());
  close(opened);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

} // namespace

kept_token::kept_token(const std::string& address, const actors::access_token& token) {
  const auto folder = folder_of_tokens();
  std::error_code problem;
  fs::create_directories(folder, problem);
  const auto name = fmt::format("{}{}{}", address, before_process, getpid());
  const auto begun = folder / (name + ".part");
  lock_ = open(begun.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (lock_ < 0)
    throw cannot_keep(begun);
  file_ = begun;
  const auto& text = token.text();
  const bool kept = flock(lock_, LOCK_EX | LOCK_NB) == 0
                    && write(lock_, text.data(), text.size()) == static_cast<ssize_t>(text.size())
                    && rename(begun.c_str(), (folder / (name + suffix)).c_str()) == 0;
  if (!kept) {
    const auto why = cannot_keep(begun);
    remove();
    throw why;
  }
  file_ = folder / (name + suffix);
}

kept_token::kept_token(kept_token&& other) noexcept
    : file_(std::exchange(other.file_, {})), lock_(std::exchange(other.lock_, -1)) {}

kept_token& kept_token::operator=(kept_token&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(lock_, other.lock_);
  return *this;
}

kept_token::~kept_token() {
  if (lock_ >= 0)
    remove();
}

void kept_token::remove() const noexcept {
  unlink(file_.c_str());
  close(lock_);
}

bool may_find_tokens() {
  try {
    folder_of_tokens();
    return true;
  } catch (const error&) {
    return false;
  }
}

std::optional<actors::access_token> find_token(const std::string& address) {
  if (!may_find_tokens())
    return std::nullopt;
  std::string found;
  std::error_code problem;
  fs::directory_iterator at{folder_of_tokens(), problem};
  for (const fs::directory_iterator end; !problem && at != end; at.increment(problem)) {
    const auto name = at->path().filename().string();
    const auto of = name.substr(0, name.find(before_process));
    if (!name.ends_with(suffix) || port_of(of) != port_of(address))
      continue;
    auto text = read_live(at->path());
    if (text.empty())
      continue;
    found = std::move(text);
    if (of == address)
      break;
  }
  if (found.empty())
    return std::nullopt;
  return actors::access_token{found, "what is kept for this user"};
}

} // namespace gossamer::apps
