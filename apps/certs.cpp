// gossamer certs: certificates that the nodes of a run show each other, so that no other process takes part.
#include "gossamer/actors/data_plane/tls/certificate_folder.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

void make_certificates(const program& p, const certs_options& options) {
  const auto made = actors::write_certificates({.folder = options.out,
                                                .hosts = split(options.hosts, ','),
                                                .days = std::chrono::days(options.days),
                                                .overwrite = options.overwrite});
  fmt::print("{} {}\n", (std::filesystem::path(options.out) / actors::authority_certificate).string(),
             made.new_authority ? "is a new authority; whoever has its key can let others in" : "has signed");
  for (const auto& folder : made.folders)
    fmt::print("{} is for that host: copy it there, and run {} node --certs with it\n", folder.string(), p.name());
}

} // namespace gossamer::apps
