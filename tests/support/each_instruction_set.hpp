#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace gossamer::test {

/// Runs each case with every instruction set that was compiled and that this machine has.
/// Instantiate with `testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), each_instruction_set::name`.
class each_instruction_set : public testing::TestWithParam<std::int64_t> {
public:
  static std::string name(const testing::TestParamInfo<std::int64_t>& instance) {
    return hwy::TargetName(instance.param);
  }

protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }

private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

} // namespace gossamer::test
