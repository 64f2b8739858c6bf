#pragma once

#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/base/spec.hpp"

#include <optional>
#include <span>
#include <variant>

namespace gossamer::actors::detail {

/// A set of kinds.
class kind_set {
public:
  template <class... Kinds>
  constexpr explicit kind_set(Kinds... kinds) : bits_((0u | ... | (1u << static_cast<unsigned>(kinds)))) {}
  static constexpr kind_set all_but(kind_set others) {
    kind_set result;
    result.bits_ = ~others.bits_ & ((1u << fault_kinds) - 1);
    return result;
  }
  static constexpr kind_set all() { return all_but(kind_set{}); }

  constexpr bool contains(fault_kind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0; }
  std::vector<std::string> names() const;

private:
  unsigned bits_;
};

/// One key of a [[fault]] table, and the member that it sets. Checking, reading and writing a plan all follow from
/// these.
struct fault_key {
  using member = std::variant<std::vector<rank> fault::*, std::vector<std::size_t> fault::*, double fault::*,
                              std::optional<double> fault::*, std::optional<std::uint64_t> fault::*, bool fault::*>;

  std::string_view name;
  member field;
  kind_set takes; ///< kinds that may have it
  kind_set needs; ///< kinds that require it
  std::string_view meaning;
  double min = 0; ///< of numbers, inclusive
  double max = 0;
  std::optional<quantity> of = {}; ///< physical quantity, for a value with a unit as text

  /// True unless the member has its default.
  bool given(const fault& f) const;
  /// "a number from 1e-09 to 1 (share of the frames that are hit)"
  std::string allowed() const;
};

/// All keys, in the order in which they are written.
std::span<const fault_key> fault_keys();

// These functions refuse with errc::usage; messages begin with `where`.

/// Refuses a key that the kind of `f` does not use; names the kinds that do.
void check_use(const fault_key& key, const fault& f, std::string_view where);
/// Refuses a value out of range, and a list that names a rank or node twice.
void check_value(const fault_key& key, const fault& f, std::string_view where);
/// Refuses members that are missing or exclude each other.
void check_shape(const fault& f, std::string_view where);

} // namespace gossamer::actors::detail
