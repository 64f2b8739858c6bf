#include "gossamer/actors/data_plane/session.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

void session::say_hello(memory_place memory) {
  GOSSAMER_ASSERT(phase_ == phase::apart, "a session has one connection at a time");
  ending_.reset();
  mine_.received = in_.received();
  mine_.memory = memory;
  out_.say(write(mine_));
}

void session::begin(memory_place offered) {
  say_hello(offered);
  heard_bytes_ = 0;
  phase_ = phase::greeting;
}

void session::answer(const hello& theirs, memory_place found) {
  say_hello(found);
  hear(theirs);
}

void session::hear(const hello& theirs) {
  phase_ = phase::open;
  shares_memory_ = mine_.memory.process != 0 && theirs.memory == mine_.memory;
  if (const auto o = objection(mine_, theirs))
    return refuse(o->code, o->sentence);
  try {
    out_.resume(theirs.received);
  } catch (const error& e) {
    // A hello may be old: it waited while a later connection was opened and lost again. The next will be better.
    refuse(refusal_code::not_here, fmt::format("node {} and node {} do not agree on what has arrived: {}", theirs.node,
                                               mine_.node, e.sentence()));
  }
}

void session::refuse(refusal_code code, std::string sentence) {
  const refusal why{code, std::move(sentence)};
  out_.say(write(why));
  ending_ = ending{why, code != refusal_code::not_here};
}

void session::lost() {
  phase_ = phase::apart;
  out_.lost();
  in_.lost();
}

std::span<std::byte> session::room() {
  return phase_ == phase::greeting ? std::span{heard_}.subspan(heard_bytes_) : in_.room();
}

void session::commit(std::size_t bytes) {
  if (phase_ == phase::greeting) {
    heard_bytes_ += bytes;
    if (heard_bytes_ < heard_.size())
      return;
    if (const auto theirs = read_hello(heard_))
      return hear(*theirs);
    return refuse(refusal_code::not_here, fmt::format("what answers in place of node {} is no node", mine_.meant_node));
  }
  try {
    in_.commit(bytes);
  } catch (const error& e) {
    return refuse(refusal_code::nonsense, fmt::format("node {} sent node {} what breaks the rules: {}",
                                                      mine_.meant_node, mine_.node, e.sentence()));
  }
  if (in_.refused())
    ending_ = ending{*in_.refused(), in_.refused()->code != refusal_code::not_here};
  else if (in_.must_acknowledge())
    acknowledge();
}

void session::acknowledge() {
  if (out_.has_control()) // a peer that does not read gets no further acknowledgements
    return;
  out_.say(acknowledgement_record(in_.received()));
  in_.acknowledge();
}

std::vector<std::byte> farewell(const hello& mine, const refusal& why) {
  const auto first = write(mine);
  const auto second = write(why);
  std::vector<std::byte> result(first.size() + second.size());
  std::ranges::copy(second, std::ranges::copy(first, result.begin()).out);
  return result;
}

} // namespace gossamer::actors
