# Finds the C++ Actor Framework as Debian and Ubuntu package it (0.17, without a CMake configuration of its own).
# Targets: CAF::core, CAF::io. Version: read from caf/config.hpp.
find_path(CAF_INCLUDE_DIR caf/all.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
find_library(CAF_IO_LIBRARY caf_io)
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY)

if(CAF_INCLUDE_DIR)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp version_line REGEX "#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${version_line}")
  math(EXPR major "${version} / 10000")
  math(EXPR minor "${version} / 100 % 100")
  math(EXPR patch "${version} % 100")
  set(CAF_VERSION ${major}.${minor}.${patch})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_CORE_LIBRARY CAF_IO_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION
  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libcaf-dev")

if(CAF_FOUND AND NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  add_library(CAF::core SHARED IMPORTED)
  set_target_properties(CAF::core PROPERTIES IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES Threads::Threads)
  add_library(CAF::io SHARED IMPORTED)
  set_target_properties(CAF::io PROPERTIES IMPORTED_LOCATION ${CAF_IO_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES CAF::core)
endif()
