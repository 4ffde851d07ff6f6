# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# `cmake --install` installs below the prefix, in addition to tools:
#
#   include/tessera-c         the C API
#   include/tessera           the headers of the C++ libraries, generated ones included
#   lib                       the libraries
#   lib/cmake/Tessera         for find_package(Tessera): the targets Tessera::TesseraDriver, ...
#
# Paths are relative to the prefix, which may be moved. MLIR is looked for in MLIR_DIR and
# CMAKE_PREFIX_PATH, and else where this build found it.

include_guard()
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera-c TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
foreach(tree ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/)
  install(DIRECTORY ${tree} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.td"
    PATTERN CMakeFiles EXCLUDE PATTERN tessera-c EXCLUDE)
endforeach()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${config_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/TesseraConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/TesseraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/TesseraConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/TesseraConfigVersion.cmake DESTINATION ${config_dir})
