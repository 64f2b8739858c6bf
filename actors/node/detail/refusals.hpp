#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_set>

namespace gossamer::actors::detail {

/// The refusals that a leader tells its user: each once, and few in all. A peer may try again and again, and may vary
/// its words; it is always told its own.
class refusals {
public:
  void tell(const std::string& refusal, const std::function<void(const std::string&)>& user) {
    if (told_.size() == most || !told_.insert(std::hash<std::string>{}(refusal)).second)
      return;
    user(refusal);
    if (told_.size() == most)
      user("more refusals are not shown; each node is told its own");
  }

private:
  static constexpr std::size_t most = 32;
  std::unordered_set<std::size_t> told_; ///< hashes: the words may be long
};

} // namespace gossamer::actors::detail
