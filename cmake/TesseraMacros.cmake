# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How Tessera's targets are declared. Everything takes its flags, include paths and LLVM/MLIR from
# here, so a folder's CMakeLists.txt has only its own settings.
#
#   tessera_add_library(Name A.cpp B.cpp [DEPENDS <tablegen targets>] [LINK_LIBS <libraries>]
#                       [STANDALONE] [BATCH <number>])
#     A static library. LINK_LIBS names other Tessera libraries only: all of LLVM and MLIR comes
#     along by itself. STANDALONE: neither LLVM nor MLIR, and exceptions and RTTI are on (the
#     runtime). BATCH: the most sources that TESSERA_UNITY compiles at a time, by default 10; more
#     where each batch would parse an expensive header once more (ROCDL 4 s, SPIR-V 6 s).
#
#   tessera_add_tool(name A.cpp [DEPENDS ...] [LINK_LIBS ...])
#     An executable in bin/, which `ninja` and the tests build.
#
#   tessera_add_unittest(NameTests A.cpp [DEPENDS ...] [LINK_LIBS ...] [STANDALONE])
#     A GoogleTest executable (main() comes from GoogleTest); lit finds and runs it.
#
#   tessera_add_doc(Output.md File.td <mlir-tblgen arguments>)
#     One generated page of docs/generated, part of the target `tessera-docs`.
#
#   tessera_add_printed_doc(Output.md tool)
#     The same, as a tool of ours prints it.
#
#   tessera_add_subdirectories(dir...)
#     add_subdirectory() for those that have a CMakeLists.txt.
#
# TableGen goes through upstream's functions. In include/Dialect/Tessera/IR/CMakeLists.txt:
#
#   set(LLVM_TARGET_DEFINITIONS TesseraOps.td)
#   mlir_tablegen(TesseraOps.h.inc -gen-op-decls)
#   mlir_tablegen(TesseraOps.cpp.inc -gen-op-defs)
#   add_public_tablegen_target(TesseraOpsIncGen)
#
# which is included as "Dialect/Tessera/IR/TesseraOps.h.inc", and the library that includes it has
# DEPENDS TesseraOpsIncGen. A library that links to that one need not repeat it.

include_guard()

# Sources that TESSERA_UNITY compiles on their own, because they define a file-local name that another
# source of the same target defines too. Add a source here when a unity build reports a redefinition
# or an ambiguous reference that the source alone does not have.
set(TESSERA_SEPARATE_SOURCES
  Affine.cpp Agent.cpp CaptureTest.cpp Channel.cpp Cluster.cpp CompileWorker.cpp CpuLanesTest.cpp
  EnabledFeaturesTest.cpp FakeOpenCL.cpp FragmentProbe.cpp GraphRunTest.cpp HipDeviceTest.cpp
  HipProgramTest.cpp InputFileTest.cpp MatrixUnit.cpp MeasureWorker.cpp MemRef.cpp
  RunnerFunctions.cpp SavedProgramTest.cpp Subgroup.cpp Tensor.cpp Tessera.cpp)

# The compile options of every target of Tessera.
add_library(tessera-flags INTERFACE)
# Deprecations: std::stable_sort of libstdc++ 12 has one inside, which clang 22 reports at its users.
# Position-independent: all of it goes into libtessera.so too, and one precompiled header serves all.
target_compile_options(tessera-flags INTERFACE -fPIC
  -Wall -Wextra -Werror -Wno-unused-parameter -Wno-deprecated-declarations)
if(TESSERA_SANITIZE)
  target_compile_options(tessera-flags INTERFACE
    -fsanitize=${TESSERA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # It reads a signature before each function called by pointer; code generated at run time has none.
    -fno-sanitize=function)
  target_link_options(tessera-flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()

# NDEBUG is settled per target rather than by the build type. LLVM's own state does not have to be
# the same: its effect on LLVM's ABI is recorded in llvm/Config/abi-breaking.h.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_MINSIZEREL "${CMAKE_CXX_FLAGS_MINSIZEREL}")
if(NOT TESSERA_ASSERTIONS)
  target_compile_definitions(tessera-flags INTERFACE NDEBUG)
endif()

# The same, and LLVM and MLIR.
add_library(tessera-mlir INTERFACE)
target_link_libraries(tessera-mlir INTERFACE tessera-flags)
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tessera-mlir INTERFACE ${llvm_definitions} -fno-exceptions)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(tessera-mlir INTERFACE -fno-rtti)
endif()
if(TESSERA_STATIC_LLVM)
  include(OlderGlibc)
  include(StaticLLVM)
  target_link_libraries(tessera-mlir INTERFACE tessera-static-llvm)
else()
  target_link_libraries(tessera-mlir INTERFACE MLIR LLVM)
endif()

# MLIR's headers, precompiled once for all targets that see MLIR (15 s a file becomes 3 s).
if(TESSERA_PCH)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tessera-pch.cpp CONTENT "")
  add_library(tessera-pch OBJECT ${CMAKE_BINARY_DIR}/tessera-pch.cpp)
  target_link_libraries(tessera-pch PRIVATE tessera-mlir)
  target_precompile_headers(tessera-pch PRIVATE cmake/TesseraPch.h)
  # Time stamps in it would make ccache miss.
  target_compile_options(tessera-pch PUBLIC "SHELL:-Xclang -fno-pch-timestamp")
  # Its checksum, for ccache.
  set(pch ${CMAKE_BINARY_DIR}/CMakeFiles/tessera-pch.dir/cmake_pch.hxx.pch)
  add_custom_command(OUTPUT ${pch}.sum
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${pch} > ${pch}.sum
    DEPENDS ${pch} VERBATIM)
  add_custom_target(tessera-pch-sum DEPENDS ${pch}.sum)
  add_dependencies(tessera-pch-sum tessera-pch)
