//===- Loader.h - The function that computes constants ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_GRAPH_LOADER_H
#define LIB_GRAPH_LOADER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tessera {

/// Whether a module has a constant that `tessera-lift-constants` has lifted.
/// Programs with few and small constants gain nothing by a loader.
bool hasLiftedConstants(ModuleOp module);

/// The function that computes constants, which this adds if there is none.
func::FuncOp getLoader(ModuleOp module);

/// Adds a global whose contents the loader computes. Returns its name.
std::string addComputedGlobal(ModuleOp module, Location loc, MemRefType type);

/// Whether the contents of a global are the same in all runs.
bool isConstantGlobal(memref::GlobalOp global);

} // namespace mlir::tessera

#endif // LIB_GRAPH_LOADER_H
