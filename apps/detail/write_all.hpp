#pragma once

#include "gossamer/base/error.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace gossamer::apps {

/// Writes a text to an open file, and waits while the file takes no more. Text that `stdio` keeps for the same file is
/// not written first.
/// @returns false if the system refuses, with the reason in `errno`. Terminals and pipes may be lost: a run goes on.
bool write_all(int file, std::string_view text) noexcept;

/// Writes to standard error as `write_all` does, but waits only for a limited time.
void write_last_words(std::string_view text) noexcept;

/// The failure of standard output, by the system's number.
error lost_output(int number);
/// Writes what `stdio` still keeps for standard output. Output that does not arrive is a failure, also when the system
/// reports it only at the end. @error errc::io
void flush_output();

/// Opens standard streams that are closed on /dev/null, so that no file that is opened later gets their numbers and
/// lines. What is written to such a standard output fails, and is reported, as if it were closed.
void open_closed_streams() noexcept;

/// Lets this process open as many files as its user may allow it: a shell allows few, since old programs know no more.
void allow_more_open_files() noexcept;
/// Returns what an error says, with the remedy that helps where no more files may be opened.
std::string words_of(const std::exception& e);

} // namespace gossamer::apps
