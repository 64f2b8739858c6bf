#include "gossamer/apps/detail/page_server.hpp"

#include "gossamer/apps/detail/metrics.hpp"
#include "gossamer/apps/detail/page_files.hpp"
#include "gossamer/apps/detail/sleepers.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <cstring>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <optional>
#include <thread>

namespace gossamer::apps {

namespace {

constexpr unsigned most_connections = 64;
constexpr std::size_t memory_of_connection = 32 * 1024;
constexpr unsigned longest_silence_s = 30;
constexpr int between_probes_s = 10, most_probes = 3;
constexpr std::size_t most_order_bytes = 64 * 1024;
constexpr std::size_t event_block_bytes = 64 * 1024;

/// Compares in a time that tells nothing about the secret.
bool is_secret(const char* given, const std::string& secret) {
  return given != nullptr && std::strlen(given) == secret.size()
         && CRYPTO_memcmp(given, secret.data(), secret.size()) == 0;
}

struct response_deleter {
  void operator()(MHD_Response* r) const { MHD_destroy_response(r); }
};
using response = std::unique_ptr<MHD_Response, response_deleter>;

response text_response(std::string_view text, const char* type) {
  response r{MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY)};
  MHD_add_response_header(r.get(), "Content-Type", type);
  return r;
}

void add_guards(MHD_Response* r) {
  MHD_add_response_header(r, "Content-Security-Policy",
                          "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
                          "frame-ancestors 'none'; style-src 'self' 'unsafe-inline'");
  MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(r, "Cache-Control", "no-store");
}

MHD_Result answer(MHD_Connection* to, unsigned status, const response& r) {
  add_guards(r.get());
  return MHD_queue_response(to, status, r.get());
}

MHD_Result refuse(MHD_Connection* to, unsigned status, std::string_view why) {
  return answer(to, status, text_response(fmt::format("{}\n", why), "text/plain; charset=utf-8"));
}

/// "[::1]" for the host ::1.
std::string in_url(const std::string& host) { return host.find(':') == std::string::npos ? host : '[' + host + ']'; }

/// The token in the header "Authorization: Bearer TOKEN"; null: none.
const char* bearer_of(MHD_Connection* from) {
  constexpr std::string_view scheme = "Bearer ";
  const auto* given = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Authorization");
  return given != nullptr && std::string_view{given}.starts_with(scheme) ? given + scheme.size() : nullptr;
}

/// Has the system probe silent clients of a listening socket: a host that has vanished closes nothing.
void probe_silent_clients(int listening) {
  const auto set = [listening](int level, int name, int value) {
    setsockopt(listening, level, name, &value, sizeof value); // accepted sockets inherit it
  };
  set(IPPROTO_TCP, TCP_KEEPIDLE, longest_silence_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, between_probes_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, most_probes);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

/// The body of an order, as it arrives.
struct upload {
  std::string body;
  bool too_long = false;
};

} // namespace

class page_server::impl {
public:
  impl(settings s, std::shared_ptr<line_history> lines, page_orders obeyed)
      : settings_(std::move(s)), lines_(std::move(lines)), orders_(std::move(obeyed)) {
    start();
    settings_.where.port = bound_port();
    cookie_ = fmt::format("gossamer_{}", settings_.where.port);
    lines_->on_news([all = sleepers_] { all->wake(); }); // `all` outlives this where a writer is just calling it
    looker_ = std::jthread{[all = sleepers_] { all->wake_deserted(); }};
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() { lines_->on_news({}); }

  std::string url() const {
    return fmt::format("{}://{}:{}/?token={}{}", settings_.key.empty() ? "http" : "https", in_url(settings_.where.host),
                       settings_.where.port, settings_.token,
                       !settings_.control.empty() ? "&control=" + settings_.control : "");
  }

private:
  /// A connection that gets the lines as they come.
  struct stream {
    stream(impl* s, MHD_Connection* c) : server(s), connection(c) { server->sleepers_->enter(); }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { server->sleepers_->leave(); }

    impl* server;
    MHD_Connection* connection;
    line_history::place at = {};
    std::string waiting = {}; // text that has been read and not been taken
    std::size_t taken = 0;
  };

  void start() {
    const auto& where = settings_.where;
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found))
      throw error(errc::usage, fmt::format("--live: there is no host '{}': {}", where.host, gai_strerror(failed)),
                  "give HOST:PORT with an address of this machine, or PORT alone");
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned{found, freeaddrinfo};
    // MHD_USE_AUTO_INTERNAL_THREAD is edge-triggered epoll, where libmicrohttpd 0.9.75 forgets after a short read that
    // there is more: half a request whose client has hung up would keep its slot until the silence is too long.
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (found->ai_family == AF_INET6)
      flags |= MHD_USE_IPv6;
    std::vector<MHD_OptionItem> tls;
    if (!settings_.key.empty()) {
      flags |= MHD_USE_TLS;
      tls.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, settings_.key.data()});
      tls.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, settings_.certificate.data()});
    }
    tls.push_back({MHD_OPTION_END, 0, nullptr});
    daemon_.reset(MHD_start_daemon(flags, 0, nullptr, nullptr, &impl::on_request, this, MHD_OPTION_SOCK_ADDR,
                                   found->ai_addr, MHD_OPTION_CONNECTION_LIMIT, most_connections,
                                   MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_of_connection,
                                   MHD_OPTION_CONNECTION_TIMEOUT, longest_silence_s, MHD_OPTION_NOTIFY_COMPLETED,
                                   &impl::on_completed, this, MHD_OPTION_ARRAY, tls.data(), MHD_OPTION_END));
    if (!daemon_)
      throw error(errc::usage,
                  fmt::format("--live: nothing can listen at {}: {}", to_string(where), std::strerror(errno)),
                  "give another port, or 0 for any free one");
    probe_silent_clients(MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_LISTEN_FD)->listen_fd);
  }

  std::uint16_t bound_port() const {
    const auto* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_BIND_PORT);
    return info != nullptr ? info->port : settings_.where.port;
  }

  // -- requests -------------------------------------------------------------------------------------------------------
  // No exception may cross the frames of libmicrohttpd: where nothing else is left to do, the connection is closed.

  static MHD_Result on_request(void* self, MHD_Connection* from, const char* url, const char* method, const char*,
                               const char* data, std::size_t* bytes, void** state) {
    try {
      return static_cast<impl*>(self)->hear(from, url, method, {data, std::exchange(*bytes, 0)}, state);
    } catch (...) {
      return MHD_NO;
    }
  }

  MHD_Result hear(MHD_Connection* from, std::string_view url, std::string_view method, std::string_view more,
                  void** state) {
    if (*state == nullptr) // called once more, when the headers are known
      return *state = new upload, MHD_YES;
    auto& body = *static_cast<upload*>(*state);
    if (!more.empty()) {
      body.too_long = body.too_long || body.body.size() + more.size() > most_order_bytes;
      if (!body.too_long)
        body.body += more;
      return MHD_YES;
    }
    try {
      return respond(from, url, method, body);
    } catch (const std::exception& e) {
      return refuse(from, MHD_HTTP_INTERNAL_SERVER_ERROR, e.what());
    }
  }

  static void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<upload*>(std::exchange(*state, nullptr));
  }

  MHD_Result respond(MHD_Connection* from, std::string_view url, std::string_view method, const upload& body) {
    const auto* token = MHD_lookup_connection_value(from, MHD_GET_ARGUMENT_KIND, "token");
    const auto* kept = MHD_lookup_connection_value(from, MHD_COOKIE_KIND, cookie_.c_str());
    if (!is_secret(token, settings_.token) && !is_secret(kept, settings_.token)
        && !is_secret(bearer_of(from), settings_.token))
      return refuse(from, MHD_HTTP_FORBIDDEN, "open the URL that gossamer has printed: it has the token of this run");
    if (method == "POST" && url == "/order")
      return obey(from, body);
    if (method != "GET")
      return refuse(from, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only");
    if (url == "/events")
      return stream_to(from);
    if (url == "/metrics")
      return answer(from, MHD_HTTP_OK, text_response(metrics_text(*lines_), metrics_type));
    if (token != nullptr && url == "/")
      return welcome(from);
    if (url == "/faults.toml" && orders_.plan)
      return answer(from, MHD_HTTP_OK, text_response(orders_.plan(), "application/toml"));
    const auto* file = page_file(url == "/" ? "/index.html" : url);
    return file == nullptr ? refuse(from, MHD_HTTP_NOT_FOUND, "there is no such page here")
                           : answer(from, MHD_HTTP_OK, text_response(file->text, file->type));
  }

  /// Moves the tokens from the URL into cookies, where no history and no bookmark has them.
  MHD_Result welcome(MHD_Connection* to) {
    const auto r = text_response("", "text/plain");
    const auto keep = [&](const std::string& name, const std::string& value) {
      const auto cookie = fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", name, value);
      MHD_add_response_header(r.get(), "Set-Cookie", cookie.c_str());
    };
    keep(cookie_, settings_.token);
    if (is_secret(MHD_lookup_connection_value(to, MHD_GET_ARGUMENT_KIND, "control"), settings_.control)
        && !settings_.control.empty())
      keep(cookie_ + "_control", settings_.control);
    MHD_add_response_header(r.get(), "Location", "/");
    return answer(to, MHD_HTTP_SEE_OTHER, r);
  }

  /// True if the request comes from a page of this server: browsers say so, and other sites cannot lie about it.
  bool is_own_page(MHD_Connection* from) const {
    const auto* origin = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Origin");
    const auto* host = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Host");
    return origin != nullptr && host != nullptr
           && fmt::format("{}://{}", settings_.key.empty() ? "http" : "https", host) == origin;
  }

  MHD_Result obey(MHD_Connection* from, const upload& body) {
    const auto name = cookie_ + "_control";
    const bool may = !settings_.control.empty()
                     && is_secret(MHD_lookup_connection_value(from, MHD_COOKIE_KIND, name.c_str()), settings_.control);
    if (!may || !orders_.obey)
      return refuse(from, MHD_HTTP_FORBIDDEN, "this page only looks on: --live-control gives it buttons");
    if (!is_own_page(from))
      return refuse(from, MHD_HTTP_FORBIDDEN, "orders come from the page itself");
    if (body.too_long)
      return refuse(from, MHD_HTTP_CONTENT_TOO_LARGE, "an order has at most 64 KiB");
    if (!is_utf8(body.body)) // orders go on as JSON, and come back in events
      return refuse(from, MHD_HTTP_BAD_REQUEST, "an order is text in UTF-8");
    try {
      return answer(from, MHD_HTTP_OK, text_response(orders_.obey(body.body), "text/plain; charset=utf-8"));
    } catch (const error& e) {
      return refuse(from, MHD_HTTP_BAD_REQUEST, e.what());
    }
  }

  // -- events ---------------------------------------------------------------------------------------------------------

  MHD_Result stream_to(MHD_Connection* to) {
    auto* state = new stream(this, to);
    const response r{MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, event_block_bytes, &impl::on_read, state,
                                                       [](void* s) { delete static_cast<stream*>(s); })};
    MHD_add_response_header(r.get(), "Content-Type", "text/event-stream");
    return answer(to, MHD_HTTP_OK, r);
  }

  static ssize_t on_read(void* state, std::uint64_t, char* into, std::size_t room) {
    try {
      return read(*static_cast<stream*>(state), into, room);
    } catch (...) {
      return MHD_CONTENT_READER_END_WITH_ERROR;
    }
  }

  static ssize_t read(stream& one, char* into, std::size_t room) {
    if (one.taken == one.waiting.size()) {
      const auto look = [&one] { return one.server->refill(one); };
      if (one.server->sleepers_->sleep_unless(one.connection, look))
        return 0;
    }
    if (one.waiting.empty())
      return MHD_CONTENT_READER_END_OF_STREAM; // the server ends, or the client has hung up
    const auto bytes = std::min(room, one.waiting.size() - one.taken);
    std::memcpy(into, one.waiting.data() + one.taken, bytes);
    one.taken += bytes;
    return static_cast<ssize_t>(bytes);
  }

  /// @returns whether there is something to send
  bool refill(stream& one) const {
    one.waiting.clear();
    one.taken = 0;
    for (const auto& line : lines_->read(one.at))
      one.waiting += fmt::format("data: {}\n\n", line);
    return !one.waiting.empty();
  }

  settings settings_;
  std::shared_ptr<line_history> lines_;
  page_orders orders_;
  std::string cookie_;
  std::shared_ptr<sleepers> sleepers_ = std::make_shared<sleepers>();
  std::jthread looker_;
  std::unique_ptr<MHD_Daemon, daemon_deleter> daemon_{nullptr, {sleepers_}}; // its thread uses all the others
};

page_server::page_server(const settings& s, std::shared_ptr<line_history> lines, page_orders obeyed)
    : impl_(std::make_unique<impl>(s, std::move(lines), std::move(obeyed))) {}

page_server::~page_server() = default;

std::string page_server::url() const { return impl_->url(); }

} // namespace gossamer::apps
