//===- HostImports.h - What compiled host code may call ---------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_HOSTIMPORTS_H
#define TESSERA_RUNTIME_HOSTIMPORTS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// What the names of compiled functions begin with that take their arguments as
/// an array of pointers: entries, and kernels of the CPU.
constexpr char packedPrefix[] = "__tessera_";

/// A function that compiled code may call.
struct HostImport {
  std::string name;
  void *address;
};

/// All functions that native code of a program may call, which is code of the
/// host and kernels of the CPU: the runtime's, those of the mathematical
/// library, and those that LLVM puts in the place of arithmetic and copies
/// (docs/Library.md, "What is trusted"). Every loader of native code binds to
/// these and to nothing else of the process.
const std::vector<HostImport> &listHostImports();

/// The address of a function of that list; null if it has none of that name.
void *findHostImport(std::string_view name);

/// A function that programs may declare: it takes `arguments` numbers of f64
/// (`isDouble`) or of f32, and returns one.
struct MathFunction {
  unsigned arguments;
  bool isDouble;
};

/// The function of the mathematical library that a program may declare by this
/// name.
std::optional<MathFunction> findMathFunction(std::string_view name);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_HOSTIMPORTS_H
