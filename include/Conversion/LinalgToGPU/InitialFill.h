//===- InitialFill.h - Reductions whose output is filled --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOGPU_INITIALFILL_H
#define CONVERSION_LINALGTOGPU_INITIALFILL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tessera {

/// The op that fills `output` of the reduction `op`, on memrefs, if nothing
/// else accesses that memory between them; null if there is none. The
/// reduction's kernel then begins with the value in registers, and no kernel
/// fills.
linalg::FillOp findInitialFill(linalg::LinalgOp op, OpOperand &output);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOGPU_INITIALFILL_H
