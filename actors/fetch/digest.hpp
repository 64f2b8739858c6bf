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

  /// @returns nothing unless the text is as long as a digest
  static std::optional<digest> from(std::string_view raw);
  std::string_view raw() const noexcept { return {bytes.data(), bytes.size()}; }
  /// 64 digits, as `sha256sum` writes them.
  std::string hex() const;

  friend auto operator<=>(const digest&, const digest&) = default;
};

/// Makes a digest of bytes that come one after the other.
class hasher {
public:
  hasher();
  void add(std::string_view bytes);
  /// Of all that was added. Nothing can be added afterwards.
  digest finish();

private:
  struct freed {
    void operator()(evp_md_ctx_st* state) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, freed> state_;
};

digest digest_of(std::string_view bytes);

} // namespace gossamer::actors
