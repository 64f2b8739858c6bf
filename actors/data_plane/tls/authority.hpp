#pragma once

#include <chrono>
#include <string>

namespace gossamer::actors {

/// A certificate and its private key, both in PEM.
struct key_pair {
  std::string certificate;
  std::string key;
};

/// Validity of a certificate, counted from now. It begins early, because clocks of machines differ.
struct validity {
  std::chrono::seconds from = -std::chrono::days(1);
  std::chrono::seconds until = std::chrono::days(365);
};

/// Makes a private authority: a holder of one of its certificates may take part in runs. Keys are on the curve P-256.
/// @error errc::failed if OpenSSL fails
key_pair make_authority(const validity& holds = {.until = std::chrono::days(3650)});

/// Makes a certificate of the authority for a host, to connect with and to accept connections with.
/// @param host a name, or an IPv4 or IPv6 address without brackets
/// @error errc::usage if it is neither, errc::bad_data if `authority` is no authority
key_pair make_member(const key_pair& authority, const std::string& host, const validity& holds = {});

/// @error errc::usage if it is neither a name nor an address
void require_host(const std::string& host);

} // namespace gossamer::actors
