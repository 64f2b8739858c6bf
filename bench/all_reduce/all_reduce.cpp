// Times all-reduces of vectors among the workers of a run, with nothing between them. The same flags as gossamer:
//
//   all_reduce launch --hosts localhost:4 -- train --algorithm all-reduce:kib=1024,code=dense --steps 1
//       --data digits:samples=40,test=10 --model mlp:hidden=16000
//
// The model must have at least as many elements as the vector. Worker 0 prints a line for each batch, behind "R": the
// name, workers, bytes of the vector in 32-bit floats, microseconds an all-reduce, and microseconds of processor that
// all workers together have used for it.
#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"
#include "gossamer/apps/command.hpp"

#include <fmt/format.h>

#include <cmath>

#include "measure.hpp"

namespace {

using namespace gossamer;
using namespace gossamer::actors;

class measurement final : public algorithm {
public:
  measurement(vec initial, const arguments& given)
      : x_(std::move(initial)), elements_(static_cast<std::size_t>(given.integer("kib")) * 1024 / sizeof(float)),
        code_(given.text("code")), way_(collective_of(given)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec still = 0.0f * x_; // g++ 12 needs a variable here: docs/architecture.md
      co_await measure(w);
      w.update(x_, still, t_);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  task<> measure(worker& w) {
    const auto n = static_cast<int>(w.workers());
    auto pool = x_.pool();
    vec v{pool, elements_};
    bench::fill(v.overwrite().data(), elements_, static_cast<int>(w.id()));
    const double start = bench::now_us();
    double each = 0, goes_on = 1;
    while (goes_on > 0) {
      const double began = bench::now_us();
      for (int i = 0; i < 3; ++i)
        co_await reduce(w, v);
      each = co_await total(w, w.id() == 0 ? (bench::now_us() - began) / 3 : 0.0);
      goes_on = co_await total(w, w.id() == 0 && bench::now_us() - start < bench::settling_us ? 1.0 : 0.0);
    }
    const int rounds = bench::rounds_of(each, n);
    for (int batch = 0; batch < bench::batches; ++batch) {
      co_await total(w, 0);
      const double began = bench::now_us(), used = bench::processor_us();
      vec result;
      for (int i = 0; i < rounds; ++i)
        result = co_await reduce(w, v);
      const double took = (bench::now_us() - began) / rounds;
      const double processors = co_await total(w, (bench::processor_us() - used) / rounds);
      check(result, n);
      if (w.id() == 0)
        fmt::print("R {} {} {} {:.2f} {:.2f}\n", code_, n, sizeof(float) * elements_, took, processors);
    }
    std::fflush(stdout);
  }

  task<vec> reduce(worker& w, const vec& v) {
    const auto t = calls_++;
    if (code_ == "dense")
      co_return co_await sum_of_all(w, v, way_, t);
    if (code_ == "owners")
      co_return co_await packed_mean_of_all(w, v, t);
    if (code_ == "gathered") {
      const auto packets = co_await all_gather(w, w.encode(v), route::ring, t);
      co_return w.mean(packets, v.size());
    }
    one_bit_merge signs{w, v, t};
    co_await all_reduce(w, signs, way_, t);
    co_return signs.values();
  }

  void check(const vec& result, int n) const {
    if (code_ == "dense")
      return bench::check_sum(result.data(), result.size(), n, 1);
    const double roundings = code_ == "owners" ? 2 : 1;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto got = static_cast<double>(result[i]);
      GOSSAMER_ASSERT(code_ == "one-bit" ? is_a_sign_of_some(got, n, i)
                                         : std::abs(got - bench::exact_sum(n, i) / n) < roundings * coarsest_step,
                      "the result is what the code promises");
    }
  }

  /// True if some rank has an element of this sign.
  static bool is_a_sign_of_some(double sign, int n, std::size_t i) {
    bool some = false;
    for (int rank = 0; rank < n; ++rank)
      some |= (bench::value(rank, i) < 0 ? -1.0 : 1.0) == sign;
    return some;
  }

  task<double> total(worker& w, double mine) {
    auto pool = x_.pool();
    vec v{pool, 8};
    std::ranges::fill(v.overwrite(), 0.0f);
    v.overwrite()[0] = static_cast<float>(mine);
    const vec sum = co_await sum_of_all(w, v, way_, calls_++);
    co_return static_cast<double>(sum.view()[0]);
  }

  static constexpr double coarsest_step = 1.0 / 127; // of codecs with 8 bits and more, for values up to 1

  vec x_;
  std::uint64_t t_ = 0, calls_ = 0;
  std::size_t elements_;
  std::string code_;
  route way_;
};

const algorithm_entry entry{
    .about = {.name = "all-reduce",
              .summary = "times all-reduces, and trains nothing",
              .maths = "sum_i v_i",
              .reference = "none",
              .cost = "what it measures",
              .parameters =
                  with_collective({{.key = "kib",
                                    .kind = parameter::type::integer,
                                    .fallback = "1024",
                                    .meaning = "of a vector of 32-bit floats",
                                    .min = 1,
                                    .max = 1e6},
                                   {.key = "code",
                                    .kind = parameter::type::choice,
                                    .fallback = "dense",
                                    .meaning = "sums as they are, packets of --codec gathered and added, or added and "
                                               "packed again by the owners of segments, or signs merged",
                                    .choices = {"dense", "gathered", "owners", "one-bit"}}})},
    .traits = {.exchange = exchange_pattern::all, .synchronous = true, .on_loss = interrupted_round::repeat},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<measurement>(s.initial, s.given);
    },
};

} // namespace

int main(int argc, char** argv) { return gossamer::apps::run_command(argc, argv, {&entry, 1}); }
