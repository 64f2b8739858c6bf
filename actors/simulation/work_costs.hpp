#pragma once

#include "gossamer/actors/run/experiment.hpp"

#include <map>
#include <string>
#include <string_view>

namespace gossamer::actors {

/// What the work of a worker costs in virtual time, beside its gradients: nanoseconds for each thing that is counted
/// (base/work.hpp). All 0: nothing.
struct work_costs {
  /// Of one codec, for each byte of the floats that go in or come out, random words included.
  struct coding {
    double encode_byte = 0, decode_byte = 0;
    friend bool operator==(const coding&, const coding&) = default;
  };

  double arithmetic_byte = 0;                             ///< that arithmetic with vectors reads or writes
  double random_word = 0;                                 ///< drawn outside of codecs
  double frame = 0;                                       ///< sent or received
  double frame_byte = 0;                                  ///< on the wire, sent or received
  std::map<std::string, coding, std::less<>> codecs = {}; ///< by name; "sign-sums": of what votes add up

  friend bool operator==(const work_costs&, const work_costs&) = default;
};

/// Of one core of an Intel Xeon (Sapphire Rapids, AVX-512), as docs/benchmarks.md has it. A frame costs what an actor
/// takes to hand it on, its bytes what it takes to write or to read them with their checksum; the operating system's
/// part is not in it.
const work_costs& default_costs();

/// What the same costs on this machine, in processor time: of all codecs with their default parameters, and of the
/// run's as it is, for vectors of the run's dimension, at most 2^18. Takes about a second.
work_costs measure_costs(const experiment& e);

/// Reads a file that `to_toml` wrote, or a part of one: what it leaves out costs what it does by default.
/// @error errc::io when it cannot be read; errc::usage with file:line on a syntax error, an unknown key or codec, or a
///        cost that is no number from 0 to 1e9
work_costs read_costs(const std::string& file);
std::string to_toml(const work_costs& costs);

/// The costs by the wire number of a codec; nothing where there is no such codec.
std::array<work_costs::coding, 256> by_wire_number(const work_costs& costs);

} // namespace gossamer::actors
