//===- ProgressCounter.cpp - How far a compilation is ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel has a gpu.module of its own. A stage may have several nested
// pipelines, with passes on the whole program in between; the count is that of
// the first one, and does not start again.
//
//===----------------------------------------------------------------------===//

#include "ProgressCounter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"

#include <mutex>

using namespace mlir;
using namespace mlir::tessera;

static int64_t countKernels(ModuleOp module) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  return std::distance(modules.begin(), modules.end());
}

void mlir::tessera::reportStage(const CompileOptions &options, StringRef stage,
                                ModuleOp module) {
  if (options.progress)
    options.progress({stage, countKernels(module), 0});
}

namespace {
class ProgressCounter : public PassInstrumentation {
public:
  ProgressCounter(const CompileOptions &options, StringRef stage,
                  int64_t kernels)
      : options(options), stage(stage), kernels(kernels) {}

  void runAfterPipeline(std::optional<OperationName> name,
                        const PipelineParentInfo &parent) override {
    if (!name || name->getStringRef() != gpu::GPUModuleOp::getOperationName())
      return;
    // Kernels are compiled in parallel.
    std::lock_guard<std::mutex> lock(mutex);
    int64_t count = ++counts[parent.parentPass];
    if (count <= done)
      return;
    done = count;
    options.progress({stage, kernels, done});
  }

private:
  const CompileOptions &options;
  std::string stage;
  int64_t kernels, done = 0;
  std::mutex mutex;
  /// How many kernels each nested pipeline has completed.
  llvm::DenseMap<Pass *, int64_t> counts;
};
} // namespace

std::unique_ptr<PassInstrumentation>
mlir::tessera::createProgressCounter(const CompileOptions &options,
                                     StringRef stage, ModuleOp module) {
  return std::make_unique<ProgressCounter>(options, stage,
                                           countKernels(module));
}
