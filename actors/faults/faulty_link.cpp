#include "gossamer/actors/faults/faulty_link.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"

#include <set>

namespace gossamer::actors {

namespace {

class faulty_link final : public link {
public:
  faulty_link(rank from, rank to, std::unique_ptr<link> inner, std::shared_ptr<fault_board> board,
              std::shared_ptr<fault_count> count, std::function<double()> now, std::uint64_t seed, buffer_pool pool)
      : from_(from), to_(to), inner_(std::move(inner)), board_(std::move(board)), count_(std::move(count)),
        now_(std::move(now)), flips_(seed, from << 16 | to, purpose::faults), pool_(std::move(pool)) {}

  void transmit(frame f, std::chrono::nanoseconds delay) override {
    const auto number = number_++;
    const auto fate = board_->judge(from_, to_, number, f.wire_bytes(), now_());
    if (fate.lost) {
      ++count_->lost;
      return;
    }
    if (fate.corrupted && !survives_damage(f, number))
      return;
    count_->duplicated += fate.copies - 1;
    delay += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * fate.delay_s));
    for (unsigned copy = 1; copy < fate.copies; ++copy)
      inner_->transmit(f, delay);
    inner_->transmit(std::move(f), delay);
  }

private:
  bool survives_damage(frame& f, std::uint64_t number) {
    auto bytes = write(pool_, f);
    random_sequence draw{flips_, number};
    const auto flips = 1 + draw.below(3);
    std::set<std::uint32_t> flipped; // two flips of one bit would do no damage
    while (flipped.size() < flips)
      flipped.insert(draw.below(static_cast<std::uint32_t>(8 * bytes.size())));
    for (const auto bit : flipped)
      bytes.bytes()[bit / 8] ^= std::byte{1} << (bit % 8);
    try {
      f = read_frame(pool_, bytes.bytes());
      return true;
    } catch (const error&) {
      ++count_->rejected;
      return false;
    }
  }

  rank from_, to_;
  std::unique_ptr<link> inner_;
  std::shared_ptr<fault_board> board_;
  std::shared_ptr<fault_count> count_;
  std::function<double()> now_;
  random_stream flips_;
  buffer_pool pool_;
  std::uint64_t number_ = 0;
};

} // namespace

std::unique_ptr<link> make_faulty_link(rank from, rank to, std::unique_ptr<link> inner,
                                       std::shared_ptr<fault_board> board, std::shared_ptr<fault_count> count,
                                       std::function<double()> now, std::uint64_t seed, buffer_pool pool) {
  return std::make_unique<faulty_link>(from, to, std::move(inner), std::move(board), std::move(count), std::move(now),
                                       seed, std::move(pool));
}

} // namespace gossamer::actors
