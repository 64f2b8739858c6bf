#include "group_calls.hpp"

#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"
#include "gossamer/actors/collectives/sign_sum.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gossamer::python {

using namespace actors;
using compress::packet;

namespace {

constexpr auto description = first_own_kind; ///< of a call, to the successor
constexpr std::size_t longest_description = 200;
constexpr std::size_t longest_direct = 1 << 18; ///< floats: longer vectors take the time of their bytes anyway

/// The lengths of the packets, and their bytes.
vec bytes_of(const std::vector<packet>& packets, buffer_pool pool) {
  std::size_t size = packets.size() * sizeof(std::uint64_t);
  for (const auto& p : packets)
    size += p.payload.size();
  auto all = pool.allocate((size + sizeof(float) - 1) / sizeof(float) * sizeof(float));
  std::ranges::fill(all.bytes(), std::byte{0});
  auto to = all.bytes();
  const auto put = [&to](std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, to.begin());
    to = to.subspan(bytes.size());
  };
  for (const auto& p : packets) {
    const std::uint64_t length = p.payload.size();
    put(std::as_bytes(std::span{&length, 1}));
  }
  for (const auto& p : packets)
    put(p.payload.bytes());
  return vec{std::move(all)};
}

class group_worker final : public algorithm {
public:
  group_worker(std::shared_ptr<group_slot> slot, vec model, bool has_neighbours)
      : slot_(std::move(slot)), model_(std::move(model)), settled_(model_), has_neighbours_(has_neighbours) {}

  task<> run(worker& w) override {
    if (!attempted_)
      attempt_among_present(w); // a founder
    for (; co_await w.next_step(t_); ++t_) {
      if (left_) {
        w.end_early();
        co_return;
      }
      averages_ = 0;
      group_call call = co_await next_call(w, settled_);
      while (call.what == group_call::kind::neighbour_mean) {
        const vec mean = co_await mean_with_neighbours(w, call);
        call = co_await next_call(w, mean);
      }
      settled_ = co_await among_all(w, call);
      members_ = attempted_->members;
      calls_ += averages_ + 1;
      left_ = call.is_last;
    }
  }

  void fields(archive& a) override { a(settled_)(members_)(calls_)(left_)(t_); }
  /// A worker that was in the same call as the others, and only behind them, has attempted it among the same members.
  void inherit(worker&) override { knew_group_ = attempted_ && attempted_->members == members_; }
  const vec& model() const override { return model_; }

private:
  /// The members with whom a call of all was last tried, and their graph.
  struct attempted {
    std::vector<rank> members;
    std::shared_ptr<const topology::mixing_matrix> graph;
  };

  void attempt_among_present(const worker& w) {
    const auto members = w.members();
    attempted_ = attempted{{members.begin(), members.end()}, w.present().mixing};
    if (members_.empty())
      members_ = attempted_->members;
  }

  /// Hands an outcome to the program, and waits for what it calls next.
  task<group_call> next_call(worker& w, vec value) {
    slot_->answer({std::move(value), members_, calls_ + averages_, knew_group_, w.sent()});
    const vec nothing = co_await w.start_gradient(model_, t_);
    co_return slot_->take();
  }

  packet text(const std::string& about) const {
    return compress::opaque(std::as_bytes(std::span{about.data(), about.size()}), model_.pool());
  }

