#include "gossamer/actors/data_plane/tls/identity.hpp"

#include "gossamer/actors/data_plane/tls/certificate_folder.hpp"
#include "gossamer/actors/data_plane/tls/detail/openssl.hpp"
#include "gossamer/actors/data_plane/tls/detail/pem_file.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <array>
#include <span>

namespace gossamer::actors {

using namespace detail;

namespace {

constexpr auto remedy = "gossamer certs makes such a folder for each host; give that of this host";

error damaged(const std::filesystem::path& where, const char* what) {
  return {errc::bad_data, fmt::format("{} {}", where.string(), what), remedy};
}

std::string text_of(const GENERAL_NAME& name) {
  int kind = 0;
  auto* const value = static_cast<ASN1_STRING*>(GENERAL_NAME_get0_value(&name, &kind));
  const std::span bytes{ASN1_STRING_get0_data(value), static_cast<std::size_t>(ASN1_STRING_length(value))};
  if (kind == GEN_DNS)
    return {bytes.begin(), bytes.end()};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (kind == GEN_IPADD && (bytes.size() == sizeof(in_addr) || bytes.size() == sizeof(in6_addr)))
    inet_ntop(bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::string first_name_of(X509* certificate) {
  const names_ptr names{
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  for (int k = 0; names && k < sk_GENERAL_NAME_num(names.get()); ++k)
    if (auto text = text_of(*sk_GENERAL_NAME_value(names.get(), k)); !text.empty())
      return text;
  return {};
}

} // namespace

struct tls_identity::parts {
  certificate_ptr own, authority;
  context_ptr context;
};

tls_identity::tls_identity(std::filesystem::path folder)
    : folder_(std::move(folder)), parts_(std::make_unique<parts>()) {
  parts_->own = read_certificate(read_pem(certificate_file()));
  if (!parts_->own)
    throw damaged(certificate_file(), "is no certificate");
  parts_->authority = read_certificate(read_pem(authority_file()));
  if (!parts_->authority)
    throw damaged(authority_file(), "is no certificate");
  const auto key = read_key(read_pem(key_file()));
  if (!key)
    throw damaged(key_file(), "is no private key without a passphrase");
  if (X509_check_private_key(parts_->own.get(), key.get()) != 1)
    throw damaged(key_file(), "is not the key of the certificate beside it");
  if (first_name_of(parts_->own.get()).empty())
    throw damaged(certificate_file(), "names neither a host nor an address");

  parts_->context.reset(SSL_CTX_new(TLS_method()));
  auto* const c = context();
  require(c && SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1
              && SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1
              && SSL_CTX_use_certificate(c, parts_->own.get()) == 1 && SSL_CTX_use_PrivateKey(c, key.get()) == 1
              && X509_STORE_add_cert(SSL_CTX_get_cert_store(c), parts_->authority.get()) == 1
              && SSL_CTX_set_num_tickets(c, 0) == 1,
          "prepare TLS");
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF); // connections are few and long
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

tls_identity::~tls_identity() = default;

std::string tls_identity::certificate_file() const { return (folder_ / node_certificate).string(); }
std::string tls_identity::key_file() const { return (folder_ / node_key).string(); }
std::string tls_identity::authority_file() const { return (folder_ / authority_certificate).string(); }

std::string tls_identity::name_for(const std::string& host) const {
  auto* const own = parts_->own.get();
  const bool fits =
      X509_check_ip_asc(own, host.c_str(), 0) == 1
      || X509_check_host(own, host.data(), host.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
  ERR_clear_error();
  return fits ? host : first_name_of(own);
}

void tls_identity::require_valid() const {
  const store_ptr believed{X509_STORE_new()};
  const verification_ptr check{X509_STORE_CTX_new()};
  require(believed && check && X509_STORE_add_cert(believed.get(), parts_->authority.get()) == 1
              && X509_STORE_CTX_init(check.get(), believed.get(), parts_->own.get(), nullptr) == 1,
          "check a certificate");
  if (X509_verify_cert(check.get()) != 1)
    throw error(errc::bad_data,
                fmt::format("{} {}", certificate_file(), objection_to(X509_STORE_CTX_get_error(check.get()))),
                "gossamer certs --overwrite makes a new one");
}

ssl_ctx_st* tls_identity::context() const noexcept { return parts_->context.get(); }

} // namespace gossamer::actors
