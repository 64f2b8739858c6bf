#pragma once

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// How many workers the two sides of a merge stand for.
struct contributors {
  std::uint32_t received, own;
};

/// One worker's side of an all-reduce: its vector, and what becomes of a segment on its way. What the segments are
/// (partial sums, counts of signs, single bits) is written in a class of this kind; the way, in all_reduce.cpp.
///
/// Until `complete`, each segment has a present value: the worker's own part, then what it has merged so far.
class reduction {
public:
  virtual ~reduction() = default;

  virtual std::size_t size() const = 0;
  /// Segments begin at multiples of so many elements.
  virtual std::size_t grain() const { return 1; }
  /// Segments that are at least twice as long are cut into so many slices of about this length, 16 at most, that travel
  /// side by side: one is merged while the next is on its way. For reductions whose merges are independent of each
  /// other.
  virtual std::size_t slice_elements() const { return std::numeric_limits<std::size_t>::max(); }

  /// A round begins, maybe not for the first time: everything starts from the worker's own vector.
  virtual void begin(std::uint32_t members) = 0;
  /// The segment's value is to become the worker's own part of it. All segments, each as late as possible.
  virtual void load(segment) {}
  /// The value, for the next member. @param weight how many workers it stands for
  virtual packet partial(segment s, std::uint32_t weight) = 0;
  /// A message is under way: does whatever of `merge` does not depend on it.
  virtual void expect(segment, contributors) {}
  /// The value becomes the two sides together.
  virtual void merge(segment s, packet received, contributors of) = 0;
  /// The value stands for all members: makes the result out of it.
  virtual void complete(segment) {}
  /// The result, for the others. It may have been completed, or stored, in several parts.
  virtual packet result(segment s) = 0;
  virtual void store(segment s, const packet& received) = 0;
};

/// The way that segments take: along the rows and columns of a grid with so many rows. Some have names:
enum class route : std::size_t {
  torus = 0,                                         ///< as many as make the grid most square
  ring = 1,                                          ///< one ring of all members
  halving = std::numeric_limits<std::size_t>::max(), ///< a grid of as many dimensions as there can be
};

/// R rows and C columns with R C = members.
/// @param rows R; where that is 0 or does not divide `members`, the largest R <= C: one row where `members` is prime
std::pair<std::size_t, std::size_t> torus_shape(std::size_t members, std::size_t rows = 0) noexcept;

/// Ascending; their product is n. Of 1 it is 1 alone.
std::vector<std::size_t> prime_factors(std::size_t n);

/// Reduces vectors over all members; every member ends up with the same bits.
///
/// Ring (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009): the vector
/// is cut into M segments. Each worker sends only to its successor. In M - 1 reduce-scatter steps a segment travels
/// round the ring and takes up everybody's part; in M - 1 all-gather steps the complete segments travel round, as they
/// are.
///
/// Torus (Mikami and others, "Massively distributed SGD: ImageNet/ResNet-50 training in a flash", 2018): reduce-scatter
/// along the rows, ring all-reduce of what that leaves along the columns, all-gather along the rows. The same volume in
/// 2 (R - 1) + 2 (C - 1) instead of 2 (R C - 1) hops.
///
/// Halving (recursive halving and doubling: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
/// operations in MPICH", 2005): the same on a grid of as many dimensions as M has prime factors. With 2^k members k
/// times half of what is left goes to one partner, and comes back: the same volume in 2 k hops. The paper leaves out
/// members beyond a power of two; here M may be any number, and a prime M takes the ring.
///
/// Any length, also shorter than M: segments may be empty. Each worker loads the segment that it will merge next, and
/// prepares the merge, after it has sent one message and before it waits for the other.
///
/// Weights: a reduce frame is labelled with the number of workers it stands for, and taken only for that.
/// Determinism: who merges what with what depends on the members alone, never on timing.
/// Cost: 2 (M - 1) messages (ring), 2 sum_p (p - 1) over the sides p of the grid, or as many of each slice, and the
/// payload of 2 (M - 1) / M D elements sent by each member.
///
/// When a member is lost, the others do the round again, from `begin`, along the rings of the new view: all reductions
/// of the call, so that nobody waits in the first of them for one who has gone on to the second. For algorithms that
/// repeat interrupted rounds (`interrupted_round::repeat`): one that is not may be a round ahead of another, which then
/// gets its state and never sees the end of this call.
/// @param together done side by side, in the time of the longest, and independent of each other; at most 256
/// @param t names the round; unique among the rounds of a run
/// @error errc::usage when the workers that the run begins with do not fill the rows that `way` asks for
task<> all_reduce(worker& w, std::span<reduction* const> together, route way, std::uint64_t t);
task<> all_reduce(worker& w, reduction& r, route way, std::uint64_t t);

/// An algorithm's own parameters, and behind them those of the route, `collective` and `rows`.
std::vector<parameter> with_collective(std::vector<parameter> own = {});
/// @error errc::usage on rows of a ring
route collective_of(const arguments& given);

} // namespace gossamer::actors
