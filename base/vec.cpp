#include "gossamer/base/vec.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <atomic>

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

vec::vec(scaled term) {
  if (const auto* device = term.v.device()) {
    remote_ = device->scaled(term.factor, term.v);
    return;
  }
  storage_ = term.v.pool().allocate(term.v.size() * sizeof(float));
  assign_scaled(overwrite(), term.factor, term.v.view());
}

std::span<float> vec::mutate() {
  if (remote_)
    *this = on_host(*this);
  if (!storage_.unique()) {
    const auto shared = storage_;
    storage_ = pool().allocate(shared.size());
    std::ranges::copy(shared.bytes(), storage_.data());
  }
  return {reinterpret_cast<float*>(storage_.data()), size()};
}

std::span<float> vec::overwrite() {
  if (remote_)
    *this = vec{pool().allocate(size() * sizeof(float))};
  if (!storage_.unique())
    storage_ = pool().allocate(storage_.size());
  return {reinterpret_cast<float*>(storage_.data()), size()};
}

/// @returns false, and does nothing, when no operand is on a device
bool vec::add_on_device(float a, const vec& x) {
  if (const auto* mine = device(); mine == nullptr) {
    const auto* other = x.device();
    if (other == nullptr)
      return false;
    *this = vec{other->scaled(1, *this)};
  } else if (remote_.use_count() > 1) {
    remote_ = mine->scaled(1, *this);
  }
  std::atomic_thread_fence(std::memory_order_acquire); // what others did before they let go of it
  device()->add(a, x);
  return true;
}

vec& vec::operator+=(const vec& other) {
  require_equal_sizes(*this, other);
  if (!add_on_device(1, other))
    add(mutate(), other.view());
  return *this;
}

vec& vec::operator-=(const vec& other) {
  require_equal_sizes(*this, other);
  if (!add_on_device(-1, other))
    subtract(mutate(), other.view());
  return *this;
}

vec& vec::operator+=(scaled term) {
  require_equal_sizes(*this, term.v);
  if (!add_on_device(term.factor, term.v))
    add_scaled(mutate(), term.factor, term.v.view());
  return *this;
}

vec& vec::operator-=(scaled term) { return *this += scaled{-term.factor, term.v}; }

vec& vec::operator*=(float factor) {
  if (device() != nullptr)
    return *this = vec{scaled{factor, *this}};
  const auto y = mutate();
  assign_scaled(y, factor, y);
  return *this;
}

bool operator==(const vec& a, const vec& b) { return std::ranges::equal(a.view(), b.view()); }

vec zeros_like(const vec& v) {
  if (v.elsewhere())
    if (const auto* device = v.elsewhere()->on_device())
      return vec{device->zeros(v.size())};
  auto pool = v.pool();
  return vec{pool, v.size()};
}

vec on_host(const vec& v) { return v.elsewhere() ? vec{v.storage()} : v; }

} // namespace gossamer
