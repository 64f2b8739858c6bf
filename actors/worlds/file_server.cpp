#include "gossamer/actors/worlds/file_server.hpp"

#include "gossamer/actors/fetch/served_files.hpp"
#include "gossamer/actors/runtime/messages.hpp"

#include <caf/all.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gossamer::actors {

namespace {

/// Of those that have asked and are still connected: what all of them together are sent and have not read is bounded.
constexpr std::size_t most_peers = 256;

static_assert(fetch_settings{}.window <= unreceived::most, "who asks for as much as it may is answered");

std::uint64_t drawn_receipt() {
  std::uint64_t drawn = 0;
  while (drawn == 0)
    if (getentropy(&drawn, sizeof drawn) != 0)
      throw error(errc::io, fmt::format("the system gives no random number: {}", std::strerror(errno)));
  return drawn;
}

class file_server_state {
public:
  void open(caf::event_based_actor* self, std::function<compute::data_files()> find) {
    self_ = self;
    files_.emplace(std::move(find));
    self_->set_down_handler([this](const caf::down_msg& m) { peers_.erase(m.source); });
  }

  /// The files are read when somebody asks for the first time, a little at a time: others are answered meanwhile, and
  /// the run may end.
  void tell_catalogue() {
    answer([this](const caf::actor& to) {
      if (std::exchange(sender().has_asked, true))
        throw error(errc::bad_packet, "it is asked more than once which files there are");
      waiting_.push_back(to);
      if (waiting_.size() == 1)
        self_->send(self_, tick{});
    });
  }
  void look_on() {
    try {
      if (const auto* all = files_->look_on())
        answer_waiting(*all);
      else
        self_->send(self_, tick{});
    } catch (const error& e) {
      answer_waiting(run_failed{e.code(), e.sentence(), e.remedy()});
    }
  }

  void send_piece(const piece_request& m) {
    answer([&](const caf::actor& to) {
      const auto receipt = drawn_receipt();
      if (!sender().pieces.admit(m.receipt, receipt))
        throw error(errc::bad_packet, fmt::format("more than {} pieces are asked for at a time", unreceived::most));
      self_->send(to, piece{m.what, receipt, files_->piece_of(m.what)});
    });
  }

private:
  struct peer {
    bool has_asked = false; // which files there are
    unreceived pieces;
  };

  /// Tells the sender why it gets no answer, if it gets none.
  template <class Act>
  void answer(const Act& act) {
    const auto to = caf::actor_cast<caf::actor>(self_->current_sender());
    if (!to)
      return;
    try {
      act(to);
    } catch (const error& e) {
      self_->send(to, run_failed{e.code(), e.sentence(), e.remedy()});
    }
  }

  template <class Message>
  void answer_waiting(const Message& m) {
    for (const auto& to : std::exchange(waiting_, {}))
      self_->send(to, m);
  }

  peer& sender() {
    const auto who = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    if (const auto found = peers_.find(who); found != peers_.end())
      return found->second;
    if (peers_.size() >= most_peers)
      throw error(errc::failed, fmt::format("{} nodes are fetching data already", peers_.size()), "try again later");
    self_->monitor(who);
    return peers_[who];
  }

  caf::event_based_actor* self_ = nullptr;
  std::optional<served_files> files_;
  std::vector<caf::actor> waiting_; // for the catalogue
  std::map<caf::actor_addr, peer> peers_;
};

caf::behavior file_server(caf::stateful_actor<file_server_state>* self, std::function<compute::data_files()> find) {
  auto& state = self->state;
  state.open(self, std::move(find));
  return files_interface::behaviour(std::tuple{
      [&state](const catalogue_request&) { state.tell_catalogue(); },
      [&state](const piece_request& m) { state.send_piece(m); },
      [&state](tick) { state.look_on(); },
  });
}

} // namespace

caf::actor spawn_file_server(caf::actor_system& system, std::function<compute::data_files()> find) {
  return system.spawn<caf::detached>(file_server, std::move(find));
}

void add_file_messages(caf::actor_system_config& config) {
  config.add_message_type<catalogue_request>("gossamer::catalogue_request")
      .add_message_type<file_catalogue>("gossamer::file_catalogue")
      .add_message_type<piece_request>("gossamer::piece_request")
      .add_message_type<piece>("gossamer::piece");
}

} // namespace gossamer::actors
