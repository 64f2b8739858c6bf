#pragma once

#include <string>
#include <string_view>

namespace gossamer::actors {

/// The secret of a run without certificates: who knows it may take part, and stop the run. It proves itself in a
/// `token_handshake` and is never sent. Threads: as a value.
class access_token {
public:
  static constexpr std::size_t shortest = 16, longest = 256;

  /// 128 bits that nobody guesses, as 32 hexadecimal digits. @error errc::io
  static access_token drawn();

  /// @param source where the text comes from, for the error, which never repeats the text
  /// @error errc::usage unless it has 16 to 256 printable ASCII characters without spaces
  access_token(std::string_view text, std::string_view source);

  const std::string& text() const noexcept { return text_; }

private:
  std::string text_;
};

} // namespace gossamer::actors
