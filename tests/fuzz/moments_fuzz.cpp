// Any text is refused as the moments of a trace, or is read again as it was written. A launch can draw whatever a
// process tells of itself, beside what another one tells.
#include "gossamer/actors/hosting/merged_trace.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  fuzz::accepts({errc::bad_data}, [&] {
    const auto moments = actors::moments_from(fuzz::text_of(data, size));
    GOSSAMER_ASSERT(actors::moments_from(actors::to_text(moments)) == moments, "moments survive being written");
    const auto has_many_rows = [](const actors::trace_moment& m) {
      return m.what == actors::trace_moment::kind::begins && m.who > 100;
    };
    if (std::ranges::any_of(moments, has_many_rows))
      return; // each takes its time, as it may
    actors::merged_trace all;
    for (std::int64_t here_ns = 0; here_ns < 2; ++here_ns)
      all.add(all.open("node: ", 0), moments, here_ns);
    actors::run_picture picture;
    all.draw(picture);
  });
  return 0;
}
