// SGP: stochastic gradient push. Gossip over one-way links: a worker need not hear from those to which it sends.
//
//   x_i <- x_i - gamma_t u(grad F_i(z_i; xi_i,t)),   z_i = x_i / w_i,   w_i = 1 at first
//   x_i <- sum_j P_ij x_j,   w_i <- sum_j P_ij w_j
//
// where P_ij is what worker j gives i of all that it has: an equal share to each worker to which it sends in this step,
// and one to itself. So the columns of P sum to 1, which a sender knows, and its rows need not. The weights w measure
// what that does to x, and x_i / w_i still tends to the mean. It is the model that is evaluated. Assran, Loizou,
// Ballas, Rabbat: Stochastic gradient push for distributed deep learning, ICML 2019, algorithm 1, with its graph: in
// step t the member at place k of n sends to the one at place k + 2^(t mod L), L = floor(log2(n - 1)) + 1. Of 2^m
// workers each has heard of all others after m steps. (The authors' code sends to either side in turn.) With
// graph=topology a worker sends along all edges of the run's topology: push-sum SGD (Nedic, Olshevsky, 2016) without
// Metropolis' weights.
//
// What leaves a worker is s (C(z_i), 1) with s = w_i / (receivers + 1): a codec may be lossy, and the sums of x and of
// w are conserved still. If z is off by what C lost, it stays so. A model's l1 term shrinks x by as much as SGD's does:
// for such a term prox_{gamma h}(w z) = w prox_{(gamma / w) h}(z).
//
// With drop=P a share is dropped with probability P, as over a link that repeats nothing; Gossamer's links repeat all.
// Its sender keeps it, for a lost share would take its mass with it for ever: w would go to 0, and the steps of z,
// gamma / w, grow without bound. They grow for a while, too, where a worker gives and hardly gets: with P = 0.5 on a
// star runs may diverge. Both ends draw the same numbers, and a dropped share costs no bits.
//
// With overlap=TAU a step does not wait for the shares of this step, but for those of tau steps before (algorithm 2).
// All arrive in the step where they are due, none earlier: a run is a function of its seed. A share that is under way
// counts as its sender's, so that the sums of x and of w are conserved still; but while it is, no worker's gradient
// moves it. So z moves by more than gamma, as w is less than 1, and lags behind: the mean of the models follows the
// gradients some steps later. What is under way at the end is added to the models that are evaluated then.
//
// Lost workers: shares for a worker that is known to be lost are kept; those under way are lost with it, x and w in the
// same ratio, so that z of the others stays a mean of models. When the members change, all begin anew with x_i = z_i
// and w_i = 1 in the same step, and what is under way counts no more. So w sums to the number of members in each view
// until a member of it is lost. A checkpoint has x and w of all workers, and the shares that each has under way: a run
// that goes on sends them once more.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace gossamer::actors {

namespace {

/// The workers to which one sends in a step, and those from which it receives.
struct one_way_peers {
  std::vector<rank> to, from;
};

one_way_peers on_exponential_graph(const worker& w, std::uint64_t t) {
  const auto all = w.members();
  if (all.size() == 1)
    return {};
  const auto hop = std::size_t{1} << t % static_cast<std::uint64_t>(std::bit_width(all.size() - 1));
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(all, w.id()) - all.begin());
  return {{all[(place + hop) % all.size()]}, {all[(place + all.size() - hop) % all.size()]}};
}

one_way_peers along_edges(const worker& w) {
  const std::vector<rank> both(w.neighbours().begin(), w.neighbours().end());
  return {both, both};
}

bool sends_along_edges(const arguments& given) { return given.is("graph", "topology"); }

/// Part of a model, times a weight.
using weighed_model = std::pair<vec, double>;

class sgp final : public algorithm {
public:
  sgp(const vec& initial, const arguments& given)
      : x_(initial), z_(initial), along_edges_(sends_along_edges(given)), drop_(given.real32("drop")),
        overlap_(static_cast<std::uint64_t>(given.integer("overlap"))) {}

