#pragma once

#include "gossamer/base/buffer.hpp"

#include <cstddef>
#include <memory>

namespace gossamer {

class vec;
class device_vec;

/// Elements of a vec outside the memory of the host: on a GPU, or still in a packet.
///
/// Copies of a vec share them. Threads: any, several at once.
class remote_elements {
public:
  virtual ~remote_elements() = default;

  virtual std::size_t size() const noexcept = 0;
  /// Returns the elements in the memory of the host. The first call copies them and waits; the copy is kept until they
  /// change.
  /// @error errc::device when the GPU fails
  virtual const buffer& on_host() const = 0;
  /// The pool of host memory for vectors that are made from this one.
  virtual buffer_pool pool() const = 0;

  /// Returns these elements if they are in the memory of a device, else null.
  virtual device_vec* on_device() noexcept { return nullptr; }
  /// Returns a times these elements in the memory of the device that shall compute with them; null if the host shall.
  virtual std::shared_ptr<device_vec> times(float /*a*/) const { return nullptr; }
  /// Adds a times these elements to y by a shorter way than through the memory of the host.
  /// @returns false if there is no such way; y is then unchanged
  virtual bool add_to(device_vec& /*y*/, float /*a*/) const { return false; }
};

/// Elements in the memory of a device, such as a GPU, which does the arithmetic of `vec` with them: rounded operation
/// by operation as on the host, so numbers are equal wherever they are computed (only a zero may have another sign).
///
/// Functions return before the device is done. An error of the device is found by a later call.
class device_vec : public remote_elements {
public:
  device_vec* on_device() noexcept final { return this; }

  /// Returns a v in the same memory; v may be anywhere.
  /// @error errc::failed when memory does not suffice; errc::device
  virtual std::shared_ptr<device_vec> scaled(float a, const vec& v) const = 0;
  /// Returns `size` zeros in the same memory.
  virtual std::shared_ptr<device_vec> zeros(std::size_t size) const = 0;
  /// Adds a x. x has as many elements and may be anywhere. Requires a single owner.
  virtual void add(float a, const vec& x) = 0;
};

} // namespace gossamer
