#pragma once

#include <string>
#include <string_view>

namespace gossamer::actors {

/// The secret of a run without certificates: a process that knows it may take part, and stop the run. A process proves
/// its knowledge in a `token_handshake` and never sends the token. Threads: as a value.
class access_token {
public:
  static constexpr std::size_t shortest = 16, longest = 256;

  /// Draws 128 random bits, as 32 hexadecimal digits. @error errc::io
  static access_token drawn();

  /// @param source origin of the text, for the error, which never repeats the text
  /// @error errc::usage unless it has 16 to 256 printable ASCII characters without spaces
  access_token(std::string_view text, std::string_view source);

  const std::string& text() const noexcept { return text_; }

private:
  std::string text_;
};

} // namespace gossamer::actors
