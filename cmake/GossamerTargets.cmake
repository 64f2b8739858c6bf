# How a Gossamer target is built. One folder is one library (in actors/, each room is), and a library sees only what it
# is allowed to see:
#  - its headers are reached through <build>/layers/<name>/gossamer/<name>, a directory that holds nothing else, so that
#    including a header of a folder that is not a dependency does not compile;
#  - an empty program is linked against the whole archive and its declared dependencies alone, so that calling into a
#    folder that is not a dependency does not link.

find_program(GOSSAMER_CCACHE ccache)
if(GOSSAMER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness that ccache's manual asks for when headers are precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${GOSSAMER_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${GOSSAMER_CCACHE})
endif()

add_library(gossamer_options INTERFACE)
set(options
  -Wall -Wextra -Wpedantic
  # Of united sources the compiler takes one's names for another's, and none is the main file.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>
  -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  # Replicas are compared with ==, on every machine and on the GPU: a product and a sum are two roundings, never one.
  -ffp-contract=off
  $<$<BOOL:${GOSSAMER_WERROR}>:-Werror>
  # Without this, g++ and ccache cannot agree on a precompiled header.
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
# relaxed-constexpr: constexpr functions of base and of the standard library are called in kernels.
set(cuda_options
  -fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas,-ffp-contract=off
  $<$<BOOL:${GOSSAMER_WERROR}>:-Werror=all-warnings>)
target_compile_options(gossamer_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${options}>" "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
if(GOSSAMER_SANITIZE)
  target_compile_options(gossamer_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
    -fsanitize=${GOSSAMER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(gossamer_options INTERFACE -fsanitize=${GOSSAMER_SANITIZE})
  if(GOSSAMER_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It does not follow fences, of which vectors on a GPU have two: there is no GPU in its tests.
    target_compile_options(gossamer_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()

# Headers that nearly all sources include, a second of each compilation. They are compiled once, with fmt, for all
# libraries, and once together with CAF for those with actors. Only g++ uses them: what clang compiles stands by its own
# includes.
set(gossamer_common_headers
  <algorithm> <array> <bit> <chrono> <cmath> <deque> <functional> <limits> <map> <memory> <mutex> <optional> <ranges>
  <set> <span> <string> <thread> <utility> <variant> <vector>)

# gossamer_precompile(NAME [HEADERS header...] [OPTIONS option...] [PRIVATE target...]): compiles the common headers,
# and these, under a name that libraries and tests refer to.
function(gossamer_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;OPTIONS;PRIVATE")
  set(source ${PROJECT_BINARY_DIR}/layers/empty.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PRIVATE gossamer_options ${arg_PRIVATE})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${gossamer_common_headers} ${arg_HEADERS})
endfunction()

# gossamer_use_precompiled(TARGET NAME): if NAME is empty, the common headers alone. gossamer_precompiled_unhurried is
# for code that waits for people, processes, files and other machines: to compile it fast is worth more.
function(gossamer_use_precompiled target name)
  if(NOT name)
    set(name gossamer_precompiled)
  elseif(GOSSAMER_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # To optimise the checks that it puts into the code of CAF's templates takes half of clang's time.
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(name STREQUAL gossamer_precompiled_unhurried)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# gossamer_unite(TARGET): with GOSSAMER_UNITY, 16 sources of the target are compiled as one, which parses the headers
# that they share once, and makes once what their templates have in common. (With 8, CMake's number, a build took a
# fifth more.) A source that cannot stand beside others has the property SKIP_UNITY_BUILD_INCLUSION, and CMake leaves out
# those with options of their own.
function(gossamer_unite target)
  if(GOSSAMER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# gossamer_library(NAME SOURCES file... [DEPENDS target...] [PRIVATE target...] [PRECOMPILED name])
function(gossamer_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;DEPENDS;PRIVATE")
  set(target gossamer_${name})
  set(layer ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${layer}/gossamer)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${layer}/gossamer/${name} SYMBOLIC)

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(gossamer::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${layer}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:gossamer_options>)
  gossamer_use_precompiled(${target} "${arg_PRECOMPILED}")
  gossamer_unite(${target})

  install(TARGETS ${target} EXPORT gossamerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gossamer/${name}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "detail" EXCLUDE)

  if(GOSSAMER_TESTS)
    gossamer_link_alone(${name})
    gossamer_headers_alone(${name} ${name})
  endif()
endfunction()

# gossamer_room(NAME [DEPENDS room-or-target...] [PRIVATE target...] [PRECOMPILED name]): the folder NAME of a library
# that consists of several, with all of its sources. It is not installed: see gossamer_joined_rooms.
function(gossamer_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "DEPENDS;PRIVATE")
  set(target gossamer_${name})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  set(layer ${PROJECT_BINARY_DIR}/layers/${folder}.${name})
  file(MAKE_DIRECTORY ${layer}/gossamer/${folder})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${layer}/gossamer/${folder}/${name} SYMBOLIC)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/*.cpp)
  list(TRANSFORM arg_DEPENDS REPLACE "^([a-z_]+)$" "gossamer_\\1")
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${layer})
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} gossamer_options)
  gossamer_use_precompiled(${target} "${arg_PRECOMPILED}")
  gossamer_unite(${target})
  set_property(GLOBAL APPEND PROPERTY gossamer_rooms ${name})
  if(GOSSAMER_TESTS)
    gossamer_link_alone(${name})
    gossamer_headers_alone(${name} ${folder}/${name})
  endif()
endfunction()

# gossamer_joined_rooms(NAME ROOMS room... [DEPENDS target...] [PRIVATE target...]): the rooms as one library, which is
# what is linked and installed.
function(gossamer_joined_rooms name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;DEPENDS;PRIVATE")
  set(target gossamer_${name})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  add_library(${target} STATIC)
  add_library(gossamer::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(room IN LISTS arg_ROOMS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:gossamer_${room}>)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/layers/${folder}.${room}>)
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gossamer/${folder}
            FILES_MATCHING PATTERN "*.hpp" PATTERN "detail" EXCLUDE)
  endforeach()
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:gossamer_options>)
  install(TARGETS ${target} EXPORT gossamerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# Compiles each public header of a library in a file of its own, so that one that leans on what others include before it
# is noticed. Not part of the default build: `cmake --build build/dev --target headers_alone`.
function(gossamer_headers_alone name path)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/${path} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path}/*.hpp)
  list(FILTER headers EXCLUDE REGEX "(^|/)detail/")
  set(sources)
  foreach(header IN LISTS headers)
    set(source ${PROJECT_BINARY_DIR}/layers/headers/${name}/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"gossamer/${path}/${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${name}_headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${name}_headers_alone PRIVATE gossamer_${name} gossamer_options)
  if(NOT TARGET headers_alone)
    add_custom_target(headers_alone)
  endif()
  add_dependencies(headers_alone ${name}_headers_alone)
endfunction()

# The link test of one library; part of the default build, so that a forbidden call fails at once.
function(gossamer_link_alone name)
  set(source ${PROJECT_BINARY_DIR}/layers/empty_main.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  add_executable(${name}_links_alone ${source})
  target_link_libraries(${name}_links_alone PRIVATE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,gossamer_${name}> $<BUILD_INTERFACE:gossamer_options>)
  set_target_properties(${name}_links_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers/bin)
endfunction()

# gossamer_program(NAME SOURCES file... DEPENDS target...)
function(gossamer_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} gossamer_options)
endfunction()

# What tests include of others is compiled once for all of them: with CAF where there are actors, and without.
function(gossamer_precompile_for_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  set(headers gossamer_test_headers)
  set(included <gmock/gmock.h>)
  if(arg_DEPENDS MATCHES "gossamer::(actors|testing|apps)")
    set(headers gossamer_actor_test_headers)
    list(APPEND included <caf/all.hpp>)
  endif()
  if(NOT TARGET ${headers})
    gossamer_precompile(${headers} HEADERS ${included} OPTIONS $<$<CONFIG:Release>:-O1> PRIVATE GTest::gmock gossamer::base)
    set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# gossamer_test(NAME LABEL unit|law|process|gpu [mailbox|threads] [live] SOURCES file... DEPENDS target...
#               [TIMEOUT seconds] [SHARDS n] [UNITED])
# UNITED: as with gossamer_unite. Other tests stay apart, because many use the same short names.
# `mailbox`: passes messages through CAF, which the thread sanitizer cannot follow (tests/support/tsan.supp); `threads`:
# starts threads itself; `live`: trains in real threads, so it may ask only for what holds however they are scheduled.
# `cmake --build build/dev --target law_tests` builds the tests with a label.
# One ctest entry a program, or n where it is to use n cores: discovery of single cases costs more process starts than
# the cases themselves. A program without a case is a failure, which googletest alone would call a success.
function(gossamer_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNITED" "TIMEOUT;SHARDS" "LABEL;SOURCES;DEPENDS")
  gossamer_program(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  if(arg_UNITED)
    gossamer_unite(${name})
  endif()
  if(NOT arg_DEPENDS MATCHES "torch") # which has macros of its own
    gossamer_precompile_for_tests(${name} DEPENDS ${arg_DEPENDS})
  endif()
  # The cases themselves take no time: to compile them fast is worth more.
  target_compile_options(${name} PRIVATE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")
  foreach(label IN LISTS arg_LABEL)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${name})
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(GOSSAMER_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  if(NOT arg_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
      FAIL_REGULAR_EXPRESSION "Running 0 tests")
    return()
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
      FAIL_REGULAR_EXPRESSION "Running 0 tests"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
