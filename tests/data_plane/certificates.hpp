#pragma once

#include "gossamer/actors/data_plane/tls/certificate_folder.hpp"
#include "gossamer/actors/data_plane/tls/identity.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

#include "support/scratch_folder.hpp"

namespace gossamer::actors::test {

using gossamer::test::scratch_folder;

inline void write_text(const std::filesystem::path& where, const std::string& text) {
  std::filesystem::create_directories(where.parent_path());
  std::ofstream(where, std::ios::binary) << text;
}

inline constexpr validity expired{.from = -std::chrono::hours(48), .until = -std::chrono::hours(24)};

/// Makes certificates of one authority.
class certificates {
public:
  std::shared_ptr<const tls_identity> identity(const std::string& host = "127.0.0.1", const validity& holds = {}) {
    return identity(make_member(authority_, host, holds), authority_.certificate);
  }
  /// Returns a certificate of another authority, together with this authority to check peers by.
  std::shared_ptr<const tls_identity> believer(const certificates& other) {
    return identity(make_member(other.authority_, "127.0.0.1"), authority_.certificate);
  }

private:
  std::shared_ptr<const tls_identity> identity(const key_pair& own, const std::string& authority) {
    const auto folder = std::filesystem::path(folder_.path()) / std::to_string(++count_);
    write_text(folder / node_certificate, own.certificate);
    write_text(folder / node_key, own.key);
    write_text(folder / authority_certificate, authority);
    return std::make_shared<const tls_identity>(folder);
  }

  scratch_folder folder_;
  key_pair authority_ = make_authority();
  int count_ = 0;
};

} // namespace gossamer::actors::test
