#pragma once

#include <span>
#include <string>
#include <vector>

namespace gossamer::apps {

/// What a candidate needs to know of the links.
enum class knowledge {
  none,
  islands, ///< workers with fast links average in each step
  hosts    ///< a topology is made of the fast links between measured hosts
};

/// Algorithms that are good somewhere, each with a codec and a period that are good for it: see docs/results.md.
struct candidate {
  const char *algorithm, *codec;
  knowledge of = knowledge::none;

  std::string name() const;
  /// Its flags, for `simulate` and for `train`. @param hosts the file of measured hosts
  std::vector<std::string> given(const std::string& hosts) const;
};

/// The short list of `gossamer advise`. The first is the reference, which all others are compared with.
std::span<const candidate> candidates();

} // namespace gossamer::apps
