#include "gossamer/actors/hosting/checkpoint_writer.hpp"

#include "gossamer/actors/hosting/messages.hpp"

#include <set>

namespace gossamer::actors {

namespace {

/// Tells the owner why the system refuses, if it does.
template <class Write>
void attempt(const checkpoint_writer_setup& setup, std::uint64_t checkpoint, Write write) {
  try {
    write();
  } catch (...) {
    const auto why = describe(std::current_exception(), "the writer of checkpoints");
    caf::anon_send(setup.owner, part_not_saved{checkpoint, error{why.code, why.sentence, why.remedy}.what()});
  }
}

/// The last checkpoints that were given up: parts of them may come later.
class given_up {
public:
  void add(std::uint64_t checkpoint) {
    constexpr std::size_t most = 16; // under way at a time there are few
    numbers_.insert(checkpoint);
    if (numbers_.size() > most)
      numbers_.erase(numbers_.begin());
  }
  bool has(std::uint64_t checkpoint) const { return numbers_.contains(checkpoint); }

private:
  std::set<std::uint64_t> numbers_;
};

void give_up(given_up& all, const checkpoint_writer_setup& setup, std::uint64_t checkpoint) {
  all.add(checkpoint);
  if (setup.folder)
    setup.folder->discard(checkpoint);
}

/// As `attempt`, but removes the parts here before the owner is told, and writes its note where they took the room.
template <class Write>
void attempt_or_give_up(given_up& all, const checkpoint_writer_setup& setup, std::uint64_t checkpoint, Write write) {
  attempt(setup, checkpoint, [&] {
    try {
      write();
    } catch (...) {
      give_up(all, setup, checkpoint);
      throw;
    }
  });
}

caf::behavior checkpoint_writer(caf::stateful_actor<given_up>* self, const checkpoint_writer_setup& setup) {
  return {[self, setup](const saved_worker& part) {
            if (self->state.has(part.checkpoint))
              return;
            attempt_or_give_up(self->state, setup, part.checkpoint, [&] {
              const auto digest = setup.folder ? setup.folder->save(part, setup.workers) : 0;
              self->send(setup.owner, part_saved{part.who, part.incarnation, part.checkpoint,
                                                 part_account{digest, part.gradients, part.sent}});
            });
          },
          [self, setup](const manifest& m) {
            attempt_or_give_up(self->state, setup, m.checkpoint, [&] {
              if (setup.folder)
                setup.folder->complete(m);
              self->send(setup.owner, manifest_saved{m});
            });
          },
          [self, setup](const part_not_saved& m) { give_up(self->state, setup, m.checkpoint); },
          [setup](const checkpoint_complete& m) {
            if (setup.folder)
              attempt(setup, m.whole.checkpoint, [&] {
                setup.folder->complete(m.whole); // each machine has a manifest
                setup.folder->keep_newest(m.whole.checkpoint);
              });
          }};
}

} // namespace

caf::actor spawn_checkpoint_writer(caf::actor_system& system, checkpoint_writer_setup setup) {
  return setup.own_thread ? system.spawn<caf::detached>(checkpoint_writer, std::move(setup))
                          : system.spawn(checkpoint_writer, std::move(setup));
}

} // namespace gossamer::actors
