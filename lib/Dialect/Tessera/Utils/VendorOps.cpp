//===- VendorOps.cpp - Ops of vendors that lanes execute ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/VendorOps.h"

#include "TargetInfo/Emulation.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::tessera;

int64_t mlir::tessera::getNumLaneElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

std::optional<LaneMatmul> mlir::tessera::getLaneMatmul(Operation *op) {
  if (auto mma = dyn_cast<nvgpu::MmaSyncOp>(op)) {
    auto [m, n, k] = mma.getMmaShapeAsArray();
    bool tf32 = getElementTypeOrSelf(mma.getMatrixA().getType()).isF32();
    return LaneMatmul{"mma.", m, n, k, tf32, false, false, ""};
  }
  if (auto mfma = dyn_cast<amdgpu::MFMAOp>(op)) {
    StringRef unsupported;
    if (mfma.getBlocks() != 1)
      unsupported = "several blocks";
    else if (mfma.getCbsz() || mfma.getAbid() ||
             mfma.getBlgp() != amdgpu::MFMAPermB::none)
      unsupported = "permuted operands";
    else if (mfma.getNegateA() || mfma.getNegateB() || mfma.getNegateC())
      unsupported = "negated operands";
    return LaneMatmul{"mfma.",
                      mfma.getM(),
                      mfma.getN(),
                      mfma.getK(),
                      mfma.getReducePrecision(),
                      false,
                      false,
                      unsupported};
  }
  if (auto wmma = dyn_cast<amdgpu::WMMAOp>(op))
    return LaneMatmul{"wmma",
                      wmma.getM(),
                      wmma.getN(),
                      wmma.getK(),
                      false,
                      wmma.getUnsignedA(),
                      wmma.getUnsignedB(),
                      wmma.getClamp() ? "saturation" : ""};
  return std::nullopt;
}

const MatrixInstruction *mlir::tessera::findInstruction(const Chip &chip,
                                                        Operation *op) {
  std::optional<LaneMatmul> matmul = getLaneMatmul(op);
  if (!matmul || !matmul->unsupported.empty())
    return nullptr;
  auto matches = [&](const std::string &name, const LaneMap &map,
                     Value operand) {
    return name == debugString(getElementTypeOrSelf(operand.getType())) &&
           map.getNumRegisters() == getNumLaneElements(operand.getType());
  };
  for (const MatrixInstruction &row : chip.instructions)
    if (StringRef(row.name).starts_with(matmul->family) && !row.opaque &&
        row.repeated.empty() && row.m == matmul->m && row.n == matmul->n &&
        row.k == matmul->k && row.tf32 == matmul->tf32 &&
        matches(row.aType, row.aMap, op->getOperand(0)) &&
        matches(row.bType, row.bMap, op->getOperand(1)) &&
        matches(row.accType, row.accMap, op->getOperand(2)))
      return &row;
  return nullptr;
}

const MatrixInstruction *mlir::tessera::findOwnInstruction(Operation *op) {
  const TargetInfo *owner =
      findDialectOwner(op->getName().getDialectNamespace());
  if (!owner)
    return nullptr;
  for (const Chip &chip : getAllChips())
    if (chip.target == owner->name)
      if (const MatrixInstruction *row = findInstruction(chip, op))
        return row;
  return nullptr;
}

int64_t mlir::tessera::getNumVendorLanes(Operation *op) {
  return isa<amdgpu::MFMAOp>(op) ? 64 : 32;
}

bool mlir::tessera::isVendorLaneOp(Operation *op) {
  return getLaneMatmul(op) ||
         isa<nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp,
             nvgpu::DeviceAsyncCreateGroupOp, nvgpu::DeviceAsyncWaitOp>(op);
}

bool mlir::tessera::hasInstruction(const Chip &chip, Operation *op) {
  if (getLaneMatmul(op))
    return findInstruction(chip, op);
  if (isa<nvgpu::LdMatrixOp>(op))
    return llvm::any_of(chip.instructions, [](const MatrixInstruction &row) {
      return StringRef(row.name).starts_with("mma.");
    });
  return chip.asyncCopy;
}

/// Whether upstream's conversion to the vendor's intrinsics has the form.
static bool hasLowering(Operation *op) {
  auto mma = dyn_cast<nvgpu::MmaSyncOp>(op);
  return !mma || !getElementTypeOrSelf(mma.getMatrixA().getType()).isBF16();
}

bool mlir::tessera::keepsVendorOp(const Chip &chip, Operation *op) {
  if (isHostTarget(chip.target))
    return !isEmulated(chip) || hasInstruction(chip, op);
  const TargetInfo *owner =
      findDialectOwner(op->getName().getDialectNamespace());
  if (!owner || owner->name != chip.target)
    return false;
  if (hasInstruction(chip, op))
    return hasLowering(op);
  return llvm::none_of(getAllChips(), [&](const Chip &other) {
    return other.target == owner->name && hasInstruction(other, op);
  });
}
