#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace gossamer::apps {

/// How a process of its own ended.
struct process_end {
  bool returned = false; ///< false: it crashed, or took too long
  bool too_long = false;
  std::string text; ///< what the work returned; or else why it did not, with the last line of its standard error
};

/// Runs work(0), ..., work(count - 1), each in a process of its own that is forked from this one, `jobs` at a time.
/// What they write to standard error is kept from the user, and all of them die with this process.
///
/// Requires that no other thread exists.
/// @param limit_s those that take longer, in real seconds, are killed
/// @param work    returns a text to this process; does not throw
/// @param on_end  called as they end; false: nothing behind this number is started any more, and what runs is killed.
///                So the first number that says so is always found, whatever the timing
/// @param stop    asked several times a second; true: what runs is killed, and that was all
/// @error errc::io when the system refuses
void in_processes(std::size_t count, std::size_t jobs, double limit_s,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<bool(std::size_t, const process_end&)>& on_end,
                  const std::function<bool()>& stop);

} // namespace gossamer::apps
