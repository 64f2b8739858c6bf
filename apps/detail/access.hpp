#pragma once

#include "gossamer/apps/detail/kept_token.hpp"
#include "gossamer/apps/detail/node.hpp"

namespace gossamer::apps {

// The secret that lets a process take part in a run: certificates, or the run's token. The token comes by a variable of
// the environment or a file, and never in the words of a command, which every user of the machine may read.

inline constexpr const char* token_variable = "GOSSAMER_TOKEN";

/// Returns the token that the flags or the environment give; `nullopt` if they give none.
/// @error errc::usage when it is no token, or others can read its file; errc::io when that cannot be read
std::optional<actors::access_token> given_token(const node_options& node);

/// Returns the given token, or else a new one; `nullopt` with certificates and with `--no-token`.
/// @error as `given_token`; errc::usage when none is given to nodes that are all started alike
std::optional<actors::access_token> token_to_lead(const node_options& node);

/// Returns the credentials of a leader. @error as `token_to_lead`, and for certificates that do not hold
actors::credentials credentials_to_lead(const node_options& node);

/// Returns the credentials of a node that joins. The token is the given one, or the one that a process of this user
/// keeps for the run.
/// @param where HOST:PORT that is dialled @error as `given_token`; errc::usage when there is none
actors::credentials credentials_to_reach(const node_options& node, const std::string& where);

/// Keeps the token for this user's other programs. If it cannot be kept, a message says so and the run goes on.
/// @param address HOST:PORT where the run is reached
kept_token keep_for_visitors(const program& p, const std::optional<actors::access_token>& token,
                             const std::string& address);

/// Returns a line to paste into a terminal elsewhere. @param token token of this run, if it has one
std::string joining_line(const program& p, const node_options& node, const std::optional<actors::access_token>& token,
                         const std::string& leader);

} // namespace gossamer::apps
