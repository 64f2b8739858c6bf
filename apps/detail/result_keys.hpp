#pragma once

#include "gossamer/apps/detail/options.hpp"

#include <map>
#include <string>
#include <vector>

namespace gossamer::apps {

/// Makes the keys of results that are kept: a run is repeated when its key has changed. Reads every file once.
class result_keys {
public:
  /// @param known must outlive this
  explicit result_keys(const actors::tables& known) : known_(known) {}

  /// Returns the words as a shell reads them back (but for what is not `printable`), and as a comment what the result
  /// depends on besides: the version of the program, and a digest (XXH3) of all settings and of the contents of all
  /// files that they name.
  ///
  /// "simulate --lr 0.1 # gossamer 0.1.0, inputs 00c0ffee00c0ffee"
  /// @param settings meaning of the words
  /// @error errc::usage for a malformed or unknown name; errc::io when a folder lacks files of data
  std::string key_of(const std::vector<std::string>& words, const run_options& settings);

private:
  std::uint64_t digest_of(const std::string& file);

  const actors::tables& known_;
  std::map<std::string, std::uint64_t> digests_; // by path
};

} // namespace gossamer::apps
