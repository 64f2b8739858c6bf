#pragma once

#include "gossamer/base/error.hpp"

#include <memory>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace gossamer::actors::detail {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using bio_method_ptr = std::unique_ptr<BIO_METHOD, freed_by<BIO_meth_free>>;
using bignum_ptr = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;
using names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;
using store_ptr = std::unique_ptr<X509_STORE, freed_by<X509_STORE_free>>;
using verification_ptr = std::unique_ptr<X509_STORE_CTX, freed_by<X509_STORE_CTX_free>>;
using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;

/// Returns OpenSSL's text on its last failure, and clears the failure.
std::string last_problem();

/// @error errc::failed unless `well`; it fails only when memory ends or the library is broken
void require(bool well, const char* what);

/// @returns null if the text is no certificate, or no key, in PEM
certificate_ptr read_certificate(const std::string& pem);
key_ptr read_key(const std::string& pem);

/// The fault of a certificate, worded to follow its name: "has expired".
/// @param code of OpenSSL's verification
std::string objection_to(long code);

} // namespace gossamer::actors::detail
