#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compute/dataset.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace gossamer::compute {

/// A folder of the running test alone, removed with it.
class scratch_folder {
public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();

  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;

private:
  std::string path_;
};

/// The bytes as a gzip file holds them.
std::string gzipped(std::string_view bytes);

/// The message of the error that loading must end with.
std::string load_error(errc code, const std::string& spec);

/// The features of a sample, zeros included.
std::vector<float> dense_row(const dataset& data, std::size_t i);

/// What all data sets promise: sizes that agree, labels and columns in range, finite numbers.
void expect_consistent(const data_split& split);

} // namespace gossamer::compute
