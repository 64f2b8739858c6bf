// Saves a delegate and reads it back. An archive acts as the inspector here, so each message is described only once.
#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/agreement/inspecting_archive.hpp"

namespace gossamer::actors::consensus {

void delegate::fields(archive& a) {
  inspecting_archive all{a};
  all(self_, own_, promised_, last_, accepted_, held_, stand_still_, leaves_, workers_);
  all(phase_, mine_, highest_term_, answers_, next_, agree_, as_wished_);
  all(seats_, declined_, wished_, stop_wished_, save_wished_, why_, now_s_, held_since_s_, said_s_, not_before_s_);
  has_members_ = nodes_with_members(last_);
}

} // namespace gossamer::actors::consensus
