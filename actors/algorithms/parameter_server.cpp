// Parameter-server SGD, synchronous and asynchronous: masters hold the model, workers pull it and push gradients.
//
//   synchronous (S-PSGD)     G_t = (1/n) sum_i C(grad F_i(x_t; xi_i,t));  x_{t+1} = x_t - gamma_t u(G_t)
//   asynchronous (A-PSGD)    x_{k+1} = x_k - gamma_k u(C(grad F_i(x_{k - tau_k}; xi_i)))      on arrival, one at a time
//
// Li et al.: Scaling distributed machine learning with the parameter server, OSDI 2014; A-PSGD as analysed by Lian,
// Huang, Li, Liu: Asynchronous parallel stochastic gradient for nonconvex optimization, NeurIPS 2015. The optimiser's
// state is the master's; its input is the applied gradient.
//
//   worker --request(C(gradient), or nothing at first)--> master        each of several masters has a part of x
//   worker <--reply(x)----------------------------------- master
//
// A master's handling of one message is atomic. A synchronous master answers when the gradients of all workers are in,
// and adds them up in the order of their ranks. An asynchronous master answers at once; with `staleness=tau` only while
// no gradient under way can become more than tau updates old (staleness_gate.hpp).
//
// Lost workers: no worker waits for them; a round goes on with the gradients of the others. A worker that comes back
// pulls the model first. Lost masters: start anew from the state that they saved before their last answer; workers ask
// again, and a gradient that was already applied is not applied again. A master that loses its process loses its state:
// it begins anew from the model that some worker pulled last, without the few updates since.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/actors/collectives/staleness_gate.hpp"

#include <set>

namespace gossamer::actors {

namespace {

/// The number with these low bits that is nearest to the known one: a master that begins anew may be behind.
constexpr std::uint64_t nearest(std::uint64_t known, std::uint32_t low_bits) {
  const auto ahead = static_cast<std::int32_t>(low_bits - static_cast<std::uint32_t>(known));
  return known + static_cast<std::uint64_t>(std::int64_t{ahead});
}
static_assert(nearest(0xffffffff, 1) == 0x100000001 && nearest(0x100000001, 0xffffffff) == 0xffffffff);

/// The questions of a worker.
enum server_request : std::uint32_t { pull, push_and_pull, farewell };

class server_worker final : public algorithm {
public:
  explicit server_worker(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const auto answers = co_await push(w, gradient_.empty() ? pull : push_and_pull);
      gradient_ = {};
      if (read(w, answers))
        gradient_ = co_await w.start_gradient(x_, t_);
    }
    co_await push(w, farewell);
    gradient_ = {};
  }

  const vec& model() const override { return x_; }
  remembered_model remembers() const override { return {x_, updates_}; }
  void fields(archive& a) override { a(x_)(t_)(updates_)(gradient_)(requests_); }
  void inherit(worker&) override { gradient_ = {}; }

private:
  /// @returns false if training is over: a master has then answered with no model
  bool read(const worker& w, const std::vector<frame>& answers) {
    for (std::size_t k = 0; k < answers.size(); ++k) {
      const auto mine = part(w, k);
      if (mine.size == 0)
        continue; // with more masters than elements, this one holds none
      if (answers[k].body.elements == 0)
        return false;
      updates_ = nearest(updates_, answers[k].label.part);
      w.decode_into(mine.of(x_), answers[k].body);
    }
    return true;
  }

  segment part(const worker& w, std::size_t k) const { return segment{0, x_.size()}.part(k, w.masters()); }

  task<std::vector<frame>> push(worker& w, server_request what) {
    std::vector<packet> parts(w.masters());
    for (std::size_t k = 0; k < parts.size() && !gradient_.empty(); ++k)
      parts[k] = w.encode(part(w, k).part_of(gradient_));
    auto answers = co_await ask_all(w, requests_ + 1, what, std::move(parts));
    ++requests_; // only now: a run that goes on from a checkpoint repeats an unanswered question
    co_return answers;
  }

  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t updates_ = 0; // number of updates that x contains
  vec gradient_;              // at the x_ before; empty when there is none
  std::uint64_t requests_ = 0;
};

/// The common part of both kinds of master.
class server : public master {
public:
  explicit server(vec initial, staleness_gate gate = {}) : x_(std::move(initial)), gate_(std::move(gate)) {}

  const vec& model() const override { return x_; }

  void begin_from(worker& w, remembered_model known) override {
    x_ = own_part(w, known, x_.size());
    updates_ = known.version;
  }

protected:
  void apply(worker& w, const vec& gradient, std::uint64_t gradients) {
    w.update(x_, gradient, updates_);
    updates_ += gradients;
  }
  bool has_left(rank who) const { return left_.contains(who); }
  void withdraw(rank who) override { gate_.forget(who); }

private:
  virtual void take(worker& w, rank from, const vec& gradient) = 0;
  virtual bool may_read(rank who) const = 0;
  virtual void further_fields(archive&) {}

  void own_fields(archive& a) final {
    a(x_)(updates_)(left_);
    gate_.fields(a);
    further_fields(a);
  }

  void take(worker& w, const frame& asked) final {
    if (asked.body.elements > 0) {
      if (gate_.has_read(asked.source))
        say_age(w, gate_.applies(asked.source, updates_));
      take(w, asked.source, w.decode(asked.body));
    }
  }
  void hear(const frame& asked) final {
    if (asked.label.part == farewell)
      left_.insert(asked.source);
    else
      left_.erase(asked.source);
  }
  void begin_run() final { left_.clear(); }

