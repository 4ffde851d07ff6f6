//===- HostImports.h - What compiled host code may call ---------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_HOSTIMPORTS_H
#define TESSERA_RUNTIME_HOSTIMPORTS_H

#include <utility>
#include <vector>

namespace tessera::runtime {

/// What the names of compiled functions begin with that take their arguments as
/// an array of pointers: entries, and kernels of the CPU.
constexpr char packedPrefix[] = "__tessera_";

/// Functions of the runtime, by the name that compiled code has for them, and
/// conversions of 16-bit floats that the system's C library may lack.
const std::vector<std::pair<const char *, void *>> &listHostImports();

/// The address of a function that compiled code calls: one of the above, or of
/// the C and the mathematical library. Null if there is none.
void *findHostImport(const char *name);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_HOSTIMPORTS_H
