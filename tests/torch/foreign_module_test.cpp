// Modules and files that users bring and gossamer cannot train, or only some of its builds: they are refused before
// training, with what to do.
#include <caffe2/serialize/inline_container.h>

#include <fstream>
#include <torch/version.h>

#include "module_files.hpp"
#include "support/small_data.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class foreign_module : public module_files {
protected:
  /// Saves an archive with these files. @return the text of the model
  std::string save_archive(const std::vector<std::string>& names) const {
    caffe2::serialize::PyTorchStreamWriter archive{path("m.pt2")};
    for (const auto& name : names)
      archive.writeRecord(name, "pt2", 3);
    archive.writeEndOfFile();
    return model_text(path("m.pt2"));
  }

  /// @return samples of three features, each 0 to 4
  static compute::dataset ids() {
    auto data = support::small_data(9, 3, 2);
    for (std::size_t i = 0; i < data.dense.size(); ++i)
      data.dense[i] = static_cast<float>(i % 5);
    return data;
  }
  std::string save_embedding(std::int64_t rows) const {
    return save("def forward(self, x):\n  return torch.mean(torch.embedding(self.weight, x), 1)\n", {rows, 2});
  }
};

// A PyTorch after 1.13 has written the file; nets.py says how.
TEST_F(foreign_module, of_a_later_pytorch_is_read_by_a_later_libtorch_and_refused_by_an_earlier_one) {
  const auto file = std::string{GOSSAMER_SOURCE_DIR} + "/tests/torch/attention.pt";
  const auto data = support::small_data(9, 4, 3);
  if (TORCH_VERSION_MAJOR > 1) {
    EXPECT_EQ(compute::make_model(model_text(file), data)->dimension(), 27u);
    return;
  }
  EXPECT_THAT(refusal(model_text(file), data),
              AllOf(HasSubstr("attention.pt' cannot be read by LibTorch 1.13: Unknown builtin op: "
                              "aten::scaled_dot_product_attention. Here are some suggestions: "),
                    HasSubstr("; export it by scripts/export_model.py with --plain-attention, or build gossamer with "
                              "the LibTorch of the PyTorch that exported it (-D GOSSAMER_TORCH_DIR=...; "),
                    Not(HasSubstr("\n"))));
}

TEST_F(foreign_module, that_is_none_is_called_what_it_is) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(refusal(save_archive({"archive_format", "models/model.json", "byteorder"}), data),
              AllOf(HasSubstr("m.pt2' is a package (.pt2) of torch.export, which no LibTorch trains; give it what "
                              "torch.jit.script(module).save"),
                    HasSubstr("docs/your-own-model.md")));
  EXPECT_THAT(refusal(save_archive({"serialized_exported_program.json"}), data), HasSubstr("of torch.export"));
  EXPECT_THAT(refusal(save_archive({"data/aotinductor/model/m.so", "archive_format"}), data),
              HasSubstr("is a package (.pt2) of AOTInductor: compiled code"));
  EXPECT_THAT(refusal(save_archive({"data.pkl", "data/0"}), data),
              HasSubstr("was written by torch.save, and holds no"));
  std::ofstream{path("legacy.pt")} << "\x80\x02\x8a\x0a and so on";
  EXPECT_THAT(refusal(model_text(path("legacy.pt")), data), HasSubstr("was written by torch.save"));
}

TEST_F(foreign_module, that_is_damaged_is_refused_in_the_words_of_libtorch) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(refusal(save_archive({"unheard of"}), data),
              HasSubstr("PytorchStreamReader failed locating file constants.pkl"));
  std::ofstream{path("text.pt")} << "these are no modules";
  EXPECT_THAT(refusal(model_text(path("text.pt")), data),
              AllOf(HasSubstr("text.pt' cannot be read by LibTorch "), HasSubstr("PytorchStreamReader failed"),
                    HasSubstr("scripts/export_model.py writes a file of TorchScript")));
  EXPECT_THAT(refusal(model_text(path("missing.pt")), data), HasSubstr("there is no file '"));
}

