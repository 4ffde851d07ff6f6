//===- Tcgen05.cpp - The instructions of tensor memory --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ordering of the accesses of a group (PTX ISA, "tcgen05 Memory Consistency
// Model"):
//
//   matmuls -> loads      tcgen05.commit to an mbarrier, which all wait for,
//                         and tcgen05.fence::after_thread_sync
//   loads -> matmuls      tcgen05.wait::ld, tcgen05.fence::before_thread_sync,
//                         a barrier; and the fence::after_thread_sync that
//                         each issue begins with
//   stores -> matmuls     the same with tcgen05.wait::st
//
//===----------------------------------------------------------------------===//

#include "Tcgen05.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "PtxRegisters.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

/// The barrier of the first group; 0 is that of all threads, 1 that of those
/// that do not copy.
static constexpr int64_t firstGroupBarrier = 2;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

uint64_t mlir::tessera::getTensorDescriptorKind(int64_t pitch) {
  uint64_t swizzle = pitch == 128 ? 2 : pitch == 64 ? 4 : 6;
  return uint64_t(1) << 46 | swizzle << 61;
}

/// The encoding of an operand's type in its kind of instruction.
static uint32_t getOperandFormat(StringRef type, bool isUnsigned) {
  return llvm::StringSwitch<uint32_t>(type)
      .Case("bf16", 1)
      .Case("f32", 2) // tf32
      .Case("i8", isUnsigned ? 0 : 1)
      .Case("f8E5M2", 1)
      .Default(0); // f16, f8E4M3FN
}

uint32_t mlir::tessera::getInstructionDescriptor(const MatrixInstruction &row,
                                                 MmaOp op) {
  uint32_t sums = row.accType == "i32" ? 2 : row.accType == "f32" ? 1 : 0;
  // The instruction's own order is a by rows and b by columns.
  uint32_t aAcross =
               op->hasAttr(TesseraDialect::TransposedAAttrHelper::getNameStr()),
           bAcross = !op->hasAttr(
               TesseraDialect::TransposedBAttrHelper::getNameStr());
  return sums << 4 | getOperandFormat(row.aType, op.getUnsignedA()) << 7 |
         getOperandFormat(row.bType, op.getUnsignedB()) << 10 | aAcross << 15 |
         bAcross << 16 | static_cast<uint32_t>(row.n >> 3) << 17 |
         static_cast<uint32_t>(row.m >> 4) << 24;
}

static NVVM::Tcgen05MMAKind getKind(const MatrixInstruction &row) {
  return llvm::StringSwitch<NVVM::Tcgen05MMAKind>(row.aType)
      .Cases({"f16", "bf16"}, NVVM::Tcgen05MMAKind::F16)
      .Case("f32", NVVM::Tcgen05MMAKind::TF32)
      .Case("i8", NVVM::Tcgen05MMAKind::I8)
      .Default(NVVM::Tcgen05MMAKind::F8F6F4);
}

//===----------------------------------------------------------------------===//
// The kernel's columns and mbarriers
//===----------------------------------------------------------------------===//

/// The least that can be allocated.
static constexpr int64_t leastColumns = 32;

/// Tensor memory has 128 lanes, of which each of four subgroups can access 32.
static constexpr int64_t lanesLog2 = 7, subgroupsOfLanes = 4;

TensorInstructions::TensorInstructions(gpu::GPUFuncOp kernel, const Chip &chip,
                                       int64_t columns, int64_t threads)
    : kernel(kernel), chip(chip), columns(columns), threads(threads),
      groupThreads(getFragmentGroup(kernel) * chip.subgroupSize),
      instructions(kernel, chip) {
  allocated = static_cast<int64_t>(llvm::PowerOf2Ceil(
      std::max(leastColumns, columns * (threads / groupThreads))));
}

