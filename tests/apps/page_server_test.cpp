// The live page's server, asked by plain sockets.
#include "gossamer/apps/detail/page_server.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include "data_plane/raw_connection.hpp"

namespace gossamer::apps {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* token = "0123456789abcdef";
constexpr const char* control = "fedcba9876543210";
constexpr std::size_t slots = 64; // for connections

/// A connection that gives up after 10 s of silence.
class connection {
public:
  explicit connection(std::uint16_t port) : raw_(port, std::chrono::seconds(10)) {}

  void send(std::string_view text) const { raw_.send_text(text); }
  /// Reads until the text has come, or the other end has closed.
  std::string read_until(std::string_view end) {
    for (auto piece = std::string{"x"}; read_.find(end) == std::string::npos && !piece.empty(); read_ += piece)
      piece = raw_.receive_text();
    return read_;
  }
  std::string read_all() { return read_until("(no server sends this)"); }

private:
  actors::test::raw_connection raw_;
  std::string read_;
};

class page_server_test : public testing::Test {
protected:
  void SetUp() override {
    try {
      server_.emplace(page_server::settings{.where = {"127.0.0.1", 0}, .token = token, .control = control}, lines_,
                      page_orders{.obey = [this](const std::string& body) { return heard_ = body, "done"; },
                                  .plan = [this] { return plan(); }});
    } catch (const error& e) {
      GTEST_SKIP() << e.what();
    }
    const auto url = server_->url();
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  std::string ask(const std::string& request) const {
    connection to{port_};
    to.send(request);
    return to.read_all();
  }
  std::string get(const std::string& path, const std::string& headers = {}) const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\nConnection: close\r\n"
               + headers + "\r\n");
  }
  std::string post(const std::string& body, const std::string& headers) const {
    return ask("POST /order HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)
               + "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n"
               + body);
  }
  /// True if the server answers, though no lines come that would show it which readers have gone.
  bool answers() const { return get("/page.js", "Cookie: " + cookie() + "\r\n").starts_with("HTTP/1.1 200"); }
  /// A connection that gets the lines as they come.
  std::unique_ptr<connection> reader() const {
    auto one = std::make_unique<connection>(port_);
    one->send("GET /events HTTP/1.1\r\nHost: x\r\nCookie: " + cookie() + "\r\n\r\n");
    return one;
  }
  std::string cookie() const { return "gossamer_" + std::to_string(port_) + "=" + token; }
  std::string all_cookies() const {
    return "Cookie: " + cookie() + "; gossamer_" + std::to_string(port_) + "_control=" + control + "\r\n";
  }
  std::string origin() const { return "Origin: http://127.0.0.1:" + std::to_string(port_) + "\r\n"; }

  std::shared_ptr<line_history> lines_ = std::make_shared<line_history>();
  std::string heard_;
  std::function<std::string()> plan = [] { return std::string{"live = true\n"}; };
  std::optional<page_server> server_;
  std::uint16_t port_ = 0;
};

TEST_F(page_server_test, asks_for_the_token_and_puts_it_into_a_cookie) {
  for (const char* path : {"/", "/page.js", "/events", "/faults.toml", "/?token=0123456789abcdeX", "/?token="})
    EXPECT_THAT(get(path), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("open the URL"))) << path;
  const auto welcome = get("/?token=" + std::string{token});
  EXPECT_THAT(welcome, AllOf(StartsWith("HTTP/1.1 303"), HasSubstr("Location: /\r\n"), HasSubstr(cookie()),
                             HasSubstr("HttpOnly; SameSite=Strict"), Not(HasSubstr(control))));
  EXPECT_THAT(get("/?token=" + std::string{token} + "&control=" + control), HasSubstr(control));
}

TEST_F(page_server_test, serves_its_own_files_and_forbids_the_browser_to_load_others) {
  for (const char* path : {"/", "/page.js", "/page.css", "/run.js", "/graph.js", "/curves.js", "/dygraph.js"})
    EXPECT_THAT(get(path, "Cookie: " + cookie() + "\r\n"),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("default-src 'self'"), HasSubstr("no-store")))
        << path;
  for (const char* path : {"/page.html", "/../etc/passwd", "/%2e%2e/etc/passwd", "/order"})
    EXPECT_THAT(get(path, "Cookie: " + cookie() + "\r\n"), StartsWith("HTTP/1.1 404")) << path;
}

