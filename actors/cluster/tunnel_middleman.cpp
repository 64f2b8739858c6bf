#include "gossamer/actors/cluster/tunnel_middleman.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"

#include <caf/io/middleman_actor_impl.hpp>
#include <caf/io/network/acceptor_impl.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/scribe_impl.hpp>
#include <caf/scoped_actor.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace gossamer::actors {

namespace {

using caf::io::network::default_multiplexer;

/// "Accepts" connections that are there already: their descriptors come as messages.
struct descriptors {
  static bool try_accept(int& result, int from) {
    int next = -1;
    if (recv(from, &next, sizeof next, MSG_DONTWAIT) == sizeof next)
      result = next;
    return true;
  }
};

/// CAF's own doorman, but for the origin of connections.
class tunnel_doorman final : public caf::io::doorman {
public:
  tunnel_doorman(default_multiplexer& backend, int exit, std::uint16_t port)
      : doorman(caf::io::network::accept_hdl_from_socket(exit)), acceptor_(backend, exit), port_(port) {}

  bool new_connection() override {
    if (detached())
      return false;
    auto& backend = acceptor_.backend();
    auto made = backend.new_scribe(acceptor_.accepted_socket());
    const auto connection = made->hdl();
    parent()->add_scribe(std::move(made));
    return doorman::new_connection(&backend, connection);
  }
  void graceful_shutdown() override {
    acceptor_.graceful_shutdown();
    detach(&acceptor_.backend(), false);
  }
  void launch() override { acceptor_.start(this); }
  std::string addr() const override { return {}; }
  std::uint16_t port() const override { return port_; }
  void add_to_loop() override { acceptor_.activate(this); }
  void remove_from_loop() override { acceptor_.passivate(); }

private:
  caf::io::network::acceptor_impl<descriptors> acceptor_;
  std::uint16_t port_;
};

/// CAF's own broker, which would keep an actor for each process that was ever connected: the one to ask for new actors
/// there, which no process does. A node that outlives many lives of others would hold more with each.
class tunnel_broker final : public caf::io::basp_broker {
public:
  using basp_broker::basp_broker;
  void learned_new_node_directly(const caf::node_id&, bool) override {}
  void learned_new_node_indirectly(const caf::node_id&) override {}
};

class tunnel_actor final : public caf::io::middleman_actor_impl {
public:
  tunnel_actor(caf::actor_config& config, caf::actor broker, tunnel* tunnel, int exit)
      : middleman_actor_impl(config, std::move(broker)), tunnel_(tunnel), exit_(exit) {}

protected:
  caf::expected<caf::io::scribe_ptr> connect(const std::string& host, std::uint16_t port) override {
    try {
      const int socket = tunnel_->connect({host, port});
      if (socket >= 0)
        return backend().new_scribe(socket);
      if (socket == tunnel::no_answer)
        return caf::make_error(caf::sec::request_timeout);
    } catch (const std::exception& e) { // this actor makes all later connections
      spdlog::warn(fmt::format("no connection to port {} of {}: {}", port, printable(host), e.what()));
    }
    return caf::make_error(caf::sec::cannot_connect_to_node);
  }
  /// The tunnel listens already.
  caf::expected<caf::io::doorman_ptr> open(std::uint16_t port, const char*, bool) override {
    return caf::io::doorman_ptr{caf::make_counted<tunnel_doorman>(backend(), exit_, port)};
  }

private:
  default_multiplexer& backend() { return dynamic_cast<default_multiplexer&>(system().middleman().backend()); }

  tunnel* tunnel_;
  int exit_;
};

} // namespace

tunnel_middleman::tunnel_middleman(caf::actor_system& system, tunnel& through) : system_(system), tunnel_(through) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw error(errc::io, fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  entrance_ = {new int{ends[0]}, [](const int* socket) {
                 close(*socket);
                 delete socket;
               }};
  exit_ = ends[1];
  actor_ = system.spawn<tunnel_actor, caf::hidden + caf::detached>(
      system.middleman().named_broker<tunnel_broker>(caf::atom("tunnel")), &tunnel_, exit_);
}

tunnel_middleman::~tunnel_middleman() {
  caf::scoped_actor self{system_, true};
  self->send_exit(actor_, caf::exit_reason::kill);
  self->wait_for(actor_);
  if (!published_)
    close(exit_);
}

endpoint tunnel_middleman::publish(const caf::actor& door, const endpoint& where) {
  auto found = tunnel_.listen(where, [entrance = entrance_](int socket) {
    if (socket == tunnel::no_connection)
      return spdlog::warn(
          "another process cannot be let in: too many files are open here; raise the limit (ulimit -n)");
    if (send(*entrance, &socket, sizeof socket, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof socket)
      close(socket);
  });
  caf::scoped_actor self{system_, true};
  self->request(actor_, caf::infinite, caf::publish_atom::value, found.port,
                caf::actor_cast<caf::strong_actor_ptr>(door), std::set<std::string>{}, std::string{}, false)
      .receive([this](std::uint16_t) { published_ = true; },
               [&](const caf::error& e) {
                 throw error(errc::io, fmt::format("cannot listen on {}: {}", to_string(found), system_.render(e)));
               });
  return found;
}

} // namespace gossamer::actors
