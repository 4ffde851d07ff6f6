# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tessera-static-llvm: all of LLVM and MLIR from static archives, for binaries that need nothing but
# glibc on the machine they are carried to.
#
# Debian's CMake targets for the archives lead back to libLLVM.so, so the archives are named by
# file. The linker takes from them only the members that something needs, hence naming all of them
# costs nothing: no component list to maintain. Left out are the ones that carry a second copy of
# what others have (C API, tests).
#
# zlib and zstd, dependencies of LLVM, are linked statically (packages zlib1g-dev and
# libzstd-dev); nothing that is pulled in needs libxml2, Z3, libedit, libffi or libcurl.

include_guard()

file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER archives EXCLUDE REGEX "Test|CAPI")

foreach(name libz.a libzstd.a)
  find_library(TESSERA_${name} ${name})
  if(NOT TESSERA_${name})
    message(FATAL_ERROR
      "${name} not found; the portable build needs the packages zlib1g-dev and libzstd-dev")
  endif()
  list(APPEND archives ${TESSERA_${name}})
endforeach()

# lld does not mind the order of archives, so there is no --start-group.
# gpu-runner has 174 MB: 92 of code and 60 of constants, mostly of LLVM's back ends for NVPTX, AMDGPU,
# X86 and SPIR-V. --icf=all would save 11 %, but also merges functions whose addresses are compared, as
# std::any does; --icf=safe saves 0.2 %. Packed relocations (6 MB) require glibc 2.36.
add_library(tessera-static-llvm INTERFACE)
target_compile_options(tessera-static-llvm INTERFACE -ffunction-sections -fdata-sections)
target_link_libraries(tessera-static-llvm INTERFACE
  ${archives} tessera-older-glibc ${CMAKE_DL_LIBS} m)
target_link_options(tessera-static-llvm INTERFACE
  -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,-s)
