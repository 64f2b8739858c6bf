# Finds libzip as Debian and Ubuntu package it: its own CMake configuration insists on programs that are packages of
# their own. Target: libzip::zip.
find_path(libzip_INCLUDE_DIR zip.h)
find_library(libzip_LIBRARY zip)
mark_as_advanced(libzip_INCLUDE_DIR libzip_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libzip REQUIRED_VARS libzip_LIBRARY libzip_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libzip-dev")

if(libzip_FOUND AND NOT TARGET libzip::zip)
  add_library(libzip::zip UNKNOWN IMPORTED)
  set_target_properties(libzip::zip PROPERTIES IMPORTED_LOCATION ${libzip_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${libzip_INCLUDE_DIR})
endif()
