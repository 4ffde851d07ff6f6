# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With TESSERA_GLIBC, the folder of scripts/older-glibc.sh, everything is linked with the glibc there,
# and runs with that version and later ones. Startup files are from there, too: those of glibc 2.34
# and later leave static constructors to the glibc by which they are started.

include_guard()

add_library(tessera-older-glibc STATIC ${CMAKE_CURRENT_LIST_DIR}/OlderGlibc.c)
if(TESSERA_GLIBC)
  target_compile_definitions(tessera-older-glibc PRIVATE TESSERA_GLIBC)
  target_link_options(tessera-flags INTERFACE -B${TESSERA_GLIBC} -L${TESSERA_GLIBC})
  target_link_libraries(tessera-flags INTERFACE tessera-older-glibc pthread dl rt m)
endif()
