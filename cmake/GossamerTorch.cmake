# Where LibTorch comes from: the folder GOSSAMER_TORCH_DIR, that of a wheel of PyTorch or of an unpacked libtorch.zip,
# else what find_package finds, such as Debian's. `torch` is the target that code on LibTorch links, and Torch_FOUND
# says whether there is one.

# gossamer_check_torch(DIR): ends with one sentence when code of this build cannot be linked with this LibTorch.
function(gossamer_check_torch dir)
  foreach(file IN ITEMS include/torch/csrc/api/include/torch/version.h lib/libtorch_cpu.so lib/libc10.so)
    if(NOT EXISTS ${dir}/${file})
      message(FATAL_ERROR "GOSSAMER_TORCH_DIR is '${dir}', which has no ${file}: "
        "python3 -c 'import torch; print(torch.__path__[0])' prints the folder of a PyTorch")
    endif()
  endforeach()
  # std::string passes between gossamer and code on LibTorch, so both must have the same one.
  file(STRINGS ${dir}/lib/libc10.so constructors REGEX "^_ZN3c105ErrorC[12]E")
  if(NOT constructors MATCHES "__cxx11")
    message(FATAL_ERROR "GOSSAMER_TORCH_DIR is '${dir}', a LibTorch with the old C++ ABI of g++ 4, which cannot be "
      "linked: take a wheel of PyTorch 2.7 or later, or an older libtorch with 'cxx11-abi' in its name")
  endif()
endfunction()

# gossamer_torch_version(DIR RESULT): e.g. 2.9
function(gossamer_torch_version dir result)
  set(defines)
  foreach(file IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS ${dir}/include/${file})
      file(STRINGS ${dir}/include/${file} lines REGEX "define TORCH_VERSION_M(AJOR|INOR) +[0-9]+")
      list(APPEND defines ${lines})
    endif()
  endforeach()
  string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2" version "${defines}")
  set(${result} ${version} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  return() # a test of the functions
endif()

option(GOSSAMER_TORCH "Require LibTorch; otherwise its models are left out where it is missing" OFF)
set(GOSSAMER_TORCH_DIR "" CACHE PATH "Folder of a PyTorch or LibTorch, with include and lib, instead of the system's")

if(GOSSAMER_TORCH_DIR)
  gossamer_check_torch(${GOSSAMER_TORCH_DIR})
  gossamer_torch_version(${GOSSAMER_TORCH_DIR} version)
  message(STATUS "LibTorch ${version} in ${GOSSAMER_TORCH_DIR}")
  # Its own package asks for the CUDA toolkit that it was built with, which the processor's part does not need.
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch INTERFACE
    ${GOSSAMER_TORCH_DIR}/include ${GOSSAMER_TORCH_DIR}/include/torch/csrc/api/include)
  target_link_libraries(torch INTERFACE
    ${GOSSAMER_TORCH_DIR}/lib/libtorch_cpu.so ${GOSSAMER_TORCH_DIR}/lib/libc10.so)
  set(Torch_FOUND TRUE)
elseif(GOSSAMER_TORCH)
  find_package(Torch REQUIRED)
elseif(NOT GOSSAMER_SANITIZE)
  find_package(Torch QUIET)
endif()
if(TORCH_CXX_FLAGS MATCHES "USE_CXX11_ABI=0")
  message(FATAL_ERROR "${Torch_DIR} is a LibTorch with the old C++ ABI of g++ 4, which cannot be linked: "
    "set GOSSAMER_TORCH_DIR to the folder of a PyTorch 2.7 or later")
endif()
