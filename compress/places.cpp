#include "gossamer/compress/detail/places.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compress/detail/place_kernels.hpp"

#include <algorithm>
#include <bit>

namespace gossamer::compress::detail {
namespace {

/// One bit for each of 0 .. size - 1.
class bit_set {
public:
  bit_set(buffer_pool& pool, std::size_t size) : storage_(pool.allocate((size + 63) / 64 * sizeof(std::uint64_t))) {
    std::ranges::fill(storage_.bytes(), std::byte{0});
  }
  bool holds(std::size_t i) noexcept { return (words()[i / 64] >> (i % 64) & 1) != 0; }
  void insert(std::size_t i) noexcept { words()[i / 64] |= std::uint64_t{1} << (i % 64); }
  std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(storage_.data()); }

private:
  buffer storage_;
};

} // namespace

std::size_t draw_up_to(random_sequence& random, std::size_t last) {
  return last == 0xFFFFFFFFu ? random() : random.below(static_cast<std::uint32_t>(last + 1));
}

places draw_each(buffer_pool pool, std::size_t elements, std::uint32_t threshold, const random_stream& random,
                 std::uint64_t step) {
  places drawn{std::move(pool), elements};
  random_marks marks{threshold, random, step};
  std::size_t kept = 0;
  for (std::size_t first = 0; first < elements; first += random_marks::block) {
    const auto count = std::min(random_marks::block, elements - first);
    kept += keep_places(marks.draw(first, count), count, static_cast<std::uint32_t>(first), drawn.data() + kept);
  }
  drawn.truncate(kept);
  return drawn;
}

places draw_exactly(buffer_pool pool, std::size_t elements, std::size_t count, const random_stream& random,
                    std::uint64_t step) {
  GOSSAMER_ASSERT(count <= elements && elements <= packet_most_elements, "as many are drawn as there are");
  // Marks the drawn elements or the others, whichever are fewer.
  const bool few = count <= elements / 2;
  bit_set marked{pool, elements};
  random_sequence sequence{random, step};
  for (std::size_t last = elements - (few ? count : elements - count); last < elements; ++last) {
    const auto i = draw_up_to(sequence, last);
    marked.insert(marked.holds(i) ? last : i);
  }
  places drawn{pool, count};
  auto* next = drawn.data();
  for (std::size_t first = 0; first < elements; first += 64) {
    auto word = few ? marked.words()[first / 64] : ~marked.words()[first / 64];
    if (elements - first < 64)
      word &= (std::uint64_t{1} << (elements - first)) - 1;
    for (; word != 0; word &= word - 1)
      *next++ = static_cast<std::uint32_t>(first + static_cast<std::size_t>(std::countr_zero(word)));
  }
  return drawn;
}

void append(std::vector<selection::range>& ranges, std::size_t begin, std::size_t size) {
  if (!ranges.empty() && ranges.back().begin + ranges.back().size == begin)
    ranges.back().size += size;
  else if (size > 0)
    ranges.push_back({begin, size});
}

selection select_places(const places& kept, float factor) {
  selection result{.ranges = {}, .factor = factor};
  for (const std::size_t i : kept)
    append(result.ranges, i, 1);
  return result;
}

} // namespace gossamer::compress::detail
