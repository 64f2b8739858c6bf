# Debian packages: `cpack` in the build folder, or scripts/packages.sh. The manual pages and completions come from the
# program itself; the target `manual` writes them.
set(manual ${PROJECT_BINARY_DIR}/manual)
set(CPACK_PACKAGE_CONTACT "Gossamer authors <noreply@gossamer.invalid>" CACHE STRING
    "Who answers for packages, as NAME <ADDRESS>")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
string(TIMESTAMP today "%a, %d %b %Y 00:00:00 +0000" UTC) # or what SOURCE_DATE_EPOCH says
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/changelog.Debian CONTENT
"gossamer (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Packages of Gossamer ${PROJECT_VERSION}, whose changes changelog.gz lists.

 -- ${CPACK_PACKAGE_CONTACT}  ${today}
" @ONLY)
find_program(GZIP gzip)
mark_as_advanced(GZIP)
if(PROJECT_IS_TOP_LEVEL AND GZIP AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${manual}/stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
    COMMAND gossamer man ${manual}/man1
    COMMAND ${GZIP} -9nr ${manual}/man1
    COMMAND gossamer completion bash > ${manual}/bash
    COMMAND gossamer completion zsh > ${manual}/zsh
    COMMAND ${GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${manual}/changelog.gz
    COMMAND ${GZIP} -9nc ${PROJECT_BINARY_DIR}/changelog.Debian > ${manual}/changelog.Debian.gz
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/stamp
    DEPENDS gossamer ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/changelog.Debian
    COMMENT "Writing manual pages and completions" VERBATIM)
  add_custom_target(manual ALL DEPENDS ${manual}/stamp)
  install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command OPTIONAL)
  install(FILES ${manual}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gossamer
          COMPONENT command OPTIONAL)
  install(FILES ${manual}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _gossamer
          COMPONENT command OPTIONAL)
endif()

# The program carries dygraphs where it has a live page, whose licence then goes with it.
file(READ ${PROJECT_SOURCE_DIR}/LICENSE copyright)
set(copyright_of_dygraphs /usr/share/doc/libjs-dygraphs/copyright)
if(microhttpd_FOUND AND dygraphs_FOLDER AND EXISTS ${copyright_of_dygraphs})
  file(READ ${copyright_of_dygraphs} more)
  string(APPEND copyright "\n\nThe live page contains dygraphs, of which Debian says:\n\n${more}")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/copyright CONTENT "${copyright}" @ONLY)

set(components command:gossamer development:libgossamer-dev)
if(Torch_FOUND)
  list(APPEND components torch:gossamer-torch)
endif()
set(CPACK_COMPONENTS_ALL)
foreach(pair IN LISTS components)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${manual}/changelog.gz ${manual}/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${component} EXCLUDE_FROM_ALL OPTIONAL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "Gossamer")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command gossamer trains models with many workers, on one machine or on
several, simulates the same over networks of any kind, and survives the loss of
workers, machines and links.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "gossamer-torch, openssh-client")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Static libraries, headers and the CMake package gossamer, for programs that
bring their own algorithms, codecs, topologies or models.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF) # nothing in it is linked yet
set(needed libcaf-dev libasio-dev libeigen3-dev libhwy-dev libspdlog-dev libfmt-dev libcli11-dev libtomlplusplus-dev
           nlohmann-json3-dev libdeflate-dev libzip-dev libxxhash-dev libssl-dev)
if(microhttpd_FOUND)
  list(APPEND needed libmicrohttpd-dev)
endif()
list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

set(CPACK_COMPONENT_TORCH_DESCRIPTION "Models of LibTorch for the command gossamer: convolutions, transformers and
modules that PyTorch has scripted.")
set(CPACK_DEBIAN_TORCH_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "gossamer (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
include(CPack)
