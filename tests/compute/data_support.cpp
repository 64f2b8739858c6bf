#include "data_support.hpp"

#include "support/consistent_data.hpp"

namespace gossamer::compute {

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
    return support::dense_row(data, i);
  std::vector<float> result(data.features);
  const auto row = data.row(i);
  for (std::size_t k = 0; k < row.columns.size(); ++k)
    result.at(row.columns[k]) = row.values[k];
  return result;
}

void expect_consistent(const data_split& split) { EXPECT_EQ(test::inconsistency_of(split), ""); }

void expect_alike(const data_split& a, const data_split& b) {
  EXPECT_EQ(dense_values(a.train), dense_values(b.train));
  EXPECT_EQ(a.train.targets, b.train.targets);
  EXPECT_EQ(dense_values(a.test), dense_values(b.test));
  EXPECT_EQ(a.test.targets, b.test.targets);
}

} // namespace gossamer::compute
