#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct ssl_ctx_st; // OpenSSL's SSL_CTX

namespace gossamer::actors {

/// A node's own certificate and the authority that it trusts: `node.crt`, `node.key` and `authority.crt` of a folder.
/// Both planes speak TLS with it: both ends of a connection show a certificate of the same authority.
/// Threads: safe.
class tls_identity {
public:
  /// @error errc::io if a file cannot be read; errc::bad_data if one is damaged, or key and certificate do not belong
  ///        together
  explicit tls_identity(std::filesystem::path folder);
  tls_identity(const tls_identity&) = delete;
  tls_identity& operator=(const tls_identity&) = delete;
  ~tls_identity();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::string certificate_file() const;
  std::string key_file() const;
  std::string authority_file() const;

  /// The host name for peers to connect to: they check that the certificate is for that name or address.
  /// @returns the host if the certificate is for it, else the first name of the certificate
  std::string name_for(const std::string& host) const;

  /// @error errc::bad_data if peers would refuse the certificate now: it has expired, or is not of the authority
  void require_valid() const;

  /// OpenSSL's context for TLS 1.3, on both sides of connections.
  ssl_ctx_st* context() const noexcept;

private:
  struct parts;
  std::filesystem::path folder_;
  std::unique_ptr<parts> parts_;
};

} // namespace gossamer::actors