  task<> run(worker& w) override {
    send_again(w);
    for (; co_await w.next_step(t_); ++t_) {
      enter_view(w);
      const vec g = co_await w.start_gradient(z_, t_);
      w.update(x_, g, t_, z_);
      z_ = without_bias(x_, w_);
      co_await push(w);
      z_ = without_bias(x_, w_);
    }
    co_await await_rest(w);
  }

  const vec& model() const override { return z_; }
  void fields(archive& a) override {
    a(x_)(z_)(w_)(t_)(view_)(whole_);
    if (overlap_ > 0)
      a(under_way_);
  }
  void inherit(worker&) override { begin_anew(); }

private:
  void enter_view(const worker& w) {
    if (std::exchange(view_, w.present().number) != w.present().number)
      begin_anew();
  }
  void begin_anew() {
    x_ = z_;
    w_ = 1;
    whole_ = true;
    under_way_.clear();
  }
  static vec without_bias(const vec& x, double weight) {
    return weight == 1 ? x : vec{static_cast<float>(1 / weight) * x};
  }
  /// The oldest step of this view whose shares are under way when step t begins.
  std::uint64_t oldest_under_way(const worker& w) const {
    return std::max(w.present().first_step, t_ - std::min(t_, overlap_));
  }
  one_way_peers peers(const worker& w, std::uint64_t t) const {
    return along_edges_ ? along_edges(w) : on_exponential_graph(w, t);
  }
  vec as_vector(double weight) const {
    auto pool = x_.pool();
    return vec{pool, std::array{static_cast<float>(weight)}};
  }
  bool is_dropped(const worker& w, rank from, rank to, std::uint64_t t) const {
    return w.shared_random(purpose::shared_1).uniform(t, std::uint64_t{from} * w.ranks() + to) < drop_;
  }
  /// The label of a share of step t, which names the step where it is due.
  tag share_of(const worker& w, std::uint64_t t, std::uint32_t part) const {
    return {frame_kind::model, t + overlap_, part, overlap_ > 0 ? w.present().number : 0};
  }
  /// x and w, and what this worker has under way.
  weighed_model mass() const {
    weighed_model sum{x_, w_};
    for (const auto& [t, sent] : under_way_)
      for (std::size_t k = 0; k < sent.first.size(); ++k) {
        sum.first += static_cast<float>(sent.second.second) * sent.second.first;
        sum.second += sent.second.second;
      }
    return sum;
  }

  task<> push(worker& w) {
    const auto before = mass();
    const bool gave = give(w, peers(w, t_).to);
    bool took = true;
    if (t_ >= w.present().first_step + overlap_) {
      took = co_await take(w, t_ - overlap_, x_, w_);
      under_way_.erase(t_ - overlap_);
    }
    whole_ = whole_ && gave && took;
    const auto after = mass();
    if (gave && took)
      w.claim_conserved("the sum of the models times their weights", t_, before.first, after.first);
    if (whole_)
      w.claim_conserved("the sum of the weights, one for each member", t_, as_vector(1), as_vector(after.second));
  }

  /// @returns false if a receiver is lost; its share is kept
  bool give(worker& w, std::span<const rank> receivers) {
    if (receivers.empty())
      return true;
    const auto share = static_cast<float>(w_ / static_cast<double>(receivers.size() + 1));
    const auto model = w.encode(z_), weight = w.encode_exactly(as_vector(share));
    const vec sent = w.decode(model);
    std::vector<rank> reached;
    bool all = true;
    for (const auto j : receivers) {
      if (is_dropped(w, w.id(), j, t_))
        continue;
      all = all && w.is_present(j);
      if (!w.is_present(j))
        continue;
      w.send(j, share_of(w, t_, 0), model);
      w.send(j, share_of(w, t_, 1), weight);
      x_ -= share * sent;
      w_ -= static_cast<double>(share);
      reached.push_back(j);
    }
    if (overlap_ > 0)
      under_way_[t_] = {reached, {sent, static_cast<double>(share)}};
    return all;
  }

