# cmake -D FOLDER=scratch -P torch_dir_test.cmake: what GOSSAMER_TORCH_DIR may be. Folders look as those of PyTorch do.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/GossamerTorch.cmake)

if(DIR) # in a process of its own, which the check ends
  gossamer_check_torch(${DIR})
  gossamer_torch_version(${DIR} version)
  message(STATUS "accepted ${version}")
  return()
endif()

# expect(DIR SENTENCE): the check ends with this sentence, whose lines CMake breaks.
function(expect dir sentence)
  execute_process(COMMAND ${CMAKE_COMMAND} -D DIR=${dir} -P ${CMAKE_CURRENT_LIST_FILE}
    OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${sentence}" at)
  if(at EQUAL -1)
    message(SEND_ERROR "${dir}: expected '${sentence}', and it said: ${said}")
  endif()
endfunction()

# fake(NAME CONSTRUCTOR VERSION_FILE): a folder with one constructor among its strings.
function(fake name constructor version_file)
  file(WRITE ${FOLDER}/${name}/include/torch/csrc/api/include/torch/version.h "\n")
  file(WRITE ${FOLDER}/${name}/include/${version_file}
    "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 17\n#define TORCH_VERSION_PATCH 3\n")
  file(WRITE ${FOLDER}/${name}/lib/libtorch_cpu.so "")
  file(WRITE ${FOLDER}/${name}/lib/libc10.so "${constructor}\n")
endfunction()

file(REMOVE_RECURSE ${FOLDER})
fake(new _ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
     torch/headeronly/version.h)
fake(former _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
     torch/csrc/api/include/torch/version.h)
fake(old _ZN3c105ErrorC1ENS_14SourceLocationESs torch/csrc/api/include/torch/version.h)
expect(${FOLDER}/new "accepted 2.17")
expect(${FOLDER}/former "accepted 2.17")
expect(${FOLDER}/old "a LibTorch with the old C++ ABI of g++ 4, which cannot be linked: take a wheel of PyTorch 2.7 or later")
expect(${FOLDER}/none "which has no include/torch/csrc/api/include/torch/version.h: python3 -c 'import torch; print(")
