#include "gossamer/actors/data_plane/detail/tls_stream.hpp"

#include "gossamer/actors/data_plane/tls/identity.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <openssl/sslerr.h>

namespace gossamer::actors::detail {

namespace {

constexpr std::size_t largest_record = 16 << 10;
constexpr std::size_t sealed_at_once = 64 << 10; // in one system call
constexpr std::size_t received_at_once = 64 << 10;
constexpr std::uint64_t bytes_of_a_key = 256 << 20; // far below the limit of a key

/// Takes bytes off the front of some pieces.
class piece_reader {
public:
  explicit piece_reader(stream::pieces what) : left_(what) { skip_empty(); }

  bool empty() const noexcept { return left_.empty(); }
  /// Returns at most one record. Copies bytes only where a piece does not fill a record.
  std::span<const std::byte> next(std::vector<std::byte>& gathered) {
    if (const auto whole = left_.front().subspan(begin_); whole.size() >= largest_record || left_.size() == 1) {
      const auto result = whole.first(std::min(whole.size(), largest_record));
      advance(result.size());
      return result;
    }
    gathered.clear();
    while (!empty() && gathered.size() < largest_record) {
      const auto piece = left_.front().subspan(begin_);
      const auto part = piece.first(std::min(piece.size(), largest_record - gathered.size()));
      gathered.insert(gathered.end(), part.begin(), part.end());
      advance(part.size());
    }
    return gathered;
  }

private:
  void advance(std::size_t bytes) {
    begin_ += bytes;
    skip_empty();
  }
  void skip_empty() {
    while (!left_.empty() && begin_ == left_.front().size()) {
      left_ = left_.subspan(1);
      begin_ = 0;
    }
  }

  stream::pieces left_;
  std::size_t begin_ = 0;
};

} // namespace

struct tls_stream::bio {
  static tls_stream& owner(BIO* b) { return *static_cast<tls_stream*>(BIO_get_data(b)); }

  static int write(BIO* b, const char* from, int size) noexcept {
    try {
      const std::span bytes{reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(size)};
      auto& to = owner(b).sealed_;
      to.insert(to.end(), bytes.begin(), bytes.end());
      return size;
    } catch (...) { // memory has ended
      return -1;
    }
  }
  static int read(BIO* b, char* to, int size) noexcept {
    BIO_clear_retry_flags(b);
    auto& whose = owner(b);
    const int got = whose.take({reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(size)});
    if (got < 0)
      BIO_set_retry_read(b);
    return got;
  }
  static long control(BIO*, int what, long, void*) noexcept { return what == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* method() {
    static const bio_method_ptr made = [] {
      bio_method_ptr m{BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "data plane")};
      require(m && BIO_meth_set_write(m.get(), write) == 1 && BIO_meth_set_read(m.get(), read) == 1
                  && BIO_meth_set_ctrl(m.get(), control) == 1,
              "prepare TLS");
      return m;
    }();
    return made.get();
  }
};

tls_stream::tls_stream(tcp::socket s, std::shared_ptr<const tls_identity> identity)
    : socket_stream(std::move(s)), identity_(std::move(identity)), received_(received_at_once),
      ssl_(SSL_new(identity_->context())) {
  bio_ptr b{BIO_new(bio::method())};
  require(ssl_ && b, "begin TLS");
  sealed_.reserve(sealed_at_once + 2 * largest_record);
  BIO_set_data(b.get(), this);
  BIO_set_init(b.get(), 1);
  SSL_set_bio(ssl_.get(), b.get(), b.get());
  static_cast<void>(b.release());
  SSL_set_accept_state(ssl_.get());
}

tls_stream::tls_stream(tcp::socket s, std::shared_ptr<const tls_identity> identity, const std::string& host)
    : tls_stream(std::move(s), std::move(identity)) {
  SSL_set_connect_state(ssl_.get());
  auto* const wanted = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(wanted, host.substr(0, host.find('%')).c_str()) == 1;
  require(is_address || X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1, "begin TLS");
  ERR_clear_error();
}

/// @returns 0 at the end of the connection, -1 while there are no bytes yet
int tls_stream::take(std::span<std::byte> to) noexcept {
  if (received_begin_ == received_end_ && !at_end_) {
    const auto got = receive_some(handle(), received_);
    received_begin_ = 0;
    received_end_ = got.bytes;
    at_end_ = got.gone;
    broken_ = broken_ || got.broken;
  }
  const auto now = std::min(to.size(), received_end_ - received_begin_);
  if (now > 0)
    std::memcpy(to.data(), received_.data() + received_begin_, now);
  received_begin_ += now;
  return now > 0 ? static_cast<int>(now) : at_end_ ? 0 : -1;
}

bool tls_stream::has_unread() noexcept {
  return gone_ || at_end_ || received_begin_ < received_end_ || SSL_pending(ssl_.get()) > 0;
}

bool tls_stream::is_established() const noexcept { return SSL_is_init_finished(ssl_.get()) == 1 && !gone_; }

bool tls_stream::shake_hands() {
  if (SSL_is_init_finished(ssl_.get()) == 1 || gone_)
    return !gone_;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1)
    look_at(result);
  return result == 1;
}

