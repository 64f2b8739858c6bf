#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/recipe.hpp"

#include <algorithm>

namespace gossamer::compress::detail {

random_stream half_stream(const random_stream& random) noexcept { return {recipe_word(random), 0, purpose::halves}; }

parameter rounding_parameter() {
  return {.key = "rounding",
          .kind = parameter::type::choice,
          .fallback = "32",
          .meaning = std::string{"random bits that round an element; 16 are faster, and "} + halves_bias,
          .choices = {"32", "16"}};
}

rounding rounding_of(const arguments& given) {
  return given.is("rounding", "16")        ? rounding::halves
         : given.is("rounding", "nearest") ? rounding::nearest
                                           : rounding::words;
}

void rounding_bits::fill(std::size_t first, std::size_t count, level_bits& to) const noexcept {
  to.halved = how_ == rounding::halves;
  const std::span words{to.words};
  if (how_ == rounding::nearest)
    std::ranges::fill(words.first(count), 0x80000000u);
  else if (to.halved)
    random_.fill(step_, first / 2, words.first((count + 1) / 2));
  else
    random_.fill(step_, first, words.first(count));
}

} // namespace gossamer::compress::detail
