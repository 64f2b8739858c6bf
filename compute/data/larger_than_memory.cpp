#include "gossamer/compute/data/detail/larger_than_memory.hpp"

namespace gossamer::compute::detail {

parameter mapped_parameter() {
  return {.key = "mapped",
          .kind = parameter::type::choice,
          .fallback = "auto",
          .meaning = "where samples lie: in a file that is mapped, below TMPDIR or /var/tmp, when they take more than "
                     "half of the memory (auto), always, or never",
          .choices = {"auto", "yes", "no"}};
}

parameter block_parameter() {
  return {.key = "block",
          .kind = parameter::type::integer,
          .fallback = "0",
          .meaning = "samples that lie beside each other and are visited at about the same time, so that a mapped file "
                     "is read in long pieces; 0: any order",
          .min = 0,
          .max = 1e9};
}

mapped_allocator<float> sample_memory(const arguments& given) {
  if (given.is("mapped", "auto"))
    return {};
  return mapped_allocator<float>{given.is("mapped", "yes") ? 0 : UINT64_MAX};
}

std::size_t shuffled_block(const arguments& given) { return static_cast<std::size_t>(given.integer("block")); }

} // namespace gossamer::compute::detail
