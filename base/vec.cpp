#include "gossamer/base/vec.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/work.hpp"

#include <algorithm>
#include <atomic>

namespace gossamer {

namespace {
void require_equal_sizes(const vec& a, const vec& b) {
  GOSSAMER_ASSERT(a.size() == b.size(), "vectors that are added have equal sizes");
}

std::uint64_t bytes_of(const vec& v) { return v.size() * sizeof(float); }
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
  remote_ = term.v.times_on_device(term.factor);
  if (remote_) {
    count_arithmetic(2 * bytes_of(term.v));
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

/// @returns null when no device computes with this vector
std::shared_ptr<device_vec> vec::times_on_device(float a) const {
  const auto* here = device();
  return here != nullptr ? here->scaled(a, *this) : remote_ ? remote_->times(a) : nullptr;
}

/// @returns false, and does nothing, when no device computes with one of the operands
bool vec::add_on_device(float a, const vec& x) {
  if (device() == nullptr || remote_.use_count() > 1) {
    auto here = times_on_device(1);
    if (!here && x.device() != nullptr)
      here = x.device()->scaled(1, *this);
    if (!here)
      return false;
    *this = vec{std::move(here)};
  }
  std::atomic_thread_fence(std::memory_order_acquire); // sees the writes of former owners before they let go
  device()->add(a, x);
  count_arithmetic(3 * bytes_of(x)); // the same bytes as the kernels of the host count
  return true;
}

vec& vec::operator+=(const vec& other) {
  require_equal_sizes(*this, other);
  if (!add_on_device(1, other)) {
    const auto y = mutate(); // before the view: other may be this vector, and its shared storage is given up here
    add(y, other.view());
  }
  return *this;
}

vec& vec::operator-=(const vec& other) {
  require_equal_sizes(*this, other);
  if (!add_on_device(-1, other)) {
    const auto y = mutate();
    subtract(y, other.view());
  }
  return *this;
}

vec& vec::operator+=(scaled term) {
  require_equal_sizes(*this, term.v);
  if (!add_on_device(term.factor, term.v)) {
    const auto y = mutate();
    add_scaled(y, term.factor, term.v.view());
  }
  return *this;
}

vec& vec::operator-=(scaled term) { return *this += scaled{-term.factor, term.v}; }

vec& vec::operator*=(float factor) {
  if (auto here = times_on_device(factor)) {
    count_arithmetic(2 * bytes_of(*this));
    return *this = vec{std::move(here)};
  }
  const auto y = mutate();
  assign_scaled(y, factor, y);
  return *this;
}

bool operator==(const vec& a, const vec& b) { return std::ranges::equal(a.view(), b.view()); }

vec zeros_like(const vec& v) {
  if (v.remote())
    if (const auto* device = v.remote()->on_device())
      return vec{device->zeros(v.size())};
  auto pool = v.pool();
  return vec{pool, v.size()};
}

vec on_host(const vec& v) { return v.remote() ? vec{v.storage()} : v; }

} // namespace gossamer
