#pragma once

#include "gossamer/compute/dataset.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace gossamer::compute::cuda {

/// The samples and targets of a dataset in the memory of a GPU; either dense, as floats or as bytes, or sparse.
template <class Engine>
class resident_data {
public:
  resident_data(Engine& e, const dataset& data)
      : dense(copied(e, data.dense)), bytes(copied(e, data.bytes.all)), scales(copied(e, data.bytes.scales)),
        features_of_a_scale(data.features / data.bytes.scales.size()), row_start(copied(e, data.row_start)),
        columns(copied(e, data.columns)), values(copied(e, data.values)), targets(copied(e, data.targets)) {
    e.wait();
  }

  typename Engine::template array_of<float> dense;
  typename Engine::template array_of<std::uint8_t> bytes;
  typename Engine::template array_of<byte_scale> scales;
  std::size_t features_of_a_scale;
  typename Engine::template array_of<std::uint64_t> row_start;
  typename Engine::template array_of<std::uint32_t> columns;
  typename Engine::template array_of<float> values;
  typename Engine::template array_of<float> targets;

private:
  template <class T, class Allocator>
  static auto copied(Engine& e, const std::vector<T, Allocator>& from) {
    return copied(e, std::span<const T>{from});
  }
  template <class T>
  static auto copied(Engine& e, std::span<const T> from) {
    auto result = e.template array<T>(from.size());
    e.upload(result.data(), from);
    return result;
  }
};

/// The datasets on one GPU, by their addresses. Threads: safe.
template <class Engine>
class resident_sets {
public:
  /// Returns the same memory to all callers as long as one of them holds it. The engine of the first caller makes the
  /// copy, and other callers wait.
  std::shared_ptr<const resident_data<Engine>> of(Engine& e, const dataset& data) {
    const std::lock_guard lock{mutex_};
    auto& known = sets_[&data];
    auto result = known.lock();
    if (result == nullptr)
      known = result = std::make_shared<const resident_data<Engine>>(e, data);
    return result;
  }

private:
  std::mutex mutex_;
  std::map<const dataset*, std::weak_ptr<const resident_data<Engine>>> sets_;
};

} // namespace gossamer::compute::cuda
