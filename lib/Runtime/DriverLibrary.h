//===- DriverLibrary.h - Shared libraries of drivers ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver is loaded when the program runs: building needs none, and the same
// binary starts on machines without it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_DRIVERLIBRARY_H
#define TESSERA_LIB_RUNTIME_DRIVERLIBRARY_H

#include <cstdint>
#include <string>

namespace tessera::runtime {

/// A result of a driver's functions, and its name in the driver's header.
struct NamedResult {
  int64_t code;
  const char *name;
};

enum class DriverLibraryState { Loaded, NotFound, Broken };

/// Loads a library by its name or path. On failure, `why` receives the reason:
/// "libcuda.so.1 not found".
DriverLibraryState openDriverLibrary(const std::string &name, void *&library,
                                     std::string &why);

/// Finds a function; null if the library does not export it.
void *findDriverFunction(void *library, const char *symbol);

/// Sets `function` to the function `symbol`. Returns whether the library
/// exports it.
template <typename Function>
bool findDriverFunction(void *library, const char *symbol, Function &function) {
  function = reinterpret_cast<Function>(findDriverFunction(library, symbol));
  return function;
}

/// Returns the driver that the constructor of `Loaded` loads on the first call;
/// null, and the reason in `why`, if that has left a reason.
template <typename Loaded> auto *getLoadedDriver(std::string *why) {
  static const Loaded loaded;
  if (why && !loaded.reason.empty())
    *why = loaded.reason;
  return loaded.reason.empty() ? &loaded.driver : nullptr;
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_DRIVERLIBRARY_H