Value TensorInstructions::number(OpBuilder &builder, Location loc,
                                 int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

static NVVM::CTAGroupKindAttr getAlone(OpBuilder &builder) {
  return NVVM::CTAGroupKindAttr::get(builder.getContext(),
                                     NVVM::CTAGroupKind::CTA_1);
}

static Value emitTensorPointer(OpBuilder &builder, Location loc,
                               Value address) {
  auto type = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Tensor));
  return LLVM::IntToPtrOp::create(builder, loc, type, address);
}

static void emitFence(OpBuilder &builder, Location loc, bool after) {
  NVVM::Tcgen05FenceOp::create(
      builder, loc,
      after ? NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC
            : NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}

void TensorInstructions::emitSetUp(OpBuilder &builder, Location loc) {
  int64_t groups = threads / groupThreads;
  IndexMath math(builder, loc);
  barriers = instructions.addBarriers(loc, 1 + groups);
  parity = kernel.addPrivateAttribution(
      MemRefType::get({1}, builder.getI32Type(), MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Private)),
      loc);
  thread = emitLinearThread(builder, kernel);
  group = math.div(thread, math.constant(groupThreads));
  Value address =
      BulkInstructions::emitPointer(builder, loc, barriers, math.constant(0));
  auto one = scf::IfOp::create(builder, loc,
                               arith::CmpIOp::create(builder, loc,
                                                     arith::CmpIPredicate::eq,
                                                     thread, math.constant(0)),
                               /*withElseRegion=*/false);
  OpBuilder byOne = one.getThenBodyBuilder();
  for (int64_t g = 0; g < groups; ++g)
    instructions.emitInit(byOne, loc, barriers, 1 + g, /*arrivals=*/1);
  NVVM::FenceMbarrierInitOp::create(byOne, loc);
  // Executed by one whole subgroup, which also releases them. Other workgroups
  // on the SM may allocate from then on.
  auto first = scf::IfOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                            math.constant(chip.subgroupSize)),
      /*withElseRegion=*/false);
  OpBuilder byFirst = first.getThenBodyBuilder();
  NVVM::Tcgen05AllocOp::create(byFirst, loc, address,
                               number(byFirst, loc, allocated),
                               getAlone(builder));
  NVVM::Tcgen05RelinquishAllocPermitOp::create(byFirst, loc, getAlone(builder));
  emitFence(builder, loc, /*after=*/false);
  gpu::BarrierOp::create(builder, loc);
  emitFence(builder, loc, /*after=*/true);
  base = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address);
  memref::StoreOp::create(builder, loc, number(builder, loc, 0), parity,
                          ValueRange{math.constant(0)});
}

void TensorInstructions::emitEnd(OpBuilder &builder, Location loc) {
  IndexMath math(builder, loc);
  emitFence(builder, loc, /*after=*/false);
  gpu::BarrierOp::create(builder, loc);
  emitFence(builder, loc, /*after=*/true);
  auto first = scf::IfOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                            math.constant(chip.subgroupSize)),
      /*withElseRegion=*/false);
  OpBuilder byFirst = first.getThenBodyBuilder();
  NVVM::Tcgen05DeallocOp::create(
      byFirst, loc, emitTensorPointer(byFirst, loc, base),
      number(byFirst, loc, allocated), getAlone(builder));
}

Value TensorInstructions::emitAddress(OpBuilder &builder, Location loc,
                                      int64_t column) {
  Value address = base;
  if (threads > groupThreads) {
    Value first = IndexMath(builder, loc).mul(group, columns);
    address = arith::AddIOp::create(
        builder, loc, address,
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), first));
  }
  if (column)
    address = arith::AddIOp::create(builder, loc, address,
                                    number(builder, loc, column));
  return address;
}

