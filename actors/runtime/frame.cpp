#include "gossamer/actors/runtime/frame.hpp"

namespace gossamer::actors {

std::string_view to_string(frame_kind kind) noexcept {
  switch (kind) {
  case frame_kind::model:
    return "model";
  case frame_kind::reduce_segment:
    return "reduce-segment";
  case frame_kind::gather_segment:
    return "gather-segment";
  case frame_kind::average_request:
    return "average-request";
  case frame_kind::average_reply:
    return "average-reply";
  case frame_kind::farewell:
    return "farewell";
  }
  return "unknown";
}

} // namespace gossamer::actors
