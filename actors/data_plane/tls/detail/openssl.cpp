#include "gossamer/actors/data_plane/tls/detail/openssl.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::actors::detail {

namespace {

bio_ptr reader_of(const std::string& text) {
  return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

/// Makes OpenSSL reject a key with a passphrase, which no user is there to type.
int no_passphrase(char*, int, int, void*) { return -1; }

} // namespace

std::string last_problem() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

void require(bool well, const char* what) {
  if (!well)
    throw error(errc::failed, fmt::format("OpenSSL cannot {}: {}", what, last_problem()));
}

certificate_ptr read_certificate(const std::string& pem) {
  const auto from = reader_of(pem);
  certificate_ptr result{PEM_read_bio_X509(from.get(), nullptr, no_passphrase, nullptr)};
  ERR_clear_error();
  return result;
}

key_ptr read_key(const std::string& pem) {
  const auto from = reader_of(pem);
  key_ptr result{PEM_read_bio_PrivateKey(from.get(), nullptr, no_passphrase, nullptr)};
  ERR_clear_error();
  return result;
}

std::string objection_to(long code) {
  switch (code) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return "has expired";
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return "is not valid yet: compare the clocks";
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return "is for another host";
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    return "is not of this authority";
  default:
    return fmt::format("is refused: {}", X509_verify_cert_error_string(code));
  }
}

} // namespace gossamer::actors::detail
