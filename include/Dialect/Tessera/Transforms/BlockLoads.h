//===- BlockLoads.h - Which operands block loads can bring ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_BLOCKLOADS_H
#define DIALECT_TESSERA_TRANSFORMS_BLOCKLOADS_H

#include "Dialect/Tessera/Target/BlockLoad.h"
#include "Dialect/Tessera/Transforms/MatrixForm.h"

namespace mlir::tessera {

/// Why no block load of `chip`, which has some, reads the matrices in the last
/// two dimensions of memory of `type`; empty where they do. The type decides:
/// the buffer itself begins where block loads want it to, which is looked at
/// when a kernel is launched.
std::string explainNoBlocks(const Chip &chip, MemRefType type);

/// The same of `op`, in a kernel, whose fragment has been legalized.
std::string explainNoBlocks(const Chip &chip, LoadOp op);

/// The same of lhs (0) or rhs (1) of a product that is computed by `row`
/// without staging.
std::string explainNoBlocks(ContractOp op, const MatrixForm &form,
                            unsigned side, const Chip &chip,
                            const MatrixInstruction &row);

/// The value that `memory` is a view of, by its type alone: its first element
/// is where the type's offset says.
Value findBuffer(Value memory);

/// How the fragment of `op`, which has been legalized, comes on a chip that has
/// block loads: "block loads", or otherwise and why.
std::string describeLoad(const Chip &chip, LoadOp op);

/// The discardable attribute of a `tessera.load` that block loads do, from the
/// time when that can still be found out.
inline llvm::StringRef getBlockLoadAttrName() { return "tessera.block_load"; }

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_BLOCKLOADS_H
