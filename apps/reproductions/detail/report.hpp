#pragma once

#include "gossamer/apps/reproductions/detail/findings.hpp"

namespace gossamer::apps {

/// What becomes of one claim.
struct judged_shape {
  std::string claim;
  verdict found;
};

std::vector<judged_shape> judge(const reproduction& r, const findings& f);

/// A section of a page: what the paper shows, the tables with the printed numbers beside ours, the pictures, and which
/// claims hold. @param pictures their paths as seen from the page
std::string markdown(const reproduction& r, const findings& f, const std::vector<std::string>& pictures);
/// A line for each method, setting, measure and seed.
std::string csv(const findings& f);
/// One for each of `r.pictures`.
std::vector<std::string> svgs(const reproduction& r, const findings& f);

} // namespace gossamer::apps
