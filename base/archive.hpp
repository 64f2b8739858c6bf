#pragma once

#include "gossamer/base/vec.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gossamer {

/// Visits the fields of a state, always in the same order: to write them down, or to read them back. So a state is
/// described once and can be both saved and restored:
///
///     void fields(archive& a) override { a(x_)(t_); }
///
/// The bytes are little-endian: integers as 8 bytes, reals as IEEE doubles, a vec as its length and its elements, a
/// container as its size and its entries.
class archive {
public:
  virtual ~archive() = default;

  archive& operator()(vec& field) { return visit(field), *this; }
  archive& operator()(std::uint64_t& field) { return visit(field), *this; }
  archive& operator()(double& field) { return visit(field), *this; }
  archive& operator()(std::uint32_t& field) { return as_word(field); }
  archive& operator()(bool& field) { return as_word(field); }

  template <class T>
  archive& operator()(std::vector<T>& field) {
    std::uint64_t size = field.size();
    visit(size);
    std::vector<T> visited;
    for (std::uint64_t i = 0; i < size; ++i) { // one by one: a reader runs out of bytes before it runs out of memory
      visited.push_back(i < field.size() ? std::move(field[i]) : T{});
      (*this)(visited.back());
    }
    field = std::move(visited);
    return *this;
  }

  template <class A, class B>
  archive& operator()(std::pair<A, B>& field) {
    return (*this)(field.first)(field.second);
  }

  template <class K, class T>
  archive& operator()(std::map<K, T>& field) {
    return by_entries<std::pair<K, T>>(field);
  }

  template <class K>
  archive& operator()(std::set<K>& field) {
    return by_entries<K>(field);
  }

private:
  template <class Entry, class Container>
  archive& by_entries(Container& field) {
    std::vector<Entry> entries(field.begin(), field.end());
    (*this)(entries);
    field = Container(entries.begin(), entries.end());
    return *this;
  }

  template <class T>
  archive& as_word(T& field) {
    std::uint64_t word = field;
    visit(word);
    field = static_cast<T>(word);
    return *this;
  }

  virtual void visit(vec& field) = 0;
  virtual void visit(std::uint64_t& field) = 0;
  virtual void visit(double& field) = 0;
};

/// Appends every field that it visits to `bytes()`.
class archive_writer final : public archive {
public:
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

private:
  void visit(vec& field) override;
  void visit(std::uint64_t& field) override;
  void visit(double& field) override;

  std::vector<std::byte> bytes_;
};

/// Replaces every field that it visits by the value in the bytes.
/// @error errc::bad_packet when the bytes end too early; nothing is allocated for a vec that they cannot hold
class archive_reader final : public archive {
public:
  /// @param bytes must outlive the reader
  archive_reader(std::span<const std::byte> bytes, buffer_pool pool) noexcept : left_(bytes), pool_(std::move(pool)) {}

  /// @error errc::bad_packet when fields were left over: the state was written by another program
  void finish() const;

private:
  void visit(vec& field) override;
  void visit(std::uint64_t& field) override;
  void visit(double& field) override;
  std::span<const std::byte> take(std::uint64_t size);

  std::span<const std::byte> left_;
  buffer_pool pool_;
};

} // namespace gossamer
