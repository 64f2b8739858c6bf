#pragma once

#include "gossamer/actors/run/experiment.hpp"

#include <map>
#include <string>
#include <string_view>

namespace gossamer::actors {

/// Costs of a worker's work in virtual time, beside its gradients: nanoseconds for each counted unit (base/work.hpp).
/// 0: no time.
struct work_costs {
  /// Costs of one codec, for each byte of the floats that go in or come out, random words included.
  struct coding {
    double encode_byte = 0, decode_byte = 0;
    friend bool operator==(const coding&, const coding&) = default;
  };

  double arithmetic_byte = 0;                             ///< read or written by arithmetic with vectors
  double random_word = 0;                                 ///< drawn outside of codecs
  double frame = 0;                                       ///< sent or received
  double frame_byte = 0;                                  ///< on the wire, sent or received
  std::map<std::string, coding, std::less<>> codecs = {}; ///< by name; "sign-sums": the sums of votes

  friend bool operator==(const work_costs&, const work_costs&) = default;
};

/// Costs on one core of an Intel Xeon (Sapphire Rapids, AVX-512), as in docs/benchmarks.md. A frame costs the time in
/// which an actor hands it on, its bytes the time to write or to read them with their checksum; the operating system's
/// part is not included.
const work_costs& default_costs();

/// Measures the costs on this machine, in processor time: of all built-in codecs with their default parameters, and of
/// the run's codec with its own, for vectors of the run's dimension, at most 2^18. Takes about a second.
work_costs measure_costs(const experiment& e);

/// Reads a file that `to_toml` wrote, or a part of one; missing costs keep their defaults.
/// @error errc::io if it cannot be read; errc::usage with file:line on a syntax error, an unknown key or codec, or a
///        cost that is no number from 0 to 1e9
work_costs read_costs(const std::string& file, const registry<compress::codec_entry>& known = compress::codecs());
std::string to_toml(const work_costs& costs);

/// The costs by the wire number of a codec; 0 for a number without a codec.
std::array<work_costs::coding, 256> by_wire_number(const work_costs& costs,
                                                   const registry<compress::codec_entry>& known = compress::codecs());

} // namespace gossamer::actors
