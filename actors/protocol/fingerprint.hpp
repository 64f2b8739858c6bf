#pragma once

#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/experiment.hpp"

#include <string>
#include <vector>

namespace gossamer::actors {

/// The properties that two processes must share before they train together: each prepares the run by itself, from the
/// same text. Plain data, inspected: a `control` message carries it.
struct fingerprint {
  std::uint32_t control = control_version;
  std::uint32_t wire = compress::packet_version;
  std::string settings;       ///< `to_text`, without settings of a machine: device and threads
  std::string codecs;         ///< lines with the program's own codecs, whose packets may come
  std::uint64_t graph = 0;    ///< XXH3 of the edges and their weights
  std::uint64_t samples = 0;  ///< number in the training set
  std::uint64_t features = 0; ///< number per sample
  std::uint64_t classes = 0;
  std::uint64_t dimension = 0; ///< parameters of the model
  std::uint64_t data = 0;      ///< XXH3 of the content of both sets, as it is kept, however a file spelt it
  std::uint64_t initial = 0;   ///< XXH3 of the model before the first step, which mathematical libraries may round
                               ///< differently

  friend bool operator==(const fingerprint&, const fingerprint&) = default;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, fingerprint& p) {
  return f(p.control, p.wire, p.settings, p.codecs, p.graph, p.samples, p.features, p.classes, p.dimension, p.data,
           p.initial);
}

/// O(data): 5 to 10 GB a second.
fingerprint fingerprint_of(const experiment& e);

/// Returns a hash of the whole fingerprint.
std::uint64_t digest_of(const fingerprint& f);

/// Lists the differences for people: "lr is 0.1 here and 0.2 there". Empty exactly when the fingerprints are equal. The
/// text of `there` is not trusted.
std::vector<std::string> differences(const fingerprint& here, const fingerprint& there);

} // namespace gossamer::actors
