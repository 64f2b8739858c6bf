# Installs find_package(gossamer): targets gossamer::base, topology, compress, compute, actors, and the command.
include(CMakePackageConfigHelpers)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/gossamer)
install(TARGETS gossamer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(EXPORT gossamerTargets NAMESPACE gossamer:: DESTINATION ${destination})
configure_package_config_file(cmake/gossamerConfig.cmake.in ${PROJECT_BINARY_DIR}/gossamerConfig.cmake
                              INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gossamerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gossamerConfig.cmake ${PROJECT_BINARY_DIR}/gossamerConfigVersion.cmake
              cmake/FindCAF.cmake cmake/Findasio.cmake cmake/Findlibdeflate.cmake cmake/Findlibzip.cmake cmake/Findmicrohttpd.cmake cmake/FindxxHash.cmake
              DESTINATION ${destination})
