#pragma once

#include "gossamer/base/registry.hpp"
#include "gossamer/compute/byte_features.hpp"
#include "gossamer/compute/mapped_allocator.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gossamer::compute {

/// One sparse row: columns ascend.
struct sparse_row {
  std::span<const std::uint32_t> columns;
  std::span<const float> values;
};

/// Random changes of pictures whenever a gradient is computed of them: a picture is cut out of itself at random after
/// `padding` pixels of 0 were put on each side, and mirrored with probability 1/2. `augment` does it.
struct picture_augmentation {
  std::size_t padding = 0;
  bool mirror = false;

  bool changes_anything() const noexcept { return padding > 0 || mirror; }
};

/// Samples with their targets; immutable once loaded and shared by all workers of a process.
///
/// Features are either dense (row-major samples x features, as floats or as bytes) or sparse (compressed sparse rows);
/// the model code asks `sparse()`. Targets are class numbers 0 .. classes - 1, or real numbers when `classes == 0`. A
/// vector that takes more than half of the memory lies in a file. Threads: safe.
struct dataset {
  std::size_t samples = 0;
  std::size_t features = 0;
  std::size_t classes = 0; ///< 0: regression

  large_vector<float> dense = {};            ///< samples * features, or empty
  byte_features bytes = {};                  ///< in place of `dense`, or empty
  std::vector<std::uint64_t> row_start = {}; ///< samples + 1 offsets into columns and values, or empty
  std::vector<std::uint32_t> columns = {};
  large_vector<float> values = {};

  large_vector<float> targets = {};          ///< class number or real target, one per sample
  std::vector<std::string> class_names = {}; ///< as the file spells them; empty for regression

  /// Sides of a sample, e.g. channels, rows and columns of a picture; their product is `features`. Empty: just numbers.
  std::vector<std::size_t> shape = {};
  bool is_text = false; ///< the features are bytes, each followed by the next, and the last by the target
  picture_augmentation augmentation = {};
  std::size_t shuffled_block = 0; ///< number of neighbours that stay close to each other in the order of an epoch
                                  ///< (`sampler`)

  bool sparse() const noexcept { return !row_start.empty(); }
  /// Writes the `features` values of a dense sample.
  void copy_row(std::size_t i, std::span<float> out) const;
  /// Called before the dense rows of these samples are read. Begins to read rows that lie in a file, and does not wait.
  void begin_reading(std::span<const std::uint32_t> indices) const noexcept;
  sparse_row row(std::size_t i) const {
    const auto begin = row_start[i], size = row_start[i + 1] - begin;
    return {{columns.data() + begin, size}, {values.data() + begin, size}};
  }
  std::size_t label(std::size_t i) const { return static_cast<std::size_t>(targets[i]); }
};

/// A task to learn: two sets with equal features and classes.
struct data_split {
  dataset train;
  dataset test;
};

/// The files of a data set: the path on this machine for each role in the set. Roles are the same on all machines.
using data_files = std::map<std::string, std::string, std::less<>>;

struct data_entry {
  description about;
  /// Reads these files, and no others.
  std::function<data_split(const arguments&, const data_files&, std::uint64_t seed)> load;
  /// Returns the paths that the arguments name. Null for generated data, which has no files.
  std::function<data_files(const arguments&)> find = nullptr;
};

/// All sources of data. Adding one: a file with its `data_entry` and one line in registry.cpp.
const registry<data_entry>& data_sources();

/// Loads the data that a user names, e.g. "idx:dir=/data/mnist".
/// @param folder where relative paths begin; empty: the working directory of the process
/// @param elsewhere paths of its files if they differ from those of the text; empty: they do not
/// @param known the sources that the text may name
/// @error errc::usage for a wrong name or parameter; errc::io when a file cannot be read; errc::bad_data when it is
///        damaged, with the file and the line or byte, or when `elsewhere` lacks it
data_split load_data(std::string_view text, std::uint64_t seed, const std::string& folder = {},
                     const data_files& elsewhere = {}, const registry<data_entry>& known = data_sources());

/// Returns the files that `load_data` would read; none for generated data. They need not all be there.
/// @error errc::usage as `load_data`; errc::io when a folder lacks files that it must hold
data_files find_data(std::string_view text, const std::string& folder = {},
                     const registry<data_entry>& known = data_sources());

} // namespace gossamer::compute
