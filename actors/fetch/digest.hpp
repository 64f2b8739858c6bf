#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st; // OpenSSL's

namespace gossamer::actors {

/// SHA-256 of some bytes.
struct digest {
  static constexpr std::size_t size = 32;
  std::array<char, size> bytes{};

  /// @returns `nullopt` unless the text has the length of a digest
  static std::optional<digest> from(std::string_view raw);
  std::string_view raw() const noexcept { return {bytes.data(), bytes.size()}; }
  /// 64 digits, as `sha256sum` writes them.
  std::string hex() const;

  friend auto operator<=>(const digest&, const digest&) = default;
};

/// Makes the digest of bytes that come in several parts.
class hasher {
public:
  hasher();
  void add(std::string_view bytes);
  /// Returns the digest of all added bytes. No bytes can be added after it.
  digest finish();

private:
  struct freed {
    void operator()(evp_md_ctx_st* state) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, freed> state_;
};

digest digest_of(std::string_view bytes);

} // namespace gossamer::actors
