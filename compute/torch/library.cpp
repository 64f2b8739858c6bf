#include "gossamer/compute/torch/detail/library.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/compute/torch/detail/script_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace gossamer::compute::libtorch {

namespace {

namespace fs = std::filesystem;

constexpr auto file_name = "libgossamer_torch.so";
constexpr auto environment_variable = "GOSSAMER_TORCH";

std::vector<fs::path> places() {
  if (const char* given = std::getenv(environment_variable))
    return {given};
  std::error_code unknown;
  const auto program = fs::read_symlink("/proc/self/exe", unknown);
  return {program.parent_path() / ".." / GOSSAMER_LIBRARY_FOLDER / file_name,
          fs::path{GOSSAMER_BUILT_LIBRARIES} / file_name, fs::path{GOSSAMER_INSTALLED_LIBRARIES} / file_name};
}

struct opened {
  make_network make = nullptr;
  std::string problem = {};
};

opened open() {
  std::error_code unknown;
  for (const auto& path : places()) {
    if (!fs::exists(path, unknown))
      continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return {.problem = fmt::format("'{}' cannot be opened: {}", path.string(), dlerror())};
    const auto make = reinterpret_cast<make_network>(dlsym(library, make_network_name));
    if (make == nullptr)
      return {.problem = fmt::format("'{}' belongs to another version of gossamer", path.string())};
    return {.make = make};
  }
  if (const char* given = std::getenv(environment_variable))
    return {.problem = fmt::format("there is no '{}', which {} names", given, environment_variable)};
  return {.problem = "this gossamer was built without LibTorch"};
}

const opened& library() {
  static const opened once = open();
  return once;
}

} // namespace

bool is_there() { return library().make != nullptr; }

std::unique_ptr<network> open_network(const network_request& wanted) {
  if (!is_there())
    throw error(errc::usage, fmt::format("model '{}' needs LibTorch, and {}", wanted.kind, library().problem),
                "scripts/install_dependencies.sh --torch installs LibTorch on Debian; then build again");
  if (!wanted.file.empty()) {
    if (!file_exists(wanted.file))
      throw error(errc::io, fmt::format("there is no file '{}'", wanted.file),
                  "scripts/export_model.py writes one (docs/your-own-model.md)");
    require_torchscript(wanted.file);
  }
  std::unique_ptr<network> made;
  try {
    library().make(wanted, made);
  } catch (const std::runtime_error& e) {
    throw error(wanted.file.empty() ? errc::usage : errc::bad_data, e.what());
  }
  return made;
}

} // namespace gossamer::compute::libtorch
