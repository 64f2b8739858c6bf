#include "gossamer/actors/hosting/timed_coder.hpp"

#include <utility>

namespace gossamer::actors {

namespace {

using compress::packet;
using std::chrono::nanoseconds;

class timed_coder final : public compress::coder {
public:
  timed_coder(std::shared_ptr<const compress::coder> inner, std::function<nanoseconds()> clock, on_coding told)
      : inner_(std::move(inner)), clock_(std::move(clock)), told_(std::move(told)) {}

  packet encode(const compress::codec& c, const vec& v, const random_stream& random,
                std::uint64_t step) const override {
    const call timing{*this, coding::encode};
    return inner_->encode(c, v, random, step);
  }
  vec extract(const compress::selection& kept, vec& v) const override {
    const call timing{*this, coding::encode};
    return inner_->extract(kept, v);
  }
  vec decode(const packet& p) const override {
    const call timing{*this, coding::decode};
    return inner_->decode(p);
  }
  void decode_into(std::span<float> to, const packet& p) const override {
    const call timing{*this, coding::decode};
    inner_->decode_into(to, p);
  }
  vec mean(std::span<const packet> packets) const override {
    const call timing{*this, coding::decode};
    return inner_->mean(packets);
  }
  void scatter_add(vec& y, float a, const vec& values, std::size_t first,
                   const compress::selection& kept) const override {
    const call timing{*this, coding::decode};
    inner_->scatter_add(y, a, values, first, kept);
  }
  double sum_of_squares(const vec& v) const override { return inner_->sum_of_squares(v); }
  vec place(const vec& v) const override { return inner_->place(v); }

private:
  /// Tells of the call in which it lives.
  class call {
  public:
    call(const timed_coder& by, coding what) : by_(by), what_(what), began_(by.clock_()) {}
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { by_.told_(what_, by_.clock_() - began_); }

  private:
    const timed_coder& by_;
    coding what_;
    nanoseconds began_;
  };

  std::shared_ptr<const compress::coder> inner_;
  std::function<nanoseconds()> clock_;
  on_coding told_;
};

} // namespace

std::shared_ptr<const compress::coder> timed(std::shared_ptr<const compress::coder> inner,
                                             std::function<nanoseconds()> clock, on_coding told) {
  return std::make_shared<const timed_coder>(std::move(inner), std::move(clock), std::move(told));
}

} // namespace gossamer::actors
