#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// A machine that takes part in a run.
struct host {
  std::string name = "localhost";    ///< as ssh calls it; localhost: this machine, without ssh
  std::size_t slots = 1;             ///< node processes, each with its share of the workers
  std::string address;               ///< where the others reach it; default: the name
  std::string user;                  ///< of ssh; empty: as ssh has it
  std::optional<std::uint64_t> port; ///< of ssh; nothing: as ssh has it
  std::string through;               ///< instead of ssh: the words before a line for the shell there, a line each
  std::string binary;                ///< default: this program, for localhost; else its name
  std::string directory;   ///< to work in: where all relative paths begin; empty: where ssh begins, or this one
  std::string data_dir;    ///< where relative paths of files of data and model begin; empty: as all others
  std::string device;      ///< of its workers; empty: as the run has it
  std::string certs;       ///< folder of its certificates there; empty: as it is called here
  std::string environment; ///< NAME=VALUE, a line each

  std::optional<double> seconds_per_sample; ///< of a minibatch, as it was measured

  bool local() const { return name == "localhost" && through.empty(); }
  friend bool operator==(const host&, const host&) = default;
};

/// Reads `NAME:SLOTS,NAME,...`, or the file whose name ends in .toml: tables `[[host]]` with the keys above.
/// @error errc::usage with the place and what is allowed; errc::io
std::vector<host> read_hosts(const std::string& given);

/// The lines of a table `[[host]]` that `read_hosts` reads back.
std::string to_text(const host& h);

/// Where the others reach it.
std::string address_of(const host& where);

/// The program and its arguments that run `arguments` there: themselves, or ssh, or what is used instead, and
/// a line for the shell.
std::vector<std::string> command_on(const host& where, const std::string& binary,
                                    const std::vector<std::string>& arguments);

/// For a POSIX shell to read back.
std::string shell_line(const std::vector<std::string>& words);

} // namespace gossamer::apps
