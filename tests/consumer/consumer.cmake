# Installs the build, and builds and runs the project in this folder against what was installed. Called with BUILD (the
# build folder), SCRATCH, GENERATOR, COMPILER, BUILD_TYPE and FLAGS.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${SCRATCH}/prefix)
set(build ${SCRATCH}/build)
file(REMOVE_RECURSE ${SCRATCH})

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB_RECURSE private_headers ${prefix}/include/*/detail/*)
if(private_headers)
  message(FATAL_ERROR "private headers are installed: ${private_headers}")
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${build} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${build})
run(${build}/occasional_gossip)
message(STATUS "${output}")
run(${prefix}/bin/gossamer --version)
