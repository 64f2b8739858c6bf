// CSER: SGD with error reset, and its special cases. Updates are averaged in part, and the rest stays in the models,
// which are averaged in part as well, every H steps.
//
//   u_i = gamma_t u_i(grad F_i(x_i; xi_i,t))
//   (u'_i, r_i) = PSync(u_i, C2);    x_i <- x_i - u'_i,   e_i <- e_i - r_i
//   after every H steps
//   (e'_i, f_i) = PSync(e_i, C1);    x_i <- x_i - e_i + e'_i,   e_i <- f_i
//
// Xie, Zheng, Koyejo, Gupta, Li, Lin: CSER: communication-efficient SGD with error reset, NeurIPS 2020, algorithm 2 (in
// its line 12 the term -e_i is missing: without it lemma 1 fails). The ratio is 1 / (1 / R_C2 + 1 / (H R_C1)).
// CSEA is C2 = none, H = 1; CSER-PL is C2 = none, H > 1. M-CSER (algorithm 4) is CSER with Nesterov momentum inside u,
// which is never synchronised: CSER with another default optimiser.
//
// Lemma 1: s = x_i - e_i is the same on all workers. We keep s and e, and x_i = s + e_i; so it holds to the bit, and no
// rounding adds up. Both PSyncs are one round, since r_i, and so the e_i to reset, are known before anything is sent:
// half the hops, and an interrupted round can be repeated as a whole. u is the distance by which the optimiser and the
// proximal step move x_i.
//
// implementation=model needs linear codecs and keeps no e: C1(s + e_i) = C1(s) + C1(e_i), so averaging blocks of the
// models resets the errors in them. model-blocks is the code that the authors released: in each step the models are
// averaged on the blocks of C2, or, every H-th, on those of C1 instead.
//
// Lost workers: the others repeat the round, from unchanged s and e. s is not affected. The lost worker's unshared
// progress, its e_i, is lost: mean(x) jumps by mean(e) over the survivors less that over all. A worker that comes back
// begins at s, e = 0; with the other implementations, at the model of another worker. A worker that leaves hands its
// e_i to another, so that the sum of e stays the same.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/psync.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"
#include "gossamer/actors/run/codec_need.hpp"

namespace gossamer::actors {

namespace {

/// Parameters of the members of the family.
struct family {
  std::shared_ptr<const compress::codec> c1 = {}, c2 = {}; // null: none
  step_rounds resets = {.length = 1};
  route way = route::ring;