Value TensorInstructions::emitShare(OpBuilder &builder, Location loc,
                                    const MatrixInstruction &row,
                                    int64_t column) {
  IndexMath math(builder, loc);
  // For subgroup w of the group: lanes from 32 * (w mod 4) on, in the high half
  // of an address. The next four subgroups have the same lanes, and the columns
  // that the map defines.
  Value subgroup = math.rem(math.div(thread, math.constant(chip.subgroupSize)),
                            math.constant(groupThreads / chip.subgroupSize));
  Value offset = math.mul(math.rem(subgroup, math.constant(subgroupsOfLanes)),
                          chip.subgroupSize << 16);
  ArrayRef<LaneMap::Step> lanes = row.accMap.getLanes();
  if (static_cast<int64_t>(lanes.size()) > lanesLog2)
    offset = math.add(
        offset, math.mul(math.div(subgroup, math.constant(subgroupsOfLanes)),
                         lanes[lanesLog2][1]));
  Value address = arith::AddIOp::create(
      builder, loc, emitAddress(builder, loc, column),
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), offset));
  return emitTensorPointer(builder, loc, address);
}

Value TensorInstructions::emitDone(OpBuilder &builder, Location loc) {
  return IndexMath(builder, loc).add(group, 1);
}

void TensorInstructions::emitMeeting(OpBuilder &builder, Location loc) {
  emitFence(builder, loc, /*after=*/false);
  Value id = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      IndexMath(builder, loc).add(group, firstGroupBarrier));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), id,
                          number(builder, loc, groupThreads),
                          NVVM::BarrierReductionAttr(), Value());
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

Value TensorInstructions::emitIsIssuer(OpBuilder &builder, Location loc) {
  IndexMath math(builder, loc);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               math.rem(thread, math.constant(groupThreads)),
                               math.constant(0));
}

/// The converted form of a fragment, a vector for each tile.
static ValueRange emitTiles(OpBuilder &builder, Location loc, Value fragment,
                            VectorType type, int64_t count) {
  return UnrealizedConversionCastOp::create(
             builder, loc, SmallVector<Type>(count, type), fragment)
      .getResults();
}

void TensorInstructions::emitMatmul(OpBuilder &builder,
                                    const MatrixInstruction &row, MmaOp op,
                                    Value a, Value b, int64_t first,
                                    Value adds) {
  Location loc = op.getLoc();
  int64_t m = op.getAcc().getType().getRows() / row.m,
          n = op.getAcc().getType().getCols() / row.n,
          k = op.getA().getType().getCols() / row.k;
  auto description = VectorType::get(1, builder.getI64Type());
  ValueRange left = emitTiles(builder, loc, a, description, m * k),
             right = emitTiles(builder, loc, b, description, k * n);
  auto describe = [&](Value tile) -> Value {
    return vector::ExtractOp::create(builder, loc, tile, ArrayRef<int64_t>{0});
  };
  Value descriptor = number(
      builder, loc, static_cast<int32_t>(getInstructionDescriptor(row, op)));
  Value always =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  auto kind = NVVM::Tcgen05MMAKindAttr::get(builder.getContext(), getKind(row));
  auto collector = NVVM::Tcgen05MMACollectorOpAttr::get(
      builder.getContext(), NVVM::Tcgen05MMACollectorOp::DISCARD);
  for (int64_t s = 0; s < k; ++s)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        NVVM::Tcgen05MMAOp::create(
            builder, loc, kind, getAlone(builder), collector,
            /*aShift=*/UnitAttr(),
            emitTensorPointer(
                builder, loc,
                emitAddress(builder, loc, first + (i * n + j) * row.n)),
            describe(left[i * k + s]), describe(right[s * n + j]), descriptor,
            s == 0 ? adds : always, /*scaleInputD=*/Value(),
            /*disableOutputLane=*/Value());
}

