//===- RowMaps.h - Lane maps by rows ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_ROWMAPS_H
#define TARGETINFO_ROWMAPS_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Accumulator maps in which one lane, or a few adjacent ones, hold a row of a
/// tile: for fragments that are converted from opaque instructions
/// (`MatrixInstruction::opaque`) to be reduced along their rows. They compute
/// no matmul, and are not among the chip's instructions, but
/// `Chip::findInstruction` finds them by their names. The one with the most
/// rows is first. Empty for chips without opaque instructions.
///
/// Example, 16 rows by 32 lanes: two lanes hold a row of eight columns, with
/// four adjacent elements each, which are one access of 16 bytes in f32:
///
///     lanes     = {{0, 4}, {1, 0}, {2, 0}, {4, 0}, {8, 0}}
///     registers = {{0, 1}, {0, 2}}
llvm::ArrayRef<MatrixInstruction> getRowMaps(const Chip &chip);

/// Accumulator maps in which a lane holds eight adjacent elements of a row: for
/// fragments that are converted from opaque instructions to be stored, with
/// what an epilogue computes of them, in accesses of 16 bytes of f16. The one
/// whose lanes access the longest part of a row is first. Like those of
/// getRowMaps(), they are found by their names.
///
/// Example, 8 rows by 32 lanes: four lanes access 64 adjacent bytes of f16:
///
///     lanes     = {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}}
///     registers = {{0, 1}, {0, 2}, {0, 4}}
llvm::ArrayRef<MatrixInstruction> getStoreMaps(const Chip &chip);

} // namespace mlir::tessera

#endif // TARGETINFO_ROWMAPS_H
