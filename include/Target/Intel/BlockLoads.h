//===- BlockLoads.h - Operands of block loads -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_INTEL_BLOCKLOADS_H
#define TARGET_INTEL_BLOCKLOADS_H

#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "TargetInfo/BlockLoad.h"

namespace mlir::tessera {

/// The reason why no block load of `chip`, which has block loads, can read the
/// matrices in the last two dimensions of memory of `type`; empty if one can.
/// Only the type is considered: the alignment of the buffer itself is checked
/// when a kernel is launched.
std::string explainNoBlocks(const Chip &chip, MemRefType type);

/// The same for `op`, in a kernel, whose fragment has been legalized.
std::string explainNoBlocks(const Chip &chip, LoadOp op);

/// The same for lhs (0) or rhs (1) of a contraction that is computed by `row`
/// without staging.
std::string explainNoBlocks(ContractOp op, const MatrixForm &form,
                            unsigned side, const Chip &chip,
                            const MatrixInstruction &row);

/// The value that `memory` is a view of, by its type alone: the type's offset
/// is that of the first element.
Value findBuffer(Value memory);

/// Describes how the legalized fragment of `op` is loaded on a chip with block
/// loads: "block loads", or the reason against them.
std::string describeLoad(const Chip &chip, LoadOp op);

} // namespace mlir::tessera

#endif // TARGET_INTEL_BLOCKLOADS_H
