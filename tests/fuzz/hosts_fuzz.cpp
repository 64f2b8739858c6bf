// Any text is refused as a file of hosts, or names hosts that are the same when they are written and read again. The
// reader of simulations refuses the text, or does not, without a crash.
#include "gossamer/apps/detail/hosts.hpp"
#include "gossamer/topology/hosts_file.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto file = folder.write("hosts.toml", fuzz::text_of(data, size));
  fuzz::accepts({errc::usage}, [&] {
    const auto hosts = apps::read_hosts(file);
    std::string again;
    for (const auto& one : hosts)
      again += to_text(one);
    GOSSAMER_ASSERT(apps::read_hosts(folder.write("again.toml", again)) == hosts, "hosts survive being written");
  });
  fuzz::accepts({errc::usage}, [&] { topology::read_hosts_file(file); });
  return 0;
}
