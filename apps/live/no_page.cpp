// The live page of a build without the libraries that it is made of.
#include "gossamer/apps/detail/page_server.hpp"
#include "gossamer/base/error.hpp"

namespace gossamer::apps {

class page_server::impl {};

page_server::page_server(const settings&, std::shared_ptr<line_history>, page_orders) {
  throw error(errc::usage, "--live: this program was built without its live page",
              "install libmicrohttpd-dev and libjs-dygraphs, and build it again");
}
page_server::~page_server() = default;
std::string page_server::url() const { return {}; }

} // namespace gossamer::apps
