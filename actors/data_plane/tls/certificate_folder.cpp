#include "gossamer/actors/data_plane/tls/certificate_folder.hpp"

#include "gossamer/actors/data_plane/tls/detail/pem_file.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gossamer::actors {

namespace {

namespace fs = std::filesystem;

constexpr ::mode_t for_everybody = 0644, for_the_user = 0600;

error cannot_write(const fs::path& where, int reason) {
  return {errc::io, fmt::format("cannot write {}: {}", where.string(), std::strerror(reason)),
          "choose a folder that you may write to"};
}

/// Writes in one step, so that no process ever reads half a key, nor a key that is not protected yet.
void write_whole(const fs::path& where, const std::string& text, ::mode_t mode) {
  const auto beside = where.string() + ".new";
  unlink(beside.c_str());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0)
    throw cannot_write(where, errno);
  errno = ENOSPC; // the meaning of a short write
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<::ssize_t>(text.size()) && fsync(file) == 0;
  const int reason = errno;
  close(file);
  if (!written)
    throw cannot_write(where, reason);
  if (rename(beside.c_str(), where.c_str()) != 0)
    throw cannot_write(where, errno);
}

void make_folder(const fs::path& where) {
  std::error_code e;
  fs::create_directories(where, e);
  if (e)
    throw cannot_write(where, e.value());
}

bool is_there(const fs::path& where) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(where, ignored));
}

/// The authority of the folder, if it has one.
key_pair find_authority(const fs::path& folder) {
  const auto certificate = folder / authority_certificate, key = folder / authority_key;
  if (is_there(certificate) != is_there(key))
    throw error(errc::bad_data,
                fmt::format("{} is there, but {} is not", (is_there(key) ? key : certificate).string(),
                            (is_there(key) ? certificate : key).string()),
                "certificates are made where both are; give a new folder to make a new authority");
  return is_there(key) ? key_pair{detail::read_pem(certificate), detail::read_pem(key)} : key_pair{};
}

void check_hosts(const certificate_order& order) {
  if (order.hosts.empty())
    throw error(errc::usage, "there are no hosts to make certificates for", "name them: --hosts node-1,192.0.2.7");
  for (const auto& host : order.hosts) {
    require_host(host);
    for (const auto* file : {node_certificate, node_key})
      if (const auto there = order.folder / host / file; !order.overwrite && is_there(there))
        throw error(errc::usage, fmt::format("{} is there already", there.string()),
                    "leave that host out, or add --overwrite to give it a new pair");
  }
}

} // namespace

written_certificates write_certificates(const certificate_order& order) {
  check_hosts(order);
  written_certificates result;
  auto authority = find_authority(order.folder);
  result.new_authority = authority.key.empty();
  if (result.new_authority)
    authority = make_authority();
  const validity holds{.until = order.days};
  std::vector<key_pair> members;
  for (const auto& host : order.hosts)
    members.push_back(make_member(authority, host, holds));

  make_folder(order.folder);
  if (result.new_authority) {
    write_whole(order.folder / authority_key, authority.key, for_the_user);
    write_whole(order.folder / authority_certificate, authority.certificate, for_everybody);
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto folder = order.folder / order.hosts[k];
    make_folder(folder);
    write_whole(folder / node_key, members[k].key, for_the_user);
    write_whole(folder / node_certificate, members[k].certificate, for_everybody);
    write_whole(folder / authority_certificate, authority.certificate, for_everybody);
    result.folders.push_back(folder);
  }
  return result;
}

} // namespace gossamer::actors
