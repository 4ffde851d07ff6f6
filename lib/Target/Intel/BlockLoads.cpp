//===- BlockLoads.cpp - Operands of block loads ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Intel/BlockLoads.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

std::string mlir::tessera::explainNoBlocks(const Chip &chip, MemRefType type) {
  const BlockLoads &limits = *chip.blockLoads;
  if (isWorkgroupMemory(type))
    return "it is in workgroup memory";
  int64_t bits = getElementBits(type.getElementType()), offset = 0;
  if (bits % 8)
    return "its elements are smaller than a byte";
  SmallVector<int64_t> strides;
  if (type.getRank() < 2 || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return "the elements of its rows are not contiguous";
  if (llvm::any_of(type.getShape().take_back(2), ShapedType::isDynamic))
    return "its extents are dynamic";
  if (ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return "its row pitch or offset is dynamic";
  int64_t bytes = bits / 8, rows = type.getShape().end()[-2],
          width = type.getShape().back() * bytes,
          pitch = strides.end()[-2] * bytes;
  // The pitch of a single row is irrelevant.
  if (rows == 1)
    pitch = static_cast<int64_t>(llvm::alignTo(width, limits.pitchMultiple));
  auto text = [](int64_t number) { return std::to_string(number); };
  if (rows == 0 || rows > limits.mostRows)
    return "it has " + text(rows) + " rows, and block loads read 1 to " +
           text(limits.mostRows);
  if (width < limits.leastWidth || width > limits.mostWidth ||
      width % limits.widthMultiple)
    return "its rows have " + text(width) + " bytes, and block loads read " +
           text(limits.leastWidth) + " to " + text(limits.mostWidth) +
           ", a multiple of " + text(limits.widthMultiple);
  if (pitch < width)
    return "its rows are " + text(width) + " bytes long, and " + text(pitch) +
           " apart";
  if (pitch % limits.pitchMultiple)
    return "its rows are " + text(pitch) +
           " bytes apart, which is not a multiple of " +
           text(limits.pitchMultiple);
  // No document states how far they may be: hardly farther than their length.
  if (pitch > limits.mostWidth)
    return "its rows are " + text(pitch) + " bytes apart, more than " +
           text(limits.mostWidth);
  if (offset * bytes % limits.alignment)
    return "it starts " + text(offset * bytes) +
           " bytes into its buffer, which is not a multiple of " +
           text(limits.alignment);
  for (int64_t d = 0; d + 2 < type.getRank(); ++d)
    if (type.getDimSize(d) != 1 && strides[d] * bytes % limits.alignment)
      return "its matrices are " + text(strides[d] * bytes) +
             " bytes apart, which is not a multiple of " +
             text(limits.alignment);
  return "";
}

Value mlir::tessera::findBuffer(Value memory) {
  while (
      isa_and_nonnull<memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp,
                      memref::CollapseShapeOp, memref::TransposeOp,
                      memref::ReinterpretCastOp, memref::MemorySpaceCastOp>(
          memory.getDefiningOp()))
    memory = memory.getDefiningOp()->getOperand(0);
  return memory;
}

/// Whether a block load can load the fragment of `op` in the layout of its
/// instruction.
static bool hasBlockLoad(const Chip &chip, LoadOp op) {
  FragmentType fragment = op.getResult().getType();
  const MatrixInstruction *row =
      fragment.getInstruction()
          ? chip.findInstruction(fragment.getInstruction().getValue())
          : nullptr;
  return row && getFragmentGroup(op) == 1 &&
         findBlockLoad(chip, *row, fragment.getRole(), op.getTranspose());
}

/// The reason why block loads could not load the operand whose fragments `op`
/// loads from workgroup memory, as far as its memory is concerned. Empty if
/// they could.
static std::string explainStaging(const Chip &chip, LoadOp op) {
  if (!hasBlockLoad(chip, op))
    return "block loads do not support its storage order";
  std::string why;
  Value buffer = findBuffer(op.getMemory());
  auto look = [&](auto copy) {
    if (findBuffer(copy.getTarget()) == buffer)
      why = copy.isGather() ? "its elements are gathered"
                            : explainNoBlocks(chip, copy.getSourceType());
  };
  op->getParentOfType<gpu::GPUFuncOp>().walk([&](Operation *other) {
    if (auto copy = dyn_cast<CopyOp>(other))
      look(copy);
    else if (auto copy = dyn_cast<AsyncCopyOp>(other))
      look(copy);
  });
  return why;
}

std::string mlir::tessera::describeLoad(const Chip &chip, LoadOp op) {
  if (isWorkgroupMemory(op.getMemRefType())) {
    std::string why = explainStaging(chip, op);
    return "through workgroup memory" +
           (why.empty() ? "" : ", no block loads: " + why);
  }
  std::string why = explainNoBlocks(chip, op);
  return why.empty() ? "block loads" : "no block loads: " + why;
}

std::string mlir::tessera::explainNoBlocks(const Chip &chip, LoadOp op) {
  if (!hasBlockLoad(chip, op))
    return op.getTranspose() ? "block loads do not support this transposition"
                             : "block loads do not support this layout";
  if (isWorkgroupMemory(op.getMemRefType()))
    return "it is in workgroup memory";
  auto buffer = dyn_cast<BlockArgument>(findBuffer(op.getMemory()));
  if (!buffer || !isa<gpu::GPUFuncOp>(buffer.getOwner()->getParentOp()))
    return "it is not a view of a kernel argument";
  std::string why = explainNoBlocks(chip, op.getMemRefType());
  if (!why.empty())
    return why;
  int64_t bytes = getElementBits(op.getMemRefType().getElementType()) / 8;
  if (getKnownDivisor(op.getIndices().back()) * bytes %
      chip.blockLoads->columnAlignment)
    return "its first column is not known to be at a multiple of " +
           std::to_string(chip.blockLoads->columnAlignment) + " bytes";
  return "";
}

/// The type of a view of an operand as a sequence of matrices: null if the
/// batch dimensions do not precede all others.
static MemRefType getMatrixType(ContractOp op, const MatrixForm &form,
                                unsigned side) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return {};
  SmallVector<int64_t> shape, steps;
  // The dimensions of rows and of columns, in order; if there are several, the
  // last one determines the stride.
  std::array<std::optional<std::pair<int64_t, int64_t>>, 2> both;
  ArrayRef<unsigned> dims[] = {form.getRows(side), form.getCols(side)};
  for (auto [i, result] : llvm::enumerate(op.getMap(side).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return {};
    bool isMatrix = false;
    for (unsigned which : {0, 1})
      if (llvm::is_contained(dims[which], dim.getPosition())) {
        both[which] = {getLinearExtent(op, dims[which]), strides[i]};
        isMatrix = true;
      }
    if (isMatrix)
      continue;
    if (both[0] || both[1])
      return {};
    shape.push_back(type.getDimSize(i));
    steps.push_back(strides[i]);
  }
  if (!both[0] || !both[1])
    return {};
  if (isStoredTransposed(op, form, side))
    std::swap(both[0], both[1]);
  for (const auto &[extent, stride] : {*both[0], *both[1]}) {
    shape.push_back(extent);
    steps.push_back(stride);
  }
  return MemRefType::get(shape, type.getElementType(),
                         StridedLayoutAttr::get(op.getContext(), offset, steps),
                         type.getMemorySpace());
}

std::string mlir::tessera::explainNoBlocks(ContractOp op,
                                           const MatrixForm &form,
                                           unsigned side, const Chip &chip,
                                           const MatrixInstruction &row) {
  if (form.gather[side])
    return "its elements are gathered";
  if (!op.getProducer(side).empty() ||
      op.getFactorType(side) !=
          getElementTypeOrSelf(op.getMappedOperands()[side].getType()))
    return "a producer computes its elements";
  MemRefType type = getMatrixType(op, form, side);
  if (!type)
    return "it is not a matrix in memory";
  if (!findBlockLoad(chip, row, side ? Role::B : Role::A,
                     isStoredTransposed(op, form, side)))
    return "block loads do not support its storage order";
  return explainNoBlocks(chip, type);
}
