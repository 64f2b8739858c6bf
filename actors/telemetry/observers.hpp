#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <utility>
#include <vector>

namespace gossamer::actors {

/// Several observers of one run, told in this order. An exception of one keeps the record from those behind it.
class observers final : public run_observer {
public:
  /// @param all outlive this object; null ones are left out
  explicit observers(std::vector<run_observer*> all) : all_(std::move(all)) { std::erase(all_, nullptr); }

  void on_progress(const progress_record& r) override {
    for (auto* one : all_)
      one->on_progress(r);
  }
  void on_evaluation(const evaluation_record& r) override {
    for (auto* one : all_)
      one->on_evaluation(r);
  }
  void on_event(const event_record& r) override {
    for (auto* one : all_)
      one->on_event(r);
  }
  bool watches_workers() const override {
    bool any = false;
    for (const auto* one : all_)
      any = any || one->watches_workers();
    return any;
  }
  void on_view(const view_record& r) override {
    for (auto* one : all_)
      one->on_view(r);
  }
  void on_workers(workers_record r) override {
    for (auto* one : all_)
      one->on_workers(r);
  }

private:
  std::vector<run_observer*> all_;
};

} // namespace gossamer::actors
