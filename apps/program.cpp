#include "gossamer/apps/detail/program.hpp"

#include "gossamer/apps/detail/write_all.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace gossamer::apps {

program::program(std::string path, const embedding& with)
    : path_(std::move(path)), name_(path_.substr(path_.rfind('/') + 1)),
      algorithms_(joined(actors::algorithms(), with.own.algorithms)),
      codecs_(joined(compress::codecs(), with.own.codecs)),
      topologies_(joined(topology::topologies(), with.own.topologies)),
      models_(joined(compute::models(), with.own.models)), data_(joined(compute::data_sources(), with.own.data)),
      optimisers_(joined(compute::optimisers(), with.own.optimisers)), on_folder_(with.on_folder),
      has_results_(with.has_results) {
  check_entries(known_);
}

void program::say(const std::string& line) const { write_all(STDERR_FILENO, fmt::format("{}: {}\n", name_, line)); }

} // namespace gossamer::apps
