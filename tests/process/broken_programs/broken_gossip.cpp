// A program whose algorithms have mistakes of a kind that real algorithms have. Each works as long as its messages come
// when its author expected them.
#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/apps/command.hpp"

#include <algorithm>
#include <array>

namespace {

using namespace gossamer;
using namespace gossamer::actors;

/// AD-PSGD that sets the model to the average instead of adding an exchange's change: gradients that come while the
/// answer is under way are halved on one side only.
class absolute_average final : public algorithm {
public:
  explicit absolute_average(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    w.serve(answer(w));
    w.spawn(ask(w));
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      learnt_.notify();
    }
    learning_ = false;
    learnt_.notify();
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_)(exchanges_); }

private:
  task<> ask(worker& w) {
    while (learning_) {
      const auto passive = w.neighbours();
      if (!w.active() || passive.empty() || exchanges_ >= t_) {
        co_await learnt_.wait();
        continue;
      }
      const auto peer = passive[exchanges_ % passive.size()];
      const auto number = exchanges_++;
      w.send(peer, {frame_kind::average_request, number}, w.encode(x_));
      const tag wanted{frame_kind::average_reply, number};
      const auto answer = co_await w.receive(peer, wanted);
      if (answer)
        average(w, peer, true, number, w.decode(answer->body));
    }
  }

  task<> answer(worker& w) {
    for (;;) {
      const auto request = co_await w.receive_any(frame_kind::average_request);
      w.send(request.source, {frame_kind::average_reply, request.label.step}, w.encode(x_));
      average(w, request.source, false, request.label.step, w.decode(request.body));
    }
  }

  void average(worker& w, rank peer, bool asked, std::uint64_t number, const vec& theirs) {
    const vec delta = 0.5f * (theirs - x_);
    x_ += delta;
    w.claim_opposite(peer, asked, number, delta);
  }

  vec x_;
  std::uint64_t t_ = 0, exchanges_ = 0;
  bool learning_ = true;
  signal learnt_;
};

/// D-PSGD that collects the models of its neighbours in a routine of its own.
class collecting_gossip final : public algorithm {
public:
  enum class mistake {
    wake_up,     ///< checks that all are there, sleeps, and only then waits to be woken
    double_count ///< keeps an early model for later, and also counts it at once
  };

  collecting_gossip(vec initial, mistake made) : x_(std::move(initial)), made_(made) {}

  task<> run(worker& w) override {
    w.serve(collect(w));
    for (; co_await w.next_step(t_); ++t_) {
      w.send_to_neighbours({frame_kind::model, t_}, w.encode(x_));
      auto gradient = w.start_gradient(x_, t_);
      bool complete = all_there(w);
      const vec g = co_await gradient;
      if (made_ != mistake::wake_up)
        complete = all_there(w);
      for (; !complete; complete = all_there(w)) {
        auto next = arrived_.wait();
        co_await next;
      }
      mix(w);
      w.update(x_, g, t_);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  task<> collect(worker& w) {
    for (;;) {
      const auto f = co_await w.receive_any(frame_kind::model);
      models_.push_back(f);
      if (made_ == mistake::double_count && f.label.step > t_)
        models_.push_back(f);
      arrived_.notify();
    }
  }

  bool all_there(worker& w) const {
    return std::ranges::all_of(w.neighbours(), [this](rank j) {
      return std::ranges::any_of(models_, [&](const frame& f) { return f.source == j && f.label.step == t_; });
    });
  }

  void mix(worker& w) {
    vec mixed = w.mixing(w.id()) * x_;
    for (const auto& f : models_)
      if (f.label.step == t_)
        mixed += w.mixing(f.source) * w.decode(f.body);
    std::erase_if(models_, [this](const frame& f) { return f.label.step <= t_; });
    w.claim_conserved("the sum of the models", t_, x_, mixed);
    x_ = std::move(mixed);
  }

  vec x_;
  std::uint64_t t_ = 0;
  mistake made_;
  std::vector<frame> models_;
  signal arrived_;
};

template <collecting_gossip::mistake made>
std::unique_ptr<algorithm> make_collecting(const algorithm_setup& s) {
  return std::make_unique<collecting_gossip>(s.initial, made);
}

const std::array own{
    algorithm_entry{.about = {.name = "broken-absolute-average", .summary = "sets the average instead of adding to it"},
                    .traits = {.exchange = exchange_pattern::bipartite, .synchronous = false},
                    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
                      return std::make_unique<absolute_average>(s.initial);
                    }},
    algorithm_entry{.about = {.name = "broken-wake-up", .summary = "may miss that it is woken"},
                    .traits = {.promises = {.most_exchanges_apart = 1}},
                    .make = make_collecting<collecting_gossip::mistake::wake_up>},
    algorithm_entry{.about = {.name = "broken-double-count", .summary = "counts early models twice"},
                    .traits = {.promises = {.most_exchanges_apart = 1}},
                    .make = make_collecting<collecting_gossip::mistake::double_count>},
};

} // namespace

int main(int argc, char** argv) { return gossamer::apps::run_command(argc, argv, own); }
