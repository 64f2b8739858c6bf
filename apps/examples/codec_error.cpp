// Codecs without a run: what a codec sends, and by how much it errs, beside what it promises.
//   codec_error uniform:bits=4 10000
#include "gossamer/base/error.hpp"
#include "gossamer/compress/codec.hpp"

#include <cstdio>
#include <cstdlib>

using namespace gossamer;

namespace {

double squared_norm(const vec& v) {
  double sum = 0;
  for (const float one : v.view())
    sum += double{one} * one;
  return sum;
}

} // namespace

int main(int argc, char** argv) try {
  const auto codec = compress::make_codec(argc > 1 ? argv[1] : "uniform:bits=4");
  const std::size_t elements = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  constexpr int vectors = 20;

  buffer_pool pool;
  double bits = 0, error = 0, norm = 0;
  for (std::uint64_t k = 0; k < vectors; ++k) {
    const random_stream values{k, 0, purpose::synthetic}, choices{k, 0, purpose::quantise};
    vec v{pool, elements};
    auto x = v.mutate();
    for (std::size_t i = 0; i < elements; ++i)
      x[i] = values.uniform(0, i) - 0.5f;
    const auto packet = codec->encode(v, choices, k); // the same bytes on every machine
    const vec difference = compress::decode(packet) - v;
    bits += static_cast<double>(packet.bits);
    error += squared_norm(difference);
    norm += squared_norm(v);
  }
  std::printf("%s: %.3f bits an element; |C(v) - v|^2 is %.4g of |v|^2, and at most %.4g\n", codec->spelling().c_str(),
              bits / vectors / static_cast<double>(elements), error / norm, codec->relative_error(elements));
} catch (const gossamer::error& e) {
  std::fprintf(stderr, "codec_error: %s\n", e.what());
  return 2;
}
