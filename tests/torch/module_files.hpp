#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compute/model.hpp"

#include <gmock/gmock.h>

#include <torch/script.h>

#include "support/scratch_folder.hpp"

namespace gossamer::test {

/// Files of modules in a folder of their own, and what is said about them.
class module_files : public testing::Test {
protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  static std::string model_text(const std::string& file) { return "torchscript:file=" + file; }

  /// Saves a module of one tensor, `weight`, with this method. @return the text of the model
  std::string save(const std::string& forward, c10::IntArrayRef sides) const {
    torch::jit::Module m("m");
    m.register_parameter("weight", torch::full(sides, 0.1).requires_grad_(true), false);
    m.define(forward);
    m.save(path("m.pt"));
    return model_text(path("m.pt"));
  }

  static std::string refusal(const std::string& text, const compute::dataset& data) {
    try {
      compute::make_model(text, data);
    } catch (const error& e) {
      EXPECT_THAT(e.code(), testing::AnyOf(errc::bad_data, errc::io)) << "so that a node asks others for the file";
      return e.what();
    }
    ADD_FAILURE() << "it is taken";
    return {};
  }

private:
  scratch_folder folder_;
};

} // namespace gossamer::test
