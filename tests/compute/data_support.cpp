#include "data_support.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <zlib.h>

namespace gossamer::compute {

scratch_folder::scratch_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto name = std::string{"gossamer-"} + test->test_suite_name() + "-" + test->name();
  path_ = (std::filesystem::path(testing::TempDir()) / name).string();
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::write(const std::string& name, std::string_view bytes) const {
  const auto path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string gzipped(std::string_view bytes) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string input{bytes};
  std::string packed(deflateBound(&z, static_cast<uLong>(input.size())) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

std::string load_error(errc code, const std::string& spec) {
  try {
    load_data(spec, 1);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error for " << spec;
  return {};
}

std::vector<float> dense_row(const dataset& data, std::size_t i) {
  if (!data.sparse())
    return {data.dense_row(i).begin(), data.dense_row(i).end()};
  std::vector<float> result(data.features);
  const auto row = data.row(i);
  for (std::size_t k = 0; k < row.columns.size(); ++k)
    result.at(row.columns[k]) = row.values[k];
  return result;
}

namespace {

void expect_consistent(const dataset& data) {
  EXPECT_GT(data.samples, 0u);
  EXPECT_GT(data.features, 0u);
  ASSERT_EQ(data.targets.size(), data.samples);
  EXPECT_EQ(data.class_names.size(), data.classes);
  for (const float target : data.targets)
    ASSERT_TRUE(std::isfinite(target) && (data.classes == 0 || (target >= 0 && target < float(data.classes))));
  for (const auto* values : {&data.dense, &data.values})
    for (const float value : *values)
      ASSERT_TRUE(std::isfinite(value));
  if (!data.sparse()) {
    EXPECT_EQ(data.dense.size(), data.samples * data.features);
    return;
  }
  ASSERT_EQ(data.row_start.size(), data.samples + 1);
  EXPECT_EQ(data.row_start.front(), 0u);
  EXPECT_EQ(data.row_start.back(), data.columns.size());
  EXPECT_EQ(data.values.size(), data.columns.size());
  for (std::size_t i = 0; i < data.samples; ++i) {
    const auto columns = data.row(i).columns;
    for (std::size_t k = 0; k < columns.size(); ++k)
      ASSERT_TRUE(columns[k] < data.features && (k == 0 || columns[k - 1] < columns[k])) << i;
  }
}

} // namespace

void expect_consistent(const data_split& split) {
  expect_consistent(split.train);
  expect_consistent(split.test);
  EXPECT_EQ(split.train.features, split.test.features);
  EXPECT_EQ(split.train.classes, split.test.classes);
  EXPECT_EQ(split.train.class_names, split.test.class_names);
  EXPECT_EQ(split.train.sparse(), split.test.sparse());
}

} // namespace gossamer::compute