  void require_same(const worker& w, const group_call& mine, rank peer, const packet& theirs) const {
    const auto bytes = theirs.payload.bytes();
    const std::string_view said{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    if (said != mine.about)
      throw error(errc::usage,
                  fmt::format("rank {} calls {}, and rank {} calls {}", w.id(), mine.about, peer,
                              printable(said.substr(0, longest_description))),
                  "let all members of a group make the same calls in the same order, with tensors of the same size");
  }

  // -- calls of all members -------------------------------------------------------------------------------------------

  task<vec> among_all(worker& w, const group_call& call) {
    tell_neighbours(w, call);
    for (;;) {
      attempt_among_present(w);
      const ring here{w.id(), w.members()};
      const tag hop{description, t_, 0, w.present().number};
      if (here.size > 1)
        w.send(here.next, hop, text(call.about));
      auto round = attempt(w, call); // begun before the other side's description has come: nothing waits for that
      round.start();
      if (here.size > 1) {
        const auto theirs = co_await w.receive(here.previous, hop);
        if (theirs)
          require_same(w, call, here.previous, theirs->body);
      }
      auto result = co_await finite(round, call);
      if (result)
        co_return *std::move(result);
    }
  }

  /// The result of an attempt, whose error speaks of training.
  task<std::optional<vec>> finite(task<std::optional<vec>>& round, const group_call& call) {
    try {
      co_return co_await round;
    } catch (const error& e) {
      if (e.code() != errc::diverged)
        throw;
      throw error(errc::diverged, fmt::format("a sum within {} is infinite", call.about), "scale the tensors down");
    }
  }

  task<std::optional<vec>> attempt(worker& w, const group_call& call) {
    const auto n = static_cast<float>(w.members().size());
    std::optional<vec> result;
    if (call.message)
      result = co_await gathered(w, call);
    else
      result = co_await reduced(w, call);
    if (result && call.what == group_call::kind::mean)
      *result *= 1.0f / n;
    co_return result;
  }

  /// The bytes of all members; or the sum of what their packets hold, added in the order of the members.
  task<std::optional<vec>> gathered(worker& w, const group_call& call) {
    const auto packets = co_await try_all_gather(w, *call.message, route::direct, t_);
    if (!packets)
      co_return std::nullopt;
    if (call.what == group_call::kind::gather)
      co_return bytes_of(*packets, model_.pool());
    vec sum = w.decode(packets->front(), call.x.size());
    for (const auto& p : std::span{*packets}.subspan(1))
      sum += w.decode(p, call.x.size());
    co_return sum;
  }

  task<std::optional<vec>> reduced(worker& w, const group_call& call) {
    switch (call.what) {
    case group_call::kind::majority:
      return reduced(w, std::make_unique<sign_majority>(w, call.x, compress::sign_sum_code::fixed),
                     &sign_majority::values);
    case group_call::kind::drawn_sign:
      return reduced(w, std::make_unique<one_bit_merge>(w, call.x, t_), &one_bit_merge::values);
    default:
      return reduced(w, std::make_unique<dense_sum>(w, call.x), &dense_sum::sum);
    }
  }

  template <class Reduction, class Result>
  task<std::optional<vec>> reduced(worker& w, std::unique_ptr<Reduction> r, Result (Reduction::*value)() const) {
    reduction* const alone[] = {r.get()};
    const auto way = r->size() <= longest_direct ? route::direct : route::ring; // the same sums to the bit
    const bool done = co_await try_all_reduce(w, members_of(w), alone, way, t_);
    if (!done)
      co_return std::nullopt;
    co_return vec{(*r.*value)()};
  }

  // -- neighbours -----------------------------------------------------------------------------------------------------

  tag average() const { return {frame_kind::model, t_, static_cast<std::uint32_t>(averages_)}; }

  void send_to_neighbours(worker& w, const packet& body) const {
    for (const auto j : attempted_->graph->neighbours(w.id()))
      w.send(j, average(), body);
  }

  /// To a neighbour that waits for a vector instead, this is the end of its wait.
  void tell_neighbours(worker& w, const group_call& call) const {
    if (has_neighbours_)
      send_to_neighbours(w, text(call.about));
  }

  task<vec> mean_with_neighbours(worker& w, const group_call& call) {
    const auto graph = attempted_->graph;
    send_to_neighbours(w, call.message ? *call.message : w.encode_exactly(call.x));
    const auto now = average();
    vec mean = graph->self_weight(w.id()) * call.x;
    for (const auto j : graph->neighbours(w.id())) {
      const auto received = co_await w.receive(j, now);
      if (received && received->body.codec == 0) // no vector
        require_same(w, call, j, received->body);
      if (received && received->body.elements != call.x.size())
        require_same(w, call, j, text(fmt::format("neighbour_average of {} elements", received->body.elements)));
      mean += graph->weight(w.id(), j) * (received ? w.decode(received->body, call.x.size()) : call.x);
    }
    ++averages_;
    co_return mean;
  }

  std::shared_ptr<group_slot> slot_;
  vec model_;                  // one element, which nothing moves
  vec settled_;                // the result of the last call of all members
  std::vector<rank> members_;  // of that call
  std::uint64_t calls_ = 0;    // up to that call
  std::uint64_t averages_ = 0; // since that call
  std::uint64_t t_ = 0;
  bool left_ = false;
  bool has_neighbours_, knew_group_ = true;
  std::optional<attempted> attempted_;
};

} // namespace

algorithm_entry collectives_entry(const std::shared_ptr<group_slot>& slot) {
  return {.about = {.name = "collectives",
                    .summary = "the calls of a group of processes, as their programs make them",
                    .maths = "as the programs call",
                    .cost = "as the programs call",
                    .parameters = {{.key = "neighbours",
                                    .kind = parameter::type::choice,
                                    .fallback = "no",
                                    .meaning = "whether means with neighbours are among the calls",
                                    .choices = {"no", "yes"}}}},
          .traits = {.exchange = exchange_pattern::neighbours,
                     .synchronous = true,
                     .on_loss = interrupted_round::repeat,
                     .most_elements = most_group_elements},
          .make = [slot](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
            return std::make_unique<group_worker>(slot, s.initial, s.given.is("neighbours", "yes"));
          }};
}

} // namespace gossamer::python
