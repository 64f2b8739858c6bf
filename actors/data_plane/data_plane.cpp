#include "gossamer/actors/data_plane/data_plane.hpp"

#include "gossamer/actors/data_plane/detail/doorway.hpp"
#include "gossamer/actors/data_plane/detail/letter_box.hpp"
#include "gossamer/actors/data_plane/detail/patience.hpp"
#include "gossamer/actors/data_plane/detail/peer.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <csignal>
#include <thread>

namespace gossamer::actors {

using namespace std::chrono_literals;

namespace {

constexpr auto sleepless = 50us;

/// Blocks SIGPIPE in this thread: a write to a broken pipe reports the error itself.
void ignore_broken_pipes() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

/// A link to a worker of this process.
class near_link final : public link {
public:
  near_link(std::shared_ptr<const sink_table> sinks, life to)
      : sinks_(std::move(sinks)), to_(to), target_(sinks_->find(to_)) {}
  /// Threads: any. A delayed frame comes from another one.
  void send(frame f) override {
    if (const auto target = target_ ? target_ : sinks_->find(to_))
      (*target)(std::move(f));
  }

private:
  std::shared_ptr<const sink_table> sinks_;
  life to_;
  const sink_table::entry target_; ///< null if it was not there yet
};

/// A link to a worker of another process. The checksum, if one is needed, is made here, on the sender's thread.
class far_link final : public link {
public:
  far_link(std::shared_ptr<detail::letter_box> box, buffer_pool pool, std::uint64_t most_bytes, life to)
      : box_(std::move(box)), pool_(std::move(pool)), most_bytes_(most_bytes), to_(to) {}
  void send(frame f) override {
    if (f.wire_bytes() > most_bytes_)
      throw error(errc::failed,
                  fmt::format("a frame of rank {} to rank {} has {} bytes, more than the {} that nodes accept",
                              f.source, to_.who, f.wire_bytes(), most_bytes_));
    auto head = write_head(pool_, f, box_->guard_of(to_.who));
    box_->push(std::make_shared<const outgoing_frame>(
        outgoing_frame{f.source, to_, std::move(head), std::move(f.body.payload), std::move(f.on_the_way)}));
  }

private:
  std::shared_ptr<detail::letter_box> box_;
  buffer_pool pool_;
  std::uint64_t most_bytes_;
  life to_;
};

} // namespace

/// The part of a data plane that runs on its thread. Other threads use only the letter box and the table of sinks.
class data_plane::hub {
public:
  explicit hub(data_plane_setup s)
      : setup(checked(std::move(s))), arrivals_(*sinks, setup.most),
        door_(io_, setup.listen_on, setup.run, setup.patience,
              [this](auto socket) { return detail::accepting_stream(std::move(socket), setup.shows); }),
        end_(io_) {
    door_.open([this](auto bytes, const hello& h) { greeted(std::move(bytes), h); });
    thread_ = std::thread{[this] { run(); }};
  }
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;
  ~hub() { close(); }

  void close() {
    box->close();
    if (thread_.joinable())
      thread_.join();
  }

  endpoint listens_on() const { return door_.listens_on(); }

  const data_plane_setup setup;
  const std::shared_ptr<sink_table> sinks = std::make_shared<sink_table>();
  const std::shared_ptr<detail::letter_box> box =
      std::make_shared<detail::letter_box>([this] { asio::post(io_, [this] { read_letters(); }); });

private:
  static data_plane_setup checked(data_plane_setup s) {
    if (!s.complain)
      s.complain = [](std::uint32_t, const std::string&) {};
    return s;
  }

  void run() {
    ignore_broken_pipes();
    const auto companion = setup.on_thread ? setup.on_thread() : nullptr;
    const auto work = asio::make_work_guard(io_);
    while (!io_.stopped())
      guarded([this] {
        rings_.ask_for_calls();
        io_.run_one();
        look_again();
      });
  }

  /// Runs an action, and gives up all peers if it fails: no memory is left, or a sink has thrown for a waiting frame.
  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (const std::exception& e) {
      for (const auto& [_, p] : peers_)
        p->give_up(failure(e));
    }
  }

  refusal failure(const std::exception& e) const {
    return {refusal_code::nonsense, fmt::format("the data plane of node {} has failed: {}", setup.node, e.what())};
  }

