#include "gossamer/actors/simulation/cost_meter.hpp"

namespace gossamer::actors {

void cost_meter::begin(rank who) {
  who_ = who;
  spent_ns_ = 0; // an earlier handler may have ended by an exception
  shares_.clear();
}

std::chrono::nanoseconds cost_meter::end() {
  const auto total = spent();
  if (total.count() > 0)
    on_end_(who_, shares_);
  spent_ns_ = 0;
  return total;
}

void cost_meter::handling(const frame& f) {
  charge(activity::communicating, 1, costs_.frame);
  charge(activity::communicating, f.wire_bytes(), costs_.frame_byte);
}

void cost_meter::arithmetic(std::uint64_t bytes) { charge(activity::computing, bytes, costs_.arithmetic_byte); }
void cost_meter::drawing(std::uint64_t words) { charge(activity::compressing, words, costs_.random_word); }

void cost_meter::encoding(std::uint8_t codec, std::uint64_t elements) {
  charge(activity::compressing, sizeof(float) * elements, coding_[codec].encode_byte);
}

void cost_meter::decoding(std::uint8_t codec, std::uint64_t elements) {
  charge(activity::compressing, sizeof(float) * elements, coding_[codec].decode_byte);
}

void cost_meter::charge(activity what, std::uint64_t count, double ns_each) {
  const auto ns = static_cast<double>(count) * ns_each;
  if (ns == 0)
    return;
  spent_ns_ += ns;
  if (shares_.empty() || shares_.back().what != what)
    shares_.push_back({what, 0});
  shares_.back().ns += ns;
}

} // namespace gossamer::actors
