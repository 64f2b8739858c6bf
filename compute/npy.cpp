#include "gossamer/compute/detail/npy.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace gossamer::compute::detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_1_start = 10, version_2_start = 12; // magic, version, and 2 or 4 bytes of length
constexpr std::size_t most_prefix_bytes = 1 << 16, alignment = 64;
constexpr std::size_t most_sides = 64; // NumPy's own limit
constexpr std::string_view allowed_elements = "save it as float32 or float64: x.astype('<f4')";
constexpr std::string_view known_elements[] = {"<f4", "<f8", "|b1", "|u1", "|i1", "<u2",
                                               "<i2", "<u4", "<i4", "<u8", "<i8"};

std::size_t byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

/// The dictionary that describes an array, which is written as in Python's source.
class dictionary {
public:
  explicit dictionary(std::string_view text) : rest_(text) {}

  npy_header parse() {
    npy_header header;
    expect('{');
    while (!accept('}')) {
      const auto key = quoted();
      expect(':');
      read(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (skip_blanks(); !rest_.empty() || !has_elements_ || !has_order_ || !has_shape_)
      refuse();
    return header;
  }

private:
  void read(std::string_view key, npy_header& header) {
    if (key == "descr" && !std::exchange(has_elements_, true))
      std::tie(header.kind, header.element_bytes) = element();
    else if (key == "fortran_order" && !std::exchange(has_order_, true))
      header.fortran_order = truth();
    else if (key == "shape" && !std::exchange(has_shape_, true))
      header.shape = tuple();
    else
      refuse();
  }

  std::pair<char, std::size_t> element() {
    skip_blanks();
    if (rest_.starts_with('['))
      throw error(errc::bad_data, "it is a structured array", std::string{allowed_elements});
    const auto type = quoted();
    if (std::ranges::find(known_elements, type) == std::end(known_elements))
      throw error(errc::bad_data,
                  fmt::format("its elements are of type '{}'; allowed: {}", type, fmt::join(known_elements, ", ")),
                  std::string{allowed_elements});
    return {type[1], static_cast<std::size_t>(type[2] - '0')};
  }

  bool truth() {
    skip_blanks();
    const bool value = rest_.starts_with("True");
    const std::string_view word = value ? "True" : "False";
    if (!rest_.starts_with(word))
      refuse();
    rest_.remove_prefix(word.size());
    return value;
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sides;
    expect('(');
    while (!accept(')')) {
      if (sides.size() == most_sides)
        throw error(errc::bad_data, fmt::format("it has more than {} dimensions", most_sides));
      sides.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sides;
  }

  std::size_t number() {
    skip_blanks();
    std::size_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc{})
      refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::string_view quoted() {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"'))
      refuse();
    const auto end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos)
      refuse();
    const auto text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      refuse();
  }

  [[noreturn]] static void refuse() {
    throw error(errc::bad_data, "its header does not say descr, fortran_order and shape as NumPy does");
  }

  std::string_view rest_;
  bool has_elements_ = false, has_order_ = false, has_shape_ = false;
};

/// Place where the header begins.
std::size_t header_start(std::string_view start) { return byte_at(start, 6) == 1 ? version_1_start : version_2_start; }

} // namespace

std::string npy_prefix(const std::vector<std::size_t>& shape) {
  auto header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", tuple_text(shape));
  const auto unpadded = version_1_start + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ').push_back('\n');
  auto prefix = std::string{magic};
  for (const auto byte : {std::size_t{1}, std::size_t{0}, header.size() & 0xFF, header.size() >> 8})
    prefix += static_cast<char>(byte);
  return prefix + header;
}

std::size_t npy_prefix_bytes(std::string_view start) {
  if (!start.starts_with(magic))
    throw error(errc::bad_data, "it is not in the .npy format");
  const auto major = byte_at(start, 6), minor = byte_at(start, 7);
  if (major < 1 || major > 3 || minor != 0)
    throw error(errc::bad_data,
                fmt::format("it is of version {}.{} of the .npy format; allowed: 1.0 to 3.0", major, minor));
  std::size_t size = 0;
  const auto begin = header_start(start);
  for (auto i = begin; i-- > magic.size() + 2;)
    size = size << 8 | byte_at(start, i);
  if (size > most_prefix_bytes - begin)
    throw error(errc::bad_data, fmt::format("its header has {} bytes, which is too long", size));
  return begin + size;
}

npy_header parse_npy_prefix(std::string_view prefix) { return dictionary{prefix.substr(header_start(prefix))}.parse(); }

std::uint64_t element_count(const std::vector<std::size_t>& shape, std::uint64_t most) {
  std::uint64_t count = 1;
  bool too_many = false; // the product still counts as 0 if a side is 0
  for (const std::uint64_t side : shape) {
    if (side == 0)
      return 0;
    too_many = too_many || count > most / side;
    count = too_many ? count : count * side;
  }
  return too_many ? most + 1 : count;
}

std::string tuple_text(const std::vector<std::size_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

} // namespace gossamer::compute::detail
