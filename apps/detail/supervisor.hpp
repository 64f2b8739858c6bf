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

/// What `gossamer launch` decides about its processes: which it starts when, and where these shall join; who leads;
/// when all is over, and what is said of it. A slot is the place of one node: its number, its host and its log,
/// whichever process has it at a time.
///
/// A value, without processes, files and clocks: what happens goes in, with the seconds since any beginning, and what
/// is to be done comes out.
class supervisor {
public:
  struct rules {
    std::vector<std::string> hosts; ///< of the slots; the first leads first
    std::size_t restarts = 0;       ///< of all slots together
    double restart_delay_s = 0;     ///< from an end to the next start, at least
    double patience_s = 10;         ///< of the nodes with one that is silent
  };

  /// A process for a slot. @param doors of the run, in the order in which it asks there; none: it leads
  struct start_process {
    std::size_t slot = 0;
    std::vector<std::string> doors;
  };
  /// That slot's process leads, and shall end the run.
  struct end_run {
    std::size_t slot = 0;
    int signal = 0;
  };
  /// A line about a slot.
  struct tell {
    std::size_t slot = 0;
    std::string line;
  };
  using order = std::variant<start_process, end_run, tell>;
  using orders = std::vector<order>;

  explicit supervisor(rules r);

  orders begin(double now_s);

  // -- what the process of a slot says ------------------------------------------------------------------------------

  /// It leads, and others join it there: the first at the beginning, and others when that one is lost.
  orders on_lead(std::size_t slot, const std::string& door, double now_s);
  /// It takes part, and whoever wants to join may ask there.
  void on_door(std::size_t slot, const std::string& door);
  /// All have come.
  void on_begin();
  /// The run has no place for it now, or nobody lets it in.
  void on_refusal(std::size_t slot);
  /// It has left the run, which goes on.
  void on_departure(std::size_t slot);
  /// Too few are left to go on, and it has written what it had into that folder.
  void on_survival(const std::string& folder);

  // -- what else happens --------------------------------------------------------------------------------------------

  /// It has ended, and all that it has said has been heard.
  orders on_end(std::size_t slot, int status, const std::string& last_words, double now_s);
  /// @param signal that the user has sent, and that whoever leads gets
  orders on_interrupt(int signal);
  /// To be called several times a second.
  orders on_time(double now_s);

  // -- what follows -------------------------------------------------------------------------------------------------

  bool is_over() const noexcept { return over_; }
  /// Whether a process that takes part is there: who comes, and has not been let in, has nothing of the run.
  bool somebody_takes_part() const;
  /// The slot of whoever leads, or led last.
  std::size_t leads() const noexcept { return leads_; }
  std::size_t restarts_of(std::size_t slot) const { return slots_[slot].restarts; }
  std::size_t restarts_left() const noexcept { return rules_.restarts - restarts_; }
  const std::vector<std::string>& survivors() const noexcept { return survivors_; }

  /// Of whoever led last, who has said how the run ended; but after an interrupt that of the user's signal, which may
  /// not have reached it as such. One that leads at this late hour is not waited for.
  int status() const;
  /// The sentence of an end before the run had begun, where no process has said it. @param slot whose fault it is
  struct failure {
    std::size_t slot = 0;
    std::string sentence;
  };
  std::optional<failure> failed_start() const;
  /// The sentence of a run that nobody goes on with, although it has not come to its end.
  std::optional<std::string> loss() const;

private:
  struct slot_state {
    bool runs = false;
    bool takes_part = false;
    bool has_led = false;
    bool is_restart = false; // which counts
    bool is_refused = false;
    bool has_left = false;
    std::optional<int> status; // of the last process that has ended
    std::string last_words, door;
    double started_s = 0, ended_s = 0;
    std::size_t restarts = 0;
  };

  std::string name_of(std::size_t slot) const;
  std::vector<std::string> doors() const;
  bool comes_back(const slot_state& s) const;
  void start(std::size_t slot, std::vector<std::string> doors, double now_s, orders& out);
  void start_again(std::size_t slot, double now_s, orders& out);
  void give_up(std::size_t slot, orders& out);
  bool is_over_at(double now_s) const;

  rules rules_;
  std::vector<slot_state> slots_;
  std::vector<std::string> survivors_;
  std::size_t leads_ = 0;
  std::size_t restarts_ = 0;
  std::optional<std::size_t> given_up_;    // which did not start
  std::optional<double> without_leader_s_; // since then
  int interrupted_ = 0;                    // by which signal
  bool others_started_ = false, begun_ = false, over_ = false;
};

} // namespace gossamer::apps
