//===- HostLibrary.cpp - Host code of a bundle ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostLibrary.h"

#include "Runtime/HostImports.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// HostLibrary
//===----------------------------------------------------------------------===//

/// The loader has a lock of its own, which ThreadSanitizer does not see: it
/// would take what one thread writes to a library for a race with what another
/// has written to one that was unloaded before, at the same address.
static std::mutex &getLoaderMutex() {
  static std::mutex mutex;
  return mutex;
}

/// The size of the object of a loaded library that begins at `address`; 0 if
/// none does.
static size_t getSymbolBytes(const void *address) {
  Dl_info info;
  void *symbol = nullptr;
  if (!dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) || !symbol ||
      info.dli_saddr != address)
    return 0;
  return static_cast<const ElfW(Sym) *>(symbol)->st_size;
}

Expected<std::unique_ptr<HostLibrary>>
HostLibrary::load(const std::string &bytes,
                  const std::vector<std::string> &imports) {
  auto fail = [](const std::string &what) {
    return Status(StatusCode::Rejected, "host code of the program: " + what);
  };
  // Before any code of the library runs.
  std::vector<void *> functions;
  for (const std::string &import : imports) {
    functions.push_back(findHostImport(import));
    if (!functions.back())
      return fail("it calls '" + import +
                  "', which the runtime does not offer to programs");
  }
  std::unique_ptr<HostLibrary> library(new HostLibrary);
  if (!library->file.write(bytes))
    return fail(std::string("it cannot be written to memory or to a temporary "
                            "file: ") +
                std::strerror(errno));
  {
    std::lock_guard<std::mutex> lock(getLoaderMutex());
    library->handle =
        dlopen(library->file.getPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library->handle) {
    const char *why = dlerror();
    return fail(why ? why : "it cannot be loaded");
  }
  if (functions.empty())
    return library;
  void *table = library->find("tessera_imports");
  size_t bytesOfTable = functions.size() * sizeof(void *);
  if (!table || getSymbolBytes(table) < bytesOfTable)
    return fail("missing import table");
  std::memcpy(table, static_cast<const void *>(functions.data()), bytesOfTable);
  return library;
}

HostLibrary::~HostLibrary() {
  if (!handle)
    return;
  std::lock_guard<std::mutex> lock(getLoaderMutex());
  dlclose(handle);
}

void *HostLibrary::find(const std::string &name) const {
  return dlsym(handle, name.c_str());
}
