//===- ProgressCounter.h - How far a compilation is -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_PROGRESSCOUNTER_H
#define LIB_DRIVER_PROGRESSCOUNTER_H

#include "Driver/Compiler.h"

#include "mlir/Pass/PassInstrumentation.h"
#include <memory>

namespace mlir::tessera {

/// Reports the begin of a stage to the options' `progress`, with the number of
/// kernels in `module`.
void reportStage(const CompileOptions &options, llvm::StringRef stage,
                 ModuleOp module);

/// Reports each kernel of `module` that a pipeline has completed to the
/// options' `progress`. The result must not outlive the options.
std::unique_ptr<PassInstrumentation>
createProgressCounter(const CompileOptions &options, llvm::StringRef stage,
                      ModuleOp module);

/// Reports the end of a compilation.
class ProgressEnd {
public:
  explicit ProgressEnd(const CompileOptions &options) : options(options) {}
  ~ProgressEnd() {
    if (options.progress)
      options.progress(CompileProgress());
  }
  ProgressEnd(const ProgressEnd &) = delete;
  ProgressEnd &operator=(const ProgressEnd &) = delete;

private:
  const CompileOptions &options;
};

} // namespace mlir::tessera

#endif // LIB_DRIVER_PROGRESSCOUNTER_H
