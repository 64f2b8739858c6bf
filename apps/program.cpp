#include "gossamer/apps/detail/program.hpp"

namespace gossamer::apps {

program::program(std::string path, const embedding& with)
    : path_(std::move(path)), name_(path_.substr(path_.rfind('/') + 1)),
      algorithms_(joined(actors::algorithms(), with.own.algorithms)),
      codecs_(joined(compress::codecs(), with.own.codecs)),
      topologies_(joined(topology::topologies(), with.own.topologies)),
      models_(joined(compute::models(), with.own.models)), data_(joined(compute::data_sources(), with.own.data)),
      optimisers_(joined(compute::optimisers(), with.own.optimisers)), on_folder_(with.on_folder),
      has_results_(with.has_results) {}

} // namespace gossamer::apps
