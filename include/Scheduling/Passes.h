//===- Passes.h - Passes that choose schedules ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_PASSES_H
#define SCHEDULING_PASSES_H

#include "Flags/CompileFlags.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tessera {

#define GEN_PASS_DECL
#include "Scheduling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Scheduling/Passes.h.inc"

} // namespace mlir::tessera

#endif // SCHEDULING_PASSES_H
