#pragma once

#include "gossamer/apps/reproductions/detail/findings.hpp"

namespace gossamer::apps {

/// Verdict on one claim.
struct judged_shape {
  std::string claim;
  verdict found;
  std::string undecidable; ///< why it counts neither way; empty: it counts
  bool changed;

  bool came_back() const { return undecidable.empty() && found.holds; }
  bool missing() const { return undecidable.empty() && !found.holds; }
};

std::vector<judged_shape> judge(const reproduction& r, const findings& f);

/// Returns a section of a page: the result of the paper, the tables with the printed numbers beside ours, the pictures,
/// and the claims that hold. @param pictures their paths as seen from the page
std::string markdown(const reproduction& r, const findings& f, const std::vector<std::string>& pictures);
/// Returns a line for each method, setting, measure and seed.
std::string csv(const findings& f);
/// Returns a picture for each of `r.pictures`.
std::vector<std::string> svgs(const reproduction& r, const findings& f);

} // namespace gossamer::apps
