#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace gossamer {

/// Purpose of a file that is read into memory, and its largest size.
struct file_kind {
  std::string noun;             ///< for messages: "topology file"; may be empty
  std::uint64_t most_bytes = 0; ///< larger files are refused
  std::string remedy = {};      ///< what to do about a larger file
};

/// Returns the whole content of a regular file, or of a pipe that is open already (/dev/stdin, a shell's <(...)), which
/// is read to its end. Memory grows with the bytes read, never beyond the limit: a larger regular file is refused
/// before the first byte.
/// @error errc::io when the operating system refuses, when memory runs out, and for a file of another kind (a folder, a
///        device, a pipe with a name), which is refused unopened; errc::bad_data when it is too large
std::string read_file(const std::string& path, const file_kind& kind);

/// Returns the text of a file as `read_file` does, without the byte order mark that some editors write in front of it.
std::string read_text(const std::string& path, const file_kind& kind);

/// Calls `visit` with each line that ends, without its newline; holds little more than one line.
/// @param kind `most_bytes` limits one line
/// @error as read_file, and errors of `visit`
void read_lines(const std::string& path, const file_kind& kind,
                const std::function<void(std::string_view line)>& visit);

/// True if a file or a folder has this name. @error errc::io when the operating system does not say, as where a folder
/// on the way cannot be searched, or links lead in a circle
bool file_exists(const std::string& path);

/// Makes the folder, and those above it, unless it is there. @param remedy what to do when that fails @error errc::io
void make_folder(const std::string& path, const std::string& remedy);

/// Replaces the file. @param remedy what to do when that fails @error errc::io
void write_text(const std::string& path, const std::string& text, const std::string& remedy);
/// Replaces the file, or the one that links lead to, so that the old or the new one is there, whole, whenever the
/// machine stops; into what is no file, such as a device, it writes. @error errc::io; the old one is still there then
void replace_durably(const std::string& path, std::span<const std::byte> bytes, const std::string& remedy);
/// Replaces the file by one that is first written beside it: others see the old or the new one, whole. Links are not
/// followed.
/// @param flushed whether the bytes are on the disk before the name is
/// @returns 0, or the system's reason; the old one is still there then, and nothing beside it
int replace_by_renaming(const std::string& path, const std::string& beside, std::span<const std::byte> bytes,
                        bool flushed) noexcept;
/// Makes the names in this folder survive a stop of the machine. @error errc::io
void flush_folder(const std::string& folder, const std::string& remedy);
std::string_view without_byte_order_mark(std::string_view text) noexcept;

/// Takes the next line off the front of a text; the newline is not part of it.
/// @returns false when there is none left
bool take_line(std::string_view& text, std::string_view& line) noexcept;

/// "3 bytes", "16 MiB", "4 GiB": for messages about limits.
std::string byte_count(std::uint64_t bytes);

} // namespace gossamer
