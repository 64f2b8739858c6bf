#include "gossamer/base/vec.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>

namespace gossamer {

namespace {
void require_equal_sizes(const vec& a, const vec& b) {
  GOSSAMER_ASSERT(a.size() == b.size(), "vectors that are added have equal sizes");
}
} // namespace

vec::vec(buffer_pool& pool, std::size_t size) : storage_(pool.allocate(size * sizeof(float))) {
  std::ranges::fill(overwrite(), 0.0f);
}

vec::vec(buffer_pool& pool, std::span<const float> values) : storage_(pool.allocate(values.size_bytes())) {
  std::ranges::copy(values, overwrite().begin());
}

vec::vec(buffer storage) noexcept : storage_(std::move(storage)) {
  GOSSAMER_ASSERT(storage_.size() % sizeof(float) == 0, "a vec is made of whole floats");
}

vec::vec(scaled term) : storage_(term.v.pool().allocate(term.v.storage().size())) {
  assign_scaled(overwrite(), term.factor, term.v.view());
}

std::span<float> vec::mutate() {
  if (!storage_.unique()) {
    const auto shared = storage_;
    storage_ = pool().allocate(shared.size());
    std::ranges::copy(shared.bytes(), storage_.data());
  }
  return {reinterpret_cast<float*>(storage_.data()), size()};
}

std::span<float> vec::overwrite() {
  if (!storage_.unique())
    storage_ = pool().allocate(storage_.size());
  return {reinterpret_cast<float*>(storage_.data()), size()};
}

vec& vec::operator+=(const vec& other) {
  require_equal_sizes(*this, other);
  add(mutate(), other.view());
  return *this;
}

vec& vec::operator-=(const vec& other) {
  require_equal_sizes(*this, other);
  subtract(mutate(), other.view());
  return *this;
}

vec& vec::operator+=(scaled term) {
  require_equal_sizes(*this, term.v);
  add_scaled(mutate(), term.factor, term.v.view());
  return *this;
}

vec& vec::operator-=(scaled term) {
  require_equal_sizes(*this, term.v);
  add_scaled(mutate(), -term.factor, term.v.view());
  return *this;
}

vec& vec::operator*=(float factor) {
  const auto y = mutate();
  assign_scaled(y, factor, y);
  return *this;
}

bool operator==(const vec& a, const vec& b) noexcept { return std::ranges::equal(a.view(), b.view()); }

} // namespace gossamer
