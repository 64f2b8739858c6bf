#include "gossamer/compress/cosine_transform.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::tiny_world;

constexpr std::size_t rows = 12, columns = 20, bias = 5, size = rows * columns + bias, edge = 8, kept_of_each = 6;
constexpr std::size_t chunk = 50; // of the codec: not of the size of a block
constexpr std::uint64_t steps = 30;
constexpr float lr = 0.01f;
const std::vector<tensor_shape> tensors{{rows, columns}, {1, bias}};
const std::string codec = "chunked-top-k:values=float,chunk=50,k=6";
using numbers = std::vector<double>;

tiny_world::make_algorithm demo(const std::string& parameters, const vec& start) {
  return [parameters, start](rank) {
    const auto& entry = algorithms().find("demo");
    const arguments given{"algorithm", entry.about, spec::parse("demo:" + parameters)};
    return entry.make({.given = given, .initial = start, .tensors = tensors});
  };
}

tiny_world::options options(std::size_t workers, std::string with = codec) {
  return {.codec = std::move(with), .workers = workers, .steps = steps, .lr = lr};
}

/// DeMo in plain loops, and in double precision, with the transform as a sum over all pairs of a block's elements.
class plain_loops {
public:
  plain_loops(std::size_t workers, double beta, bool over_senders)
      : m_(workers, numbers(size)), beta_(beta), over_senders_(over_senders) {}

  void step(const std::vector<std::vector<float>>& gradients) {
    numbers sum(size), senders(size);
    for (std::size_t i = 0; i < m_.size(); ++i) {
      const auto waves = transformed(numbers(gradients[i].begin(), gradients[i].end()), false);
      for (std::size_t k = 0; k < size; ++k)
        m_[i][k] = beta_ * m_[i][k] + waves[k];
      for (const auto k : strongest(m_[i])) {
        sum[k] += m_[i][k];
        ++senders[k];
        m_[i][k] = 0;
      }
    }
    for (std::size_t k = 0; k < size && over_senders_; ++k)
      sum[k] /= std::max(senders[k], 1.0);
    const auto way = transformed(sum, true);
    for (std::size_t k = 0; k < size; ++k)
      x[k] -= lr * static_cast<float>((way[k] > 0) - (way[k] < 0));
  }

  std::vector<float> x = std::vector<float>(size);

private:
  static double wave(std::size_t k, std::size_t i, std::size_t of) {
    const auto s = static_cast<double>(of);
    if (k * (2 * i + 1) % (2 * of) == of) // a quarter of a turn, or three
      return 0;
    return std::sqrt((k == 0 ? 1 : 2) / s)
           * std::cos(std::numbers::pi * static_cast<double>(k * (2 * i + 1)) / (2 * s));
  }
  static numbers transformed(const numbers& from, bool back) {
    numbers to(size);
    std::size_t begin = 0, coefficient = 0;
    for (const auto& t : tensors) {
      for (std::size_t r = 0; r < t.rows; r += edge)
        for (std::size_t c = 0; c < t.columns; c += edge) {
          const auto a = std::min(edge, t.rows - r), b = std::min(edge, t.columns - c);
          for (std::size_t k = 0; k < a * b; ++k, ++coefficient)
            for (std::size_t e = 0; e < a * b; ++e) {
              const auto element = begin + (r + e / b) * t.columns + c + e % b;
              const double part = wave(k / b, e / b, a) * wave(k % b, e % b, b);
              (back ? to[element] : to[coefficient]) += part * (back ? from[coefficient] : from[element]);
            }
        }
      begin += t.size();
    }
    return to;
  }
  static std::vector<std::size_t> strongest(const numbers& of) {
    std::vector<std::size_t> all;
    for (std::size_t first = 0; first < size; first += chunk) {
      std::vector<std::size_t> order(std::min(chunk, size - first));
      std::iota(order.begin(), order.end(), first);
      std::ranges::sort(order, std::greater{}, [&](auto k) { return std::abs(of[k]); });
      order.resize(std::min(kept_of_each, order.size()));
      all.insert(all.end(), order.begin(), order.end());
    }
    return all;
  }

  std::vector<numbers> m_;
  double beta_;
  bool over_senders_;
};

