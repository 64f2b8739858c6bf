#include "gossamer/actors/data_plane/detail/memory_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <asio/io_context.hpp>
#include <stdexcept>

namespace gossamer::actors::detail {
namespace {

/// One end of a connection through memory, as its thread uses it.
struct end_of_memory {
  explicit end_of_memory(std::unique_ptr<shared_memory> memory)
      : bytes(std::make_unique<memory_stream>(opening_stream(asio::ip::tcp::socket{io}, {}, ""), std::move(memory),
                                              memory_stream::side::opened, watch)) {}
  void write(std::size_t count) const {
    const std::vector<std::byte> some(count, std::byte{7});
    EXPECT_EQ(bytes->write_some(std::array{std::span<const std::byte>{some}}).bytes, count);
  }
  /// @returns the bytes read; -1 if the far end is gone
  int read() const {
    std::array<std::byte, 100> some{};
    const auto got = bytes->read_some(some);
    return got.gone ? -1 : static_cast<int>(got.bytes);
  }
  void wait() {
    bytes->wait_to_read([this] { ++times_ready; });
  }
  std::size_t handle_calls() {
    io.restart();
    return io.poll();
  }

  asio::io_context io{1};
  memory_watch watch;
  std::unique_ptr<memory_stream> bytes;
  int times_ready = 0;
};

class memory_stream_test : public testing::Test {
protected:
  std::unique_ptr<shared_memory> mine_ = shared_memory::make();
  std::unique_ptr<shared_memory> theirs_ = found();
  end_of_memory far_{std::move(theirs_)}, near_{std::move(mine_)};

private:
  std::unique_ptr<shared_memory> found() {
    if (!mine_)
      throw std::runtime_error("the system has no shared memory to give");
    const hello h{.run = 1, .memory = mine_->place()};
    mine_->belongs_to(h);
    return shared_memory::of(h);
  }
};

TEST_F(memory_stream_test, takes_what_comes_while_it_looks_and_is_not_called) {
  near_.wait();
  EXPECT_EQ(near_.watch.look(), 0u);
  far_.write(3);
  EXPECT_EQ(near_.watch.look(), 1u);
  EXPECT_EQ(near_.times_ready, 1);
  EXPECT_EQ(near_.watch.look(), 0u) << "it does not wait any more";
  EXPECT_EQ(near_.read(), 3);
  EXPECT_EQ(near_.handle_calls(), 0u);
}

TEST_F(memory_stream_test, is_called_out_of_its_sleep_once) {
  near_.wait();
  near_.watch.ask_for_calls();
  EXPECT_EQ(near_.handle_calls(), 0u);
  far_.write(3);
  far_.write(4);
  EXPECT_EQ(near_.handle_calls(), 1u);
  EXPECT_EQ(near_.times_ready, 1);
  EXPECT_EQ(near_.read(), 7);
  near_.wait();
  near_.watch.ask_for_calls();
  EXPECT_EQ(near_.handle_calls(), 0u) << "the call has been heard";
  EXPECT_EQ(near_.times_ready, 1);
}

TEST_F(memory_stream_test, does_not_sleep_over_what_came_before_it_asked_for_a_call) {
  near_.wait();
  far_.write(3);
  near_.watch.ask_for_calls();
  EXPECT_GT(near_.handle_calls(), 0u);
  EXPECT_EQ(near_.times_ready, 1);
}

TEST_F(memory_stream_test, survives_a_call_for_what_it_has_found_itself) {
  near_.wait();
  near_.watch.ask_for_calls();
  far_.write(3); // and calls
  EXPECT_EQ(near_.watch.look(), 1u);
  EXPECT_EQ(near_.read(), 3);
  near_.handle_calls();
  EXPECT_EQ(near_.times_ready, 1) << "nobody waits for the call";
  EXPECT_TRUE(near_.bytes->has_unread()) << "the next reader looks what the call was for";
  EXPECT_EQ(near_.read(), 0);
  EXPECT_FALSE(near_.bytes->has_unread());
  near_.wait();
  near_.watch.ask_for_calls();
  EXPECT_EQ(near_.handle_calls(), 0u);
  far_.write(4);
  EXPECT_EQ(near_.handle_calls(), 1u) << "later calls are heard, too";
  EXPECT_EQ(near_.read(), 4);
}

TEST_F(memory_stream_test, sees_its_far_end_go_while_it_looks_or_sleeps) {
  near_.wait();
  far_.write(3);
  far_.bytes.reset();
  EXPECT_EQ(near_.watch.look(), 1u);
  EXPECT_EQ(near_.read(), 3) << "what was written before is not lost";
  near_.wait();
  EXPECT_EQ(near_.handle_calls(), 1u);
  EXPECT_EQ(near_.times_ready, 2);
  EXPECT_EQ(near_.read(), -1);
}

TEST_F(memory_stream_test, is_looked_at_no_more_once_it_is_gone) {
  near_.wait();
  far_.write(3);
  near_.bytes.reset();
  EXPECT_EQ(near_.watch.look(), 0u);
  near_.watch.ask_for_calls();
  near_.handle_calls();
  EXPECT_EQ(near_.times_ready, 0);
}

TEST_F(memory_stream_test, may_go_while_another_one_reads) {
  auto more = shared_memory::make();
  ASSERT_TRUE(more);
  auto other = std::make_unique<memory_stream>(opening_stream(asio::ip::tcp::socket{near_.io}, {}, ""), std::move(more),
                                               memory_stream::side::opened, near_.watch);
  other->wait_to_read([] { ADD_FAILURE() << "it is gone"; });
  near_.bytes->wait_to_read([&] { other.reset(); });
  far_.write(3);
  EXPECT_EQ(near_.watch.look(), 1u);
  EXPECT_FALSE(other);
}

} // namespace
} // namespace gossamer::actors::detail
