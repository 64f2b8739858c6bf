// Signs against memcpy. `signs/` counts bytes of packed words, 8 elements each; encoding is measured in
// codec_bench.cpp.
#include "gossamer/compress/sign_bits.hpp"
#include "gossamer/compress/sign_sums.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

namespace gossamer::compress {
namespace {

std::vector<std::uint64_t> random_signs(std::size_t elements, std::uint32_t worker) {
  random_sequence random{{1, worker, purpose::synthetic}, 0};
  std::vector<std::uint64_t> words(sign_words(elements));
  for (auto& word : words)
    word = std::uint64_t{random()} << 32 | random();
  return words;
}

/// Repeats `action`, which makes the signs of one vector of the benchmark's size.
template <class Action>
void repeat(benchmark::State& state, Action action) {
  for (auto _ : state) {
    action();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) / 8);
}

std::size_t size_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

void copy(benchmark::State& state) {
  const auto from = random_signs(size_of(state), 0);
  std::vector<std::uint64_t> to(from.size());
  repeat(state, [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof(std::uint64_t)); });
}

/// Merges as a worker does: the merged bits replace the received ones.
void merge(benchmark::State& state) {
  auto received = random_signs(size_of(state), 0);
  const auto local = random_signs(size_of(state), 1), transient = random_signs(size_of(state), 2);
  repeat(state, [&] { merge_signs(received, local, transient, received); });
}

void draw(benchmark::State& state, std::uint32_t a) {
  const auto local = random_signs(size_of(state), 1);
  const random_stream random{1, 0, purpose::merge};
  std::vector<std::uint64_t> out(local.size());
  std::uint64_t step = 0;
  repeat(state, [&] { draw_transient(local, a, 1, size_of(state), random, step++, 0, out); });
}

sign_sums seven_workers(buffer_pool& pool, std::size_t elements) {
  sign_sums sums(pool, random_signs(elements, 0), elements);
  for (std::uint32_t worker = 1; worker < 7; ++worker)
    sums += sign_sums(pool, random_signs(elements, worker), elements);
  return sums;
}

void add_eighth(benchmark::State& state) {
  buffer_pool pool;
  const auto seven = seven_workers(pool, size_of(state));
  const sign_sums last(pool, random_signs(size_of(state), 7), size_of(state));
  repeat(state, [&] {
    auto sums = seven;
    sums += last;
    benchmark::DoNotOptimize(sums);
  });
}

void majority_of_seven(benchmark::State& state) {
  buffer_pool pool;
  const auto sums = seven_workers(pool, size_of(state));
  std::vector<std::uint64_t> words(sign_words(size_of(state)));
  repeat(state, [&] { sums.majority(words); });
}

void values_of_seven(benchmark::State& state) {
  buffer_pool pool;
  const auto sums = seven_workers(pool, size_of(state));
  std::vector<float> values(size_of(state));
  repeat(state, [&] { sums.to_values(0.1f, values); });
}

void encode_seven(benchmark::State& state, sign_sum_code code) {
  buffer_pool pool;
  const auto sums = seven_workers(pool, size_of(state));
  repeat(state, [&] { benchmark::DoNotOptimize(sums.encode(code).payload.data()); });
}

void decode_seven(benchmark::State& state, sign_sum_code code) {
  buffer_pool pool;
  const auto p = seven_workers(pool, size_of(state)).encode(code);
  repeat(state, [&] { benchmark::DoNotOptimize(sign_sums::decode(p, size_of(state), 7)); });
}

void sizes(benchmark::internal::Benchmark* b) { b->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24); }

const bool registered = [] {
  using benchmark::RegisterBenchmark;
  sizes(RegisterBenchmark("signs/memcpy", copy));
  sizes(RegisterBenchmark("signs/merge", merge));
  for (std::uint32_t a : {1, 2, 3})
    sizes(RegisterBenchmark(("signs/draw_transient/" + std::to_string(a) + ":1").c_str(), draw, a));
  sizes(RegisterBenchmark("signs/add_eighth", add_eighth));
  sizes(RegisterBenchmark("signs/majority_of_seven", majority_of_seven));
  sizes(RegisterBenchmark("signs/values_of_seven", values_of_seven));
  for (const auto& [name, code] : {std::pair{"fixed", sign_sum_code::fixed}, {"elias", sign_sum_code::elias}}) {
    sizes(RegisterBenchmark((std::string{"signs/encode_seven/"} + name).c_str(), encode_seven, code));
    sizes(RegisterBenchmark((std::string{"signs/decode_seven/"} + name).c_str(), decode_seven, code));
  }
  return true;
}();

} // namespace
} // namespace gossamer::compress
