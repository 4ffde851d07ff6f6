//===- Tessera.h - The tessera dialect --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_TESSERA_H
#define DIALECT_TESSERA_IR_TESSERA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Dialect/Tessera/IR/ScheduleFields.h"

#include "Dialect/Tessera/IR/TesseraEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Dialect/Tessera/IR/TesseraAttrs.h.inc"

// After the attributes: it declares discardable ones of their types.
#include "Dialect/Tessera/IR/TesseraDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Dialect/Tessera/IR/TesseraTypes.h.inc"

#define GET_OP_CLASSES
#include "Dialect/Tessera/IR/TesseraOps.h.inc"

namespace mlir::tessera {

/// Whether `tessera.mma` supports these element types: a row of the table in
/// its description.
bool isValidMatmul(Type a, Type b, Type accumulator);

/// Whether every target supports atomic adds of `type` in memory: f32, f64,
/// i32.
bool hasAtomicAdd(Type type);

/// Whether `type` is in workgroup memory: `#gpu.address_space<workgroup>`, or
/// the integer space 3 that upstream kernels use.
bool isWorkgroupMemory(MemRefType type);

/// The number of phases of the swizzle of `tessera.copy` for a memory of this
/// type: 2, 4 or 8. 0 if it cannot be swizzled (constraint `copy_c7`).
int64_t getSwizzlePhases(MemRefType type);

/// Whether the tile of `shape` at `indices` (one per dimension; the tile spans
/// the last two) provably lies within `type`: static sizes, constant indices.
bool isProvablyInBounds(MemRefType type, ValueRange indices,
                        ArrayRef<int64_t> shape);

/// Whether `op` and the ops in it have no side effects besides reading memory.
bool hasNoEffectsButReads(Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_TESSERA_H
