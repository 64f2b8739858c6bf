#include "gossamer/base/check_entry.hpp"
#include "gossamer/base/work.hpp"
#include "gossamer/compute/detail/updates.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace gossamer::compute {

namespace {

/// Returns the state of an optimiser, in the same memory as x; 0 to begin with.
vec& state_beside(vec& state, const vec& x) {
  if (state.empty() && !x.empty())
    state = zeros_like(x);
  GOSSAMER_ASSERT(state.size() == x.size(), "an optimiser serves one model");
  return state;
}

/// An update reads x, the gradient and its state, and writes x and the state.
void count_update(const vec& x, std::uint64_t state_vectors) {
  count_arithmetic((3 + 2 * state_vectors) * sizeof(float) * x.size());
}

class sgd final : public optimiser {
public:
  explicit sgd(const arguments& given) : decay_(given.real32("weight-decay")) {}

  void step(vec& x, const vec& gradient, float lr) override {
    if (decay_ == 0) {
      x -= lr * gradient;
      return;
    }
    count_update(x, 0);
    updates().apply(detail::sgd_rule{{.lr = lr, .decay = decay_}}, x, gradient);
  }

  double persistence() const override { return 1; }

  std::unique_ptr<optimiser> clone() const override { return std::make_unique<sgd>(*this); }

private:
  float weight_decay() const override { return decay_; }

  float decay_;
};

/// The persistence for a_k = beta^k.
double persistence_of(double beta) { return std::sqrt((1 + beta) / (1 - beta)); }

template <class Rule>
class momentum final : public optimiser {
public:
  explicit momentum(const arguments& given) : beta_(given.real32("beta")), decay_(given.real32("weight-decay")) {}

  void step(vec& x, const vec& gradient, float lr) override {
    count_update(x, 1);
    updates().apply(Rule{{.lr = lr, .decay = decay_}, beta_}, x, gradient, state_beside(m_, x));
  }

  double persistence() const override {
    const double beta = beta_;
    if (std::is_same_v<Rule, detail::momentum_rule>)
      return persistence_of(beta);
    // here a_0 = 1 + beta and a_k = beta^(k+1)
    return 1 / (1 - beta) / std::sqrt((1 + beta) * (1 + beta) + std::pow(beta, 4) / (1 - beta * beta));
  }

  void fields(archive& a) override { a(m_); }

  std::unique_ptr<optimiser> clone() const override { return std::make_unique<momentum>(*this); }

private:
  float weight_decay() const override { return decay_; }

  float beta_;
  float decay_;
  vec m_;
};

/// Adam, and AdamW, which differ in what a weight decay is and in the defaults.
class adam final : public optimiser {
public:
  enum class decay { coupled, decoupled };

  adam(const arguments& given, decay kind, float most_norm = 0)
      : beta1_(given.real("beta1")), beta2_(given.real("beta2")), epsilon_(given.real32("epsilon")),
        decay_(given.real32("weight-decay")), kind_(kind), most_norm_(most_norm) {}

  void step(vec& x, const vec& gradient, float lr) override {
    count_update(x, 2);
    power1_ *= beta1_;
    power2_ *= beta2_;
    updates().apply(detail::adam_rule{.rates = {.lr = lr, .decay = weight_decay()},
                                      .pull = decoupled_decay(),
                                      .beta1 = static_cast<float>(beta1_),
                                      .beta2 = static_cast<float>(beta2_),
                                      .rest1 = static_cast<float>(1 - beta1_),
                                      .rest2 = static_cast<float>(1 - beta2_),
                                      .unbias1 = static_cast<float>(1 / (1 - power1_)),
                                      .unbias2 = static_cast<float>(1 / (1 - power2_)),
                                      .epsilon = epsilon_},
                    x, clipped(gradient), state_beside(m_, x), state_beside(v_, x));
  }

  double persistence() const override { return persistence_of(beta1_); }

  void fields(archive& a) override { a(power1_)(power2_)(m_)(v_); }

  std::unique_ptr<optimiser> clone() const override { return std::make_unique<adam>(*this); }

private:
  float weight_decay() const override { return kind_ == decay::coupled ? decay_ : 0; }
  float decoupled_decay() const override { return kind_ == decay::decoupled ? decay_ : 0; }