  /// Adds the shares of step t. @returns false if a sender is lost, and its share with it
  task<bool> take(worker& w, std::uint64_t t, vec& x, double& own) {
    const tag of_model = share_of(w, t, 0), of_weight = share_of(w, t, 1);
    const auto senders = peers(w, t).from;
    bool all = true;
    for (const auto j : senders) {
      if (is_dropped(w, j, w.id(), t))
        continue;
      const auto model = co_await w.receive(j, of_model);
      const auto weight = co_await w.receive(j, of_weight);
      all = all && model && weight;
      if (!model || !weight)
        continue;
      const float share = w.decode(weight->body, 1)[0];
      x += share * w.decode(model->body);
      own += static_cast<double>(share);
    }
    co_return all;
  }

  /// Where a run goes on from a checkpoint, frames that were under way are gone. All expect one of each step: a worker
  /// that has none sends nothing of weight 0.
  void send_again(worker& w) {
    if (overlap_ == 0)
      return;
    enter_view(w);
    z_ = without_bias(x_, w_); // the end of a run has added to it
    for (auto t = oldest_under_way(w); t < t_; ++t) {
      const auto sent = under_way_.find(t);
      for (const auto j : peers(w, t).to) {
        if (is_dropped(w, w.id(), j, t))
          continue;
        const bool has = sent != under_way_.end() && std::ranges::count(sent->second.first, j) > 0;
        w.send(j, share_of(w, t, 0), w.encode_exactly(has ? sent->second.second.first : z_));
        w.send(j, share_of(w, t, 1), w.encode_exactly(as_vector(has ? sent->second.second.second : 0)));
      }
    }
  }

  /// Adds what is under way to the model, and not to the state: a run that goes on does not begin at its end.
  task<> await_rest(worker& w) {
    if (overlap_ == 0)
      co_return;
    weighed_model last{x_, w_};
    for (auto t = oldest_under_way(w); t < t_ && view_ == w.present().number; ++t)
      co_await take(w, t, last.first, last.second);
    z_ = without_bias(last.first, last.second);
  }

  vec x_, z_;
  double w_ = 1;
  std::uint64_t t_ = 0;
  std::uint32_t view_ = 0; ///< view since whose beginning w sums to the number of members,
  bool whole_ = true;      ///< as far as this worker has seen
  std::map<std::uint64_t, std::pair<std::vector<rank>, weighed_model>>
      under_way_; ///< by the step that sent it to these
  bool along_edges_;
  float drop_;
  std::uint64_t overlap_; ///< tau
};

} // namespace

const algorithm_entry sgp_entry{
    .about =
        {.name = "sgp",
         .summary = "gossip over one-way links: workers push shares of their models, and weights that count them",
         .maths = "x_i <- x_i - gamma_t u(grad F_i(z_i; xi_i,t)),  z_i = x_i / w_i\n"
                  "x_i <- sum_j P_ij x_j,  w_i <- sum_j P_ij w_j,  sum_i P_ij = 1",
         .reference = "Assran, Loizou, Ballas, Rabbat: Stochastic gradient push for distributed deep learning, "
                      "ICML 2019, algorithms 1 and 2",
         .cost =
             "a model and its weight, bits(C) + 32 payload bits in two messages, sent by worker i per step to "
             "one worker, or to deg(i); one more vector of memory where weights differ from 1; a step waits for the "
             "workers whose turn it is to send to this one, or was tau steps before, with tau more vectors of memory",
         .parameters = {{.key = "graph",
                         .kind = parameter::type::choice,
                         .fallback = "exponential",
                         .meaning = "to whom a worker sends: in each step to one other, 1, 2, 4, ... places on in "
                                    "turn; or along all edges of --topology",
                         .choices = {"exponential", "topology"}},
                        {.key = "drop",
                         .kind = parameter::type::real,
                         .fallback = "0",
                         .meaning = "probability with which a share is lost on its way, and kept by its sender",
                         .min = 0,
                         .max = 0.99},
                        {.key = "overlap",
                         .kind = parameter::type::integer,
                         .fallback = "0",
                         .meaning = "tau, in steps: a step waits for the shares of so many steps before",
                         .min = 0,
                         .max = 1000}}},
    .traits = {.synchronous = true},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<sgp>(s.initial, s.given);
    },
    .exchange =
        [](const arguments& given) {
          return sends_along_edges(given) ? exchange_pattern::neighbours : exchange_pattern::all;
        },
};

} // namespace gossamer::actors
