// Reports of a build without the library that their curves are made of.
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/base/error.hpp"

namespace gossamer::apps {

bool has_reports() noexcept { return false; }

void require_reports() {
  throw error(errc::usage, "report: this program was built without its pages",
              "install libjs-dygraphs, and build it again");
}

std::string report_of(const std::vector<std::string>&) { return require_reports(), std::string{}; }

} // namespace gossamer::apps
