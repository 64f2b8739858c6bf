#pragma once

#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>

namespace gossamer::actors::detail {

/// Does one thing later. Setting the alarm again, or destroying it, cancels the earlier action, even if its time has
/// come and only its turn has not. Threads: that of its context.
class alarm {
public:
  explicit alarm(asio::io_context& io) : timer_(io) {}

  void set(std::chrono::milliseconds delay, std::function<void()> what) {
    const auto mine = ++round_->number;
    round_->is_set = true;
    timer_.expires_after(delay);
    timer_.async_wait([round = std::weak_ptr{round_}, mine, what = std::move(what)](asio::error_code) {
      const auto now = round.lock();
      if (!now || !now->is_set || now->number != mine)
        return;
      now->is_set = false;
      what();
    });
  }
  void cancel() {
    if (std::exchange(round_->is_set, false))
      timer_.cancel();
  }
  bool is_set() const noexcept { return round_->is_set; }

private:
  struct round {
    std::uint64_t number = 0;
    bool is_set = false;
  };
  asio::steady_timer timer_;
  std::shared_ptr<round> round_ = std::make_shared<round>();
};

} // namespace gossamer::actors::detail
