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
  std::string address;               ///< address for the other hosts; default: the name
  std::string user;                  ///< for ssh; empty: ssh's default
  std::optional<std::uint64_t> port; ///< for ssh; `nullopt`: ssh's default
  std::string through;               ///< instead of ssh: the words before a line for the shell there, a line each
  std::string binary;                ///< default: this program, for localhost; else its name
  std::string directory;   ///< working directory, where all relative paths begin; empty: where ssh begins, or this one
  std::string data_dir;    ///< where relative paths of files of data and model begin; empty: where all others begin
  std::string device;      ///< device of its workers; empty: the run's
  std::string certs;       ///< folder of its certificates there; empty: the same path as here
  std::string environment; ///< NAME=VALUE, a line each

  std::optional<double> seconds_per_sample; ///< time of a minibatch, as measured

  bool local() const { return name == "localhost" && through.empty(); }
  friend bool operator==(const host&, const host&) = default;
};

/// Reads `NAME:SLOTS,NAME,...`, or the file whose name ends in .toml: tables `[[host]]` with the keys above.
/// @error errc::usage with the place and what is allowed; errc::io
std::vector<host> read_hosts(const std::string& given);

/// Returns the lines of a table `[[host]]` that `read_hosts` reads back.
std::string to_text(const host& h);

/// Returns the address by which the other hosts reach it.
std::string address_of(const host& where);

/// Returns the program and its arguments that run `arguments` there: themselves, or ssh or its replacement with a line
/// for the shell.
std::vector<std::string> command_on(const host& where, const std::string& binary,
                                    const std::vector<std::string>& arguments);
/// The same for any program that is there.
std::vector<std::string> program_on(const host& where, const std::vector<std::string>& words);

} // namespace gossamer::apps