TEST_F(page_server_test, sends_lines_as_they_come) {
  lines_->add("event-note", "first");
  const auto one = reader();
  EXPECT_THAT(one->read_until("first"), AllOf(HasSubstr("text/event-stream"), HasSubstr(R"(data: {"type":"begin"})")));
  for (int i = 0; i < 100; ++i) {
    const auto line = "line " + std::to_string(i) + ";";
    lines_->add("workers", line);
    EXPECT_THAT(one->read_until(line), HasSubstr("data: " + line + "\n\n"));
  }
  lines_->add("end", "last");
  server_.reset();
  EXPECT_THAT(one->read_all(), HasSubstr("data: last\n\n")) << "the last lines are sent before the server ends";
}

TEST_F(page_server_test, answers_prometheus) {
  lines_->add("evaluation", R"({"type":"evaluation","train_loss":0.5})");
  const auto is_answered = AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/plain; version=0.0.4"),
                                 HasSubstr("\ngossamer_train_loss 0.5\n"));
  const std::string secret = token;
  EXPECT_THAT(get("/metrics", "Authorization: Bearer " + secret + "\r\n"), is_answered);
  EXPECT_THAT(get("/metrics?token=" + secret), is_answered);
  EXPECT_THAT(get("/metrics", "Cookie: " + cookie() + "\r\n"), is_answered);
  for (const auto& wrong : {"Bearer " + secret + "x", std::string{"Bearer "}, secret, "Basic " + secret})
    EXPECT_THAT(get("/metrics", "Authorization: " + wrong + "\r\n"), StartsWith("HTTP/1.1 403")) << wrong;
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 403"));
}

TEST_F(page_server_test, takes_orders_from_its_own_page_alone) {
  EXPECT_THAT(post("kill", "Cookie: " + cookie() + "\r\n" + origin()), StartsWith("HTTP/1.1 403"))
      << "looking on is no control";
  EXPECT_THAT(post("kill", all_cookies()), StartsWith("HTTP/1.1 403")) << "no origin";
  EXPECT_THAT(post("kill", all_cookies() + "Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(heard_, "");
  EXPECT_THAT(post("kill", all_cookies() + origin()), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("done")));
  EXPECT_EQ(heard_, "kill");
  EXPECT_THAT(post(std::string(100'000, 'x'), all_cookies() + origin()), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(post("\xff", all_cookies() + origin()), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("text in UTF-8")));
  EXPECT_EQ(heard_, "kill") << "as JSON, in which it goes on to a leader, nothing else can be written";
  EXPECT_THAT(get("/faults.toml", "Cookie: " + cookie() + "\r\n"), HasSubstr("live = true"));
}

TEST_F(page_server_test, closes_a_connection_rather_than_let_an_exception_out) {
  const auto asks = [this] { return get("/faults.toml", "Cookie: " + cookie() + "\r\n"); };
  plan = []() -> std::string { throw std::runtime_error("there is no plan"); };
  EXPECT_THAT(asks(), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("there is no plan")));
  plan = []() -> std::string { throw 1; };
  EXPECT_EQ(asks(), "");
  EXPECT_TRUE(answers());
}

/// KiB of memory of this process.
long resident() {
  long pages = 0, ignored = 0;
  std::ifstream{"/proc/self/statm"} >> ignored >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST_F(page_server_test, bounds_what_strangers_cost) {
  const auto before = resident();
  {
    connection talker{port_};
    std::string request = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    request.append(std::size_t{1} << 20, 'a');
    talker.send(request);
    EXPECT_THAT(talker.read_all(), AllOf(HasSubstr("HTTP/1.1 431"))) << "a header of 1 MB";
  }
  std::vector<std::unique_ptr<connection>> idle;
  for (int i = 0; i < 200; ++i)
    idle.push_back(reader());
  const std::string line(10'000, 'x');
  for (int i = 0; i < 1000; ++i) // none of them reads
    lines_->add("workers", line);
  EXPECT_LT(resident() - before, 64 * 1024);
  idle.clear();
  EXPECT_TRUE(answers());
}

TEST_F(page_server_test, forgets_readers_that_have_hung_up_while_no_lines_come) {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<connection>> all;
    for (std::size_t i = 0; i < slots; ++i) {
      all.push_back(reader());
      ASSERT_THAT(all.back()->read_until("begin"), HasSubstr("begin")) << "reader " << i << " of round " << round;
    }
  }
  EXPECT_TRUE(answers());
}

TEST_F(page_server_test, forgets_half_a_request_whose_client_has_hung_up) {
  for (std::size_t i = 0; i < 2 * slots; ++i)
    connection{port_}.send("GET / HTTP/1.1\r\nHost: x\r\n");
  EXPECT_TRUE(answers());
}

/// Returns the options SO_KEEPALIVE of the sockets of this process that are connected at this port.
std::vector<int> probes_at(std::uint16_t port) {
  std::vector<int> found;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int socket = std::stoi(file.path().filename());
    sockaddr_in here{}, there{};
    socklen_t size = sizeof here, size_there = sizeof there;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size) != 0 || ntohs(here.sin_port) != port
        || getpeername(socket, reinterpret_cast<sockaddr*>(&there), &size_there) != 0)
      continue;
    int is_on = 0;
    socklen_t size_of_option = sizeof is_on;
    getsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &is_on, &size_of_option);
    found.push_back(is_on);
  }
  return found;
}

