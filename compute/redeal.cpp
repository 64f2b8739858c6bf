#include "gossamer/compute/redeal.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compute/detail/empty_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gossamer::compute {

namespace {

using rank = std::uint32_t;

constexpr std::uint64_t most_rounds = 1024;

/// Finds the owner of a sample among the members.
class dealer {
public:
  dealer(std::size_t workers, std::uint64_t seed, std::span<const rank> members)
      : workers_(static_cast<rank>(workers)), stream_(seed, 0, purpose::redeal),
        there_(std::max<std::size_t>(workers, std::ranges::max(members) + std::size_t{1})) {
    for (const auto i : members)
      there_[i] = true;
  }

  const std::vector<bool>& there() const noexcept { return there_; }

  rank owner_of(std::uint32_t sample, rank first_owner) const {
    for (std::uint64_t round = 0; round < most_rounds; ++round) {
      random_sequence random{stream_, entry(round, sample)};
      const auto i = round == 0 ? first_owner : random.below(workers_);
      if (const auto newcomer = drawing_newcomer(random))
        return *newcomer;
      if (there_[i])
        return i;
    }
    return heaviest(sample);
  }

private:
  static std::uint64_t entry(std::uint64_t round, std::uint32_t sample) { return round << 32 | sample; }

  /// Returns the last newcomer that draws the sample and is a member. The search jumps from each newcomer that draws it
  /// to the next: none of the ranks c, ..., i - 1 draws it with probability c / i, and floor(c / u) >= i just as often,
  /// for u uniform in (0, 1].
  std::optional<rank> drawing_newcomer(random_sequence& random) const {
    std::optional<rank> last;
    if (there_.size() == workers_)
      return last;
    for (auto next = static_cast<double>(workers_);; ++next) {
      next = std::floor(next / (1 - random.uniform_double()));
      if (next >= static_cast<double>(there_.size()))
        return last;
      if (there_[static_cast<std::size_t>(next)])
        last = static_cast<rank>(next);
    }
  }

  /// Returns the member of the highest random weight; the lowest rank among equal weights.
  rank heaviest(std::uint32_t sample) const {
    std::optional<std::uint32_t> most;
    rank result = 0;
    for (rank i = 0; i < there_.size(); ++i)
      if (there_[i])
        if (const auto weight = stream_.word(entry(most_rounds, sample), i); !most || weight > *most) {
          most = weight;
          result = i;
        }
    return result;
  }

  rank workers_; ///< number of workers of the partition
  random_stream stream_;
  std::vector<bool> there_; ///< true for members, by rank
};

void check(const shards& first, const std::vector<bool>& there) {
  std::size_t samples = 0;
  for (const auto& shard : first)
    samples += shard.size();
  if (const auto members = static_cast<std::size_t>(std::ranges::count(there, true)); samples < members)
    throw error(errc::usage, fmt::format("{} samples cannot be dealt to {} workers", samples, members),
                "every worker needs at least one sample");
}

} // namespace

shards redeal(const shards& first, std::uint64_t seed, std::span<const std::uint32_t> members) {
  GOSSAMER_ASSERT(!first.empty() && !members.empty(), "somebody has the samples");
  const dealer who{first.size(), seed, members};
  check(first, who.there());
  shards dealt(who.there().size());
  std::vector<std::pair<rank, std::uint32_t>> moved; // appended behind the former samples of their new owners
  for (rank i = 0; i < first.size(); ++i)
    for (const auto sample : first[i])
      if (const auto owner = who.owner_of(sample, i); owner == i)
        dealt[i].push_back(sample);
      else
        moved.emplace_back(owner, sample);
  for (const auto& [owner, sample] : moved)
    dealt[owner].push_back(sample);
  detail::give_everyone_one(dealt, who.there());
  return dealt;
}

const std::vector<std::uint32_t>& redealt_shards::of(std::uint32_t member) const {
  std::call_once(made_, [this] { dealt_ = redeal(*first_, seed_, members_); });
  return dealt_[member];
}

} // namespace gossamer::compute
