// A graph of the links that `gossamer measure` has found fast.
#include "gossamer/base/philox.hpp"
#include "gossamer/topology/detail/entries.hpp"
#include "gossamer/topology/hosts_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::topology::detail {
namespace {

constexpr std::size_t most_measured = 4'096; ///< workers: improving a tour takes the square of them

/// Seconds of an exchange between two workers: that of the slower direction.
class exchange_times {
public:
  exchange_times(const hosts_file& measured, std::size_t size, double bytes)
      : homes_(measured.homes(size)), hosts_(measured.hosts.size()), seconds_(hosts_ * hosts_) {
    for (const auto& [number, link] : measured.links) {
      const auto from = sender_of(number), to = receiver_of(number);
      const double s = link.latency_s + 8 * bytes / link.bits_per_second;
      for (const auto place : {from * hosts_ + to, to * hosts_ + from})
        seconds_[place] = std::max(seconds_[place], s);
    }
  }

  double operator()(rank i, rank j) const { return seconds_[homes_[i] * hosts_ + homes_[j]]; }

private:
  std::vector<rank> homes_;
  std::size_t hosts_;
  std::vector<double> seconds_; ///< between hosts, in rows
};

/// A short closed tour of all workers: always on to the nearest that is left.
std::vector<rank> nearest_first(const exchange_times& time, std::size_t size) {
  std::vector<rank> tour(size);
  std::iota(tour.begin(), tour.end(), rank{0});
  for (std::size_t k = 1; k < size; ++k) {
    const auto nearest = std::ranges::min_element(tour.begin() + static_cast<std::ptrdiff_t>(k), tour.end(), {},
                                                  [&](rank i) { return time(tour[k - 1], i); });
    std::iter_swap(tour.begin() + static_cast<std::ptrdiff_t>(k), nearest);
  }
  return tour;
}

/// Turns parts of the tour round as long as that makes it shorter (2-opt: Croes, A method for solving
/// traveling-salesman problems, 1958). A bound on the passes ends it, should rounding make two tours look shorter than
/// each other.
void shorten(std::vector<rank>& tour, const exchange_times& time) {
  const auto size = tour.size();
  bool shorter = true;
  for (int pass = 0; shorter && pass < 100; ++pass) {
    shorter = false;
    for (std::size_t a = 0; a + 2 < size; ++a)
      for (std::size_t b = a + 2; b < size - (a == 0); ++b) {
        const auto next = tour[(b + 1) % size];
        if (time(tour[a], tour[b]) + time(tour[a + 1], next) >= time(tour[a], tour[a + 1]) + time(tour[b], next))
          continue;
        std::reverse(tour.begin() + static_cast<std::ptrdiff_t>(a + 1),
                     tour.begin() + static_cast<std::ptrdiff_t>(b + 1));
        shorter = true;
      }
  }
}

/// The faster half of the places that are no neighbours on the tour, at odd distances: so no cycle of an even number of
/// workers is odd.
std::vector<std::size_t> fast_places(std::size_t from, std::span<const rank> tour, const exchange_times& time) {
  std::vector<std::size_t> places;
  for (std::size_t to = 0; to < tour.size(); ++to)
    if (const auto apart = from < to ? to - from : from - to; apart % 2 == 1 && apart != 1 && apart + 1 != tour.size())
      places.push_back(to);
  std::ranges::stable_sort(places, {}, [&](std::size_t to) { return time(tour[from], tour[to]); });
  places.resize((places.size() + 1) / 2);
  return places;
}

/// Joins each place to a random one of its fast places that has none yet, if there is one.
void add_chords(std::vector<graph::edge>& edges, std::span<const rank> tour, const exchange_times& time,
                random_sequence& random) {
  std::vector<std::size_t> order(tour.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(std::span{order});
  std::vector<bool> has_one(tour.size());
  for (const auto from : order) {
    if (has_one[from])
      continue;
    auto free = fast_places(from, tour, time);
    std::erase_if(free, [&](std::size_t to) { return has_one[to]; });
    if (free.empty())
      continue;
    const auto to = free[random.below(static_cast<std::uint32_t>(free.size()))];
    has_one[from] = has_one[to] = true;
    edges.emplace_back(tour[from], tour[to]);
  }
}

graph make_measured(const arguments& values, std::size_t size, std::uint64_t seed) {
  const auto measured = read_hosts_file(values.text("file"));
  if (measured.slots() > size)
    throw error(errc::usage, fmt::format("{} processes of hosts cannot share {} workers", measured.slots(), size),
                "each has at least one: use more --workers");
  if (size > most_measured)
    throw error(errc::usage, fmt::format("topology 'measured' cannot have {} workers", size),
                fmt::format("allowed: 1 to {}", most_measured));
  const exchange_times time{measured, size, values.real("bytes")};
  auto tour = nearest_first(time, size);
  shorten(tour, time);
  std::vector<graph::edge> edges;
  for (std::size_t k = 0; k < size; ++k)
    edges.emplace_back(tour[k], tour[(k + 1) % size]);
  random_sequence random{random_stream{seed, 0, purpose::topology}, 0};
  for (auto degree = values.integer("degree"); degree > 2; --degree)
    add_chords(edges, tour, time, random);
  return {size, edges};
}

} // namespace

topology_entry measured() {
  return {{.name = "measured",
           .summary = "a short tour of all workers, and random edges along the faster links, as gossamer measure found",
           .maths = "time(i, j) = latency + 8 bytes / bandwidth of the slower direction, 0 on one host\n"
                    "a closed tour with a small sum of times; then, degree - 2 times, a random matching, in which each "
                    "worker has one of the faster half of those at odd distances on the tour, or none",
           .reference = "tour: nearest neighbour, and 2-opt of Croes, A method for solving traveling-salesman "
                        "problems, 1958",
           .cost =
               "at most degree messages a step each way; no odd cycles where the number of workers is even; made in "
               "O(n^2) a pass over the tour",
           .parameters = {{.key = "file",
                           .kind = parameter::type::text,
                           .fallback = "",
                           .meaning = "the file that gossamer measure has written, relative to the working directory; "
                                      "every node reads its own copy",
                           .required = true},
                          {.key = "degree",
                           .kind = parameter::type::integer,
                           .fallback = "3",
                           .meaning = "neighbours of most workers",
                           .min = 2,
                           .max = 64},
                          {.key = "bytes",
                           .fallback = "1e6",
                           .meaning = "of a message, for the weight of bandwidths",
                           .min = 0,
                           .max = 1e15}}},
          make_measured};
}

} // namespace gossamer::topology::detail