  std::uint64_t next_exchange(std::uint64_t t) const { return c2 ? t : resets.last_of(t); }
};

task<vec> moved(worker& w, const vec& x, std::uint64_t t) {
  const vec g = co_await w.start_gradient(x, t);
  vec y = x;
  w.update(y, g, t);
  co_return y;
}

class cser final : public algorithm {
public:
  cser(const vec& initial, family f) : s_(initial), e_(zeros_like(initial)), x_(initial), given_(std::move(f)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("what the models have in common", t_, s_);
      const vec v = co_await moved(w, x_, t_);
      const auto update = part_of(w, v - x_, given_.c2.get(), purpose::shared_2, t_);
      const auto* c1 = given_.resets.end_after(t_) ? given_.c1.get() : nullptr;
      const auto reset = part_of(w, e_ + update.residual, c1, purpose::shared_1, t_);
      std::vector parts{update, reset};
      co_await add_means(w, s_, std::move(parts), given_.way, t_);
      e_ = reset.residual;
      x_ = s_ + e_;
      w.claim_conserved("the sum of the models", t_, v, x_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(s_)(e_)(x_)(t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return given_.next_exchange(t); }
  void inherit(worker&) override {
    e_ *= 0;
    x_ = s_;
  }
  vec residual() const override { return e_; }
  void take_over(const vec& residual) override {
    e_ += residual;
    x_ = s_ + e_;
  }

private:
  vec s_, e_;
  vec x_; ///< s + e
  std::uint64_t t_ = 0;
  family given_;
};

/// CSER with x in place of e, and nothing in place of s.
class cser_of_models final : public algorithm {
public:
  cser_of_models(vec initial, family f, bool as_released)
      : x_(std::move(initial)), given_(std::move(f)), as_released_(as_released) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec v = co_await moved(w, x_, t_);
      const bool resets = given_.resets.end_after(t_);
      const auto* c2 = as_released_ && resets ? nullptr : given_.c2.get();
      const auto* c1 = resets ? given_.c1.get() : nullptr;
      const auto update = part_of(w, as_released_ ? v : v - x_, c2, purpose::shared_2, t_);
      const auto reset = part_of(w, as_released_ ? update.residual : x_ + update.residual, c1, purpose::shared_1, t_);
      vec x = reset.residual;
      std::vector parts{update, reset};
      co_await add_means(w, x, std::move(parts), given_.way, t_);
      x_ = x;
      w.claim_conserved("the sum of the models", t_, v, x_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return given_.next_exchange(t); }

private:
  vec x_;
  std::uint64_t t_ = 0;
  family given_;
  bool as_released_;
};

std::shared_ptr<const compress::codec> codec_of(const algorithm_setup& s, std::string_view key) {
  return compress::make_codec(s.given.nested(key), s.tensors, s.codecs);
}
std::shared_ptr<const compress::codec> codec_or_none(const algorithm_setup& s, std::string_view key) {
  return s.given.text(key) == "none" ? nullptr : codec_of(s, key);
}

step_rounds resets_of(const algorithm_setup& s) {
  return {.length = static_cast<std::uint64_t>(s.given.integer("period"))};
}

std::unique_ptr<algorithm> make_cser(const algorithm_setup& s) {
  family f{codec_or_none(s, "c1"), codec_or_none(s, "c2"), resets_of(s), ring_or_direct(s.given)};
  if (!f.c1 && !f.c2)
    throw error(errc::usage, "cser has neither c1 nor c2, so its workers would never exchange anything",
                "give one of them a codec; gossamer list codecs has all");
  if (s.given.is("implementation", "residual"))
    return std::make_unique<cser>(s.initial, std::move(f));
  for (const auto& [key, c] : {std::pair{"c1", f.c1}, std::pair{"c2", f.c2}})
    if (c)
      require_linear(*c, std::string{key} + " of implementation=" + s.given.text("implementation"), s.given.nested(key),
                     s.codecs);
  return std::make_unique<cser_of_models>(s.initial, std::move(f), s.given.is("implementation", "model-blocks"));
}

parameter codec_parameter(std::string key, std::string fallback, std::string meaning) {
  return {.key = std::move(key),
          .kind = parameter::type::spec,
          .fallback = std::move(fallback),
          .meaning = std::move(meaning)};
}
parameter c1_parameter(std::string fallback, std::string none = "") {
  return codec_parameter("c1", std::move(fallback), "C1, the codec of error resets" + none);
}
parameter period_parameter() {
  return {.key = "period",
          .kind = parameter::type::integer,
          .fallback = "8",
          .meaning = "H, in steps, from one error reset to the next",
          .min = 1};
}

std::vector<parameter> all_parameters() {
  return with_ring_or_direct(
      {c1_parameter("grbs/ratio=4", "; none: there are none"),
       codec_parameter("c2", "grbs/ratio=32", "C2, the codec of updates; none: they stay local"),
       period_parameter(),
       {.key = "implementation",
        .kind = parameter::type::choice,
        .fallback = "residual",
        .meaning = "algorithm 2 for any codecs; the same for linear codecs, without e; or what was released",
        .choices = {"residual", "model", "model-blocks"}}});
}

algorithm_traits traits() {
  return {.exchange = exchange_pattern::all,
          .synchronous = true,
          .needs = codec_need::exact,
          .on_loss = interrupted_round::repeat,
          .promises = {.most_exchanges_apart = 1, .sgd_to_the_bit = false}};
}

constexpr auto authors = "Xie, Zheng, Koyejo, Gupta, Li, Lin: CSER: communication-efficient SGD with error reset, "
                         "NeurIPS 2020, ";
constexpr auto cser_maths = "u_i = gamma_t u_i(grad F_i(x_i; xi_i,t));  PSync(v_i, C) = (vbar + r_i, r_i), r_i = v_i - "
                            "C(v_i), vbar = (1/n) sum_j C(v_j)\n"
                            "(u'_i, r_i) = PSync(u_i, C2);  x_i <- x_i - u'_i;  e_i <- e_i - r_i\n"
                            "if (t + 1) mod H = 0: (e'_i, f_i) = PSync(e_i, C1);  x_i <- x_i - e_i + e'_i;  e_i <- f_i";
constexpr auto cser_cost =
    "grbs: 2(n-1) messages and 2(n-1)/n * 32d (1/R_C2 + 1/(H R_C1)) payload bits sent by each worker "
    "per step; codecs whose packets cannot be added up go round whole, (n-1) bits(C); two more "
    "vectors of memory, none with implementation=model";

} // namespace

algorithm_entry cser_entry() {
  return {
      .about = {.name = "cser",
                .summary = "averages parts of the updates in each step, and parts of the errors every so many",
                .maths = cser_maths,
                .reference = std::string{authors} + "algorithm 2",
                .cost = cser_cost,
                .parameters = all_parameters()},
      .traits = traits(),
      .make = make_cser,
  };
}

algorithm_entry m_cser_entry() {
  return {
      .about = {.name = "m-cser",
                .summary = "CSER with Nesterov momentum on each worker: cser with this default optimiser",
                .maths = cser_maths,
                .reference = std::string{authors} + "algorithm 4",
                .cost = cser_cost,
                .parameters = all_parameters()},
      .traits =
          [] {
            auto t = traits();
            t.default_optimiser = "nesterov:beta=0.9";
            return t;
          }(),
      .make = make_cser,
  };
}

algorithm_entry csea_entry() {
  return {
      .about = {.name = "csea",
                .summary = "SGD on each worker alone; in each step parts of the errors are averaged",
                .maths = "e_i <- e_i - gamma_t u_i(grad F_i(x_i; xi_i,t));  (e'_i, f_i) = PSync(e_i, C1)\n"
                         "x_i <- x_i - u_i - e_i + e'_i;  e_i <- f_i",
                .reference = std::string{authors} + "appendix; CSER with C2 = 0 and H = 1",
                .cost = "grbs: 2(n-1) messages and 2(n-1)/n * 32d/R payload bits sent by each worker per step",
                .parameters = with_ring_or_direct({c1_parameter("grbs/ratio=16")})},
      .traits = traits(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<cser>(s.initial, family{.c1 = codec_of(s, "c1"), .way = ring_or_direct(s.given)});
      },
  };
}

algorithm_entry cser_pl_entry() {
  return {
      .about = {.name = "cser-pl",
                .summary = "partial local SGD: every so many steps parts of the errors are averaged",
                .maths = "e_i <- e_i - gamma_t u_i(grad F_i(x_i; xi_i,t));  x_i <- x_i - u_i\n"
                         "if (t + 1) mod H = 0: (e'_i, f_i) = PSync(e_i, C1);  x_i <- x_i - e_i + e'_i;  e_i <- f_i",
                .reference = std::string{authors} + "appendix; CSER with C2 = 0 and H > 1",
                .cost = "grbs: every H steps 2(n-1) messages and 2(n-1)/n * 32d/R payload bits sent by each worker",
                .parameters = with_ring_or_direct({c1_parameter("grbs/ratio=2"), period_parameter()})},
      .traits = traits(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<cser>(
            s.initial, family{.c1 = codec_of(s, "c1"), .resets = resets_of(s), .way = ring_or_direct(s.given)});
      },
  };
}

} // namespace gossamer::actors
