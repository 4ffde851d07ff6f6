//===- HostImports.h - Functions that host code may call ----*- C++ -*-----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HOSTIMPORTS_H
#define TESSERA_RUNTIME_HOSTIMPORTS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// Name prefix of compiled functions that take their arguments as an array of
/// pointers: entry points and CPU kernels.
constexpr char packedPrefix[] = "__tessera_";

/// A function that compiled code may call.
struct HostImport {
  std::string name;
  void *address;
};

/// All functions that native code of a program (host code and CPU kernels) may
/// call: those of the runtime, of the math library, and those to which LLVM
/// lowers arithmetic and copies (docs/Library.md, "What is trusted"). Every
/// loader of native code binds only to these functions of the process.
const std::vector<HostImport> &listHostImports();

/// Returns the address of a function of that list; null if no function has that
/// name.
void *findHostImport(std::string_view name);

/// A math function that programs may declare: it takes `arguments` numbers of
/// f64 (`isDouble`) or f32, and returns one.
struct MathFunction {
  unsigned arguments;
  bool isDouble;
};

/// Returns the math library function that a program may declare under this
/// name.
std::optional<MathFunction> findMathFunction(std::string_view name);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_HOSTIMPORTS_H
