//===- TileAccess.h - Access to a tile ----------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_IR_TILEACCESS_H
#define LIB_DIALECT_TESSERA_IR_TILEACCESS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// Constraint `label` of the ops that access a tile: rank 2 or more, an index
/// for each dimension.
LogicalResult verifyTileAccess(Operation *op, StringRef label, MemRefType type,
                               ValueRange indices);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_IR_TILEACCESS_H