endif()

function(_tessera_setup target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STANDALONE" "BATCH" "DEPENDS;LINK_LIBS")
  target_sources(${target} PRIVATE ${ARG_UNPARSED_ARGUMENTS})
  # Warnings and precompiled headers are not for users of the installation.
  if(ARG_STANDALONE)
    target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:tessera-flags> ${ARG_LINK_LIBS})
  else()
    target_link_libraries(${target}
      PUBLIC $<BUILD_INTERFACE:tessera-mlir> $<INSTALL_INTERFACE:MLIR;LLVM> ${ARG_LINK_LIBS})
    if(NOT LLVM_ENABLE_RTTI)
      target_compile_options(${target}
        INTERFACE $<INSTALL_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>>)
    endif()
    if(TESSERA_PCH)
      target_precompile_headers(${target} REUSE_FROM tessera-pch)
      add_dependencies(${target} tessera-pch-sum)
    endif()
  endif()
  if(TESSERA_UNITY)
    set(batch 10)
    if(ARG_BATCH)
      set(batch ${ARG_BATCH})
    endif()
    # Each source of a library of passes defines its DEBUG_TYPE.
    if(ARG_DEPENDS MATCHES "PassIncGen")
      set_target_properties(${target} PROPERTIES
        UNITY_BUILD_CODE_AFTER_INCLUDE "#undef DEBUG_TYPE")
    endif()
    set(count 0)
    foreach(source ${ARG_UNPARSED_ARGUMENTS})
      get_filename_component(name ${source} NAME)
      if(name IN_LIST TESSERA_SEPARATE_SOURCES)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      else()
        math(EXPR count "${count} + 1")
      endif()
    endforeach()
    # As few batches as possible, all of about the same size.
    math(EXPR batches "(${count} + ${batch} - 1) / ${batch}")
    if(batches GREATER 0)
      math(EXPR batch "(${count} + ${batches} - 1) / ${batches}")
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
endfunction()

function(tessera_add_library name)
  add_library(${name} STATIC)
  _tessera_setup(${name} ${ARGN})
  tessera_export(${name})
endfunction()

# An executable, with the sanitizers' options where there are sanitizers.
function(_tessera_add_executable name)
  add_executable(${name})
  if(TESSERA_SANITIZE MATCHES "address")
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
endfunction()

# Installs a library as Tessera::name, for find_package(Tessera) (TesseraInstall.cmake). Headers
# include each other as they do here, and are below include/tessera there.
function(tessera_export target)
  target_include_directories(${target} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tessera>)
  install(TARGETS ${target} EXPORT TesseraTargets)
  set_property(GLOBAL APPEND PROPERTY TESSERA_INSTALLED ${target})
  set_property(GLOBAL APPEND PROPERTY TESSERA_TEST_DEPENDS ${target})
endfunction()

# Has `cmake --install` take the target where it was built. It finds LLVM where the build did.
function(tessera_install target)
  if(NOT TESSERA_STATIC_LLVM)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  endif()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${target} OPTIONAL)
  set_property(GLOBAL APPEND PROPERTY TESSERA_INSTALLED ${target})
endfunction()

function(tessera_add_tool name)
  _tessera_add_executable(${name})
  _tessera_setup(${name} ${ARGN})
  tessera_install(${name})
  set_property(GLOBAL APPEND PROPERTY TESSERA_TEST_DEPENDS ${name})
endfunction()

function(tessera_add_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "${name}: the name of a unit test ends with Tests, else lit does not find it")
  endif()
  find_package(GTest REQUIRED)
  _tessera_add_executable(${name})
  _tessera_setup(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/unittests)
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  # lit looks for *Tests below this folder.
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests/bin)
  set_property(GLOBAL APPEND PROPERTY TESSERA_TEST_DEPENDS ${name})
endfunction()

add_custom_target(tessera-docs ALL)
set_property(GLOBAL APPEND PROPERTY TESSERA_TEST_DEPENDS tessera-docs)

function(tessera_add_doc output td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN})
  string(MAKE_C_IDENTIFIER "tessera-docs-${output}" target)
  set(page ${CMAKE_BINARY_DIR}/docs/generated/${output})
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${output} ${page}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_custom_target(${target} DEPENDS ${page})
  add_dependencies(tessera-docs ${target})
endfunction()

function(tessera_add_printed_doc output tool)
  set(page ${CMAKE_BINARY_DIR}/docs/generated/${output})
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/docs/generated
    COMMAND ${tool} > ${page}
    DEPENDS ${tool} VERBATIM)
  add_custom_target("tessera-docs-${tool}" DEPENDS ${page})
  add_dependencies(tessera-docs "tessera-docs-${tool}")
endfunction()

function(tessera_add_subdirectories)
  foreach(dir ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
      add_subdirectory(${dir})
    endif()
  endforeach()
endfunction()
