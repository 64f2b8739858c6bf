// EAMSGD: asynchronous elastic averaging SGD with momentum. A spring pulls each worker's x to the master's centre c.
//
//   every tau steps   e = alpha (x - c);   c <- c + e
//   every step        v <- delta v - gamma_t u(grad F_i(x + delta v; xi));   x <- prox(x + v)
//   every tau steps   x <- x - e
//
// Zhang, Choromanska, LeCun: Deep learning with elastic averaging SGD, NeurIPS 2015, algorithm 2. The order of
// operations is that of the authors' code: the gradient looks ahead from x before the elastic move, which is subtracted
// after the step. delta = 0 is asynchronous EASGD. The paper has plain SGD for u; a weight decay or a momentum of
// --optimiser counts as well. Evaluations use the centre.
//
//   worker --request()--> master --reply(c)--> worker --request(e)--> master --reply()--> worker
//
// Both ends use e as the codec delivers it, so an exchange does not change sum_i x_i + c. The gradient is computed
// while e travels. The answer to e says that it has been added; the worker subtracts it only then.
//
// Lost workers take their x with them; a worker that comes back starts from another's. Lost masters start anew from the
// state that they saved before their last answer; e is added once, however often it is sent. A master that has lost its
// process, and its state with it, begins anew from some worker's x.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/master.hpp"

namespace gossamer::actors {

namespace {

enum centre_request : std::uint32_t { ask_centre, move_centre };

class elastic_worker final : public algorithm {
public:
  explicit elastic_worker(const algorithm_setup& s)
      : x_(s.initial), v_(zeros_like(x_)), moving_rate_(s.given.real32("moving-rate")),
        momentum_(s.given.real32("momentum")), period_(static_cast<std::uint64_t>(s.given.integer("period"))) {}

  task<> run(worker& w) override {
    const auto master = w.master(0);
    const float alpha = moving_rate_ > 0 ? moving_rate_ : 0.9f / static_cast<float>(w.workers());
    for (; co_await w.next_step(t_); ++t_) {
      const bool exchanges = t_ % period_ == 0;
      packet move;
      if (exchanges) {
        const packet nothing;
        const auto centre = co_await ask(w, master, ++requests_, ask_centre, nothing);
        vec e = alpha * (x_ - w.decode(centre.body));
        move = w.encode(e);
      }
      const vec ahead = x_ + momentum_ * v_;
      auto gradient = w.start_gradient(ahead, t_);
      std::optional<worker::exchange> both_halves;
      if (exchanges) {
        co_await w.between_cuts();
        both_halves.emplace(w, master, question_number(w, requests_ + 1));
        co_await ask(w, master, ++requests_, move_centre, move);
      }
      const vec g = co_await gradient;
      v_ *= momentum_;
      v_ -= w.direction(ahead, g, t_);
      x_ += v_;
      w.prox(x_, t_);
      w.gradient_applied(0); // x is the worker's own model
      if (exchanges) {
        const vec e = -1 * w.decode(move);
        x_ += e;
        both_halves->claim_opposite(e);
      }
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(v_)(t_)(requests_); }

private:
  vec x_, v_;
  std::uint64_t t_ = 0;
  std::uint64_t requests_ = 0;
  float moving_rate_, momentum_;
  std::uint64_t period_;
};

class elastic_master final : public master {
public:
  explicit elastic_master(vec initial) : centre_(std::move(initial)) {}

  const vec& model() const override { return centre_; }
  void begin_from(worker& w, remembered_model known) override { centre_ = own_part(w, known, centre_.size()); }

private:
  void own_fields(archive& a) override { a(centre_); }
  void take(worker& w, const frame& asked) override {
    if (asked.label.part != move_centre)
      return;
    const vec e = w.decode(asked.body);
    centre_ += e;
    w.claim_opposite(asked.source, false, asked.label.step, e);
  }
  std::optional<answer> answer_to(worker& w, const pending_request& q) override {
    return q.label.part == move_centre ? answer{} : answer{.body = w.encode_exactly(centre_)};
  }

  vec centre_;
};

} // namespace

algorithm_entry eamsgd_entry() {
  return {
      .about = {.name = "eamsgd",
                .summary = "asynchronous elastic averaging: workers explore, springs tie them to a centre",
                .maths = "every tau steps e = alpha (x_i - c), c <- c + e, x_i <- x_i - e\n"
                         "every step v_i <- delta v_i - gamma_t u(grad F_i(x_i + delta v_i; xi)), x_i <- x_i + v_i",
                .reference = "Zhang, Choromanska, LeCun: Deep learning with elastic averaging SGD, NeurIPS 2015, "
                             "algorithm 2",
                .cost = "every tau steps of a worker 32 d payload bits down and bits(C) up, in four messages; nobody "
                        "waits for another worker",
                .parameters = {{.key = "period",
                                .kind = parameter::type::integer,
                                .fallback = "1",
                                .meaning = "tau: steps of a worker between exchanges",
                                .min = 1,
                                .max = 1e9},
                               {.key = "moving-rate",
                                .kind = parameter::type::real,
                                .fallback = "0",
                                .meaning = "alpha; 0: 0.9 / n",
                                .min = 0,
                                .max = 2},
                               {.key = "momentum",
                                .kind = parameter::type::real,
                                .fallback = "0.9",
                                .meaning = "delta; 0: EASGD. A momentum of --optimiser comes on top",
                                .min = 0,
                                .max = 0.999999}}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = false,
                 .default_optimiser = "sgd",
                 .lr_grows = false,
                 .on_compute_failure = compute_failure::restart,
                 .promises = {.sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<elastic_worker>(s);
      },
      .masters = one_master,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<elastic_master>(s.initial);
      },
  };
}

} // namespace gossamer::actors
