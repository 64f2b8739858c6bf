// The benchmarks' main: each case is repeated, and its mean, median, standard deviation and spread (cv) are printed.
// Flags of the command line, such as --benchmark_repetitions=1, override these.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

int main(int argc, char** argv) {
  std::array defaults{"--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true",
                      "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.1"};
  std::vector<char*> flags{argv[0]};
  for (const char* one : defaults)
    flags.push_back(const_cast<char*>(one)); // Google Benchmark takes them as main gets them, and writes none
  flags.insert(flags.end(), argv + 1, argv + argc);
  int count = static_cast<int>(flags.size());
  benchmark::Initialize(&count, flags.data());
  if (benchmark::ReportUnrecognizedArguments(count, flags.data()))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
