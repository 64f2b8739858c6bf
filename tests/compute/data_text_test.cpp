// Text formats: LIBSVM and CSV, and the meaning of their labels.
#include <algorithm>
#include <numeric>

#include "data_support.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

/// A source that reads a training text, and a test text when there is one.
class text_files {
public:
  explicit text_files(std::string source) : source_(std::move(source)) {}
  std::string spec(std::string_view train, std::string_view test = {}, const std::string& more = {}) const {
    auto result = source_ + ":train=" + folder_.write("train", train);
    if (!test.empty())
      result += ",test=" + folder_.write("test", test);
    return result + (more.empty() ? "" : "," + more);
  }

private:
  scratch_folder folder_;
  std::string source_;
};

constexpr auto any_test = "1 1:1\n-1 1:1\n";

TEST(libsvm, reads_sparse_rows) {
  const text_files files("libsvm");
  const auto split = load_data(
      files.spec("# a comment\n+1 1:0.5 3:-2 # another\r\n\n  -1\t2:1e-3\n+1\n-1 4:+7", gzipped("-1 6:1\n")), 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.features, 6u);
  EXPECT_THAT(split.train.class_names, ElementsAre("-1", "+1"));
  EXPECT_THAT(split.train.targets, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(dense_row(split.train, 0), ElementsAre(0.5f, 0, -2, 0, 0, 0));
  EXPECT_THAT(dense_row(split.train, 1), ElementsAre(0, 1e-3f, 0, 0, 0, 0));
  EXPECT_THAT(split.train.row_start, ElementsAre(0, 2, 3, 3, 4));
  EXPECT_THAT(dense_row(split.test, 0), ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(libsvm, says_what_is_wrong_in_which_line) {
  const text_files files("libsvm");
  const auto broken = [&](const std::string& line) {
    const auto message = load_error(errc::bad_data, files.spec("1 1:1\n\n# comment\n" + line + "\n-1 1:1\n", any_test));
    EXPECT_THAT(message, HasSubstr("train:4: ")) << line;
    return message;
  };
  EXPECT_THAT(broken("1 3:1 2:1"), HasSubstr("index 2 follows index 3"));
  EXPECT_THAT(broken("1 3:1 3:1"), HasSubstr("index 3 follows index 3"));
  EXPECT_THAT(broken("1 0:1"), HasSubstr("index 0, but the first feature is 1"));
  EXPECT_THAT(broken("1 -1:1"), HasSubstr("'-1' is not an index"));
  EXPECT_THAT(broken("1 qid:1"), HasSubstr("'qid' is not an index"));
  EXPECT_THAT(broken("1 :1"), HasSubstr("'' is not an index"));
  EXPECT_THAT(broken("1 4294967296:1"), HasSubstr("greater than 4294967295"));
  EXPECT_THAT(broken("1 3"), HasSubstr("'3' is not of the form index:value"));
  EXPECT_THAT(broken("1 3: 1"), HasSubstr("the value is '', which is not a number"));
  EXPECT_THAT(broken("1 3:1x"), HasSubstr("'1x', which is not a number"));
  EXPECT_THAT(broken("1 3:+-1"), HasSubstr("not a number"));
  EXPECT_THAT(broken("1 3:nan"), HasSubstr("nan, which is not a finite"));
  EXPECT_THAT(broken("1 3:-inf"), HasSubstr("-inf, which is not a finite"));
  EXPECT_THAT(broken("1 3:1e39"), HasSubstr("1e39, which is not a finite"));
  EXPECT_THAT(broken("1 3:1e999"), HasSubstr("1e999, which is not a finite"));
  EXPECT_THAT(broken("yes 3:1"), HasSubstr("the label is 'yes', which is not a number"));
  EXPECT_THAT(broken("nan 3:1"), HasSubstr("the label is nan"));
  EXPECT_THAT(broken("3:1"), HasSubstr("the label is '3:1'"));
}

TEST(libsvm, knows_the_number_of_features_when_told) {
  const text_files files("libsvm");
  EXPECT_EQ(load_data(files.spec(any_test, any_test, "features=9"), 1).test.features, 9u);
  EXPECT_THAT(load_error(errc::bad_data, files.spec(any_test, "1 10:1\n", "features=9")),
              HasSubstr("test:1: index 10 is greater than 9"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1\n-1\n", "1\n")), HasSubstr("no features"));
}

TEST(libsvm, needs_samples_and_readable_files) {
  const text_files files("libsvm");
  EXPECT_THAT(load_error(errc::bad_data, files.spec("# nothing\n")), HasSubstr("holds no samples"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec(any_test, "\n")), HasSubstr("test' holds no samples"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1 1:1\n", {}, "task=regression")), HasSubstr("holds one sample"));
  EXPECT_THAT(load_error(errc::usage, "libsvm"), HasSubstr("needs train"));
  const scratch_folder folder;
  EXPECT_THAT(load_error(errc::io, "libsvm:train=" + folder.path() + "/none"),
              AllOf(HasSubstr("/none"), HasSubstr("No such file")));
  EXPECT_THAT(load_error(errc::io, "libsvm:train=" + folder.path()), HasSubstr("Is a directory"));
}

TEST(labels, become_classes_in_ascending_order) {
  const text_files files("libsvm");
  const auto split = load_data(files.spec("10 1:1\n-3 1:1\n2 1:1\n10.0 1:1\n", "+2 1:1\n10 1:1\n"), 1);
  EXPECT_THAT(split.train.class_names, ElementsAre("-3", "2", "10"));
  EXPECT_THAT(split.train.targets, ElementsAre(2, 0, 1, 2));
  EXPECT_THAT(split.test.targets, ElementsAre(1, 2));
}

TEST(labels, must_fit_the_task) {
  const text_files files("libsvm");
  EXPECT_THAT(load_error(errc::bad_data, files.spec(any_test, "1 1:1\n3 1:1\n")),
              HasSubstr("test:2: label '3' does not occur in the training file"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1 1:1\n1.5 1:1\n", any_test, "task=classification")),
              HasSubstr("train:2: label '1.5' is not a whole number"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1 1:1\n1 1:1\n")), HasSubstr("needs two classes"));
}

TEST(labels, are_numbers_when_they_have_fractions_or_are_many) {
  const text_files files("libsvm");
  EXPECT_THAT(load_data(files.spec("1 1:1\n1.5 1:1\n", "7 1:1\n"), 1).train.targets, ElementsAre(1, 1.5f));
  EXPECT_EQ(load_data(files.spec(any_test, any_test, "task=regression"), 1).train.classes, 0u);
  for (int count : {100, 101}) {
    std::string rows;
    for (int i = 0; i < count; ++i)
      rows += std::to_string(i) + " 1:1\n";
    EXPECT_EQ(load_data(files.spec(rows, rows), 1).train.classes, count == 100 ? 100u : 0u);
    EXPECT_EQ(load_data(files.spec(rows, rows, "task=classification"), 1).train.classes, std::size_t(count));
  }
}

TEST(holdout, splits_a_single_file_by_the_seed) {
  const text_files files("libsvm");
  std::string rows;
  for (int i = 1; i <= 50; ++i)
    rows += std::to_string(i % 2) + " 1:" + std::to_string(i) + "\n";
  const auto spec = files.spec(rows, {}, "holdout=0.3");
  const auto split = load_data(spec, 1);
  expect_consistent(split);
  EXPECT_EQ(split.test.samples, 15u);
  EXPECT_EQ(split.test.values, load_data(spec, 1).test.values);
  EXPECT_NE(split.test.values, load_data(spec, 2).test.values);
  auto all = split.train.values;
  all.insert(all.end(), split.test.values.begin(), split.test.values.end());
  std::vector<float> expected(50);
  std::iota(expected.begin(), expected.end(), 1.0f);
  EXPECT_THAT(all, testing::UnorderedElementsAreArray(expected));
  for (std::size_t i = 0; i < split.test.samples; ++i)
    EXPECT_EQ(split.test.class_names[split.test.label(i)], std::to_string(int(split.test.values[i]) % 2));
}

TEST(holdout, leaves_something_on_both_sides) {
  const text_files files("libsvm");
  for (const char* share : {"0.001", "0.999"}) {
    const auto split = load_data(files.spec(any_test, {}, std::string{"holdout="} + share), 1);
    EXPECT_EQ(split.train.samples, 1u);
    EXPECT_EQ(split.test.samples, 1u);
  }
}

TEST(libsvm, takes_what_is_too_small_for_a_double_for_0) {
  const text_files files("libsvm");
  const auto split = load_data(files.spec("1 1:1e-400 2:-0.1e-330 3:1\n0 1:1e-99999999999 3:2\n", "1 1:1\n"), 1);
  EXPECT_THAT(split.train.values, ElementsAre(0, 0, 1, 0, 2));
  const auto tiny = "0." + std::string(400, '0') + "1";
  EXPECT_THAT(load_data(files.spec("1 1:" + tiny + "\n0 1:1\n", "1 1:1\n"), 1).train.values, ElementsAre(0, 1));
  for (const auto& huge : {std::string{"1e400"}, "1" + std::string(400, '0'), std::string{"0.01e999"}})
    EXPECT_THAT(load_error(errc::bad_data, files.spec("1 1:" + huge + "\n")), HasSubstr("not a finite 32-bit number"));
}

TEST(csv, reads_columns_by_name_number_and_place) {
  const text_files files("csv");
  const std::string rows = "age, \"income\",class\n1,10,0\n2,20,1\n";
  const auto load = [&](const std::string& more) { return load_data(files.spec(rows, rows, "scale=none" + more), 1); };
  for (const char* label : {"", ",label=last", ",label=class", ",label=3", ",header=yes"}) {
    const auto split = load(label);
    expect_consistent(split);
    EXPECT_THAT(dense_values(split.train), ElementsAre(1, 10, 2, 20)) << label;
    EXPECT_THAT(split.train.targets, ElementsAre(0, 1)) << label;
  }
  for (const char* label : {",label=income", ",label=2"})
    EXPECT_THAT(dense_values(load(label).train), ElementsAre(1, 0, 2, 1)) << label;
  EXPECT_THAT(load(",label=first,task=regression").train.targets, ElementsAre(1, 2));
  EXPECT_THAT(load_error(errc::usage, files.spec(rows, rows, "label=clas")),
              AllOf(HasSubstr("has no column 'clas'"), HasSubstr("one of age, income, class")));
  for (const char* label : {"label=0", "label=4"})
    EXPECT_THAT(load_error(errc::usage, files.spec(rows, rows, label)), HasSubstr("a number from 1 to 3"));
}

TEST(csv, reads_all_separators_and_line_ends) {
  const text_files files("csv");
  const auto expect = [&](const std::string& name, const std::string& rows) {
    const auto split = load_data(files.spec(rows, rows, "scale=none,separator=" + name), 1);
    EXPECT_THAT(dense_values(split.train), ElementsAre(1, -2.5f, 3, 4)) << name;
    EXPECT_THAT(split.train.targets, ElementsAre(0, 1)) << name;
  };
  expect("comma", "\xEF\xBB\xBF"
                  "1,-2.5,0\r\n 3 , \"4\" , 1 \r\n");
  expect("semicolon", "1;-2.5;0\n\n3;4;1");
  expect("tab", "1\t-2.5\t0\n3\t4\t1\n");
  expect("space", "  1 -2.5   0\n3  \"4\" 1  \n");
}

TEST(csv, keeps_empty_cells_at_both_ends_of_a_line_between_tabs) {
  const text_files files("csv");
  const auto read = [&](const std::string& rows) { return files.spec(rows, rows, "scale=none,separator=tab"); };
  EXPECT_THAT(load_error(errc::bad_data, read("1\t2\t0\n\t4\t1\n")), HasSubstr(":2: column 1 is ''"));
  EXPECT_THAT(load_error(errc::bad_data, read("1\t2\t0\n3\t4\t\n")), HasSubstr("label '' "));
  const auto indexed = load_data(read("\ta\ty\n0\t2.5\t0\n1\t4\t1\n"), 1); // a table of pandas with its index
  EXPECT_THAT(dense_values(indexed.train), ElementsAre(0, 2.5f, 1, 4));
}

TEST(csv, takes_words_for_classes) {
  const text_files files("csv");
  const auto split = load_data(files.spec("1,setosa\n2,virginica\n3,iris\n", "1,iris\n", "header=no"), 1);
  EXPECT_THAT(split.train.class_names, ElementsAre("iris", "setosa", "virginica"));
  EXPECT_THAT(split.train.targets, ElementsAre(1, 2, 0));
  EXPECT_EQ(load_data(files.spec("1,setosa\n2,virginica\n", "1,setosa\n"), 1).train.samples, 2u);
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,2.5\n2,?\n3,1.5\n")),
              HasSubstr("train:2: label '?' is not a number, unlike those before"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,a\n2,3\n")), HasSubstr("train:2: label '3' is a number"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,a\n2,\n")), HasSubstr("train:2: label '' is empty"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,2.5\n2,nan\n")),
              HasSubstr("train:2: label 'nan' is not a finite"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,a\n2,b\n", {}, "task=regression")), HasSubstr("label 'a'"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,2.5\n2,3.5\n", "1,x\n")), HasSubstr("test:1: label 'x'"));
  std::string names;
  for (int i = 0; i < 101; ++i)
    names += "1,name" + std::to_string(i) + "\n";
  EXPECT_THAT(load_error(errc::bad_data, files.spec(names, names)), HasSubstr("101 different labels"));
}

TEST(csv, refuses_test_labels_that_are_no_numbers_where_classes_are) {
  const text_files files("csv");
  for (const std::string label : {"", "?", "nan", "-nan", "inf", "cat", "1x"})
    EXPECT_THAT(load_error(errc::bad_data, files.spec("1,0\n2,1\n", "1,1\n2," + label + "\n")),
                HasSubstr("test:2: label '" + label + "' does not occur in the training file"));
  EXPECT_THAT(load_data(files.spec("1,0\n2,1\n", "1,+1.0\n"), 1).test.targets, ElementsAre(1));
}

TEST(csv, takes_two_quotes_within_quotes_for_one) {
  const text_files files("csv");
  const auto split = load_data(files.spec("1,\"a\"\"b\"\n2,\"\"\"\"\n", "3,\"a\"\"b\"\n", "header=no"), 1);
  EXPECT_THAT(split.train.class_names, ElementsAre("\"", "a\"b"));
  EXPECT_THAT(split.test.targets, ElementsAre(1));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,\"a\"\"\n2,b\n")),
              AllOf(HasSubstr("does not end on its line"), HasSubstr("written twice")));
}

TEST(csv, names_header_when_a_name_of_a_column_is_a_number) {
  const text_files files("csv");
  EXPECT_THAT(load_error(errc::bad_data, files.spec("age,2020,y\n1,2,0\n2,3,1\n")),
              AllOf(HasSubstr("train:1: column 1 is 'age'"), HasSubstr("if line 1 names the columns, say header=yes")));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1,2,0\nx,3,1\n")), Not(HasSubstr("header=yes")));
}

TEST(csv, says_what_is_wrong_in_which_line) {
  const text_files files("csv");
  const auto broken = [&](const std::string& line) {
    const auto message = load_error(errc::bad_data, files.spec("a,b,y\n\n1,2,0\n" + line + "\n3,4,1\n"));
    EXPECT_THAT(message, HasSubstr("train:4: ")) << line;
    return message;
  };
  EXPECT_THAT(broken("1,2"), HasSubstr("2 columns, but the first line has 3"));
  EXPECT_THAT(broken("1,2,3,4"), HasSubstr("4 columns, but the first line has 3"));
  EXPECT_THAT(broken("1,,0"), HasSubstr("column 2 (b) is '', which is not a number"));
  EXPECT_THAT(broken("1,x,0"), HasSubstr("column 2 (b) is 'x', which is not a number"));
  EXPECT_THAT(broken("NaN,1,0"), HasSubstr("column 1 (a) is NaN, which is not a finite"));
  EXPECT_THAT(broken("1,\"2,0"), HasSubstr("does not end on its line"));
  EXPECT_THAT(broken("1,\"2\"3,0"), HasSubstr("'3' follows a closing quote"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("1;2;3\n")), HasSubstr("one column only"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("\n")), HasSubstr("is empty"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("a,b\n")), HasSubstr("holds no samples"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("a,b\n1,1\n", "1,1,1\n")), HasSubstr("number of columns: 2 and 3"));
  EXPECT_THAT(load_error(errc::bad_data, files.spec("a,b\n1,1\n", "b,a\n1,1\n")), HasSubstr("names of their columns"));
}

TEST(csv, standardises_by_the_training_part) {
  const text_files files("csv");
  const auto split = load_data(files.spec("1,7,0.1,100.5\n3,7,0.1,300.5\n", "5,8,0.1,200.5\n"), 1);
  EXPECT_EQ(split.train.classes, 0u);
  EXPECT_THAT(dense_values(split.train), ElementsAre(-1, 0, 0, 1, 0, 0));
  EXPECT_THAT(split.train.targets, ElementsAre(-1, 1));
  EXPECT_THAT(dense_values(split.test), ElementsAre(3, 0, 0)); // what training never saw vary has no scale
  EXPECT_THAT(split.test.targets, ElementsAre(FloatNear(0, 1e-6f)));
  EXPECT_THAT(load_data(files.spec("1,5\n3,6\n", "2,5\n"), 1).train.targets, ElementsAre(0, 1)); // classes stay
}

TEST(csv, standardises_what_has_a_large_offset) {
  const text_files files("csv");
  std::string rows; // seconds since 1970: as 32-bit floats 128 apart, a ten millionth of their size
  for (int i = 0; i < 100; ++i)
    rows += std::to_string(1700000000 + 3 * i) + ",1700000000000000003," + std::to_string(i % 2) + "\n";
  const auto split = load_data(files.spec(rows, rows), 1);
  EXPECT_THAT(dense_values(split.train), testing::Each(testing::AllOf(testing::Ge(-3), testing::Le(3))));
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(dense_values(split.train)[2 * i + 1], 0);
}

} // namespace
} // namespace gossamer::compute
