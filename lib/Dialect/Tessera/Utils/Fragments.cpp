//===- Fragments.cpp - Fragments of kernels -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Fragments.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isSwizzledTile(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && load.getSwizzled() && isWorkgroupMemory(load.getMemRefType());
}

int64_t mlir::tessera::getFragmentGroup(Operation *op) {
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<gpu::GPUFuncOp>();
  auto group = kernel ? kernel->getAttrOfType<IntegerAttr>(
                            TesseraDialect::GroupAttrHelper::getNameStr())
                      : IntegerAttr();
  return group ? group.getInt() : 1;
}

Attribute mlir::tessera::getKernelSchedule(Operation *kernel) {
  auto program = kernel->getParentOfType<ModuleOp>();
  auto schedules = program
                       ? program->getAttrOfType<DictionaryAttr>(
                             TesseraDialect::SchedulesAttrHelper::getNameStr())
                       : DictionaryAttr();
  return schedules ? schedules.get(SymbolTable::getSymbolName(kernel))
                   : Attribute();
}
