//===- Compile.h - The program, compiled or from the cache ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_COMPILE_H
#define EXECUTION_COMPILE_H

#include "Execution/Options.h"

#include "Driver/Compiler.h"
#include "Driver/ProgramCache.h"
#include "Runtime/Device.h"

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace tessera::execution {

/// How the cache was used.
struct CacheUse {
  enum Kind { Off, Hit, Miss } kind = Off;
  /// The entry's name.
  std::string key;
  /// The reason for a miss.
  std::string why;
  std::vector<compiler::ProgramCache::Difference> differences;
};

/// Takes the program from the cache that the options name; else compiles it and
/// keeps it there. `source` is the text that `module` was read from.
std::unique_ptr<compiler::CompiledProgram>
compile(const ProgramOptions &options,
        const compiler::CompileOptions &compileOptions, mlir::ModuleOp module,
        const llvm::MemoryBuffer &source, runtime::Device &device,
        CacheUse &use, Report &report);

/// Gives `program` the kernels of the file that --kernels names, and reports
/// it. The loader checks the contents of the file.
LogicalResult replaceKernels(const ProgramOptions &options, StringRef target,
                             compiler::CompiledProgram &program,
                             Report &report);

} // namespace tessera::execution

#endif // EXECUTION_COMPILE_H