void TensorInstructions::emitAwait(OpBuilder &builder, Location loc) {
  IndexMath math(builder, loc);
  auto issuer = scf::IfOp::create(builder, loc, emitIsIssuer(builder, loc),
                                  /*withElseRegion=*/false);
  OpBuilder one = issuer.getThenBodyBuilder();
  NVVM::Tcgen05CommitOp::create(
      one, loc,
      BulkInstructions::emitPointer(one, loc, barriers, emitDone(one, loc)),
      /*multicastMask=*/Value(), getAlone(builder));
  SmallVector<Value> at{math.constant(0)};
  Value phase = memref::LoadOp::create(builder, loc, parity, at);
  instructions.emitWait(builder, loc, barriers, emitDone(builder, loc), phase);
  Value next =
      arith::XOrIOp::create(builder, loc, phase, number(builder, loc, 1));
  memref::StoreOp::create(builder, loc, next, parity, at);
  emitFence(builder, loc, /*after=*/true);
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

void TensorInstructions::forEachRun(
    const MatrixInstruction &row,
    function_ref<void(int64_t, int64_t, int64_t)> access) {
  // The rows of the table define that each lane has one row.
  int64_t count = row.accMap.getNumRegisters(),
          run = std::min(count, row.accMap.getContiguous(/*dimension=*/1));
  for (int64_t reg = 0; reg < count; reg += run)
    access(reg, run, row.accMap.at(/*lane=*/0, reg).second);
}

static NVVM::Tcgen05LdStShapeAttr getShape(OpBuilder &builder) {
  return NVVM::Tcgen05LdStShapeAttr::get(builder.getContext(),
                                         NVVM::Tcgen05LdStShape::SHAPE_32X32B);
}

SmallVector<Value> TensorInstructions::emitLoad(OpBuilder &builder,
                                                Location loc,
                                                const MatrixInstruction &row,
                                                VectorType type, int64_t tiles,
                                                int64_t first) {
  SmallVector<Value> words;
  for (int64_t tile = 0; tile < tiles; ++tile)
    forEachRun(row, [&](int64_t, int64_t count, int64_t column) {
      Type loaded = builder.getI32Type();
      if (count > 1)
        loaded = VectorType::get(count, loaded);
      Value run = NVVM::Tcgen05LdOp::create(
          builder, loc, loaded, /*pack=*/UnitAttr(), getShape(builder),
          emitShare(builder, loc, row, first + tile * row.n + column),
          /*offset=*/Value());
      for (int64_t i = 0; i < count; ++i)
        words.push_back(
            count == 1
                ? run
                : vector::ExtractOp::create(builder, loc, run, i).getResult());
    });
  // The registers go through the wait, so that nothing uses them before it.
  Value loaded = emitAssembly(builder, loc, "tcgen05.wait::ld.sync.aligned;",
                              /*operands=*/{}, words, /*touchesMemory=*/true);
  SmallVector<Value> values;
  int64_t perTile = type.getNumElements(),
          all = static_cast<int64_t>(words.size());
  for (int64_t tile = 0; tile < tiles; ++tile)
    values.push_back(packRegisters(builder, loc, loaded, perTile, type,
                                   tile * perTile, all));
  emitMeeting(builder, loc);
  return values;
}

void TensorInstructions::emitStore(OpBuilder &builder, Location loc,
                                   const MatrixInstruction &row,
                                   ValueRange tiles, int64_t first) {
  for (auto [tile, value] : llvm::enumerate(tiles)) {
    auto type = cast<VectorType>(value.getType());
    Value words = vector::BitCastOp::create(
        builder, loc, type.clone(builder.getI32Type()), value);
    int64_t begin = first + static_cast<int64_t>(tile) * row.n;
    forEachRun(row, [&](int64_t reg, int64_t count, int64_t at) {
      Value run;
      if (count == 1)
        run = vector::ExtractOp::create(builder, loc, words, reg);
      else
        run = vector::ExtractStridedSliceOp::create(
            builder, loc, words, ArrayRef<int64_t>{reg},
            ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
      NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/UnitAttr(),
                                getShape(builder),
                                emitShare(builder, loc, row, begin + at), run,
                                /*offset=*/Value());
    });
  }
  NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
  emitMeeting(builder, loc);
}