TEST_F(foreign_module, takes_one_tensor) {
  const auto data = support::small_data(9, 4, 3);
  const auto needs = HasSubstr("and a sample of the data is one tensor; put it into a module whose forward takes one");
  EXPECT_THAT(
      refusal(save("def forward(self, x, mask):\n  return torch.matmul(x * mask, self.weight)\n", {4, 3}), data),
      AllOf(HasSubstr("m.pt': its forward takes (x: Tensor, mask: Tensor), "), needs));
  EXPECT_THAT(refusal(save("def forward(self, x: Dict[str, Tensor]):\n  return torch.matmul(x['image'], self.weight)\n",
                           {4, 3}),
                      data),
              AllOf(HasSubstr("its forward takes (x: Dict[str, Tensor]), "), needs));
  EXPECT_THAT(refusal(save("def forward(self):\n  return self.weight\n", {4, 3}), data),
              AllOf(HasSubstr("its forward takes (), "), needs));
  EXPECT_THAT(refusal(save("def backward(self, x):\n  return x\n", {4, 3}), data), HasSubstr("has no method forward"));
}

TEST_F(foreign_module, may_take_more_that_has_defaults) {
  const auto data = support::small_data(9, 4, 3);
  const auto text = save("def forward(self, x, mask: Optional[Tensor] = None, scale: float = 1.0):\n"
                         "  return torch.matmul(x, self.weight) * scale\n",
                         {4, 3});
  EXPECT_EQ(compute::make_model(text, data)->dimension(), 12u);
}

TEST_F(foreign_module, gives_one_tensor) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(
      refusal(save("def forward(self, x):\n  y = torch.matmul(x, self.weight)\n  return y, y\n", {4, 3}), data),
      HasSubstr("its forward returns Tuple[Tensor, Tensor], and the loss is of one tensor; put it into a module "
                "that returns this tensor"));
}

TEST_F(foreign_module, is_given_whole_numbers_if_it_takes_no_others) {
  const auto data = ids();
  const auto indices = support::all_indices(data);
  const auto m = compute::make_model(save_embedding(5), data);
  std::vector<float> x = support::wave(10, 0.4), gradient(10), again(10);
  const double loss = m->loss_and_gradient(x, {data, indices}, gradient);
  EXPECT_THAT(gradient, testing::Contains(testing::Ne(0.0f)));
  EXPECT_NEAR(m->evaluate(x, {data, indices}).loss, loss, 1e-6);
  EXPECT_EQ(m->clone()->loss_and_gradient(x, {data, indices}, again), loss);
  EXPECT_EQ(again, gradient);
}

TEST_F(foreign_module, that_takes_whole_numbers_is_refused_where_the_data_has_others) {
  auto data = ids();
  EXPECT_THAT(
      refusal(save_embedding(4), data),
      AllOf(HasSubstr("m.pt' cannot take the whole numbers of the data, from 0 to 4: index out of range in self"),
            HasSubstr("an embedding needs one row more than the largest")));
  const auto m = compute::make_model(save_embedding(5), data);
  auto test = data;
  test.dense[3] = 0.5f;
  const auto indices = support::all_indices(test);
  try {
    m->evaluate(support::wave(10, 0.4), {test, indices});
    ADD_FAILURE() << "it is evaluated";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("takes whole numbers, and a sample of the test data holds others"));
  }
  data.dense[7] = 0.25f;
  EXPECT_THAT(
      refusal(save_embedding(5), data),
      HasSubstr("takes whole numbers, such as ids of tokens, and not all features of the data, from 0 to 4, are "
                "whole; save whole ones"));
  data.dense[7] = 1e9f;
  EXPECT_THAT(refusal(save_embedding(5), data), HasSubstr("from 0 to 1e+09, are too large to be told apart"));
}

TEST_F(foreign_module, that_takes_whole_numbers_is_told_the_range_of_bytes) {
  const auto bytes = support::with_bytes(support::small_data(100, 30, 2), {{}});
  EXPECT_THAT(refusal(save_embedding(4), bytes), HasSubstr("cannot take the whole numbers of the data, from 0 to 255"));
  const auto shares = support::with_bytes(support::small_data(100, 30, 2), {{.divisor = 255}});
  EXPECT_THAT(refusal(save_embedding(4), shares), HasSubstr("not all features of the data, from 0 to 1, are whole"));
}

TEST_F(foreign_module, is_refused_for_what_is_wrong_with_it_and_not_for_whole_numbers) {
  EXPECT_THAT(refusal(save("def forward(self, x):\n  return torch.matmul(x, self.weight)\n", {7, 3}),
                      support::small_data(9, 4, 3)),
              AllOf(HasSubstr("m.pt' cannot take samples of shape [4]: "),
                    HasSubstr("mat1 and mat2 shapes cannot be multiplied")));
}

} // namespace
} // namespace gossamer::test