  std::optional<answer> answer_to(worker& w, const pending_request& q) final {
    if (w.over() || left_.contains(q.from))
      return answer{};
    if (!may_read(q.from) || !gate_.admits(updates_))
      return std::nullopt;
    gate_.read(q.from, updates_);
    return answer{static_cast<std::uint32_t>(updates_), w.encode_exactly(x_)};
  }

  /// Reports from the last of several masters only; the first may have no elements.
  static void say_age(worker& w, std::uint64_t staleness) {
    if (w.id() == w.master(w.masters() - 1))
      w.gradient_applied(staleness);
  }

  vec x_;
  std::uint64_t updates_ = 0; // number of applied gradients
  std::set<rank> left_;       // workers that have done their last step
  staleness_gate gate_;
};

class synchronous_server final : public server {
public:
  using server::server;

private:
  void further_fields(archive& a) override { a(gradients_); }
  void take(worker&, rank from, const vec& gradient) override { gradients_[from] = gradient; }
  void forget(rank who) override {
    withdraw(who);
    gradients_.erase(who);
  }
  bool may_read(rank who) const override { return !gradients_.contains(who); }

  void act(worker& w) override {
    const auto is_in = [this](rank i) { return gradients_.contains(i) || has_left(i); };
    if (gradients_.empty() || !std::ranges::all_of(w.members(), is_in))
      return;
    auto sum = std::move(gradients_.begin()->second);
    for (auto g = std::next(gradients_.begin()); g != gradients_.end(); ++g)
      sum += g->second;
    sum *= 1.0f / static_cast<float>(gradients_.size());
    apply(w, sum, gradients_.size());
    gradients_.clear();
  }

  std::map<rank, vec> gradients_; // of this round
};

class asynchronous_server final : public server {
public:
  asynchronous_server(vec initial, const arguments& given) : server(std::move(initial), staleness_gate{given}) {}

private:
  void take(worker& w, rank, const vec& gradient) override { apply(w, gradient, 1); }
  bool may_read(rank) const override { return true; }
};

std::size_t shards(const arguments& given) { return static_cast<std::size_t>(given.integer("shards")); }
bool has_several_shards(const arguments& given) { return shards(given) > 1; }

std::unique_ptr<algorithm> make_worker(const algorithm_setup& s) { return std::make_unique<server_worker>(s.initial); }

std::unique_ptr<algorithm> make_bounded_worker(const algorithm_setup& s) {
  if (has_several_shards(s.given) && bounds_staleness(s.given))
    throw error(errc::usage, "async-sgd bounds staleness at one master, and cannot with shards",
                "leave out shards or staleness");
  return make_worker(s);
}

/// The master's part of the model.
vec shard_of(const algorithm_setup& s) {
  const segment all{0, s.initial.size()};
  auto pool = s.initial.pool();
  return vec{pool, all.part(s.master, shards(s.given)).of(s.initial)};
}

parameter shards_parameter() {
  return {.key = "shards",
          .kind = parameter::type::integer,
          .fallback = "1",
          .meaning = "masters, each with a part of the model",
          .min = 1,
          .max = 1024};
}

constexpr auto parameter_server_reference =
    "Li et al.: Scaling distributed machine learning with the parameter server, OSDI 2014; Lian, "
    "Huang, Li, Liu: Asynchronous parallel stochastic gradient for nonconvex optimization, "
    "NeurIPS 2015";

} // namespace

algorithm_entry parameter_server_sgd_entry() {
  return {
      .about = {.name = "parameter-server-sgd",
                .summary = "synchronous SGD; masters average the gradients of all workers",
                .maths = "G_t = (1/n) sum_i C(grad F_i(x_t; xi_i,t))\nx_{t+1} = x_t - gamma_t u(G_t)",
                .reference = parameter_server_reference,
                .cost = "per worker and step bits(C) payload bits up and 32 d down, in one message each way for each "
                        "shard; the masters send and receive n times as much; every step waits for the slowest worker",
                .parameters = {shards_parameter()}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = false,
                 .equal_steps = true,
                 .on_compute_failure = compute_failure::restart},
      .make = make_worker,
      .masters = shards,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<synchronous_server>(shard_of(s));
      },
      .packs_parts = has_several_shards,
  };
}

algorithm_entry async_sgd_entry() {
  return {
      .about = {.name = "async-sgd",
                .summary = "asynchronous SGD; masters apply each gradient when it comes",
                .maths = "x_{k+1} = x_k - gamma_k u(C(grad F_i(x_{k - tau_k}; xi_i)))",
                .reference = parameter_server_reference,
                .cost = "per gradient bits(C) payload bits up and 32 d down, in one message each way for each shard; "
                        "nobody waits for a slow worker unless staleness is bounded",
                .parameters = {shards_parameter(), staleness_parameter()}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = false,
                 .default_optimiser = "sgd",
                 .lr_grows = false,
                 .on_compute_failure = compute_failure::restart},
      .make = make_bounded_worker,
      .masters = shards,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<asynchronous_server>(shard_of(s), s.given);
      },
      .packs_parts = has_several_shards,
  };
}

} // namespace gossamer::actors
