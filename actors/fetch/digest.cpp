#include "gossamer/actors/fetch/digest.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <openssl/evp.h>

namespace gossamer::actors {

namespace {

void require(int well) {
  if (well != 1)
    throw error(errc::failed, "OpenSSL cannot compute SHA-256", "this happens only when memory ends");
}

} // namespace

std::optional<digest> digest::from(std::string_view raw) {
  if (raw.size() != size)
    return std::nullopt;
  digest result;
  std::ranges::copy(raw, result.bytes.begin());
  return result;
}

std::string digest::hex() const {
  std::string result;
  for (const char byte : bytes)
    result += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return result;
}

void hasher::freed::operator()(evp_md_ctx_st* state) const noexcept { EVP_MD_CTX_free(state); }

hasher::hasher() : state_(EVP_MD_CTX_new()) {
  require(state_ ? EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) : 0);
}

void hasher::add(std::string_view bytes) { require(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size())); }

digest hasher::finish() {
  std::array<unsigned char, digest::size> bytes{};
  require(EVP_DigestFinal_ex(state_.get(), bytes.data(), nullptr));
  digest result;
  std::ranges::transform(bytes, result.bytes.begin(), [](unsigned char byte) { return static_cast<char>(byte); });
  return result;
}

digest digest_of(std::string_view bytes) {
  hasher all;
  all.add(bytes);
  return all.finish();
}

} // namespace gossamer::actors
