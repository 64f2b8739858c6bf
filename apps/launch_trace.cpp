#include "gossamer/apps/detail/launch_trace.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gossamer::apps {

launch_trace::launch_trace(std::string file, std::size_t nodes)
    : name_(std::move(file)), file_(std::fopen(name_.c_str(), "we")), process_of_(nodes) {
  if (!file_)
    refuse();
}

void launch_trace::begin_again() {
  ++beginning_;
  std::ranges::fill(process_of_, std::nullopt);
}

void launch_trace::hear(std::size_t node, const std::string& announced) {
  const auto now_ns = static_cast<std::int64_t>(1e9 * since_start_.seconds());
  const auto moments = actors::moments_from(announced);
  auto& process = process_of_.at(node);
  if (!process || (!moments.empty() && moments.front().what == actors::trace_moment::kind::begins))
    process = all_.open(fmt::format("node {}: ", node), beginning_);
  all_.add(*process, moments, now_ns);
}

std::string launch_trace::write() {
  actors::run_picture picture;
  all_.draw(picture);
  picture.write(file_.get());
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0)
    refuse();
  const auto missing = all_.left_out() == 0 ? "" : fmt::format(", without the last {} moments", all_.left_out());
  return fmt::format("{} shows {} process{}{}", name_, all_.processes(), all_.processes() == 1 ? "" : "es", missing);
}

void launch_trace::refuse() const {
  throw error(errc::io, fmt::format("--trace: cannot write {}: {}", name_, std::strerror(errno)),
              "check the path and the room there, or leave the flag out");
}

} // namespace gossamer::apps
