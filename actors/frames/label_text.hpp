#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <fmt/format.h>

#include <string>

namespace gossamer::actors {

/// The kind of a frame in messages: "model", or "own 141" for a program's, which have no names.
inline std::string kind_text(frame_kind kind) {
  return kind < first_own_kind ? std::string{to_string(kind)} : fmt::format("own {}", static_cast<unsigned>(kind));
}

/// What tells a program's frames of one kind and step apart: ", part 2"; nothing for Gossamer's own.
inline std::string part_text(const tag& label) {
  if (label.kind < first_own_kind)
    return "";
  return label.part == any_part ? ", any part" : fmt::format(", part {}", label.part);
}

/// "model 5", or "own 141, step 5, part 2".
inline std::string label_text(const tag& label) {
  return fmt::format("{}{} {}{}", kind_text(label.kind), label.kind < first_own_kind ? "" : ", step", label.step,
                     part_text(label));
}

} // namespace gossamer::actors