  /// min(1, c / |g|) g
  vec clipped(const vec& g) const {
    if (most_norm_ == 0)
      return g;
    const double norm = std::sqrt(sum_of_squares(g.view()));
    return norm <= static_cast<double>(most_norm_) ? g : vec{static_cast<float>(most_norm_ / norm) * g};
  }

  double beta1_;
  double beta2_;
  float epsilon_;
  float decay_;
  decay kind_;
  float most_norm_;   ///< of a gradient; 0: any
  double power1_ = 1; ///< beta1^t
  double power2_ = 1;
  vec m_;
  vec v_;
};

parameter share(std::string key, std::string fallback, std::string meaning) {
  return {.key = std::move(key),
          .kind = parameter::type::real,
          .fallback = std::move(fallback),
          .meaning = std::move(meaning),
          .min = 0,
          .max = 0.999999};
}

parameter weight_decay() {
  return {.key = "weight-decay",
          .kind = parameter::type::real,
          .fallback = "0",
          .meaning = "factor of x that is added to the gradient first (coupled)",
          .min = 0,
          .max = 1e6};
}

constexpr double plain_lr = 0.1;

/// Returns the rate at which steps are, in the long run, as long as plain ones.
double lr_with_momentum(const arguments& given) {
  constexpr double places = 1e9; // so that 0.01 is that number, also in a run's configuration
  return std::max(1e-9, std::round(places * plain_lr * (1 - given.real("beta"))) / places);
}

template <class Optimiser>
std::unique_ptr<optimiser> new_optimiser(const arguments& given) {
  return std::make_unique<Optimiser>(given);
}

std::vector<parameter> and_these(std::vector<parameter> first, std::vector<parameter> more) {
  std::ranges::move(more, std::back_inserter(first));
  return first;
}

optimiser_entry adam_entry() {
  return {.about = {.name = "adam",
                    .summary = "steps scaled by running moments of the gradient, bias corrected",
                    .maths = "m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2; "
                             "x <- x - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)\n"
                             "suggested lr: 0.001",
                    .reference = "Kingma, Ba, Adam: a method for stochastic optimization, 2015, algorithm 1",
                    .cost = "two vectors of state",
                    .parameters = and_these(parameters_of_moments(), {weight_decay()})},
          .make = [](const arguments& given) -> std::unique_ptr<optimiser> {
            return std::make_unique<adam>(given, adam::decay::coupled);
          },
          .suggested_lr = [](const arguments&) { return 0.001; }};
}

optimiser_entry adamw_entry() {
  return {.about = {.name = "adamw",
                    .summary = "Adam whose weight decay shrinks x itself, and which may clip gradients",
                    .maths = "g <- min(1, clip / |g|) g; m, v as in adam\n"
                             "x <- (1 - lr weight-decay) x - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + "
                             "epsilon)\n"
                             "suggested lr: 0.001",
                    .reference = "Loshchilov, Hutter: Decoupled weight decay regularization, ICLR 2019, algorithm 2, "
                                 "without its schedule multiplier; clipping by the norm: Pascanu, Mikolov, Bengio: On "
                                 "the difficulty of training recurrent neural networks, ICML 2013",
                    .cost = "two vectors of state",
                    .parameters =
                        and_these(parameters_of_moments(), {{.key = "weight-decay",
                                                             .kind = parameter::type::real,
                                                             .fallback = "0.01",
                                                             .meaning = "share of x that a step of lr 1 takes away "
                                                                        "(decoupled)",
                                                             .min = 0,
                                                             .max = 1e6},
                                                            {.key = "clip",
                                                             .kind = parameter::type::real,
                                                             .fallback = "0",
                                                             .meaning = "largest norm of a gradient, which longer ones "
                                                                        "are scaled down to; 0: any",
                                                             .min = 0,
                                                             .max = 1e30}})},
          .make = [](const arguments& given) -> std::unique_ptr<optimiser> {
            return std::make_unique<adam>(given, adam::decay::decoupled, given.real32("clip"));
          },
          .suggested_lr = [](const arguments&) { return 0.001; }};
}

std::array<optimiser_entry, 5> optimiser_entries() {
  return {{{.about = {.name = "sgd",
                      .summary = "plain stochastic gradient descent",
                      .maths = "x <- x - lr g\nsuggested lr: 0.1",
                      .reference = "Robbins, Monro, A stochastic approximation method, 1951",
                      .cost = "no state",
                      .parameters = {weight_decay()}},
            .make = new_optimiser<sgd>,
            .suggested_lr = [](const arguments&) { return plain_lr; }},
           {.about = {.name = "momentum",
                      .summary = "heavy ball",
                      .maths = "m <- beta m + g; x <- x - lr m\n"
                               "suggested lr: 0.1 (1 - beta), because m is up to 1 / (1 - beta) gradients",
                      .reference = "Polyak, Some methods of speeding up the convergence of iteration methods, 1964",
                      .cost = "one vector of state",
                      .parameters = {share("beta", "0.9", "share of m that is kept"), weight_decay()}},
            .make = new_optimiser<momentum<detail::momentum_rule>>,
            .suggested_lr = lr_with_momentum},
           {.about = {.name = "nesterov",
                      .summary = "Nesterov momentum in the form that looks no step ahead",
                      .maths = "m <- beta m + g; x <- x - lr (beta m + g)\n"
                               "suggested lr: 0.1 (1 - beta), because m is up to 1 / (1 - beta) gradients",
                      .reference = "Sutskever, Martens, Dahl, Hinton, On the importance of "
                                   "initialization and momentum "
                                   "in deep learning, 2013",
                      .cost = "one vector of state",
                      .parameters = {share("beta", "0.9", "share of m that is kept"), weight_decay()}},
            .make = new_optimiser<momentum<detail::nesterov_rule>>,
            .suggested_lr = lr_with_momentum},
           adam_entry(),
           adamw_entry()}};
}

} // namespace

