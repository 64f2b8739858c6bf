// Any text is refused as a configuration, or has the same settings when it is written and read again.
#include "gossamer/apps/detail/options.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto written = [](std::string_view text) {
    apps::run_options options;
    apps::read_config(folder.write("config.toml", text), apps::simulate_options(), options);
    return apps::write_config("gossamer simulate", apps::simulate_options(), options);
  };
  fuzz::accepts({errc::usage}, [&] {
    const auto once = written(fuzz::text_of(data, size));
    GOSSAMER_ASSERT(written(once) == once, "settings survive being written");
  });
  return 0;
}
