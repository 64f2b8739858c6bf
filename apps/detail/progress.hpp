#pragma once

#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::apps {

/// Shows a run on standard error: one line that lives, on a terminal; otherwise one plain line for each evaluation.
class progress final : public actors::run_observer {
public:
  progress();
  ~progress() override;
  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(double time_s, const std::string& what) override;

private:
  void clear();

  bool terminal_;
  bool line_is_open_ = false;
};

/// What a summary says, for people.
std::string describe(const actors::run_summary& s);

} // namespace gossamer::apps
