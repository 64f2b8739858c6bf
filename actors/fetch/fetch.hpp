#pragma once

#include "gossamer/actors/agreement/failure_detector.hpp"
#include "gossamer/actors/fetch/piece_tree.hpp"
#include "gossamer/actors/fetch/token_bucket.hpp"

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gossamer::actors {

/// A file to be fetched, as a trusted node has described it.
struct wanted_file {
  std::uint64_t bytes = 0;   ///< at most `most_file_bytes`
  digest root;               ///< see piece_tree.hpp
  std::uint64_t on_disk = 0; ///< bytes from an earlier attempt; they may be right
  std::string name = {};     ///< for people
};

struct fetch_settings {
  double bytes_per_second = std::numeric_limits<double>::infinity();
  std::chrono::nanoseconds patience = std::chrono::seconds(10); ///< with a source that does not answer
  std::size_t window = 16;                                      ///< pieces that one source is asked for at a time
};

/// Orders of a `fetch` to its owner.
struct ask_order {
  std::uint32_t source = 0;
  piece_id what;
  std::uint64_t receipt = 0; ///< from an earlier piece of this source, or 0
};
/// Read that piece of level 0 from the disk, and call `found`.
struct look_order {
  piece_id what;
};
struct store_order {
  piece_id what; ///< of level 0; its bytes are right
  std::string bytes;
};
/// All pieces of that file are stored. Check the whole, and call `finished`.
struct finish_order {
  std::uint32_t file = 0;
};
/// The source is not asked any more.
struct leave_order {
  std::uint32_t source = 0;
  std::string why; ///< worded to follow its name: "has sent ..."
};
using fetch_order = std::variant<ask_order, look_order, store_order, finish_order, leave_order>;

struct fetch_progress {
  std::uint64_t bytes = 0;    ///< there and right
  std::uint64_t found = 0;    ///< part of `bytes` that was on the disk before
  std::uint64_t all = 0;      ///< of all wanted files
  std::uint64_t received = 0; ///< from sources, with the levels above the files' own
};

/// Gets files from several sources: decides which source is asked for each piece, and what to do when an answer is
/// missing or wrong. It holds no sockets, threads, files or clocks: events in, orders out. The owner tells the time,
/// from any fixed moment, and it never goes back. Only the description of the files is trusted: each piece is compared
/// with its digest when it comes, and a source that sends a wrong piece, or one that it was not asked for, is left.
///
/// Files are fetched in their order, each from its topmost level down to level 0. Memory: the levels above 0 of one
/// file, a 2000th of it, and only the pieces that have come.
class fetch {
public:
  using time = std::chrono::nanoseconds;

  fetch(std::vector<wanted_file> files, const fetch_settings& settings, time now);

  /// Adds a source that has all files but these, under a new number.
  void came(std::uint32_t source, time now, std::set<std::uint32_t> lacks = {});
  /// Removes a source that cannot be asked any more.
  void gone(std::uint32_t source, time now);
  /// @param receipt for the next question to this source
  void got(std::uint32_t source, const piece_id& what, std::string bytes, std::uint64_t receipt, time now);
  /// @param bytes the bytes on the disk, maybe fewer than wanted
  void found(const piece_id& what, std::string_view bytes, time now);
  /// @param right whether the whole file has its digest; if not, the file is fetched again, once
  void finished(std::uint32_t file, bool right, time now);
  /// Call it at `wakes_at` even without any event, and at least once a second.
  void tick(time now);

  /// Returns the orders to carry out now, in this order.
  std::vector<fetch_order> take() { return std::exchange(orders_, {}); }
  time wakes_at() const noexcept { return wakes_at_; }
  bool done() const noexcept { return file_ == files_.size(); }
  /// True if no source has the file that is fetched now: all its sources have gone, or have been left. Others may still
  /// come.
  bool deserted() const;
  /// The reason of the failure; empty if there is none. A file that is wrong twice differs from its description, so no
  /// other source can help.
  const std::string& failure() const noexcept { return failure_; }
  const fetch_progress& progress() const noexcept { return progress_; }

private:
  enum class phase { looking, fetching, finishing };
  struct counterpart {
    std::set<std::uint32_t> lacks;       // files
    std::set<std::uint64_t> asked;       // pieces of the present level
    std::vector<std::uint64_t> receipts; // not shown yet
    std::uint64_t questions = 0;         // so far
  };
  using source_of = std::map<std::uint32_t, counterpart>::iterator;

  void begin_file();
  void begin_level();
  void look();
  /// Asks for as many pieces as limits allow.
  void ask_on(time now);
  /// Number of pieces that a source is asked for; the largest possible number if it lacks the present file.
  std::size_t load_of(const counterpart& source) const;
  /// The source with the smallest load; of equal loads, the source with fewer questions so far. At a low rate most
  /// loads are 0 most of the time.
  source_of least_asked();
  bool is_right(const piece_id& what, std::string_view bytes) const;
  void accept(const piece_id& what, std::string bytes, bool from_disk);
  void complete_level();
  void leave(source_of who, std::string why);
  void forget(source_of who);
  piece_id here(std::uint64_t index) const { return {static_cast<std::uint32_t>(file_), level_, index}; }

  std::vector<wanted_file> files_;
  fetch_settings settings_;
  token_bucket bucket_;
  failure_detector silence_;
  std::map<std::uint32_t, counterpart> sources_;

  std::size_t file_ = 0; // the file that is fetched now
  piece_tree tree_{0};   // of that file
  std::uint32_t level_ = 0;
  phase phase_ = phase::fetching;
  bool again_ = false;                            // this file has come once, and was wrong as a whole
  std::uint64_t next_ = 0;                        // pieces from here on have not been asked for
  std::set<std::uint64_t> missing_;               // pieces before `next_` that no source is asked for
  std::uint64_t left_ = 0;                        // missing pieces of this level
  std::map<std::uint64_t, std::string> above_;    // the level above this one, by piece
  std::map<std::uint64_t, std::string> arriving_; // this level, unless it is level 0

  std::vector<fetch_order> orders_;
  time wakes_at_{0};
  fetch_progress progress_;
  std::string failure_;
};

} // namespace gossamer::actors
