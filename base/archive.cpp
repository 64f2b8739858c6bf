#include "gossamer/base/archive.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gossamer {

namespace {

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto view = std::as_bytes(std::span{&value, 1});
  bytes.insert(bytes.end(), view.begin(), view.end());
}

} // namespace

void archive_writer::visit(vec& field) {
  append(bytes_, std::uint64_t{field.size()});
  const auto view = std::as_bytes(field.view());
  bytes_.insert(bytes_.end(), view.begin(), view.end());
}

void archive_writer::visit(std::uint64_t& field) { append(bytes_, field); }
void archive_writer::visit(double& field) { append(bytes_, field); }

std::span<const std::byte> archive_reader::take(std::uint64_t size) {
  if (size > left_.size())
    throw error(errc::bad_packet, fmt::format("a saved state ends {} bytes too early", size - left_.size()));
  const auto result = left_.first(size);
  left_ = left_.subspan(size);
  return result;
}

void archive_reader::visit(vec& field) {
  std::uint64_t size = 0;
  visit(size);
  if (size > left_.size() / sizeof(float))
    throw error(errc::bad_packet, fmt::format("a saved state ends within a vector of {} elements", size));
  vec read{pool_, size};
  std::memcpy(read.mutate().data(), take(size * sizeof(float)).data(), size * sizeof(float));
  field = std::move(read);
}

void archive_reader::visit(std::uint64_t& field) { std::memcpy(&field, take(sizeof field).data(), sizeof field); }
void archive_reader::visit(double& field) { std::memcpy(&field, take(sizeof field).data(), sizeof field); }

void archive_reader::finish() const {
  if (!left_.empty())
    throw error(errc::bad_packet, fmt::format("{} bytes of a saved state are left over", left_.size()));
}

} // namespace gossamer
