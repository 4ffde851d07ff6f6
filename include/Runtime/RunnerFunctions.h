//===- RunnerFunctions.h - Functions of upstream's runners ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of upstream's runner libraries that host code may declare and
// call: they print in upstream's format, and measure time (docs/Upstream.md has
// the list). Printed text goes to the sink of the current session.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_RUNNERFUNCTIONS_H
#define TESSERA_RUNTIME_RUNNERFUNCTIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

struct RunnerFunction {
  /// The name in compiled code. It begins with `cInterfacePrefix` if the
  /// program declares the rest with `llvm.emit_c_interface`.
  std::string name;
  /// MLIR types: "f32", "!llvm.ptr", or a memref whose sizes are dynamic:
  /// "memref<*xf32>", "memref<?x?xf32>".
  std::vector<std::string> arguments;
  /// "" for none.
  std::string result;
  void *address;
};

constexpr char cInterfacePrefix[] = "_mlir_ciface_";

/// All of them.
const std::vector<RunnerFunction> &listRunnerFunctions();

/// The function of that name in compiled code; null for none.
const RunnerFunction *findRunnerFunction(std::string_view name);

/// The address of `memrefCopy`, to which upstream lowers copies of memory that
/// is not contiguous. Programs must not declare it.
void *getMemRefCopy();

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_RUNNERFUNCTIONS_H
