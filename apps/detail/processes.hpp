#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace gossamer::apps {

/// End of a process that `in_processes` started.
struct process_end {
  bool returned = false; ///< false if it crashed, or took too long
  bool too_long = false;
  std::string text; ///< the work's result; or else why there is none, with the last line of its standard error
};

/// Runs work(0), ..., work(count - 1), each in a process of its own that is forked from this one, `jobs` at a time. The
/// user does not see their standard error, and all of them die with this process.
///
/// Requires that no other thread exists.
/// @param limit_s processes that take longer, in real seconds, are killed
/// @param work    returns a text to this process; does not throw
/// @param on_end  called for each end, in order of time; false: no higher number is started any more, and running ones
///                of higher number are killed. So the first number that returns false is always found, whatever the
///                timing
/// @param stop    asked several times a second; true: running processes are killed, and no others start
/// @error errc::io when the system refuses
void in_processes(std::size_t count, std::size_t jobs, double limit_s,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<bool(std::size_t, const process_end&)>& on_end,
                  const std::function<bool()>& stop);

} // namespace gossamer::apps
