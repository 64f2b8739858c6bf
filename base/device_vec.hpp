#pragma once

#include "gossamer/base/buffer.hpp"

#include <cstddef>
#include <memory>

namespace gossamer {

class vec;
class device_vec;

/// The elements of a vec that are somewhere else than in the memory of the host: on a GPU, or still in a packet.
///
/// Copies of a vec share them. Threads: any, several at once.
class remote_elements {
public:
  virtual ~remote_elements() = default;

  virtual std::size_t size() const noexcept = 0;
  /// The elements in the memory of the host: brought there when first asked for, and kept until they change. Waits.
  /// @error errc::device when the GPU fails
  virtual const buffer& on_host() const = 0;
  /// For memory of the host that vectors made from this one need.
  virtual buffer_pool pool() const = 0;

  /// These, where they are in the memory of a device.
  virtual device_vec* on_device() noexcept { return nullptr; }
  /// a times these in the memory of the device that is to compute with them; null where the host is.
  virtual std::shared_ptr<device_vec> times(float /*a*/) const { return nullptr; }
  /// y += a times these, by a way that is shorter than over the memory of the host.
  /// @returns false where there is none; y is then as it was
  virtual bool add_to(device_vec& /*y*/, float /*a*/) const { return false; }
};

/// Elements in the memory of a device, such as a GPU, which does the arithmetic of `vec` with them: rounded operation
/// by operation as on the host, so numbers are equal wherever they are computed (only a zero may have another sign).
///
/// Functions return before the device is done. An error of the device is found by a later call.
class device_vec : public remote_elements {
public:
  device_vec* on_device() noexcept final { return this; }

  /// a v in the same memory; v may be anywhere.
  /// @error errc::failed when memory does not suffice; errc::device
  virtual std::shared_ptr<device_vec> scaled(float a, const vec& v) const = 0;
  /// `size` zeros in the same memory.
  virtual std::shared_ptr<device_vec> zeros(std::size_t size) const = 0;
  /// += a x; x has as many elements and may be anywhere. Only for the single owner.
  virtual void add(float a, const vec& x) = 0;
};

} // namespace gossamer
