#include "gossamer/actors/node/file_server.hpp"

#include "gossamer/actors/fetch/served_files.hpp"
#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/node/interfaces.hpp"
#include "gossamer/base/entropy.hpp"

#include <caf/all.hpp>
#include <fmt/format.h>

namespace gossamer::actors {

namespace {

/// Limit of connected peers that have asked: it bounds the data that has been sent to all of them together, and not
/// read.
constexpr std::size_t most_peers = 256;

static_assert(fetch_settings{}.window <= unreceived::most, "who asks for as much as it may is answered");

std::uint64_t drawn_receipt() {
  std::uint64_t drawn = 0;
  while (drawn == 0)
    drawn = secret_number();
  return drawn;
}

/// Orders of the server to its reader for a peer that has asked, and the answer to that peer.
struct catalogue_wanted {
  caf::actor by;
};
struct piece_wanted {
  caf::actor by;
  piece_id what;
  std::uint64_t receipt = 0;
};
struct found {
  caf::actor by;
  caf::message what;
};
template <class Inspector>
decltype(auto) inspect(Inspector& f, catalogue_wanted& m) {
  return f(m.by);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, piece_wanted& m) {
  return f(m.by, m.what, m.receipt);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, found& m) {
  return f(m.by, m.what);
}

class file_reader_state {
public:
  void open(caf::event_based_actor* self, const caf::actor_addr& server, std::function<compute::data_files()> find) {
    self_ = self;
    server_ = server;
    files_.emplace(std::move(find));
  }

  /// Reads the files when a peer asks for the first time, a little at a time: others are answered meanwhile, and the
  /// run may end.
  void tell_catalogue(const catalogue_wanted& m) {
    waiting_.push_back(m.by);
    if (waiting_.size() == 1)
      self_->send(self_, tick{});
  }
  void look_on() {
    try {
      if (const auto* all = files_->look_on())
        answer_waiting(*all);
      else
        self_->send(self_, tick{});
    } catch (const error& e) {
      answer_waiting(no_files{e.sentence()});
    }
  }

  void read_piece(const piece_wanted& m) {
    try {
      answer(m.by, piece{m.what, m.receipt, files_->piece_of(m.what)});
    } catch (const error& e) {
      answer(m.by, no_files{e.sentence()});
    }
  }

private:
  template <class Message>
  void answer(const caf::actor& to, const Message& m) {
    self_->send(caf::actor_cast<caf::actor>(server_), found{to, caf::make_message(m)});
  }
  template <class Message>
  void answer_waiting(const Message& m) {
    for (const auto& to : std::exchange(waiting_, {}))
      answer(to, m);
  }

  caf::event_based_actor* self_ = nullptr;
  caf::actor_addr server_; // the owner of this reader
  std::optional<served_files> files_;
  std::vector<caf::actor> waiting_; // peers that wait for the catalogue
};

caf::behavior file_reader(caf::stateful_actor<file_reader_state>* self, const caf::actor_addr& server,
                          std::function<compute::data_files()> find) {
  auto& state = self->state;
  state.open(self, server, std::move(find));
  return {
      [&state](const catalogue_wanted& m) { state.tell_catalogue(m); },
      [&state](const piece_wanted& m) { state.read_piece(m); },
      [&state](tick) { state.look_on(); },
  };
}

/// Reading needs a thread of its own, but only this process may know the actor that has one. CAF 0.17 tells its broker
/// of the end of every actor that other nodes know. A broker that has ended keeps that message, which holds the actor,
/// and the end of the actor system would wait for that actor (`abstract_broker::cleanup` closes no mailbox).
class file_server_state {
public:
  void open(caf::event_based_actor* self, std::function<compute::data_files()> find) {
    self_ = self;
    reader_ = self_->spawn<caf::linked + caf::detached>(file_reader, self_->address(), std::move(find));
    self_->set_down_handler([this](const caf::down_msg& m) { peers_.erase(m.source); });
    self_->set_error_handler([](caf::scheduled_actor*, caf::error&) {}); // any process may send one
  }

  void tell_catalogue() {
    answer([this](const caf::actor& to) {
      if (std::exchange(sender().has_asked, true))
        throw error(errc::bad_packet, "it is asked more than once which files there are");
      self_->send(reader_, catalogue_wanted{to});
    });
  }

  void send_piece(const piece_request& m) {
    answer([&](const caf::actor& to) {
      const auto receipt = drawn_receipt();
      if (!sender().pieces.admit(m.receipt, receipt))
        throw error(errc::bad_packet, fmt::format("more than {} pieces are asked for at a time", unreceived::most));
      self_->send(reader_, piece_wanted{to, m.what, receipt});
    });
  }

  void hand_on(const found& m) { self_->send(m.by, m.what); }

private:
  struct peer {
    bool has_asked = false; // it has asked for the catalogue
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
      self_->send(to, no_files{e.sentence()});
    }
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
  caf::actor reader_;
  std::map<caf::actor_addr, peer> peers_;
};

caf::behavior file_server(caf::stateful_actor<file_server_state>* self, std::function<compute::data_files()> find) {
  auto& state = self->state;
  state.open(self, std::move(find));
  return files_interface::behaviour(std::tuple{
      [&state](const catalogue_request&) { state.tell_catalogue(); },
      [&state](const piece_request& m) { state.send_piece(m); },
      [&state](const found& m) { state.hand_on(m); },
  });
}

} // namespace

caf::actor spawn_file_server(caf::actor_system& system, std::function<compute::data_files()> find) {
  return system.spawn(file_server, std::move(find));
}

} // namespace gossamer::actors
