#include "gossamer/actors/evaluation/evaluations.hpp"

#include <utility>

namespace gossamer::actors {

void evaluations::lose(rank i) {
  collecting_.lose(i);
  std::erase_if(final_, [i](const snapshot_taken& s) { return s.source == i; });
  for (auto& e : waiting_)
    if (std::erase_if(e.everybody, [i](const life& one) { return one.who == i; }) > 0 && &e == &waiting_.front())
      under_way_ = false;
  std::erase_if(waiting_, [](const evaluation& e) { return e.everybody.empty(); });
}

/// A living worker without a model came later than the others' models were put aside, or skips this evaluation: what it
/// has done since the last one belongs to a later one, which is to count no less.
void evaluations::close_complete(const ledger& seen, const membership& members, double time_s) {
  const auto complete = collecting_.take_complete();
  if (!complete)
    return;
  const auto before = std::exchange(evaluated_, seen);
  std::vector<bool> counted(run_->participants());
  for (const auto& one : complete->taken())
    counted[one.source] = true;
  for (rank i = 0; i < counted.size(); ++i)
    if (!counted[i] && members.alive(i))
      evaluated_.rewind(i, before);
  close(complete->taken(), evaluated_, time_s);
}

/// @returns false when the workers with the models have died meanwhile, or a master's model is missing
bool evaluations::close(const std::vector<snapshot_taken>& taken, ledger& seen, double time_s) {
  evaluation result;
  for (const auto& one : taken) {
    seen.rewind(one.source, one.incarnation, one.gradients, one.sent);
    if (!run_->is_evaluated(one.source))
      continue;
    result.number = one.evaluation;
    result.everybody.push_back({one.source, one.incarnation});
  }
  if (result.everybody.empty() || (run_->masters > 0 && result.everybody.size() != run_->masters))
    return false;
  std::ranges::sort(result.everybody);
  const auto sent = seen.sent();
  auto& record = result.record;
  record.step = seen.steps();
  record.epoch = run_->epoch_of(record.step);
  record.time_s = time_s;
  record.payload_bits = sent.payload_bits;
  record.wire_bits = sent.wire_bits;
  if (has_islands_)
    record.payload_bits_between_islands = sent.bits_between_islands;
  if (run_->averages_pairs())
    record.averagings = {sent.averaged.asked, sent.averaged.done, sent.averaged.dropped};
  next_ = record.step + run_->evaluation_steps * run_->settings.workers;
  waiting_.push_back(std::move(result));
  return true;
}

const evaluation* evaluations::begin() {
  if (waiting_.empty() || std::exchange(under_way_, true))
    return nullptr;
  waiting_.front().request = ++requests_;
  return &waiting_.front();
}

bool evaluations::finish(std::uint64_t request) {
  if (!under_way_ || waiting_.front().request != request)
    return false;
  under_way_ = false;
  waiting_.pop_front();
  return true;
}

} // namespace gossamer::actors
