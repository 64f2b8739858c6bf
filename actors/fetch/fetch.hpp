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

/// A file that is to be had, as somebody has described it who is believed.
struct wanted_file {
  std::uint64_t bytes = 0;   ///< at most `most_file_bytes`
  digest root;               ///< see piece_tree.hpp
  std::uint64_t on_disk = 0; ///< of it, from an attempt before this one: they may be right
  std::string name = {};     ///< what people call it
};

struct fetch_settings {
  double bytes_per_second = std::numeric_limits<double>::infinity();
  std::chrono::nanoseconds patience = std::chrono::seconds(10); ///< with a source that is asked and says nothing
  std::size_t window = 16;                                      ///< pieces that one source is asked for at a time
};

/// What whoever owns a `fetch` has to do for it.
struct ask_order {
  std::uint32_t source = 0;
  piece_id what;
  std::uint64_t receipt = 0; ///< that came with a piece of this source before, or 0
};
/// Read that piece of level 0 from the disk, and say `found`.
struct look_order {
  piece_id what;
};
struct store_order {
  piece_id what; ///< of level 0; it is right
  std::string bytes;
};
/// All pieces of that file are stored. Check the whole, and say `finished`.
struct finish_order {
  std::uint32_t file = 0;
};
/// That source is not asked any more.
struct leave_order {
  std::uint32_t source = 0;
  std::string why; ///< to stand behind its name: "has sent ..."
};
using fetch_order = std::variant<ask_order, look_order, store_order, finish_order, leave_order>;

struct fetch_progress {
  std::uint64_t bytes = 0;    ///< that are there and right
  std::uint64_t found = 0;    ///< of them, on the disk from before
  std::uint64_t all = 0;      ///< to be had
  std::uint64_t received = 0; ///< from sources, with the levels above the files' own
};

/// Gets files from several sources: which piece is asked of whom next, and what is done when nothing comes, or
/// something wrong. It holds no sockets, threads, files or clocks: events in, orders out. Time is told, since whenever,
/// and never goes back. Nobody but the description of the files is believed: each piece is compared with its digest
/// when it comes, and who sends a wrong one, or one that it was not asked for, is left.
///
/// Files are fetched in their order, each from its topmost level down to level 0. Memory: the levels above 0 of one
/// file, a 2000th of it, and only what has come.
class fetch {
public:
  using time = std::chrono::nanoseconds;

  fetch(std::vector<wanted_file> files, const fetch_settings& settings, time now);

  /// Somebody who has all files but these, under a number that nobody had before.
  void came(std::uint32_t source, time now, std::set<std::uint32_t> lacks = {});
  /// It cannot be asked any more.
  void gone(std::uint32_t source, time now);
  /// @param receipt for its next question
  void got(std::uint32_t source, const piece_id& what, std::string bytes, std::uint64_t receipt, time now);
  /// @param bytes what is there, maybe fewer than wanted
  void found(const piece_id& what, std::string_view bytes, time now);
  /// @param right whether the whole is what it should be; else the file is fetched again, once
  void finished(std::uint32_t file, bool right, time now);
  /// Also without any event, at `wakes_at`, and at least once a second.
  void tick(time now);

  /// What to do now, in this order.
  std::vector<fetch_order> take() { return std::exchange(orders_, {}); }
  time wakes_at() const noexcept { return wakes_at_; }
  bool done() const noexcept { return file_ == files_.size(); }
  /// Nobody has the file that is fetched now: all who had it have gone, or have been left. Others may still come.
  bool deserted() const;
  /// Empty: none. What came twice is not what was described: nobody else would send another.
  const std::string& failure() const noexcept { return failure_; }
  const fetch_progress& progress() const noexcept { return progress_; }

private:
  enum class phase { looking, fetching, finishing };
  struct counterpart {
    std::set<std::uint32_t> lacks;       // files
    std::set<std::uint64_t> asked;       // pieces of the present level
    std::vector<std::uint64_t> receipts; // not yet shown
    std::uint64_t questions = 0;         // so far
  };
  using source_of = std::map<std::uint32_t, counterpart>::iterator;

  void begin_file();
  void begin_level();
  void look();
  /// Asks for as much as may be.
  void ask_on(time now);
  /// How much it is asked for; the most there can be, where it lacks the present file.
  std::size_t load_of(const counterpart& source) const;
  /// Of two alike, the one that has been asked less so far: a low rate leaves all without questions most of the time.
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

  std::size_t file_ = 0; // the one that is fetched
  piece_tree tree_{0};   // of it
  std::uint32_t level_ = 0;
  phase phase_ = phase::fetching;
  bool again_ = false;                            // this file came once, and was wrong as a whole
  std::uint64_t next_ = 0;                        // pieces from here on have not been asked for
  std::set<std::uint64_t> missing_;               // of those before: nobody is asked for them
  std::uint64_t left_ = 0;                        // pieces of this level that are not there
  std::map<std::uint64_t, std::string> above_;    // the level above this one, by piece
  std::map<std::uint64_t, std::string> arriving_; // this one, unless it is level 0

  std::vector<fetch_order> orders_;
  time wakes_at_{0};
  fetch_progress progress_;
  std::string failure_;
};

} // namespace gossamer::actors
