#include "gossamer/compute/torch/detail/script_file.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compute/detail/zip_archive.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <zip.h>

namespace gossamer::compute::libtorch {

namespace {

constexpr zip_int64_t most_entries = 1 << 20;

/// What the names of an archive tell.
struct contents {
  bool script = false, exported = false, inductor = false, saved = false;
};

contents look_into(zip_t* archive) {
  contents result;
  const auto entries = std::min(zip_get_num_entries(archive, 0), most_entries);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* given = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    std::string_view name = given == nullptr ? "" : given;
    result.exported |= name.ends_with("archive_format") || name.ends_with("serialized_exported_program.json");
    result.inductor |= name.find("data/aotinductor/") != std::string_view::npos;
    result.script |= name.ends_with("/constants.pkl");
    result.saved |= name.ends_with("/data.pkl");
  }
  return result;
}

/// torch.save before PyTorch 1.6, and on request: pickles one after the other, the first of a magic number.
bool is_pickle(const std::string& path) {
  std::array<char, 2> start{};
  std::ifstream{path, std::ios::binary}.read(start.data(), start.size());
  return start == std::array{'\x80', '\x02'};
}

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw error(errc::bad_data, fmt::format("'{}' {}", path, what),
              "give it what torch.jit.script(module).save(...) writes, as scripts/export_model.py does "
              "(docs/your-own-model.md)");
}

} // namespace

void require_torchscript(const std::string& path) {
  constexpr auto parameters_alone = "was written by torch.save, and holds no code to compute with";
  int ignored = 0;
  const detail::archive_handle archive{zip_open(path.c_str(), ZIP_RDONLY, &ignored)};
  if (!archive) {
    if (is_pickle(path))
      refuse(path, parameters_alone);
    return;
  }
  const auto found = look_into(archive.get());
  if (found.script)
    return;
  if (found.inductor)
    refuse(path, "is a package (.pt2) of AOTInductor: compiled code, which has no gradients to train with");
  if (found.exported)
    refuse(path, "is a package (.pt2) of torch.export, which no LibTorch trains");
  if (found.saved)
    refuse(path, parameters_alone);
}

} // namespace gossamer::compute::libtorch