  /// Polls for a while after a short frame: short frames seldom come alone, and waking a sleeping thread between them
  /// costs time. (While a long one is added up, the next is on its way.)
  void look_again() {
    using clock = asio::steady_timer::clock_type;
    for (auto since = clock::now(); arrivals_.last_was_short() && !io_.stopped() && clock::now() - since < sleepless;)
      if (rings_.look() + io_.poll() > 0)
        since = clock::now();
      else
        std::this_thread::yield();
  }

  void read_letters() {
    auto letters = box->take();
    guarded([&] { read(letters); });
    if (letters.close) // also then: whoever closes waits for the end of this thread
      close_connections();
  }

  void read(detail::letter_box::contents& letters) {
    if (letters.who)
      meet(*letters.who);
    for (const auto who : letters.attached)
      arrivals_.attached(who);
    for (auto& f : letters.frames)
      if (const auto home = homes_.find(f->to.who); home != homes_.end())
        home->second->push(std::move(f));
    if (letters.break_connections)
      for (const auto& [_, p] : peers_)
        p->break_connection();
    for (const auto& [_, p] : peers_)
      p->carry_on();
  }

  void meet(const detail::letter_box::nodes& who) {
    std::erase_if(peers_, [&](const auto& known) {
      const auto now = who.find(known.first);
      const bool is_over = now == who.end() || now->second.life != known.second->node_life();
      if (is_over) // the next life's first connection may be another kind
        box->guard(known.first, compress::guard::checksum);
      return is_over;
    });
    homes_.clear();
    for (const auto& [node, address] : who) {
      if (node == setup.node) {
        arrivals_.host({address.ranks.begin(), address.ranks.end()});
        continue;
      }
      if (const auto known = peers_.find(node); known != peers_.end())
        known->second->meet(address);
      else
        add(node, address);
      for (const auto r : address.ranks)
        homes_[r] = peers_.at(node).get();
    }
  }

  void add(std::uint32_t node, const node_address& address) {
    peers_.emplace(node, std::make_unique<detail::peer>(
                             detail::peer::surroundings{io_, setup, arrivals_, rings_, [this] { stop_if_settled(); },
                                                        [this, node](compress::guard by) { box->guard(node, by); }},
                             node, address));
  }

  void greeted(std::unique_ptr<detail::stream> bytes, const hello& h) {
    if (const auto known = peers_.find(h.node); known != peers_.end())
      try {
        return known->second->accept(std::move(bytes), h);
      } catch (const std::exception& e) {
        return known->second->give_up(failure(e));
      }
    const hello mine{.run = setup.run,
                     .fingerprint = setup.fingerprint,
                     .node = setup.node,
                     .life = setup.life,
                     .meant_node = h.node,
                     .meant_life = h.life};
    const auto words =
        farewell(mine, {refusal_code::not_here, fmt::format("node {} does not know node {}", setup.node, h.node)});
    bytes->write_some(std::array{std::span<const std::byte>{words}});
  }

  void close_connections() {
    closing_ = true;
    door_.close();
    end_.set(setup.longest_flush, [this] { io_.stop(); });
    for (const auto& [_, p] : peers_)
      p->finish();
    stop_if_settled();
  }

  void stop_if_settled() {
    if (closing_ && std::ranges::all_of(peers_, [](const auto& p) { return p.second->is_settled(); }))
      io_.stop();
  }

  asio::io_context io_{1};
  arrivals arrivals_;
  detail::doorway door_;
  detail::memory_watch rings_;
  std::map<std::uint32_t, std::unique_ptr<detail::peer>> peers_;
  std::map<rank, detail::peer*> homes_; ///< of workers on other nodes
  detail::alarm end_;
  bool closing_ = false;
  std::thread thread_;
};

data_plane::data_plane(data_plane_setup setup) : hub_(std::make_unique<hub>(std::move(setup))) {}
data_plane::~data_plane() = default;

void data_plane::close() { hub_->close(); }

endpoint data_plane::listens_on() const { return hub_->listens_on(); }

void data_plane::meet(std::map<std::uint32_t, node_address> nodes) { hub_->box->meet(std::move(nodes)); }

void data_plane::attach(life who, frame_sink sink) {
  hub_->sinks->attach(who, std::move(sink));
  hub_->box->attached(who.who);
}

std::unique_ptr<link> data_plane::link_to(rank, life to) {
  if (hub_->sinks->find(to) || hub_->box->home_of(to.who) == hub_->setup.node)
    return std::make_unique<near_link>(hub_->sinks, to);
  return std::make_unique<far_link>(hub_->box, hub_->setup.pool, hub_->setup.most.most_frame_bytes, to);
}

void data_plane::break_connections() { hub_->box->break_connections(); }

} // namespace gossamer::actors
