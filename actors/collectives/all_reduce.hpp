#pragma once

#include "gossamer/actors/collectives/member_group.hpp"
#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/actors/collectives/route.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Numbers of workers that the two sides of a merge stand for.
struct contributors {
  std::uint32_t received, own;
};

/// One worker's side of an all-reduce: its vector, and the work on a segment on its way. Subclasses define the contents
/// of segments (partial sums, counts of signs, single bits); all_reduce.cpp defines their way.
///
/// Until `complete`, each segment has a present value: the worker's own part, then what it has merged so far.
class reduction {
public:
  virtual ~reduction() = default;

  virtual std::size_t size() const = 0;
  /// Segments begin at multiples of this number of elements.
  virtual std::size_t grain() const { return 1; }
  /// Length of a slice. Segments that are at least twice as long are cut into slices of about this length, 16 at most,
  /// that travel side by side: one is merged while the next is on its way. For reductions whose merges are independent
  /// of each other.
  virtual std::size_t slice_elements() const { return std::numeric_limits<std::size_t>::max(); }

  /// Starts a round, or repeats it, from the worker's own vector.
  virtual void begin(std::uint32_t members) = 0;
  /// Sets the segment's value to the worker's own part. Called for all segments, each as late as possible.
  virtual void load(segment) {}
  /// The value, for the next member. @param weight number of workers that it stands for
  virtual packet partial(segment s, std::uint32_t weight) = 0;
  /// Does the part of `merge` that does not depend on the message, while it is under way.
  virtual void expect(segment, contributors) {}
  /// Sets the value to the two sides together.
  virtual void merge(segment s, packet received, contributors of) = 0;
  /// Makes the result from the value, which stands for all members.
  virtual void complete(segment) {}
  /// The result, for the other members. It may have been completed, or stored, in several parts.
  virtual packet result(segment s) = 0;
  virtual void store(segment s, const packet& received) = 0;
};

/// R rows and C columns with R C = members.
/// @param rows R; if 0, or no divisor of `members`, the largest R <= C: one row where `members` is prime
std::pair<std::size_t, std::size_t> torus_shape(std::size_t members, std::size_t rows = 0) noexcept;

/// The factors, ascending; their product is n. For 1 the list is {1}.
std::vector<std::size_t> prime_factors(std::size_t n);

/// Reduces vectors over all members; every member ends up with the same bits.
///
/// Ring (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009): the vector
/// is cut into M segments. Each worker sends only to its successor. In M - 1 reduce-scatter steps a segment travels
/// round the ring and takes up every member's part; in M - 1 all-gather steps the complete segments travel round
/// unchanged.
///
/// Torus (Mikami and others, "Massively distributed SGD: ImageNet/ResNet-50 training in a flash", 2018): reduce-scatter
/// along the rows, ring all-reduce of the rest along the columns, all-gather along the rows. The same volume in 2 (R -
/// 1) + 2 (C - 1) instead of 2 (R C - 1) hops.
///
/// Halving (recursive halving and doubling: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
/// operations in MPICH", 2005): the same on a grid of as many dimensions as M has prime factors. With 2^k members half
/// of the rest goes to one partner, k times, and comes back: the same volume in 2 k hops. The paper leaves out members
/// beyond a power of two; here M may be any number, and a prime M takes the ring.
///
/// Direct: each member owns a segment. All others send it their parts of it, and get the result from it: the same
/// volume in 2 hops, however many members there are, with messages as short as on the ring, for networks whose latency
/// counts. The owner adds up in the order of the ring: dense sums are the same to the bit. All pairs must reach each
/// other, and M - 1 messages meet at each member. (Butterfly all-reduce in Ryabinin,
/// Gorbunov, Plokhotnyuk and Pekhimenko, "Moshpit SGD", 2021; two-shot all-reduce in libraries for GPUs.)
///
/// Star: the first member in place of a server, as in a parameter server's form of an algorithm. Every other member
/// sends it one part and gets the result, in 2 hops; the first one sends the result M - 1 times.
///
/// Vectors may have any length, also below M: segments may be empty. After a worker has sent one message, and before it
/// waits for the other, it loads the segment that it will merge next, and prepares the merge.
///
/// Weights: a reduce frame is labelled with the number of workers it stands for, and taken only for that number.
/// Determinism: the members alone determine the order of merging, never timing.
/// Cost: 2 (M - 1) messages (ring, direct), 2 sum_p (p - 1) over the sides p of the grid, or as many of each slice, and
/// the payload of 2 (M - 1) / M D elements sent by each member.
///
/// When a member is lost, the others repeat the round, from `begin`, along the rings of the new view. They repeat all
/// reductions of the call, so that no worker waits in the first of them for a worker that has gone on to the second.
/// For algorithms that repeat interrupted rounds (`interrupted_round::repeat`): under another algorithm a worker may be
/// a round ahead of another, which then gets its state and never sees the end of this call.
/// @param together reductions done side by side, in the time of the longest, and independent of each other; at most 256
/// @param t names the round; unique among the rounds of a run
/// @error errc::usage if the workers that the run begins with do not fill the rows that `way` asks for
task<> all_reduce(worker& w, std::span<reduction* const> together, route way, std::uint64_t t);
task<> all_reduce(worker& w, reduction& r, route way, std::uint64_t t);
/// One attempt, among these members; false if their view ends first: see `try_all_gather`.
/// @param lane tells several calls of one round apart; it grows by the number of reductions in a call
task<bool> try_all_reduce(worker& w, member_group among, std::span<reduction* const> together, route way,
                          std::uint64_t t, std::uint32_t lane = 0);

} // namespace gossamer::actors
