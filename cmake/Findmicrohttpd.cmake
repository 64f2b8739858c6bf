# Finds GNU libmicrohttpd as Debian and Ubuntu package it. Target: microhttpd::microhttpd.
find_path(microhttpd_INCLUDE_DIR microhttpd.h)
find_library(microhttpd_LIBRARY microhttpd)
mark_as_advanced(microhttpd_INCLUDE_DIR microhttpd_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(microhttpd REQUIRED_VARS microhttpd_LIBRARY microhttpd_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libmicrohttpd-dev")

if(microhttpd_FOUND AND NOT TARGET microhttpd::microhttpd)
  add_library(microhttpd::microhttpd UNKNOWN IMPORTED)
  set_target_properties(microhttpd::microhttpd PROPERTIES IMPORTED_LOCATION ${microhttpd_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${microhttpd_INCLUDE_DIR})
endif()
