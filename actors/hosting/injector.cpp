#include "gossamer/actors/hosting/injector.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

std::chrono::nanoseconds nanoseconds_of(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * s));
}

struct injector_state {
  caf::event_based_actor* self;
  std::shared_ptr<fault_board> board;
  std::size_t workers, workers_per_node;
  std::function<void(std::size_t, bool)> on_switch;
  caf::actor node;
  caf::actor_clock::time_point began;
  std::vector<std::size_t> waiting_for_steps;

  const fault& at(std::size_t index) const { return board->plan().faults[index]; }

  void start(const caf::actor& to) {
    node = to;
    began = self->clock().now();
    for (std::size_t k = 0; k < board->plan().faults.size(); ++k)
      if (at(k).at_step)
        waiting_for_steps.push_back(k);
      else
        self->delayed_send(self, nanoseconds_of(at(k).at_s), begin_fault{k});
  }

  void begin(std::size_t index) {
    const auto& f = at(index);
    const auto now = std::chrono::duration<double>(self->clock().now() - began).count();
    board->begin(index, f.lasts_s ? now + *f.lasts_s : fault_board::for_ever);
    tell(index, true);
    if (f.lasts_s)
      self->delayed_send(self, nanoseconds_of(*f.lasts_s), end_fault{index});
  }

  void end(std::size_t index) {
    board->end(index);
    tell(index, false);
  }

  void tell(std::size_t index, bool on) {
    if (on_switch)
      on_switch(index, on);
    self->send(node, run_event{(on ? "begins: " : "ends: ") + describe(at(index))});
    if (at(index).strikes_processes())
      return; // no node can do that to itself
    for (const auto i : named_workers(at(index), workers, workers_per_node))
      tell_about(i, at(index), on);
  }

  void tell_about(rank i, const fault& f, bool on) {
    if (f.kind == fault_kind::pause)
      self->send(node, pause_worker{i, on});
    else if (f.kind == fault_kind::kill && on)
      self->send(node, kill_worker{i, f.lasts_s.has_value()});
    else if (f.kind == fault_kind::kill)
      self->send(node, restart_worker{i});
    else if (f.kind == fault_kind::leave && on)
      self->send(node, retire_worker{i});
    else if (f.kind == fault_kind::leave || f.kind == fault_kind::join)
      self->send(node, restart_worker{i, true});
  }

  void on_step(const step_report& r) {
    std::erase_if(waiting_for_steps, [&](std::size_t k) {
      const auto named = named_workers(at(k), workers, workers_per_node);
      const bool due = r.step >= at(k).at_step && std::ranges::binary_search(named, r.source);
      if (due)
        begin(k);
      return due;
    });
  }
};

} // namespace

caf::behavior fault_injector(caf::event_based_actor* self, std::shared_ptr<fault_board> board, std::size_t workers,
                             std::size_t workers_per_node, std::function<void(std::size_t, bool)> on_switch) {
  auto state = std::make_shared<injector_state>(
      injector_state{self, std::move(board), workers, workers_per_node, std::move(on_switch), {}, {}, {}});
  return {
      [state](const start_faults& m) { state->start(m.node); },
      [state](const begin_fault& m) { state->begin(m.index); },
      [state](const end_fault& m) { state->end(m.index); },
      [state](const step_report& r) { state->on_step(r); },
  };
}

} // namespace gossamer::actors
