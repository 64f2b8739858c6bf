#include "gossamer/compute/cuda/detail/blas.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>
#include <dlfcn.h>

namespace gossamer::compute::cuda {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20; // NVIDIA's advice for Hopper; older GPUs need less

#define GOSSAMER_TEXT(name) #name
#define GOSSAMER_NAME_OF(function) GOSSAMER_TEXT(function) // the header has put the version into the name

/// The functions of cuBLAS that are used here, from the shared library. Loading takes a tenth of a second and more, so
/// it happens at the first use of a GPU: once, and the library is never unloaded.
class cublas_library {
public:
  static const cublas_library& get() {
    static const cublas_library once;
    return once;
  }

private:
  static constexpr auto file = "libcublas.so." GOSSAMER_NAME_OF(CUBLAS_VER_MAJOR);

  /// Loads the library from the loader's path, or else from the place of the toolkit at build time.
  static void* open() {
    void* found = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr)
      found = dlopen(fmt::format("{}/{}", GOSSAMER_CUDA_LIBRARIES, file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr)
      throw error(errc::device, fmt::format("cuBLAS cannot be loaded: {}", dlerror()),
                  fmt::format("install {} of the CUDA toolkit, or name its folder in LD_LIBRARY_PATH", file));
    return found;
  }

  template <class Function>
  Function* find(Function*, const char* name) const {
    auto* const found = reinterpret_cast<Function*>(dlsym(library_, name));
    if (found == nullptr)
      throw error(errc::device, fmt::format("{} has no {}", file, name), "install the CUDA toolkit anew");
    return found;
  }

  void* library_ = open();

public:
#define GOSSAMER_CUBLAS(member, function)                                                                              \
  decltype(&function) member = find(static_cast<decltype(&function)>(nullptr), GOSSAMER_NAME_OF(function))
  GOSSAMER_CUBLAS(create, cublasCreate);
  GOSSAMER_CUBLAS(destroy, cublasDestroy);
  GOSSAMER_CUBLAS(set_stream, cublasSetStream);
  GOSSAMER_CUBLAS(set_workspace, cublasSetWorkspace);
  GOSSAMER_CUBLAS(set_math_mode, cublasSetMathMode);
  GOSSAMER_CUBLAS(set_atomics_mode, cublasSetAtomicsMode);
  GOSSAMER_CUBLAS(sgemm, cublasSgemm);
  GOSSAMER_CUBLAS(status_string, cublasGetStatusString);
#undef GOSSAMER_CUBLAS
};

void check(cublasStatus_t status, std::string_view doing) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw error(errc::device,
                fmt::format("cuBLAS failed while {}: {}", doing, cublas_library::get().status_string(status)),
                "see whether the GPU has memory left (nvidia-smi), and whether driver and toolkit fit");
}

cublasHandle_t native(void* handle) { return static_cast<cublasHandle_t>(handle); }
cublasOperation_t operation(transposed t) { return t == transposed::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }

} // namespace

blas::blas(const gossamer::cuda::stream& s) : workspace_(s, workspace_bytes) {
  s.make_present();
  const auto& library = cublas_library::get();
  cublasHandle_t made = nullptr;
  check(library.create(&made), "being started");
  handle_ = made;
  try {
    check(library.set_stream(made, static_cast<cudaStream_t>(s.native())), "being given its stream");
    // Set after the stream, because setting the stream resets the workspace.
    check(library.set_workspace(made, workspace_.data(), workspace_bytes), "being given its workspace");
    check(library.set_math_mode(made, CUBLAS_PEDANTIC_MATH), "choosing arithmetic");
    check(library.set_atomics_mode(made, CUBLAS_ATOMICS_NOT_ALLOWED), "forgoing atomics");
  } catch (...) {
    library.destroy(made);
    throw;
  }
}

blas::blas(blas&& other) noexcept
    : workspace_(std::move(other.workspace_)), handle_(std::exchange(other.handle_, nullptr)) {}

blas::~blas() {
  if (handle_ != nullptr)
    cublas_library::get().destroy(native(handle_));
}

void blas::gemm(transposed a, transposed b, int m, int n, int k, const float* a_values, int lda, const float* b_values,
                int ldb, float beta, float* c_values, int ldc) const {
  const float one = 1;
  check(cublas_library::get().sgemm(native(handle_), operation(a), operation(b), m, n, k, &one, a_values, lda, b_values,
                                    ldb, &beta, c_values, ldc),
        fmt::format("multiplying {} x {} by {} x {}", m, k, k, n));
}

} // namespace gossamer::compute::cuda
