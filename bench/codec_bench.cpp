// Codecs against memcpy, in bytes of float vector per second, so that ratios can be read off one
// run:
//   codec_bench --benchmark_filter='memcpy|bits=8'
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/cosine_transform.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace gossamer::compress {
namespace {

vec normal_vector(buffer_pool& pool, std::size_t size) {
  vec v{pool, size};
  random_sequence random{{1, 0, purpose::synthetic}, 0};
  for (float& x : v.overwrite())
    x = static_cast<float>(random.normal());
  return v;
}

/// Repeats `action`, which reads or makes one vector of the benchmark's size.
template <class Action>
void repeat(benchmark::State& state, Action action) {
  for (auto _ : state)
    action();
  state.SetBytesProcessed(state.iterations() * state.range(0) * std::int64_t{sizeof(float)});
}

std::size_t size_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

void copy(benchmark::State& state) {
  const std::vector<float> from(size_of(state), 1.0f);
  std::vector<float> to(from.size());
  repeat(state, [&] {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  });
}

void fill(benchmark::State& state) {
  const random_stream random{1, 0, purpose::quantise};
  std::vector<std::uint32_t> words(size_of(state));
  std::uint64_t step = 0;
  repeat(state, [&] {
    random.fill(step++, 0, words);
    benchmark::ClobberMemory();
  });
}

void largest(benchmark::State& state) {
  buffer_pool pool;
  const vec x = normal_vector(pool, size_of(state));
  repeat(state, [&] { benchmark::DoNotOptimize(max_magnitude(x.view())); });
}

/// Of a matrix with 1024 columns, there and back.
void waves(benchmark::State& state) {
  buffer_pool pool;
  const vec x = normal_vector(pool, size_of(state));
  const tensor_shape matrix{x.size() / 1024, 1024};
  const cosine_transform transform{{&matrix, 1}, 64};
  repeat(state, [&] { benchmark::DoNotOptimize(transform.inverse(transform.forward(x)).data()); });
}

void axpy(benchmark::State& state) {
  buffer_pool pool;
  const vec x = normal_vector(pool, size_of(state));
  vec y{pool, x.size()};
  repeat(state, [&] {
    y += 0.5f * x;
    benchmark::ClobberMemory();
  });
}

void encode(benchmark::State& state, const std::string& name) {
  buffer_pool pool;
  const auto codec = make_codec(name);
  const vec v = normal_vector(pool, size_of(state));
  const random_stream random{1, 0, purpose::quantise};
  std::uint64_t step = 0;
  repeat(state, [&] { benchmark::DoNotOptimize(codec->encode(v, random, step++).payload.data()); });
}

void decode(benchmark::State& state, const std::string& name) {
  buffer_pool pool;
  const auto codec = make_codec(name);
  const auto packet = codec->encode(normal_vector(pool, size_of(state)), {1, 0, purpose::quantise}, 0);
  repeat(state, [&] { benchmark::DoNotOptimize(compress::decode(packet).data()); });
}

void write(benchmark::State& state, const std::string& name) {
  buffer_pool pool;
  const auto packet = make_codec(name)->encode(normal_vector(pool, size_of(state)), {1, 0, purpose::quantise}, 0);
  repeat(state, [&] { benchmark::DoNotOptimize(compress::write(packet).data()); });
}

void read(benchmark::State& state, const std::string& name) {
  buffer_pool pool;
  const auto packet = make_codec(name)->encode(normal_vector(pool, size_of(state)), {1, 0, purpose::quantise}, 0);
  const auto bytes = compress::write(packet);
  repeat(state, [&] { benchmark::DoNotOptimize(compress::read(pool, bytes.bytes()).payload.data()); });
}

/// Every codec with its default parameters, and the examples that take other paths.
std::set<std::string> spellings() {
  std::set<std::string> result;
  for (const auto& entry : codecs()) {
    result.insert(entry.examples.begin(), entry.examples.end());
    if (std::ranges::none_of(entry.about.parameters, &parameter::required))
      result.insert(codecs().resolve(entry.about.name).second.resolved().to_string());
  }
  return result;
}

void sizes(benchmark::internal::Benchmark* b) { b->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24); }

const bool registered = [] {
  using benchmark::RegisterBenchmark;
  sizes(RegisterBenchmark("memcpy", copy));
  sizes(RegisterBenchmark("philox_fill", fill));
  sizes(RegisterBenchmark("max_magnitude", largest));
  sizes(RegisterBenchmark("add_scaled", axpy));
  sizes(RegisterBenchmark("cosine_transform", waves));
  for (const auto& name : spellings()) {
    sizes(RegisterBenchmark(("encode/" + name).c_str(), encode, name));
    sizes(RegisterBenchmark(("decode/" + name).c_str(), decode, name));
  }
  for (const std::string name : {"identity", "uniform:bits=8"}) {
    sizes(RegisterBenchmark(("write/" + name).c_str(), write, name));
    sizes(RegisterBenchmark(("read/" + name).c_str(), read, name));
  }
  return true;
}();

} // namespace
} // namespace gossamer::compress