TEST(demo, does_what_plain_loops_do) {
  for (const bool over_senders : {false, true})
    for (const std::size_t workers : {1u, 4u}) {
      quadratics p{workers, size, 0.3f};
      const std::string parameters = over_senders ? "chunk=8,beta=0.9,aggregate=senders" : "chunk=8,beta=0.9";
      tiny_world world{options(workers), demo(parameters, p.start()), p.gradients()};
      ASSERT_TRUE(world.run());
      plain_loops reference{workers, 0.9, over_senders};
      for (std::uint64_t t = 0; t < steps; ++t) {
        std::vector<std::vector<float>> gradients;
        for (std::size_t i = 0; i < workers; ++i)
          gradients.push_back(p.gradient(i, t, reference.x));
        reference.step(gradients);
      }
      for (rank i = 0; i < workers; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_EQ(world.model(i)[k], reference.x[k]) << parameters << ", worker " << i << ", element " << k;
    }
}

TEST(demo, that_sends_all_steps_by_the_sign_of_the_mean_gradient_and_keeps_nothing) {
  for (const std::size_t workers : {1u, 4u}) {
    quadratics p{workers, size, 0.3f};
    std::vector<const algorithm*> of(workers);
    tiny_world world{options(workers, "identity"),
                     [&, make = demo("chunk=8", p.start())](rank i) {
                       auto made = make(i);
                       of[i] = made.get();
                       return made;
                     },
                     p.gradients()};
    ASSERT_TRUE(world.run());
    std::vector<float> x(size);
    for (std::uint64_t t = 0; t < steps; ++t) {
      numbers sum(size);
      for (std::size_t i = 0; i < workers; ++i)
        for (std::size_t k = 0; const float g : p.gradient(i, t, x))
          sum[k++] += static_cast<double>(g);
      for (std::size_t k = 0; k < size; ++k)
        x[k] -= lr * static_cast<float>((sum[k] > 0) - (sum[k] < 0));
    }
    for (rank i = 0; i < workers; ++i) {
      EXPECT_EQ(max_magnitude(of[i]->residual().view()), 0);
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_EQ(world.model(i)[k], x[k]) << workers << " workers, element " << k;
    }
  }
}

// With beta = 1, what a worker has sent and what it keeps are the waves of all its gradients, whatever the codec.
TEST(demo, loses_nothing_of_what_it_does_not_send) {
  constexpr std::size_t workers = 4;
  for (const std::string with : {codec.c_str(), "chunked-top-k:chunk=50,k=6", "scaled-sign", "uniform:bits=2"}) {
    quadratics p{workers, size, 1};
    std::vector<const algorithm*> of(workers);
    std::vector<numbers> sent(workers, numbers(size)), gradients = sent;
    auto o = options(workers, with);
    o.on_send = [&](rank, const frame& f) {
      if (f.label.kind == frame_kind::gather_packet && f.label.part == 0) // its own, in the first hop
        for (std::size_t k = 0; const float q : compress::decode(f.body).view())
          sent[f.source][k++] += static_cast<double>(q);
    };
    tiny_world world{o,
                     [&, make = demo("chunk=8,beta=1", p.start())](rank i) {
                       auto made = make(i);
                       of[i] = made.get();
                       return made;
                     },
                     [&, gradient = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                       vec g = gradient(i, t, x);
                       for (std::size_t k = 0; const float value : g.view())
                         gradients[i][k++] += static_cast<double>(value);
                       return g;
                     }};
    ASSERT_TRUE(world.run());
    double most = 0;
    for (rank i = 0; i < workers; ++i) {
      buffer_pool pool;
      const vec total{pool, std::vector<float>(gradients[i].begin(), gradients[i].end())};
      const vec waves = compress::cosine_transform{tensors, edge}.forward(total);
      for (std::size_t k = 0; k < size; ++k) {
        const auto kept = static_cast<double>(of[i]->residual()[k]);
        EXPECT_NEAR(sent[i][k] + kept, static_cast<double>(waves[k]), 1e-3) << with << ", worker " << i;
        most = std::max(most, std::abs(kept));
      }
    }
    EXPECT_GT(most, 0.1) << with << " sends all";
  }
}

// Of two elements one wave is their sum, the other their difference: worker 0 has the first, three others the second.
TEST(demo, divides_by_all_workers_or_by_those_that_have_sent) {
  buffer_pool pool;
  const vec start{pool, size};
  for (const auto& [parameters, second] : {std::pair{"chunk=2", lr}, {"chunk=2,aggregate=senders", -lr}}) {
    tiny_world::options o{.codec = "top-k:k=1", .workers = 4, .steps = 1, .lr = lr};
    tiny_world world{o, demo(parameters, start), [](rank i, std::uint64_t, const vec& x) {
                       vec g = zeros_like(x);
                       const auto pair = g.mutate().last(bias).first(2);
                       pair[0] = i == 0 ? 1.0f : 0.5f;
                       pair[1] = i == 0 ? 1.0f : -0.5f;
                       return g;
                     }};
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.model(2)[size - bias], -lr);
    EXPECT_EQ(world.model(2)[size - bias + 1], second) << parameters;
    EXPECT_EQ(world.model(2)[0], 0) << "no gradient, no wave";
  }
}

TEST(demo, decays_weights_by_their_rate_alone) {
  buffer_pool pool;
  const vec start{pool, std::vector<float>(size, 1)};
  tiny_world world{options(2), demo("weight-decay=2", start),
                   [](rank, std::uint64_t, const vec& x) { return zeros_like(x); }};
  ASSERT_TRUE(world.run());
  EXPECT_NEAR(static_cast<double>(world.model(0)[7]), std::pow(1 - 0.02, steps), 1e-5);
}

TEST(demo, sends_its_packet_round_the_ring) {
  constexpr std::size_t workers = 5;
  quadratics p{workers, size};
  for (const std::string with : {codec.c_str(), "chunked-top-k:k=3", "identity"}) {
    tiny_world world{options(workers, with), demo("chunk=8", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    for (rank i = 0; i < workers; ++i)
      EXPECT_EQ(world.sent(i).payload_bits, steps * (workers - 1) * compress::make_codec(with)->bits(size)) << with;
  }
}

} // namespace
} // namespace gossamer::actors
