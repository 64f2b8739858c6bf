# gossamer_live_page(target): gives a library the live page (--live), if what it is made of is here: GNU libmicrohttpd,
# and dygraphs, whose files become part of the program. Without them the flag says what is missing.
find_package(microhttpd QUIET)
find_path(dygraphs_FOLDER dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH)
mark_as_advanced(dygraphs_FOLDER)

function(gossamer_live_page target)
  if(NOT microhttpd_FOUND OR NOT dygraphs_FOLDER)
    message(STATUS "No live page: install libmicrohttpd-dev and libjs-dygraphs for it")
    target_sources(${target} PRIVATE live/no_page.cpp)
    return()
  endif()
  file(GLOB page CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/live/page/*)
  list(APPEND page ${dygraphs_FOLDER}/dygraph.min.js ${dygraphs_FOLDER}/dygraph.min.css)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D OUT=${source} "-D FILES=${page}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake COMMENT "Embedding the live page" VERBATIM)
  target_sources(${target} PRIVATE live/page_server.cpp ${source})
  target_link_libraries(${target} PRIVATE microhttpd::microhttpd OpenSSL::Crypto)
endfunction()
