//===- TesseraToSPIRV.cpp - Fragments for devices of SPIR-V ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fragments of the       spirv.coopmatrix values, a tile each
//   matrix unit            (SeparateOpaque.cpp, CooperativeMatrix.cpp)
//   other fragments        vectors, by the lane maps     (FragmentToVector)
//   scf.parallel with      scf.for                       (LoopForms.cpp)
//   reductions
//   gpu.barrier            spirv.ControlBarrier of workgroup memory, where that
//                          is all it has to order
//
// then, each a pass of its own,
//
//   memrefs                pointers                      (LowerMemory.cpp)
//   vectors                scalars                       (ScalarizeVectors.cpp)
//   gpu, arith, math, scf  spirv.module                  (KernelsToSPIRV.cpp)
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/Barriers.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTTESSERATOSPIRV
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-tessera-to-spirv"

using namespace mlir;
using namespace mlir::tessera;

static const SpirvEnvironment environments[] = {
    {"vulkan", spirv::ClientAPI::Vulkan,
     spirv::AddressingModel::PhysicalStorageBuffer64,
     spirv::MemoryModel::Vulkan, spirv::ExecutionModel::GLCompute,
     spirv::StorageClass::PhysicalStorageBuffer,
     spirv::MemorySemantics::UniformMemory, /*saysVisible=*/true,
     /*numberBits=*/32, /*isKernel=*/false},
    {"opencl", spirv::ClientAPI::OpenCL, spirv::AddressingModel::Physical64,
     spirv::MemoryModel::OpenCL, spirv::ExecutionModel::Kernel,
     spirv::StorageClass::CrossWorkgroup,
     spirv::MemorySemantics::CrossWorkgroupMemory, /*saysVisible=*/false,
     /*numberBits=*/64, /*isKernel=*/true},
};

const SpirvEnvironment *mlir::tessera::getSpirvEnvironment(StringRef target) {
  for (const SpirvEnvironment &environment : environments)
    if (environment.target == getChipTarget(target))
      return &environment;
  return nullptr;
}

FailureOr<const Chip *> mlir::tessera::getSpirvChip(Operation *op) {
  FailureOr<const Chip *> chip = getChip(op);
  if (succeeded(chip) && !getSpirvEnvironment((*chip)->target))
    return op->emitError()
           << "target " << (*chip)->target
           << " does not use SPIR-V (expected vulkan, opencl or level-zero)";
  return chip;
}

/// Barriers that need not order accesses to global memory become such.
static void relaxBarriers(gpu::GPUFuncOp kernel,
                          const SpirvEnvironment &environment) {
  // Copies are synchronous: waiting for them does not access memory.
  auto touchesNoMemory = [](Operation *op) {
    return isa<WaitOp, AwaitOp, spirv::ControlBarrierOp>(op);
  };
  for (gpu::BarrierOp barrier :
       findWorkgroupBarriers(kernel, touchesNoMemory)) {
    OpBuilder builder(barrier);
    emitBarrier(builder, barrier.getLoc(), spirv::Scope::Workgroup, environment,
                /*ordersGlobal=*/false);
    barrier.erase();
  }
}

void SpirvTarget::emitSubgroupBarrier(OpBuilder &builder, Location loc) const {
  emitBarrier(builder, loc, spirv::Scope::Subgroup, getSpirvEnvironment());
}

/// The data of the memory's first elements is loaded if `whole` does not hold,
/// and not used: a load in a branch would be waited for where the branch ends.
Value SpirvTarget::emitGuardedRead(OpBuilder &builder, Location loc,
                                   Value memory, ValueRange indices,
                                   int64_t width, Value whole) const {
  auto type = cast<MemRefType>(memory.getType());
  Type element = type.getElementType();
  int64_t offset;
  SmallVector<int64_t> strides;
  if (getSpirvEnvironment().isKernel || type.getMemorySpace() ||
      !type.hasStaticShape() || type.getNumElements() == 0 ||
      type.getRank() == 0 || isPacked(element) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return {};
  // The first `width` elements exist.
  bool isContiguous = type.getLayout().isIdentity();
  if ((isContiguous ? type.getNumElements() : type.getShape().back()) < width ||
      (width > 1 && strides.back() != 1))
    return {};
  IndexMath math(builder, loc);
  Value position = math.constant(0);
  int64_t last = 0;
  for (auto [index, stride, extent] :
       llvm::zip_equal(indices, strides, type.getShape())) {
    position = math.add(position, math.mul(index, stride));
    last += (extent - 1) * stride;
  }
  position =
      arith::SelectOp::create(builder, loc, whole, position, math.constant(0));
  auto flatType = MemRefType::get(
      {last + 1}, element,
      StridedLayoutAttr::get(builder.getContext(), offset, {1}));
  Value flat = memref::ReinterpretCastOp::create(
      builder, loc, flatType, memory, offset, ArrayRef<int64_t>{last + 1},
      ArrayRef<int64_t>{1});
  int64_t bits = width * getElementBits(element);
  if (width == 1) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    Value value = memref::LoadOp::create(builder, loc, flat, position);
    return arith::SelectOp::create(builder, loc, whole, value, zero);
  }
  auto vectorType = VectorType::get(width, element);
  Value value = vector::LoadOp::create(
      builder, loc, vectorType, flat, position, /*nontemporal=*/false,
      llvm::MaybeAlign(static_cast<uint64_t>(bits / 8)));
  // Words rather than the elements in them.
  VectorType type32 = bits % 32 == 0
                          ? VectorType::get(bits / 32, builder.getI32Type())
                          : vectorType;
  if (type32 != vectorType)
    value = vector::BitCastOp::create(builder, loc, type32, value);
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type32));
  value = arith::SelectOp::create(builder, loc, whole, value, zeros);
  return type32 == vectorType
             ? value
             : vector::BitCastOp::create(builder, loc, vectorType, value)
                   .getResult();
}

namespace {

struct ConvertTesseraToSPIRVPass
    : public tessera::impl::ConvertTesseraToSPIRVBase<
          ConvertTesseraToSPIRVPass> {
  using ConvertTesseraToSPIRVBase::ConvertTesseraToSPIRVBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const Chip *> found = getSpirvChip(module);
    if (failed(found))
      return signalPassFailure();
    SpirvTarget device(**found);
    LDBG() << module.getName() << ": for " << (*found)->name;
    sequenceReductions(module);
    orderAccesses(module, device);
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      relaxBarriers(kernel, *getSpirvEnvironment((*found)->target));
    if (failed(separateOpaque(module, **found)))
      return signalPassFailure();
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      markBlockLoads(kernel, **found);
      requestRegisters(kernel, **found);
    }
    if (failed(device.addScratch(module)) ||
        failed(convertFragmentsToVectors(module, device)))
      return signalPassFailure();
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      eraseRedundantBarriers(kernel);
  }
};

} // namespace
