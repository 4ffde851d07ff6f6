//===- DriverLibrary.cpp - Shared libraries of drivers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverLibrary.h"

#include <dlfcn.h>

using namespace tessera::runtime;

DriverLibraryState tessera::runtime::openDriverLibrary(const std::string &name,
                                                       void *&library,
                                                       std::string &why) {
  library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library)
    return DriverLibraryState::Loaded;
  const char *error = dlerror();
  std::string text = error ? error : "no reason given";
  // A library that it depends on may be missing as well.
  if (text.rfind(name + ": cannot open shared object file: No such", 0) == 0) {
    why = name + " not found";
    return DriverLibraryState::NotFound;
  }
  why = name + " cannot be loaded: " + text;
  return DriverLibraryState::Broken;
}

void *tessera::runtime::findDriverFunction(void *library, const char *symbol) {
  return dlsym(library, symbol);
}
