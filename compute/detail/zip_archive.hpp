#pragma once

#include <memory>
#include <zip.h>

namespace gossamer::compute::detail {

struct discard_archive {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};

/// An open archive; what has been added and not written is given up.
using archive_handle = std::unique_ptr<zip_t, discard_archive>;

} // namespace gossamer::compute::detail
