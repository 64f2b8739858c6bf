#include "gossamer/actors/data_plane/tls/authority.hpp"

#include "gossamer/actors/data_plane/tls/detail/openssl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>

namespace gossamer::actors {

using namespace detail;

namespace {

constexpr std::size_t longest_name = 253;       // in the domain name system
constexpr std::size_t longest_label = 63;       // in the domain name system
constexpr std::size_t longest_common_name = 64; // in X.509

bool is_address(const std::string& host) {
  std::array<std::byte, sizeof(in6_addr)> ignored;
  return inet_pton(AF_INET, host.c_str(), ignored.data()) == 1
         || inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

bool is_label(std::string_view label) {
  const auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= longest_label && label.front() != '-'
         && std::ranges::all_of(label, may_stand);
}

bool is_name(std::string_view host) {
  if (host.size() > longest_name)
    return false;
  while (true) {
    const auto dot = host.find('.');
    if (!is_label(host.substr(0, dot)))
      return false;
    if (dot == std::string_view::npos)
      return true;
    host.remove_prefix(dot + 1);
  }
}

/// Draws the number, so that no two certificates of an authority can be taken for each other.
std::string set_serial(X509* certificate) {
  constexpr int bits = 128;
  const bignum_ptr number{BN_new()};
  require(number && BN_rand(number.get(), bits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1, "draw a number");
  require(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr, "number a certificate");
  const std::unique_ptr<char, freed_by<[](char* text) { OPENSSL_free(text); }>> text{BN_bn2hex(number.get())};
  require(text != nullptr, "number a certificate");
  return text.get();
}

void set_name(X509* certificate, const std::string& name) {
  const auto cut = name.substr(0, longest_common_name);
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(cut.data()), static_cast<int>(cut.size()),
                                     -1, 0)
              == 1,
          "name a certificate");
}

void add_extension(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX about;
  X509V3_set_ctx(&about, issuer, certificate, nullptr, nullptr, 0);
  const extension_ptr made{X509V3_EXT_conf_nid(nullptr, &about, what, value.c_str())};
  require(made && X509_add_ext(certificate, made.get(), -1) == 1, "extend a certificate");
}

key_ptr make_key() {
  key_ptr result{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
  require(result != nullptr, "make a key");
  return result;
}

certificate_ptr make_certificate(EVP_PKEY* key, const validity& holds) {
  certificate_ptr result{X509_new()};
  require(result && X509_set_version(result.get(), X509_VERSION_3) == 1 && X509_set_pubkey(result.get(), key) == 1
              && X509_gmtime_adj(X509_getm_notBefore(result.get()), holds.from.count()) != nullptr
              && X509_gmtime_adj(X509_getm_notAfter(result.get()), holds.until.count()) != nullptr,
          "make a certificate");
  return result;
}

void sign(X509* certificate, EVP_PKEY* with) {
  require(X509_sign(certificate, with, EVP_sha256()) > 0, "sign a certificate");
}

template <class Write>
std::string pem_of(Write write) {
  const bio_ptr to{BIO_new(BIO_s_mem())};
  require(to && write(to.get()) == 1, "write PEM");
  char* text = nullptr;
  const auto size = BIO_get_mem_data(to.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

key_pair pair_of(X509* certificate, EVP_PKEY* key) {
  return {pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); }),
          pem_of([&](BIO* to) { return PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); })};
}

} // namespace

void require_host(const std::string& host) {
  if (!is_address(host) && !is_name(host))
    throw error(errc::usage, fmt::format("'{}' is neither the name of a host nor an address", host),
                "write e.g. node-3, node-3.example.org, 192.0.2.7 or 2001:db8::7, without a port");
}

key_pair make_authority(const validity& holds) {
  const auto key = make_key();
  const auto made = make_certificate(key.get(), holds);
  auto* const c = made.get();
  const auto number = set_serial(c);
  set_name(c, "Gossamer authority " + number); // unique, since authorities are told apart by their names
  require(X509_set_issuer_name(c, X509_get_subject_name(c)) == 1, "name a certificate");
  add_extension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(c, c, NID_subject_key_identifier, "hash");
  sign(c, key.get());
  return pair_of(c, key.get());
}

key_pair make_member(const key_pair& authority, const std::string& host, const validity& holds) {
  require_host(host);
  const auto issuer = read_certificate(authority.certificate);
  const auto issuing_key = read_key(authority.key);
  if (!issuer || !issuing_key || X509_check_private_key(issuer.get(), issuing_key.get()) != 1
      || X509_check_ca(issuer.get()) != 1)
    throw error(errc::bad_data, "the authority's certificate and key are damaged, or do not belong together",
                "restore them, or make another authority in another folder");
  const auto key = make_key();
  const auto made = make_certificate(key.get(), holds);
  auto* const c = made.get();
  set_serial(c);
  set_name(c, host);
  require(X509_set_issuer_name(c, X509_get_subject_name(issuer.get())) == 1, "name a certificate");
  add_extension(c, issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(c, issuer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(c, issuer.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(c, issuer.get(), NID_subject_alt_name, (is_address(host) ? "IP:" : "DNS:") + host);
  add_extension(c, issuer.get(), NID_subject_key_identifier, "hash");
  add_extension(c, issuer.get(), NID_authority_key_identifier, "keyid");
  sign(c, issuing_key.get());
  return pair_of(c, key.get());
}

} // namespace gossamer::actors
