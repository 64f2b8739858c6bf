#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "data_plane/support.hpp"

namespace gossamer::testing_support {

/// A link whose frames cross a connection of two nodes that breaks at random bytes, and is opened again. It holds no
/// frame back: what goes in has come out of the other end when `send` returns, in as many pieces as it took.
class torn_link final : public actors::link {
public:
  /// @param breaks counts the connections that broke while a frame was under way; outlives the link
  torn_link(std::unique_ptr<actors::link> inner, actors::rank from, actors::rank to, std::uint64_t seed,
            std::uint64_t& breaks)
      : inner_(std::move(inner)), to_(to), breaks_(breaks),
        random_({seed, from, purpose::chaos}, actors::frame_step(to, 0)), here_(hello_of(0), {}, pool_, {}),
        there_(hello_of(1), {}, pool_,
               {[from](actors::rank source) { return source == from; },
                [this](actors::life, actors::frame f) {
                  f.on_the_way = std::exchange(shares_.front(), nullptr);
                  shares_.pop_front();
                  inner_->send(std::move(f));
                }}) {
    connect();
  }

  void send(actors::frame f) override {
    shares_.push_back(std::move(f.on_the_way));
    here_.push(std::make_shared<const actors::outgoing_frame>(
        actors::outgoing_frame{f.source, {to_, 0}, write_head(pool_, f), std::move(f.body.payload), nullptr}));
    while (!shares_.empty()) {
      const bool breaks = random_.below(3) == 0;
      carry(here_, there_, breaks ? random_.below(random_.below(2) == 0 ? short_piece : longest_piece) : longest_piece);
      if (breaks && !shares_.empty()) {
        ++breaks_;
        here_.lost();
        there_.lost();
        connect();
      }
    }
    carry(there_, here_, longest_piece); // acknowledgements, in as far as they are due
  }

private:
  static constexpr std::uint32_t short_piece = 100, longest_piece = 1 << 20; // a part of a small frame, all chunks

  static actors::hello hello_of(std::uint32_t node) { return {.run = 1, .node = node, .meant_node = 1 - node}; }

  static std::vector<std::byte> next_bytes(actors::session& of, std::size_t most) {
    auto result = actors::test::joined(of.gather());
    result.resize(std::min(result.size(), most));
    of.wrote(result.size());
    return result;
  }

  static void carry(actors::session& from, actors::session& to, std::size_t most) {
    actors::test::feed(to, next_bytes(from, most));
    GOSSAMER_ASSERT(!to.ended(), "the bytes of one end make sense to the other");
  }

  void connect() {
    here_.begin();
    const auto bytes = next_bytes(here_, actors::hello_bytes);
    there_.answer(*actors::read_hello(std::span<const std::byte, actors::hello_bytes>{bytes.data(), bytes.size()}));
    carry(there_, here_, longest_piece);
  }

  std::unique_ptr<actors::link> inner_;
  actors::rank to_;
  std::uint64_t& breaks_;
  random_sequence random_;
  buffer_pool pool_;
  std::deque<std::shared_ptr<const void>> shares_; ///< of the frames that have not come out
  actors::session here_, there_;
};

} // namespace gossamer::testing_support
