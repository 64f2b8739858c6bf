// The memory of a run: a stated multiple of the model for each worker, and no more however long it trains.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/testing/spellings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "golden.hpp"

namespace {

/// Bytes that were asked for on a cache line of their own, as pools ask for blocks.
std::atomic<std::size_t> aligned_bytes{0};

} // namespace

void* operator new(std::size_t size, std::align_val_t alignment) {
  aligned_bytes += size;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit))
    return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace gossamer::actors {
namespace {

constexpr std::size_t dimension = 1 << 14, workers = 4;
constexpr const char *page = "/docs/benchmarks.md", *section = "## Memory of a worker";

run_settings settings_of(const std::string& algorithm, std::uint64_t steps) {
  run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = fmt::format("quadratic:samples=64,dim={}", dimension);
  s.workers = workers;
  s.batch = 2;
  s.steps = steps;
  s.lr = 1e-3;
  return s;
}

/// Memory of the blocks of a run for each worker, as a multiple of its model. Pools give no block back.
double models_a_worker(const std::string& algorithm, std::uint64_t steps) {
  const auto before = aligned_bytes.load();
  simulate(prepare(settings_of(algorithm, steps)), {});
  return static_cast<double>(aligned_bytes - before) / (sizeof(float) * dimension * workers);
}

/// The algorithm with a warm-up that is over soon, if it has one: behind it it may hold more.
std::string with_short_warm_up(const std::string& name) {
  const auto& parameters = algorithms().resolve(name).first.about.parameters;
  const bool warms_up = std::ranges::any_of(parameters, [](const auto& p) { return p.key == "warm-up"; });
  return warms_up ? name + ":warm-up=5" : name;
}

class memory_of : public testing::TestWithParam<std::string> {};

TEST_P(memory_of, a_worker_is_what_its_page_says) {
  const auto needed = models_a_worker(with_short_warm_up(GetParam()), 20);
  auto text = test::read_text(fmt::format("{}{}", GOSSAMER_SOURCE_DIR, page));
  text = text.substr(text.find(section));
  text = text.substr(0, text.find("\n## "));
  const auto row = fmt::format("| `{}` | ", GetParam());
  const auto found = text.find(row);
  if (found == std::string::npos)
    FAIL() << page << " has no row for it; add, in the order of names: " << row
           << fmt::format("{:.1f} |", std::ceil(2 * needed) / 2);
  const double stated = std::stod(text.substr(found + row.size(), 10));
  EXPECT_LE(needed, stated) << "models a worker; the page is too low";
  EXPECT_GT(needed, stated - 1) << "models a worker; the page is too high";
}

TEST_P(memory_of, a_worker_does_not_grow_with_its_steps) {
  const auto algorithm = with_short_warm_up(GetParam());
  EXPECT_LE(models_a_worker(algorithm, 60), models_a_worker(algorithm, 30) + 0.5);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& entry : algorithms())
    result.push_back(entry.about.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(algorithms, memory_of, testing::ValuesIn(names()),
                         [](const auto& instance) { return testing_support::as_test_name(instance.param); });

} // namespace
} // namespace gossamer::actors
