//===- DetachKernels.cpp - Kernels apart from what launches them ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DetachKernels.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::tessera;

/// Declares a kernel with its attributes of the Tessera dialect.
static void declareKernel(OpBuilder &builder, StringAttr name,
                          Operation *kernel) {
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {});
  auto declaration =
      LLVM::LLVMFuncOp::create(builder, kernel->getLoc(), name, type);
  declaration->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                       builder.getUnitAttr());
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    if (isa_and_present<TesseraDialect>(attribute.getNameDialect()))
      declaration->setAttr(attribute.getName(), attribute.getValue());
}

OwningOpRef<ModuleOp> mlir::tessera::detachKernels(ModuleOp module) {
  // Kernels in SPIR-V do not use it.
  module.getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  kernels->getOperation()->setAttrs(module->getAttrDictionary());
  llvm::MapVector<StringAttr, llvm::MapVector<StringAttr, Operation *>> used;
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(
            launch, launch.getKernelAttr()))
      used[launch.getKernelModuleName()][launch.getKernelName()] = kernel;
  });
  Block *body = kernels->getBody();
  for (auto gpuModule : llvm::to_vector(module.getOps<gpu::GPUModuleOp>())) {
    OpBuilder builder(gpuModule);
    auto declared = gpu::GPUModuleOp::create(builder, gpuModule.getLoc(),
                                             gpuModule.getName());
    builder.setInsertionPointToStart(declared.getBody());
    for (auto [name, kernel] : used[gpuModule.getNameAttr()])
      declareKernel(builder, name, kernel);
    gpuModule->moveBefore(body, body->end());
  }
  return kernels;
}
