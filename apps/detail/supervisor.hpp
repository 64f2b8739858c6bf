#pragma once

#include "gossamer/base/error.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gossamer::apps {

/// "was killed by signal 9 (Killed)", "ended with status 1: its last words".
/// @param status as a shell reports it
std::string described_end(int status, const std::string& last_words);

/// The decisions of `gossamer launch` about its processes: which one starts when and where it joins, which one leads,
/// when the run is over, and with which message. A slot is the place of one node: its number, its host and its log.
/// Several processes may occupy it one after another.
///
/// A value, without processes, files and clocks: events go in, with the seconds since any fixed moment, and orders come
/// out.
class supervisor {
public:
  struct rules {
    std::vector<std::string> hosts; ///< hosts of the slots; slot 0 leads first
    std::size_t restarts = 0;       ///< for all slots together
    double restart_delay_s = 0;     ///< least time from an end to the next start
    double patience_s = 10;         ///< how long nodes wait for a silent one
    bool starts_programs = false;   ///< programs of the user's, whose last words need not say why no run has begun
  };

  /// Starts a process for a slot. @param doors doors of the run, in the order in which the process asks there; none: it
  /// leads
  struct start_process {
    std::size_t slot = 0;
    std::vector<std::string> doors;
  };
  /// Makes that slot's process end the run if it leads, and else leave it. SIGKILL: ends the process.
  struct end_run {
    std::size_t slot = 0;
    int signal = 0;
  };
  /// Shows a line about a slot.
  struct tell {
    std::size_t slot = 0;
    std::string line;
  };
  using order = std::variant<start_process, end_run, tell>;
  using orders = std::vector<order>;

  explicit supervisor(rules r);

  orders begin(double now_s);

  // -- announcements of a slot's process ----------------------------------------------------------------------------

  /// The process leads, and others join it at that door: slot 0 at the beginning, and another when a leader is lost.
  orders on_lead(std::size_t slot, const std::string& door, double now_s);
  /// The process takes part, and new nodes may ask at its door.
  void on_door(std::size_t slot, const std::string& door);
  /// The process has written a line, of whatever kind.
  void on_words(std::size_t slot, double now_s);
  /// All nodes have come.
  void on_begin();
  /// The run has no place for the process now, or no node lets it in.
  void on_refusal(std::size_t slot);
  /// The process has left the run, which goes on.
  void on_departure(std::size_t slot);
  /// A node is left with too few others to go on, and has written its state into that folder.
  void on_survival(const std::string& folder);

  // -- other events -------------------------------------------------------------------------------------------------

  /// The process has ended, and all its lines have been read.
  orders on_end(std::size_t slot, int status, const std::string& last_words, double now_s);
  /// @param signal signal of the user, for the leader; before the run has begun, for all
  orders on_interrupt(int signal, double now_s);
  /// Called several times a second.
  orders on_time(double now_s);

  // -- results ------------------------------------------------------------------------------------------------------

  bool is_over() const noexcept { return over_; }
  /// True if a process takes part. A process that has not been let in has no state of the run, and does not count.
  bool somebody_takes_part() const;
  /// The slot that leads, or led last.
  std::size_t leads() const noexcept { return leads_; }
  std::size_t restarts_of(std::size_t slot) const { return slots_[slot].restarts; }
  /// Restarts that are left if none of the processes that still ask at doors is let in.
  std::size_t restarts_left() const;
  const std::vector<std::string>& survivors() const noexcept { return survivors_; }

  /// Exit status of the last leader, which has said how the run ended. After an interrupt it is that of the user's
  /// signal, which may have reached the leader in another form. Does not wait for a leader that still runs.
  int status() const;
  /// The message of an end before the run had begun, if no process has written one. A single program that ends as
  /// planned needs no run. @param slot the slot that failed
  struct failure {
    std::size_t slot = 0;
    std::string sentence;
  };
  std::optional<failure> failed_start() const;
  /// The message of a run that goes on nowhere, although it has not come to its end.
  std::optional<std::string> loss() const;

private:
  struct slot_state {
    bool runs = false;
    bool takes_part = false;
    bool has_led = false;
    bool is_restart = false; // counts as a restart
    bool is_refused = false;
    bool has_left = false;
    bool shall_end = false;    // it has been told
    std::optional<int> status; // of the last process that has ended
    std::string last_words, door;
    double started_s = 0, ended_s = 0;
    std::size_t restarts = 0;
  };

  /// How the last leader's process ended. Its slot may have another process by now, which does not lead.
  struct leader_end {
    int status = 0;
    std::string last_words = {};
    bool has_left = false;
    double at_s = 0;
    double silent_s = 0; // for so long before it was given up; 0: it has ended by itself
  };

  static std::string described(const leader_end& end);
  std::string name_of(std::size_t slot) const;
  bool has_ended_as_planned() const;
  std::vector<std::string> doors() const;
  bool comes_back(const slot_state& s) const;
  void start(std::size_t slot, std::vector<std::string> doors, double now_s, orders& out);
  void start_again(std::size_t slot, double now_s, orders& out);
  void give_up(std::size_t slot, double now_s, orders& out);
  void tell_to_end(std::size_t slot, int signal, orders& out);
  void end_without_leader(double now_s, orders& out);
  bool is_over_at(double now_s) const;

  rules rules_;
  std::vector<slot_state> slots_;
  std::vector<std::string> survivors_;
  std::size_t leads_ = 0;
  std::size_t restarts_ = 0;
  std::optional<std::size_t> given_up_;  // the slot that did not start
  std::optional<leader_end> leaderless_; // until another process leads
  int interrupted_ = 0;                  // number of the signal
  double heard_s_ = 0;                   // when the leader said something last, or was told to end
  bool others_started_ = false, begun_ = false, over_ = false;
};

} // namespace gossamer::apps
