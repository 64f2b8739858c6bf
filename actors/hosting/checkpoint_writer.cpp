#include "gossamer/actors/hosting/checkpoint_writer.hpp"

#include "gossamer/actors/hosting/messages.hpp"

namespace gossamer::actors {

namespace {

/// Tells the owner why the system refuses, if it does.
template <class Write>
void attempt(const checkpoint_writer_setup& setup, std::uint64_t checkpoint, Write write) {
  try {
    write();
  } catch (const error& e) {
    caf::anon_send(setup.owner, part_not_saved{checkpoint, e.what()});
  }
}

caf::behavior checkpoint_writer(caf::event_based_actor* self, const checkpoint_writer_setup& setup) {
  return {[self, setup](const saved_worker& part) {
            attempt(setup, part.checkpoint, [&] {
              const auto digest = setup.folder ? setup.folder->save(part, setup.workers) : 0;
              self->send(setup.owner, part_saved{part.who, part.incarnation, part.checkpoint,
                                                 part_account{digest, part.gradients, part.sent}});
            });
          },
          [self, setup](const manifest& m) {
            attempt(setup, m.checkpoint, [&] {
              if (setup.folder)
                setup.folder->complete(m);
              self->send(setup.owner, manifest_saved{m});
            });
          },
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
