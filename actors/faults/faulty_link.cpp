#include "gossamer/actors/faults/faulty_link.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"

#include <algorithm>
#include <set>

namespace gossamer::actors {

namespace {

class faulty_link final : public link {
public:
  faulty_link(rank from, rank to, std::unique_ptr<link> inner, std::shared_ptr<const faulty_surroundings> around)
      : from_(from), to_(to), inner_(std::move(inner)), around_(std::move(around)),
        flips_(around_->seed, from, purpose::corruption) {}

  void send(frame f) override {
    const auto number = number_++;
    const auto fate = around_->board->judge(from_, to_, number, f.wire_bytes(), around_->now());
    if (fate.lost) {
      ++around_->count->lost;
      return;
    }
    if (fate.corrupted && !survives_damage(f, number))
      return;
    around_->count->duplicated += fate.copies - 1;
    for (unsigned copy = 1; copy < fate.copies; ++copy)
      pass_on(f, fate.delay_s);
    pass_on(std::move(f), fate.delay_s);
  }

private:
  void pass_on(frame f, double delay_s) {
    const std::chrono::nanoseconds delay{static_cast<std::int64_t>(std::min(1e9 * delay_s, 1e18))}; // they add up
    if (delay.count() == 0)
      inner_->send(std::move(f));
    else
      around_->later(delay, [inner = inner_, f = std::move(f)] { inner->send(f); });
  }

  bool survives_damage(frame& f, std::uint64_t number) {
    auto pool = around_->pool;
    auto bytes = write(pool, f);
    random_sequence draw{flips_, frame_step(to_, number)};
    const auto flips = 1 + draw.below(3);
    std::set<std::uint32_t> flipped; // distinct, since two flips of one bit would do no damage
    while (flipped.size() < flips)
      flipped.insert(draw.below(static_cast<std::uint32_t>(8 * bytes.size())));
    for (const auto bit : flipped)
      bytes.bytes()[bit / 8] ^= std::byte{1} << (bit % 8);
    try {
      f = read_frame(pool, bytes.bytes());
      return true;
    } catch (const error&) {
      ++around_->count->rejected;
      return false;
    }
  }

  rank from_, to_;
  std::shared_ptr<link> inner_; // shared with frames that are held back
  std::shared_ptr<const faulty_surroundings> around_;
  random_stream flips_;
  std::uint64_t number_ = 0;
};

} // namespace

std::unique_ptr<link> make_faulty_link(rank from, rank to, std::unique_ptr<link> inner,
                                       std::shared_ptr<const faulty_surroundings> around) {
  return std::make_unique<faulty_link>(from, to, std::move(inner), std::move(around));
}

} // namespace gossamer::actors
