#include "gossamer/base/work.hpp"
#include "gossamer/compute/detail/updates.hpp"
#include "gossamer/compute/optimiser.hpp"

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

class adam final : public optimiser {
public:
  explicit adam(const arguments& given)
      : beta1_(given.real("beta1")), beta2_(given.real("beta2")), epsilon_(given.real32("epsilon")),
        decay_(given.real32("weight-decay")) {}

  void step(vec& x, const vec& gradient, float lr) override {
    count_update(x, 2);
    power1_ *= beta1_;
    power2_ *= beta2_;
    updates().apply(detail::adam_rule{.rates = {.lr = lr, .decay = decay_},
                                      .beta1 = static_cast<float>(beta1_),
                                      .beta2 = static_cast<float>(beta2_),
                                      .rest1 = static_cast<float>(1 - beta1_),
                                      .rest2 = static_cast<float>(1 - beta2_),
                                      .unbias1 = static_cast<float>(1 / (1 - power1_)),
                                      .unbias2 = static_cast<float>(1 / (1 - power2_)),
                                      .epsilon = epsilon_},
                    x, gradient, state_beside(m_, x), state_beside(v_, x));
  }

  double persistence() const override { return persistence_of(beta1_); }

  void fields(archive& a) override { a(power1_)(power2_)(m_)(v_); }

  std::unique_ptr<optimiser> clone() const override { return std::make_unique<adam>(*this); }

private:
  float weight_decay() const override { return decay_; }

  double beta1_;
  double beta2_;
  float epsilon_;
  float decay_;
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

std::array<optimiser_entry, 4> optimiser_entries() {
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
           {.about = {.name = "adam",
                      .summary = "steps scaled by running moments of the gradient, bias corrected",
                      .maths = "m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2; "
                               "x <- x - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)\n"
                               "suggested lr: 0.001",
                      .reference = "Kingma, Ba, Adam: a method for stochastic optimization, 2015, algorithm 1",
                      .cost = "two vectors of state",
                      .parameters = {share("beta1", "0.9", "share of m that is kept"),
                                     share("beta2", "0.999", "share of v that is kept"),
                                     {.key = "epsilon",
                                      .kind = parameter::type::real,
                                      .fallback = "1e-8",
                                      .meaning = "least divisor",
                                      .min = 1e-30,
                                      .max = 1},
                                     weight_decay()}},
            .make = new_optimiser<adam>,
            .suggested_lr = [](const arguments&) { return 0.001; }}}};
}

} // namespace

namespace {
const detail::updates updates_on_host;
} // namespace

optimiser::optimiser() noexcept : updates_(&updates_on_host) {}

/// `step` adds the decay of x itself.
void optimiser::step_at(const vec& at, vec& x, const vec& gradient, float lr) {
  if (weight_decay() == 0 || &at == &x)
    return step(x, gradient, lr);
  vec decayed = gradient;
  decayed += weight_decay() * at;
  decayed -= weight_decay() * x;
  step(x, decayed, lr);
}

/// A step of rate -1 from the origin, where the decay, which belongs to x, has gone into the gradient.
vec optimiser::direction(const vec& x, const vec& gradient) {
  vec decayed = gradient;
  if (weight_decay() != 0)
    decayed += weight_decay() * x;
  vec moved = zeros_like(x);
  step(moved, decayed, -1);
  return moved;
}

const registry<optimiser_entry>& optimisers() {
  static const auto all = optimiser_entries();
  static const registry<optimiser_entry> table{"optimiser", all};
  return table;
}

std::unique_ptr<optimiser> make_optimiser(std::string_view text) {
  const auto [entry, values] = optimisers().resolve(text);
  return entry.make(values);
}

double suggested_lr(std::string_view optimiser) {
  const auto [entry, values] = optimisers().resolve(optimiser);
  return entry.suggested_lr(values);
}

} // namespace gossamer::compute