TEST_F(page_server_test, has_the_system_ask_whether_the_host_of_a_silent_reader_is_there) {
  const auto one = reader();
  ASSERT_THAT(one->read_until("begin"), HasSubstr("begin"));
  EXPECT_THAT(probes_at(port_), ElementsAre(1));
}

TEST_F(page_server_test, answers_nonsense_or_closes) {
  for (const char* nonsense : {"", "\r\n\r\n", "GET", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01",
                               "PUT / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                               "POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"}) {
    connection talker{port_};
    talker.send(nonsense);
  }
  EXPECT_THAT(get("/", "Cookie: " + cookie() + "\r\n"), StartsWith("HTTP/1.1 200"));
}

/// Returns the request with a few places changed: bytes, pieces that are left out or come twice, words of HTTP.
std::string mutated(std::string request, std::mt19937& draw) {
  static constexpr std::array words{"\r\n",
                                    "\r\n\r\n",
                                    " ",
                                    "%00",
                                    "%",
                                    "?",
                                    "&token=",
                                    "Cookie: ;=;",
                                    "Content-Length: 7\r\n",
                                    "Transfer-Encoding: chunked\r\n",
                                    "Expect: 100-continue\r\n",
                                    "Connection: Upgrade\r\n",
                                    "HTTP/1.0",
                                    "fffffffffffffffff\r\n",
                                    "0\r\n\r\n"};
  const auto below = [&draw](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>{0, bound - 1}(draw);
  };
  for (auto changes = 1 + below(6); changes > 0; --changes) {
    const auto at = below(request.size() + 1);
    const auto piece = request.substr(at, below(40));
    switch (below(5)) {
    case 0:
      request.insert(at, 1, static_cast<char>(below(256)));
      break;
    case 1:
      request.erase(at, piece.size());
      break;
    case 2:
      request.insert(below(request.size() + 1), piece);
      break;
    case 3:
      request.insert(at, words[below(words.size())]);
      break;
    default:
      if (at < request.size())
        request[at] = static_cast<char>(request[at] ^ (1 << below(8)));
    }
  }
  return request;
}

TEST_F(page_server_test, survives_requests_with_any_bytes_changed_and_obeys_none_without_the_secret) {
  const auto host = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
  const auto seen = "Cookie: " + cookie() + "\r\n";
  const std::array requests{
      "GET / HTTP/1.1\r\n" + host + seen + "\r\n",
      "GET /?token=" + std::string{token} + "&control=0 HTTP/1.1\r\n" + host + "\r\n",
      "GET /events HTTP/1.1\r\n" + host + seen + "\r\n",
      "GET /metrics HTTP/1.1\r\n" + host + "Authorization: Bearer " + token + "\r\n\r\n",
      "POST /order HTTP/1.1\r\n" + host + seen + origin() + "Content-Length: 4\r\n\r\nkill",
      "POST /order HTTP/1.1\r\n" + host + seen + origin() + "Transfer-Encoding: chunked\r\n\r\n4\r\nkill\r\n0\r\n\r\n",
  };
  std::mt19937 draw{1};
  for (int round = 0; round < 40; ++round) {
    for (int k = 0; k < 50; ++k)
      connection{port_}.send(mutated(requests[static_cast<std::size_t>(k) % requests.size()], draw));
    ASSERT_TRUE(answers()) << "round " << round;
  }
  EXPECT_EQ(heard_, "");
  server_.reset(); // its thread has heard nothing more
  EXPECT_EQ(heard_, "");
}

TEST(page_server, says_why_it_cannot_listen) {
  const auto lines = std::make_shared<line_history>();
  try {
    const page_server first{{.where = {"127.0.0.1", 0}, .token = token}, lines};
    const auto url = first.url();
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    EXPECT_THROW((page_server{{.where = {"127.0.0.1", port}, .token = token}, lines}), error);
  } catch (const error& e) {
    GTEST_SKIP() << e.what();
  }
  EXPECT_THROW((page_server{{.where = {"no.such.host.invalid", 0}, .token = token}, lines}), error);
}

} // namespace
} // namespace gossamer::apps
