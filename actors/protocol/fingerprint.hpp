#pragma once

#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/experiment.hpp"

#include <string>
#include <vector>

namespace gossamer::actors {

/// What two processes must agree on before they train together: each prepares the run by itself, from the same text.
/// Plain data, inspected: a `control` message carries it.
struct fingerprint {
  std::uint32_t control = control_version;
  std::uint32_t wire = compress::packet_version;
  std::string settings;       ///< `to_text`, without those that belong to a machine: device and threads
  std::uint64_t samples = 0;  ///< of the training set
  std::uint64_t features = 0; ///< of a sample
  std::uint64_t classes = 0;
  std::uint64_t dimension = 0; ///< of the model
  std::uint64_t data = 0;      ///< XXH3 of all that both sets hold; not of how a file spelt it
  std::uint64_t initial = 0;   ///< XXH3 of the model before the first step, which mathematical libraries may round
                               ///< differently

  friend bool operator==(const fingerprint&, const fingerprint&) = default;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, fingerprint& p) {
  return f(p.control, p.wire, p.settings, p.samples, p.features, p.classes, p.dimension, p.data, p.initial);
}

/// O(data): 5 to 10 GB a second.
fingerprint fingerprint_of(const experiment& e);

/// All of it in one number.
std::uint64_t digest_of(const fingerprint& f);

/// In which ways they differ, for people: "lr is 0.1 here and 0.2 there". Empty exactly when they are equal. The text
/// of the other one is not trusted.
std::vector<std::string> differences(const fingerprint& here, const fingerprint& there);

} // namespace gossamer::actors
