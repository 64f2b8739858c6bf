#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gossamer {

/// Kind of an error. It decides who has to act, and the exit status of the command.
enum class errc : std::uint8_t {
  usage,       ///< the request itself is wrong: an unknown name, a value out of range, flags that exclude each other
  bad_data,    ///< a file is damaged, truncated or not of the format it claims
  io,          ///< the operating system refused: no such file, no permission, disk full
  bad_packet,  ///< bytes from a peer do not form a valid packet; the link is at fault, not this process
  diverged,    ///< the training itself left the finite numbers
  interrupted, ///< the user asked to stop
  failed,      ///< an actor died, or an internal promise was broken
  device,      ///< a GPU failed, and is lost to this process; work elsewhere goes on
};

/// The name of a code, as it is printed and logged ("bad-data").
std::string_view to_string(errc code) noexcept;

/// The one error type of Gossamer: a kind, one sentence that says what was wrong and where, and what to do about it.
///
/// Errors are thrown where they are found and handled in one place per world: the supervisor of a run turns them into
/// the end of the run, the command line into one line on standard error. The hot paths have no error returns.
class error : public std::runtime_error {
public:
  /// @param sentence what was wrong and where (file and line, key, peer), without a final full stop
  /// @param remedy   what is allowed, or what to do; may be empty
  error(errc code, std::string sentence, std::string remedy = {});

  errc code() const noexcept { return code_; }
  const std::string& sentence() const noexcept { return sentence_; }
  const std::string& remedy() const noexcept { return remedy_; }

  /// 2 for a wrong request, 1 for everything else.
  int exit_status() const noexcept { return code_ == errc::usage ? 2 : 1; }

private:
  errc code_;
  std::string sentence_;
  std::string remedy_;
};

/// Ends the process and names the broken promise; active in every build. For programmers' errors only, never for input.
#define GOSSAMER_ASSERT(condition, promise)                                                                            \
  ((condition) ? void() : ::gossamer::detail::assertion_failed(#condition, promise, __FILE__, __LINE__))

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* promise, const char* file, int line);
}

} // namespace gossamer
