#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gossamer::apps {

/// The lines of a run, for readers that come at any time and read at their own pace.
///
/// A reader gets a digest of what was before, and then every line. One that falls too far behind gets a new digest, so
/// that a slow reader costs no memory. A digest begins with the line {"type":"begin"}.
/// A digest has, of "evaluation" and "event-...", all lines; of "progress" too, but when there are too many every
/// second one is dropped; of other types the newest line, with "run" first and "end" last. Memory: at most so many
/// lines of each kind, and of the newest of all kinds as many, or `most_recent_bytes`. Threads: any may call any
/// member.
class line_history {
public:
  static constexpr std::size_t most_kept = 4000;
  static constexpr std::size_t most_types = 64; ///< lines of further types are dropped
  static constexpr std::size_t most_recent_bytes = std::size_t{1} << 20;

  /// The place of a reader; a new one is at the beginning. At a place that there is not, a reader gets a digest.
  struct place {
    std::uint64_t next = 0; ///< number of the next line; 0: a digest
  };

  /// The lines of one type.
  struct of_type {
    std::string newest;
    std::uint64_t count = 0;
  };

  /// @param kept most lines of a kind, at least 1
  explicit line_history(std::size_t kept = most_kept) : kept_(kept) {}

  void add(const std::string& type, std::string line);
  /// Forgets all lines. Every reader gets a digest next.
  void clear();
  /// Returns the lines behind this place, of which there may be none, and moves it.
  std::vector<std::string> read(place& at) const;
  /// Returns how many lines of each type there were, and the last of them.
  std::map<std::string, of_type> types() const;

  /// Sets what is called, in the thread of the writer, when there are lines to read.
  void on_news(std::function<void()> what);

private:
  std::vector<std::string> digest() const;
  bool keep(const std::string& type, const std::string& line);

  const std::size_t kept_;
  mutable std::mutex mutex_;
  std::function<void()> on_news_;
  std::deque<std::string> lasting_;
  std::vector<std::string> sampled_;
  std::size_t stride_ = 1, since_sample_ = 0;
  std::map<std::string, of_type> types_;
  std::deque<std::string> recent_;
  std::size_t recent_bytes_ = 0;
  std::uint64_t first_recent_ = 1; // number of recent_.front()
};

} // namespace gossamer::apps
