# Finds Asio without Boost as Debian and Ubuntu package it, which is headers only. Target: asio::asio.
find_path(asio_INCLUDE_DIR asio.hpp)
mark_as_advanced(asio_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(asio REQUIRED_VARS asio_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libasio-dev")

if(asio_FOUND AND NOT TARGET asio::asio)
  find_package(Threads REQUIRED)
  add_library(asio::asio INTERFACE IMPORTED)
  # Without the last definition, files disagree on the owner of memory if their include order differs.
  set_target_properties(asio::asio PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${asio_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "ASIO_STANDALONE;ASIO_NO_DEPRECATED;ASIO_DISABLE_STD_ALIGNED_ALLOC"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
