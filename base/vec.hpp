#pragma once

#include "gossamer/base/device_vec.hpp"

#include <span>

namespace gossamer {

class vec;

/// `factor * v`, not yet computed: part of the sum or the assignment in which it stands.
struct scaled {
  float factor;
  const vec& v;
};

/// A vector of floats with value semantics and O(1) copies: models, gradients and everything that algorithms add up.
///
/// Copies share their storage until one of them is written (copy on write), so `send(j, x)` and the snapshot that a
/// compute actor reads cost nothing, and writing `x` afterwards cannot disturb them. Storage comes from the pool of the
/// operand, so a loop that repeats the same operations allocates nothing.
///
/// The elements may be elsewhere (`remote_elements`). If one operand is on a GPU, that GPU computes, and the result is
/// there. Reading single elements or spans brings them to the host; writing them leaves them there.
///
/// Arithmetic is element by element with one rounding per operation and never contracted, hence the same bits on every
/// machine; cost O(size). Operands of one operation must have equal sizes.
/// Threads: a vec belongs to one thread at a time; copies in different threads may share storage.
class vec {
public:
  vec() noexcept = default;
  /// All elements 0.
  vec(buffer_pool& pool, std::size_t size);
  vec(buffer_pool& pool, std::span<const float> values);
  /// A view of the same bytes as floats; the size of `storage` must be a multiple of 4.
  explicit vec(buffer storage) noexcept;
  explicit vec(std::shared_ptr<remote_elements> remote) noexcept : remote_(std::move(remote)) {}
  vec(scaled term); // NOLINT(google-explicit-constructor): v = 0.5f * x is the point

  std::size_t size() const noexcept { return remote_ ? remote_->size() : storage_.size() / sizeof(float); }
  bool empty() const noexcept { return size() == 0; }
  /// Null when the elements are in the memory of the host.
  const std::shared_ptr<remote_elements>& remote() const noexcept { return remote_; }
  buffer_pool pool() const { return remote_ ? remote_->pool() : storage_.pool(); }

  /// Returns the elements in the memory of the host, as all functions below do.
  const buffer& storage() const { return remote_ ? remote_->on_host() : storage_; }
  const float* data() const { return reinterpret_cast<const float*>(storage().data()); }
  std::span<const float> view() const { return {data(), size()}; }
  float operator[](std::size_t i) const { return data()[i]; }

  /// Returns `size` elements from `begin` on, which share the storage. O(1) in the memory of the host.
  vec part(std::size_t begin, std::size_t size) const {
    return vec{storage().part(begin * sizeof(float), size * sizeof(float))};
  }

  /// Returns the elements for writing; copies them first when the storage is shared.
  std::span<float> mutate();
  /// Returns elements for writing whose old values are not needed: fresh and unspecified when the storage is shared.
  std::span<float> overwrite();

  vec& operator+=(const vec& other);
  vec& operator-=(const vec& other);
  vec& operator+=(scaled term);
  vec& operator-=(scaled term);
  vec& operator*=(float factor);

  /// Equality of all elements as numbers.
  friend bool operator==(const vec& a, const vec& b);

private:
  device_vec* device() const noexcept { return remote_ ? remote_->on_device() : nullptr; }
  std::shared_ptr<device_vec> times_on_device(float a) const;
  bool add_on_device(float a, const vec& x);

  buffer storage_; // the elements are here, or in `remote_`
  std::shared_ptr<remote_elements> remote_;
};

/// Returns as many zeros as v has elements, in the same memory as v.
vec zeros_like(const vec& v);
/// Returns the same elements in the memory of the host.
vec on_host(const vec& v);

inline scaled operator*(float factor, const vec& v) noexcept { return {factor, v}; }
inline vec operator+(vec a, const vec& b) { return a += b, a; }
inline vec operator+(vec a, scaled b) { return a += b, a; }
inline vec operator-(vec a, const vec& b) { return a -= b, a; }
inline vec operator-(vec a, scaled b) { return a -= b, a; }

/// Element-wise kernels on plain memory, with SIMD chosen at run time. All spans of a call have equal sizes.
void add(std::span<float> y, std::span<const float> x) noexcept;                    ///< y += x
void subtract(std::span<float> y, std::span<const float> x) noexcept;               ///< y -= x
void add_scaled(std::span<float> y, float a, std::span<const float> x) noexcept;    ///< y += a * x
void assign_scaled(std::span<float> y, float a, std::span<const float> x) noexcept; ///< y = a * x
float max_magnitude(std::span<const float> x) noexcept; ///< max |x_i|; 0 when empty; NaN when any x_i is NaN
/// y = a - b. @returns max_magnitude(y)
float assign_difference(std::span<float> y, std::span<const float> a, std::span<const float> b) noexcept;

// Sums in double precision, in one order on all machines and on GPUs. Up to 4096 terms: 128 partial sums, of the terms
// with equal i mod 128 in ascending order; then sum j gains sum j + 64 for j < 64, sum j + 32 for j < 32, and so on
// down to one. More terms are cut into blocks of 4096, whose sums are added up by the same rule.
double squared_distance(std::span<const float> x, std::span<const float> y) noexcept; ///< sum (x_i - y_i)^2
double sum_of_squares(std::span<const float> x) noexcept;
double sum_of_magnitudes(std::span<const float> x) noexcept;

/// norms[r] = |x_r|_2 for each `row` > 0 elements x_r, of which the last may be fewer: the root of their
/// `sum_of_squares`, rounded to a float, and cut to the largest.
/// @param norms one for each row; they mean nothing when an element is not finite
/// @returns the sum of all squares up to rounding: not finite if and only if an element is not, 0 if and only if all
/// are
double norms_of_rows(std::span<const float> x, std::size_t row, std::span<float> norms) noexcept;

} // namespace gossamer