namespace {
const detail::updates updates_on_host;
} // namespace

std::vector<parameter> parameters_of_moments() {
  return {share("beta1", "0.9", "share of m that is kept"),
          share("beta2", "0.999", "share of v that is kept"),
          {.key = "epsilon",
           .kind = parameter::type::real,
           .fallback = "1e-8",
           .meaning = "least divisor",
           .min = 1e-30,
           .max = 1}};
}

optimiser::optimiser() noexcept : updates_(&updates_on_host) {}

namespace {

void require_equal_sizes(const vec& x, const vec& gradient) {
  if (x.size() != gradient.size())
    throw error(errc::usage,
                fmt::format("an optimiser gets a gradient of {} elements for a model of {}", gradient.size(), x.size()),
                "a gradient has as many elements as the model");
}

} // namespace

/// `step` adds the decay of x itself.
void optimiser::step_at(const vec& at, vec& x, const vec& gradient, float lr) {
  require_equal_sizes(x, gradient);
  if (&at == &x || (weight_decay() == 0 && decoupled_decay() == 0))
    return step(x, gradient, lr);
  vec decayed = gradient;
  if (weight_decay() != 0) {
    decayed += weight_decay() * at;
    decayed -= weight_decay() * x;
  }
  const vec apart = decoupled_decay() != 0 ? at - x : vec{};
  step(x, decayed, lr);
  if (decoupled_decay() != 0)
    x -= (lr * decoupled_decay()) * apart;
}

/// A step of rate -1 from the origin. The decay, which belongs to x, goes into the gradient, or is added to the step.
vec optimiser::direction(const vec& x, const vec& gradient) {
  require_equal_sizes(x, gradient);
  vec decayed = gradient;
  if (weight_decay() != 0)
    decayed += weight_decay() * x;
  vec moved = zeros_like(x);
  step(moved, decayed, -1);
  if (decoupled_decay() != 0)
    moved += decoupled_decay() * x;
  return moved;
}

const registry<optimiser_entry>& optimisers() {
  static const auto all = optimiser_entries();
  static const registry<optimiser_entry> table{"optimiser", all};
  return table;
}

std::unique_ptr<optimiser> make_optimiser(std::string_view text, const registry<optimiser_entry>& known) {
  const auto [entry, values] = known.resolve(text);
  auto made = entry.make(values);
  if (!made)
    throw made_nothing(known.what(), entry.about.name);
  return made;
}

double suggested_lr(std::string_view optimiser, const registry<optimiser_entry>& known) {
  const auto [entry, values] = known.resolve(optimiser);
  return entry.suggested_lr(values);
}

} // namespace gossamer::compute
