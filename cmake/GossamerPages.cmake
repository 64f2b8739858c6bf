# gossamer_pages(target): gives a library the page of reports, if dygraphs is here, whose files become part of the
# program; and the live page (--live), if GNU libmicrohttpd is here, too. Without them the commands say what is missing.
find_package(microhttpd QUIET)
find_path(dygraphs_FOLDER dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH)
mark_as_advanced(dygraphs_FOLDER)
set(GOSSAMER_HAS_LIVE_PAGE FALSE)
if(dygraphs_FOLDER AND microhttpd_FOUND)
  set(GOSSAMER_HAS_LIVE_PAGE TRUE)
endif()

function(gossamer_embed_pages target)
  file(GLOB page CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/live/page/* ${CMAKE_CURRENT_SOURCE_DIR}/report/page/*)
  list(APPEND page ${dygraphs_FOLDER}/dygraph.min.js ${dygraphs_FOLDER}/dygraph.min.css)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D OUT=${source} "-D FILES=${page}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake COMMENT "Embedding the pages" VERBATIM)
  set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON) # clang-tidy reads united sources before it is made
  target_sources(${target} PRIVATE report/html.cpp ${source})
endfunction()

function(gossamer_pages target)
  if(dygraphs_FOLDER)
    gossamer_embed_pages(${target})
  else()
    message(STATUS "No reports: install libjs-dygraphs for them")
    target_sources(${target} PRIVATE report/no_html.cpp)
  endif()
  if(GOSSAMER_HAS_LIVE_PAGE)
    target_sources(${target} PRIVATE live/page_server.cpp)
    target_link_libraries(${target} PRIVATE microhttpd::microhttpd OpenSSL::Crypto)
  else()
    message(STATUS "No live page: install libmicrohttpd-dev and libjs-dygraphs for it")
    target_sources(${target} PRIVATE live/no_page.cpp)
  endif()
endfunction()
