# Finds xxHash as Debian and Ubuntu package it. Target: xxHash::xxhash.
find_path(xxHash_INCLUDE_DIR xxhash.h)
find_library(xxHash_LIBRARY xxhash)
mark_as_advanced(xxHash_INCLUDE_DIR xxHash_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash REQUIRED_VARS xxHash_LIBRARY xxHash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libxxhash-dev")

if(xxHash_FOUND AND NOT TARGET xxHash::xxhash)
  add_library(xxHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_LOCATION ${xxHash_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${xxHash_INCLUDE_DIR})
  # On x86 the package also has functions that choose the widest registers at run time, four times as fast.
  include(CheckCXXSymbolExists)
  include(CMakePushCheckState)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES xxHash::xxhash)
  check_cxx_symbol_exists(XXH3_64bits_update_dispatch xxh_x86dispatch.h xxHash_DISPATCHES)
  cmake_pop_check_state()
  if(xxHash_DISPATCHES)
    set_target_properties(xxHash::xxhash PROPERTIES INTERFACE_COMPILE_DEFINITIONS GOSSAMER_XXHASH_DISPATCHES)
  endif()
endif()
