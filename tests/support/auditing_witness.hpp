#pragma once

#include "gossamer/actors/simulation/auditor.hpp"

namespace gossamer::testing_support {

/// Passes all observations of a worker's witness to the auditor.
struct auditing_witness final : actors::witness {
  using rank = actors::rank;
  void begins(rank who, std::uint32_t life) override { check->begins(who, life); }
  void ends(rank who, std::uint32_t life) override { check->ends(who, life); }
  void adopts(rank who, const actors::view& v) override { check->adopts(who, v); }
  void reports(rank who, const actors::traffic& t) override { check->reports(who, t); }
  void step_begins(rank who, std::uint64_t t, const actors::view& v) override { check->step_begins(who, t, v); }
  void delivered(rank who, const actors::frame& f) override { check->delivered(who, f); }
  void claims_equal(rank who, std::string_view what, std::uint64_t t, const vec& v) override {
    check->claims_equal(who, what, t, v);
  }
  void claims_conserved(rank who, std::string_view what, std::uint64_t t, const actors::view& v, const vec& before,
                        const vec& after) override {
    check->claims_conserved(who, what, t, v, before, after);
  }
  void claims_opposite(rank who, const actors::exchange_half& half, const vec& delta) override {
    check->claims_opposite(who, half, delta);
  }
  void hands_over(rank who, rank heir, const vec& residual) override { check->hands_over(who, heir, residual); }
  void takes_over(rank who, rank from, const vec& residual, const vec& before, const vec& after) override {
    check->takes_over(who, from, residual, before, after);
  }
  void recalls(rank who) override { check->recalls(who); }
  actors::auditor* check = nullptr;
};

} // namespace gossamer::testing_support
