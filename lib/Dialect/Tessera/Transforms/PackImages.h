//===- PackImages.h - Images of few channels --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// Gives a convolution over an image of few channels copies of the image and of
/// its filters that bulk copies can read, if that is beneficial and if the
/// default schedule then uses instructions of several subgroups. `op` is on
/// memrefs and has no schedule.
/// `saved` is the time in nanoseconds that the op then takes less, if it is
/// known. Returns whether it did.
bool packImage(ContractOp op, const Chip &chip,
               std::optional<double> saved = std::nullopt);

/// For a chip whose threads have no lanes: gives a convolution over an image of
/// few channels, wherever these are, copies in which a row of a window is a run
/// of whole vectors. Returns whether it did.
bool packFewChannels(ContractOp op, const Chip &chip);

/// Gives a convolution over an image whose channels are not the last dimension,
/// or not whole rows, copies of the image and of its filters with the channels
/// last, and if necessary an output with the channels last that is copied
/// afterwards, under the same conditions. Returns whether it did.
bool packChannels(ContractOp op, const Chip &chip);

/// Makes one op of the constant padding around the image of a convolution, if
/// it is memory of its own, and of the element-wise op before that.
void fusePadding(ContractOp op);

/// The time in nanoseconds that `op` takes longer with an image that is copied
/// to workgroup memory element by element than with bulk copies. All extents
/// are static.
double estimateSavedByRuns(ContractOp op, const MatrixForm &form,
                           const Chip &chip);

/// Gives lhs (0), rhs (1) or the output (2) of `op` the operand `memory`, whose
/// dimensions are those of the one before in this order.
void setOperand(ContractOp op, unsigned operand, Value memory,
                ArrayRef<int64_t> order);

/// Whether `memory` is a view of a large constant. Copies of it are made once,
/// when the program is loaded.
bool isLargeConstant(Value memory);

/// Yields the element of `memory` at `indices`, or zero where these are not
/// `inside`, from the body of a linalg op.
void yieldElementOrZero(ImplicitLocOpBuilder &body, Value inside, Value memory,
                        ValueRange indices);

/// Whether `op` may write or free the buffer of `source`.
bool mayChange(Operation *op, Value source);

/// Whether `memory` has static extents and is not a kernel's.
bool isPlainMemory(Value memory);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H
