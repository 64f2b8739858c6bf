#include "gossamer/compute/data/detail/digit_glyphs.hpp"

#include <array>

namespace gossamer::compute::detail {

namespace {

constexpr bool straight = false;
constexpr bool smooth = true;

// clang-format off
std::array<std::vector<glyph>, 10> draw_glyphs() {
  const stroke wide_oval{smooth, {{.5f, .1f}, {.27f, .25f}, {.2f, .5f}, {.27f, .75f}, {.5f, .9f},
                                  {.73f, .75f}, {.8f, .5f}, {.73f, .25f}, {.5f, .1f}}};
  const stroke nine_loop{smooth, {{.7f, .3f}, {.55f, .1f}, {.34f, .16f}, {.28f, .35f}, {.45f, .52f},
                                  {.64f, .43f}, {.7f, .3f}}};
  return {{
    { // 0: wide, narrow, slashed
      {wide_oval},
      {{smooth, {{.5f, .1f}, {.36f, .25f}, {.32f, .5f}, {.36f, .75f}, {.5f, .9f}, {.64f, .75f},
                 {.68f, .5f}, {.64f, .25f}, {.5f, .1f}}}},
      {wide_oval, {straight, {{.7f, .22f}, {.3f, .78f}}}},
    },
    { // 1: bar, with a flag, with a flag and a base
      {{straight, {{.5f, .1f}, {.5f, .9f}}}},
      {{straight, {{.32f, .3f}, {.54f, .1f}, {.54f, .9f}}}},
      {{straight, {{.34f, .26f}, {.5f, .1f}, {.5f, .9f}}}, {straight, {{.3f, .9f}, {.7f, .9f}}}},
    },
    { // 2: with a straight base, with a loop
      {{smooth, {{.25f, .3f}, {.35f, .13f}, {.55f, .1f}, {.73f, .25f}, {.65f, .48f}, {.42f, .7f},
                 {.22f, .9f}}},
       {straight, {{.22f, .9f}, {.78f, .9f}}}},
      {{smooth, {{.25f, .25f}, {.45f, .1f}, {.7f, .2f}, {.68f, .45f}, {.47f, .7f}, {.27f, .88f},
                 {.2f, .78f}, {.34f, .74f}, {.55f, .86f}, {.8f, .86f}}}},
    },
    { // 3: round, with a flat top
      {{smooth, {{.25f, .2f}, {.5f, .1f}, {.72f, .25f}, {.62f, .43f}, {.42f, .48f}}},
       {smooth, {{.42f, .48f}, {.68f, .53f}, {.77f, .7f}, {.62f, .87f}, {.4f, .9f}, {.22f, .8f}}}},
      {{straight, {{.25f, .1f}, {.72f, .1f}, {.45f, .42f}}},
       {smooth, {{.45f, .42f}, {.7f, .5f}, {.77f, .68f}, {.62f, .86f}, {.4f, .9f}, {.22f, .8f}}}},
    },
    { // 4: closed, open
      {{straight, {{.62f, .9f}, {.62f, .1f}, {.2f, .62f}, {.8f, .62f}}}},
      {{straight, {{.3f, .1f}, {.25f, .52f}, {.78f, .52f}}}, {straight, {{.68f, .12f}, {.66f, .9f}}}},
    },
    { // 5: with a corner, like an S
      {{straight, {{.72f, .1f}, {.32f, .1f}, {.28f, .45f}}},
       {smooth, {{.28f, .45f}, {.5f, .4f}, {.71f, .5f}, {.74f, .68f}, {.6f, .86f}, {.4f, .9f},
                 {.22f, .8f}}}},
      {{smooth, {{.73f, .13f}, {.47f, .1f}, {.3f, .24f}, {.36f, .41f}, {.6f, .5f}, {.73f, .66f},
                 {.62f, .86f}, {.4f, .9f}, {.24f, .8f}}}},
    },
    { // 6: curled, straight
      {{smooth, {{.65f, .1f}, {.4f, .3f}, {.26f, .58f}, {.32f, .82f}, {.52f, .9f}, {.71f, .78f},
                 {.69f, .6f}, {.51f, .52f}, {.32f, .62f}}}},
      {{straight, {{.58f, .1f}, {.29f, .62f}}},
       {smooth, {{.5f, .5f}, {.32f, .57f}, {.26f, .73f}, {.4f, .88f}, {.58f, .88f}, {.72f, .73f},
                 {.68f, .57f}, {.5f, .5f}}}},
    },
    { // 7: plain, crossed, with a serif
      {{straight, {{.22f, .1f}, {.78f, .1f}, {.42f, .9f}}}},
      {{straight, {{.22f, .1f}, {.78f, .1f}, {.42f, .9f}}}, {straight, {{.35f, .5f}, {.74f, .5f}}}},
      {{straight, {{.22f, .24f}, {.24f, .1f}, {.76f, .1f}}},
       {smooth, {{.76f, .1f}, {.58f, .4f}, {.48f, .65f}, {.45f, .9f}}}},
    },
    { // 8: two loops, one crossing stroke
      {{smooth, {{.5f, .1f}, {.33f, .18f}, {.31f, .33f}, {.5f, .47f}, {.69f, .33f}, {.67f, .18f},
                 {.5f, .1f}}},
       {smooth, {{.5f, .47f}, {.28f, .6f}, {.26f, .77f}, {.5f, .9f}, {.74f, .77f}, {.72f, .6f},
                 {.5f, .47f}}}},
      {{smooth, {{.68f, .2f}, {.5f, .1f}, {.32f, .22f}, {.4f, .4f}, {.62f, .58f}, {.71f, .76f},
                 {.5f, .9f}, {.29f, .76f}, {.38f, .58f}, {.6f, .4f}, {.68f, .2f}}}},
    },
    { // 9: straight, curled
      {nine_loop, {straight, {{.7f, .28f}, {.66f, .9f}}}},
      {nine_loop, {smooth, {{.7f, .28f}, {.71f, .6f}, {.58f, .84f}, {.32f, .86f}}}},
    },
  }};
}
// clang-format on

} // namespace

std::span<const glyph> glyphs_of(std::size_t digit) {
  static const auto glyphs = draw_glyphs();
  return glyphs.at(digit);
}

} // namespace gossamer::compute::detail
