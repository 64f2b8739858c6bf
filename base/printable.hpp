#pragma once

#include <string>
#include <string_view>

namespace gossamer {

/// The text with every control character, and every byte that is not UTF-8, written as \x1b: it cannot move a cursor,
/// set a title or end a C string. A text that went through it once stays as it is. Every `error` is made of such texts.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

} // namespace gossamer
