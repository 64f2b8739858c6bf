#pragma once

#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/base/error.hpp"

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::actors::consensus {

/// The rules that a world can leave out, to see whether the checks notice.
enum class rule {
  none,
  accept,  ///< a quorum accepts before any node proceeds
  inherit, ///< an accepted proposal is proposed again
  promise, ///< older leaders are not listened to
  fence,   ///< a quorum answers before a proposal
  lives,   ///< a process that returns has a new life
  freeze,  ///< a worker that holds does not move
  line,    ///< models of one step may differ
  later,   ///< a round that is to be finished is not part of the next view
  limit,   ///< a step that has begun is allowed
  end,     ///< a worker that has come to the end does not go on
};

enum class rounds { repeat, finish, none };

struct bounds {
  node_number processes = 3;
  bool launcher = false; ///< one more process, which votes and has no worker
  int leaders = 1, crashes = 0, restarts = 0, stops = 0;
  std::uint64_t steps = 1;
  std::uint64_t planned = 1'000'000; ///< steps of each worker, if none is lost
};

/// Thrown when a promise of the protocol has been broken.
struct broken {
  std::string how;
};

/// Folds archived fields into a number.
class hashing_archive final : public archive {
public:
  explicit hashing_archive(std::uint64_t seed = 1) : sum_(seed) {}
  std::uint64_t sum() const noexcept { return sum_; }

private:
  void visit(vec&) override { throw broken{"no vectors are agreed on"}; }
  void visit(std::uint64_t& word) override {
    sum_ = (sum_ ^ word) * 0x9e37'79b9'7f4a'7c15;
    sum_ ^= sum_ >> 29;
  }
  void visit(double& real) override {
    auto word = std::bit_cast<std::uint64_t>(real);
    visit(word);
  }

  std::uint64_t sum_;
};

template <class... Words>
std::uint64_t hash_of(Words... words) {
  hashing_archive sum;
  const auto one = [&](std::uint64_t word) { sum(word); };
  (one(static_cast<std::uint64_t>(words)), ...);
  return sum.sum();
}

std::uint64_t hash_of(const resolution& r);

/// The constants of a world.
struct setting {
  setting(const bounds& may, rounds kind, rule left_out = rule::none);
  setting(const setting&) = delete;

  bounds may;
  rounds kind;
  rule left_out;
  charter rules;
  resolution first;
};

struct action {
  enum class kind { deliver, stand, stop, leave_out, leave_out_for_dead, complete, take, crash, restart } what;
  node_number who = 0;
  std::size_t which = 0; ///< index of a message
};

/// Processes that train together, each with a delegate and at most one worker, and a network that delivers messages
/// late, repeatedly, in any order, or never. Throws `broken` when a promise is broken.
class world {
public:
  explicit world(const setting& s);

  /// Returns every action that may happen now.
  std::vector<action> possible() const;
  /// @error broken
  void act(const action& a);
  std::string describe(const action& a) const;
  std::uint64_t hash() const;

  /// Calm weather: messages arrive, beliefs are true, and dead processes come back if they may.
  /// @returns the end of the run @error broken when it gets stuck
  std::string calm(bool come_back);
  /// True if a quorum of the last voters would be left without this node.
  bool survives(std::optional<node_number> without) const;
  std::size_t resolutions() const { return decided_.size(); }

private:
  struct known_view {
    std::uint32_t number = 1;
    std::uint64_t first_step = 0;
    std::array<std::int64_t, 6> lives = {}; ///< -1: not there
  };
  struct party {
    bool has_model = false, active = false, frozen = false;
    std::uint32_t incarnation = 0, awaits = 0; ///< `awaits`: the view that has promised it a state
    std::uint64_t step = 0, limit = 0, model = 0;
    std::vector<known_view> views; ///< the view in force, and later ones
  };
  struct inmate {
    std::shared_ptr<const delegate> mind; ///< null: the process is down
    std::uint32_t life = 0;
    party worker;
    std::uint64_t hash = 0;
  };
  struct letter {
    message what;
    std::optional<node_number> to; ///< receiver; none: every process
    std::uint64_t hash = 0;
  };
  struct round {
    std::uint32_t view;
    std::uint64_t step;
    std::uint32_t who; ///< bits of the workers that have begun it
    std::uint64_t model;
  };
  struct vote { ///< A vote that a voter has really given.
    ballot by;
    std::uint32_t number;
    std::uint64_t what;
    node_number voter;
    auto operator<=>(const vote&) const = default;
  };

  bool has_worker(node_number i) const { return i < setting_->may.processes; }
  bool synchronous() const { return setting_->kind != rounds::none; }
  bool leaves_out(rule r) const { return setting_->left_out == r; }
  bool is_for(const letter& l, node_number i) const;
  template <class Question>
  bool is_moot(const Question& m, const delegate& d) const;
  bool is_dead_letter(const letter& l) const;
  bool may_complete(node_number i) const;
  bool may_take(node_number i) const;
  const round* find_round(std::uint32_t view, std::uint64_t step) const;

  // -- the network and the processes
  template <class Event>
  void tell(node_number i, const Event& what) {
    auto mind = std::make_shared<delegate>(*processes_[i].mind);
    obey(i, *mind, mind->on(what));
    processes_[i].mind = std::move(mind);
  }
  void tell_message(node_number i, const message& m);
  void obey(node_number i, delegate& d, const orders& all);
  void carry(const post& p);
  void add(message m, std::optional<node_number> to);
  void vouch(node_number i, const proposal& p);
  void leave_out(node_number i, health::state because);
  workers_stand where(node_number i) const;

  // -- training
  void follow(node_number i, const delegate& d, const resolution& r);
  void record(node_number i, const delegate& d, const resolution& r);
  void enter(node_number i, const resolution& r);
  void go_on(node_number i, const view_change& v);
  static known_view known(const view_change& v);
  void begin(node_number i);
  void complete(node_number i);
  void take(node_number i);
  void crash(node_number i);
  void restart(node_number i);
  void settle(node_number i);
  void believe_the_truth(node_number i);
  void deliver_everything();
  bool goes_on(std::uint64_t goal) const;
  std::string state_of(node_number i) const;

  const setting* setting_;
  std::vector<inmate> processes_;
  std::vector<std::shared_ptr<const letter>> sent_; ///< distinct letters
  std::vector<std::shared_ptr<const resolution>> decided_;
  std::vector<round> rounds_;
  std::vector<vote> votes_; ///< in ascending order
  int leaders_ = 0, crashes_ = 0, restarts_ = 0, stops_ = 0;
};

} // namespace gossamer::actors::consensus