transfer tls_stream::read_some(std::span<std::byte> to) {
  transfer result;
  while (shake_hands() && result.bytes < to.size()) {
    constexpr std::size_t most = 1 << 30;
    const auto room = to.subspan(result.bytes, std::min(to.size() - result.bytes, most));
    ERR_clear_error();
    const int got = SSL_read(ssl_.get(), room.data(), static_cast<int>(room.size()));
    if (got <= 0) {
      look_at(got);
      break;
    }
    result.bytes += static_cast<std::size_t>(got);
  }
  flush(); // the consequences of the bytes read: the handshake, answers to new keys, and the reason of a failure
  result.gone = gone_ && result.bytes == 0;
  result.broken = result.gone && broken_;
  return result;
}

bool tls_stream::seal(std::span<const std::byte> record) {
  if (under_this_key_ >= bytes_of_a_key && SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
    under_this_key_ = 0;
  ERR_clear_error();
  const int sealed = SSL_write(ssl_.get(), record.data(), static_cast<int>(record.size()));
  if (sealed <= 0)
    look_at(sealed);
  under_this_key_ += record.size();
  return sealed > 0; // all of it, as the memory takes every byte
}

transfer tls_stream::write_some(pieces what) {
  transfer result;
  piece_reader from{what};
  flush();
  if (shake_hands())
    while (!from.empty() && sealed_.empty() && !gone_) {
      while (!from.empty() && sealed_.size() < sealed_at_once) {
        const auto record = from.next(record_);
        if (!seal(record))
          break;
        result.bytes += record.size();
      }
      flush();
    }
  else
    flush();
  result.gone = gone_;
  result.broken = gone_ && broken_;
  result.waits = !sealed_.empty();
  return result;
}

void tls_stream::flush() {
  while (sealed_begin_ < sealed_.size()) {
    const auto sent = send_some(handle(), std::array{std::span<const std::byte>{sealed_}.subspan(sealed_begin_)});
    has_spoken_ = has_spoken_ || sent.bytes > 0;
    broken_ = broken_ || sent.broken; // the system tells it once
    sealed_begin_ += sent.bytes;
    if (sent.gone) // bytes received before may still be read; their end reports the failure
      sealed_begin_ = sealed_.size();
    else if (sent.bytes == 0)
      return;
  }
  sealed_.clear();
  sealed_begin_ = 0;
}

void tls_stream::look_at(int result) {
  const int kind = SSL_get_error(ssl_.get(), result);
  if (kind == SSL_ERROR_WANT_READ || gone_)
    return;
  gone_ = true;
  trouble_ = reason();
  ERR_clear_error();
  if (!has_spoken_) // the peer does not speak TLS: strangers are told nothing
    sealed_.clear();
}

/// The fault of the connection, worded to follow the peer's name. A peer whose certificate this node refuses gets the
/// reason as an alert, and reports it in words of its own.
std::string tls_stream::reason() const {
  const bool agreed = SSL_is_init_finished(ssl_.get()) == 1;
  if (const auto code = SSL_get_verify_result(ssl_.get()); code != X509_V_OK)
    return "shows a certificate that " + objection_to(code);
  switch (ERR_GET_REASON(ERR_peek_error())) {
  case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
  case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    return "says that this node's certificate is not of its authority";
  case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    return "says that this node's certificate has expired";
  case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
  case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    return "refuses this node's certificate";
  case SSL_R_UNEXPECTED_EOF_WHILE_READING:
    return agreed ? "" : "closes connections without a word, as a node without certificates does";
  case SSL_R_WRONG_VERSION_NUMBER:
  case SSL_R_BAD_RECORD_TYPE:
  case SSL_R_HTTP_REQUEST:
    return agreed ? "sends what is no TLS" : "does not speak TLS, as a node without certificates";
  default:
    if (at_end_)
      return agreed ? "" : "closes connections without a word, as a node without certificates does";
    return ERR_peek_error() == 0 ? ""
                                 : std::string{"breaks the rules of TLS: "} + ERR_reason_error_string(ERR_peek_error());
  }
}

} // namespace gossamer::actors::detail
