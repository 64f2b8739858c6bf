#include "gossamer/apps/detail/access.hpp"

#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gossamer::apps {

namespace {

constexpr std::string_view standard_input = "-";

std::string variable() {
  const char* value = std::getenv(token_variable);
  return value != nullptr ? value : "";
}

/// Reads byte by byte, because the bytes behind the line belong to other readers.
std::string first_line_of(int file) {
  std::string line;
  char byte = 0;
  while (line.size() <= actors::access_token::longest) {
    const auto count = read(file, &byte, 1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0 || byte == '\n')
      break;
    line += byte;
  }
  return line;
}

std::string read_private(const std::string& name) {
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    throw error(errc::io, fmt::format("cannot read the token in '{}': {}", name, std::strerror(errno)),
                "--token-file names a file that holds it");
  struct stat about {};
  const bool is_private = fstat(file, &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  auto line = is_private ? first_line_of(file) : "";
  close(file);
  if (!is_private)
    throw error(errc::usage, fmt::format("others can read the token in '{}'", name),
                fmt::format("take that from them: chmod 600 {}; and have another token, if they may have read it",
                            shell_word(name)));
  return line;
}

bool needs_token(const node_options& node) { return node.certs.empty() && !node.no_token; }

} // namespace

std::optional<actors::access_token> given_token(const node_options& node) {
  if (node.token_file == standard_input)
    return actors::access_token{first_line_of(STDIN_FILENO), "standard input"};
  if (!node.token_file.empty())
    return actors::access_token{read_private(node.token_file), fmt::format("'{}'", node.token_file)};
  if (const auto text = variable(); !text.empty())
    return actors::access_token{text, token_variable};
  return std::nullopt;
}

std::optional<actors::access_token> token_to_lead(const node_options& node) {
  if (!needs_token(node))
    return std::nullopt;
  if (auto given = given_token(node))
    return given;
  if (!node.rendezvous.empty())
    throw error(errc::usage, "nodes that are started alike have no token that all of them know",
                fmt::format("give all the same, e.g. with export {}=$(openssl rand -hex 16), or by --token-file; "
                            "--no-token lets everybody in",
                            token_variable));
  return actors::access_token::drawn();
}

actors::credentials credentials_to_lead(const node_options& node) { return {identity_of(node), token_to_lead(node)}; }

actors::credentials credentials_to_reach(const node_options& node, const std::string& where) {
  actors::credentials result{identity_of(node), std::nullopt};
  if (!needs_token(node))
    return result;
  result.token = given_token(node);
  for (const auto& door : split(where, ','))
    if (!result.token)
      result.token = find_token(door);
  if (!result.token)
    throw error(errc::usage,
                fmt::format("neither a token nor certificates are given for the run at {}{}", where,
                            may_find_tokens() ? "" : ", and neither XDG_STATE_HOME nor HOME says where to find some"),
                fmt::format("whoever leads the run prints the token, with the line to paste: give it in {} or by "
                            "--token-file; --no-token is for runs that have neither",
                            token_variable));
  return result;
}

kept_token keep_for_visitors(const program& p, const std::optional<actors::access_token>& token,
                             const std::string& address) {
  try {
    if (token)
      return {address, *token};
  } catch (const error& e) {
    p.say(e.what());
  }
  return {};
}

std::string joining_line(const program& p, const node_options& node, const std::optional<actors::access_token>& token,
                         const std::string& leader) {
  std::string line;
  if (token && node.token_file.empty()) // a shell sets the variable where no other user sees it
    line =
        fmt::format("{}={} ", token_variable, variable().empty() ? token->text() : fmt::format("${}", token_variable));
  line += fmt::format("{} node --join {}", p.name(), leader);
  if (!node.certs.empty())
    return line + " --certs DIR";
  if (node.insecure)
    line += " --insecure";
  if (node.no_token)
    line += " --no-token";
  else if (!node.token_file.empty())
    line += " --token-file FILE";
  return line;
}

} // namespace gossamer::apps
