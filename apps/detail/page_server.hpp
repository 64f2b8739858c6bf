#pragma once

#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/apps/detail/line_history.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gossamer::apps {

/// The orders of a page with the control token; both functions are called in the server's thread.
struct page_orders {
  /// @param body of the request @returns what was done, for people @error `error` its text goes to the page
  std::function<std::string(const std::string& body)> obey = {};
  std::function<std::string()> plan = {}; ///< /faults.toml
};

/// Serves the live page of a run over HTTP, its lines as server-sent events, and its state for Prometheus (/metrics).
///
/// Every request needs the token: in the URL of the first one (`/?token=T`), which answers with a cookie, and as that
/// cookie from then on. Programs may send it as `Authorization: Bearer T`. Orders (POST) also need the control token,
/// and must come from the page itself (Origin). Nothing is loaded from elsewhere; the headers forbid it. Limits: 64
/// connections, 32 KiB of memory each, 64 KiB for the body of an order, 30 s of silence; further connections wait until
/// one of these ends. A reader of lines may be silent for ever; it loses its connection within a second of hanging up,
/// and a minute after its host has vanished.
///
/// One thread of its own serves all: a browser that does not read costs its connection, and nobody's time. A second one
/// looks for readers that have hung up.
class page_server {
public:
  struct settings {
    actors::endpoint where; ///< port 0: any free one
    std::string token;
    std::string control = {};               ///< token for orders; empty: none are taken
    std::string key = {}, certificate = {}; ///< PEM; empty: no TLS
  };
  /// @error errc::usage if the address cannot be listened at, or this build has no live page
  page_server(const settings& s, std::shared_ptr<line_history> lines, page_orders obeyed = {});
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;
  ~page_server();

  /// The URL for people, with its tokens.
  std::string url() const;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace gossamer::apps
