#include "gossamer/actors/node/interfaces.hpp"

#include <string>
#include <tuple>

namespace gossamer::actors {

void add_control_messages(caf::actor_system_config& config) {
  const auto add = [&]<class Message>(const named_message<Message>& one) {
    config.add_message_type<Message>(std::string{one.name});
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, plain_messages);
  add(named_message<greeting>{"gossamer::greeting"});
  add(named_message<node_ready>{"gossamer::node_ready"});
  add(named_message<cluster_plan>{"gossamer::cluster_plan"});
}

} // namespace gossamer::actors
