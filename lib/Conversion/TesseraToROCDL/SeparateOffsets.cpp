//===- SeparateOffsets.cpp - Constant offsets of LDS reads ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An LDS read has an address in a vector register and a constant offset below
// 64 KiB. Reads of a loop that differ by constants should share the register:
//
//   %r = arith.addi %row, %c16       %v = memref.reinterpret_cast %tile
//   load %tile[%slot, %r, %col]  ->       offset: 16 * pitch
//                                    load %v[%row * pitch + %col]
//
// LLVM separates constants by itself, except in two cases:
//
// * It turns a sum of terms with disjoint bits into a logical or, and removes
//   the mask of a term if the constant sets the masked bits: the or is then not
//   a sum any more.
// * A tile begins at a constant of the kernel's workgroup memory, which LLVM
//   adds to the constant of the read. If that makes 64 KiB or more, each read
//   has a register of its own. Such beginnings are hidden in an empty assembly
//   statement, which makes them a scalar register.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/LinearSum.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_SEPARATEOFFSETS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-separate-offsets"

STATISTIC(numReads, "Number of LDS reads given an index and an offset");

using namespace mlir;
using namespace mlir::tessera;

/// The constant offset of an LDS instruction is smaller (CDNA4 ISA, "LDS
/// instruction format").
static constexpr int64_t offsetEnd = 1 << 16;

/// Replaces (x / c) * (c * f) + (x mod c) * f by x * f.
static void joinQuotients(LinearSum &sum) {
  for (auto [term, factor] : sum.terms) {
    auto quotient = term.getDefiningOp<arith::DivUIOp>();
    std::optional<int64_t> by =
        quotient ? getConstantIntValue(quotient.getRhs()) : std::nullopt;
    if (!by)
      continue;
    int64_t whole = factor;
    auto remainder = llvm::find_if(sum.terms, [&](const auto &other) {
      auto op = other.first.template getDefiningOp<arith::RemUIOp>();
      return op && op.getLhs() == quotient.getLhs() &&
             getConstantIntValue(op.getRhs()) == by &&
             whole == other.second * *by;
    });
    if (remainder == sum.terms.end())
      continue;
    auto [rest, each] = *remainder;
    sum.terms.erase(rest);
    sum.terms.erase(quotient.getResult());
    sum.add(quotient.getLhs(), each);
    return joinQuotients(sum);
  }
}

/// The value of `sum`, with another constant.
static Value emitSum(OpBuilder &builder, Location loc, const LinearSum &sum,
                     int64_t constant) {
  IndexMath math(builder, loc);
  Value value;
  for (auto [term, factor] : sum.terms) {
    Value scaled = math.mul(term, factor);
    value = value ? math.add(value, scaled) : scaled;
  }
  return value ? math.add(value, constant) : math.constant(constant);
}

/// Moves multiples of divisors out of quotients and remainders.
static void reduceQuotients(OpBuilder &builder, Location loc, LinearSum &sum) {
  IndexMath math(builder, loc);
  auto before = sum.terms.takeVector();
  for (auto [term, factor] : before) {
    Operation *op = term.getDefiningOp();
    bool isQuotient = isa_and_present<arith::DivUIOp>(op);
    std::optional<int64_t> by =
        isQuotient || isa_and_present<arith::RemUIOp>(op)
            ? getConstantIntValue(op->getOperand(1))
            : std::nullopt;
    LinearSum dividend;
    if (by)
      dividend.add(op->getOperand(0), 1);
    if (!by || dividend.constant < *by) {
      sum.add(term, factor);
      continue;
    }
    Value divisor = math.constant(*by),
          rest = emitSum(builder, loc, dividend, dividend.constant % *by);
    sum.add(isQuotient ? math.div(rest, divisor) : math.rem(rest, divisor),
            factor);
    if (isQuotient)
      sum.constant += dividend.constant / *by * factor;
  }
}

/// `value`, which LLVM knows nothing about.
static Value emitOpaque(OpBuilder &builder, Location loc, int64_t value) {
  Type i32 = builder.getI32Type();
  Value constant = arith::ConstantIntOp::create(builder, loc, value, 32);
  auto hidden = LLVM::InlineAsmOp::create(
      builder, loc, TypeRange{i32}, ValueRange{constant}, /*asm_string=*/"",
      /*constraints=*/"=s,0", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      hidden.getResult(0));
}

static void separateOffsets(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> reads;
  kernel.walk([&](Operation *op) {
    if (!isa<vector::LoadOp, amdgpu::TransposeLoadOp>(op))
      return;
    auto type = cast<MemRefType>(op->getOperand(0).getType());
    if (isWorkgroupMemory(type) && type.hasStaticShape() &&
        getElementBits(type.getElementType()) % 8 == 0)
      reads.push_back(op);
  });
  LDBG() << kernel.getName() << ": " << reads.size() << " reads";
  // Views of the kernel's memory that begin late, and the same ones for reads.
  DenseMap<Value, Value> hidden;
  for (Operation *op : reads) {
    Value memory = op->getOperand(0);
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic) || strides.back() != 1)
      continue;
    OpBuilder builder(op);
    LinearSum sum;
    sum.constant = offset;
    for (auto [index, stride] :
         llvm::zip_equal(op->getOperands().drop_front(), strides))
      sum.add(index, stride);
    joinQuotients(sum);
    reduceQuotients(builder, op->getLoc(), sum);
    while (auto cast = memory.getDefiningOp<memref::ReinterpretCastOp>())
      memory = cast.getSource();
    auto view = memory.getDefiningOp<memref::ViewOp>();
    std::optional<int64_t> begin =
        view ? getConstantIntValue(view.getByteShift()) : std::nullopt;
    int64_t bytes =
        type.getNumElements() * getElementBytes(type.getElementType());
    if (begin && *begin + bytes > offsetEnd && bytes <= offsetEnd) {
      Value &late = hidden[memory];
      if (!late) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(view);
        late = memref::ViewOp::create(
            builder, view.getLoc(), view.getType(), view.getSource(),
            emitOpaque(builder, view.getLoc(), *begin), view.getSizes());
      }
      memory = late;
    }
    auto flat = MemRefType::get(
        {type.getNumElements()}, type.getElementType(),
        StridedLayoutAttr::get(builder.getContext(), sum.constant, {1}),
        type.getMemorySpace());
    Value part = memref::ReinterpretCastOp::create(
        builder, op->getLoc(), flat, memory, sum.constant, flat.getShape(),
        ArrayRef<int64_t>{1});
    Value index = emitSum(builder, op->getLoc(), sum, /*constant=*/0);
    op->setOperands({part, index});
    ++numReads;
  }
}

/// Whether the chip has MFMA. Loops of other instructions have few addresses
/// and gain nothing, and some kernels of RDNA and of gfx906 would spill.
static bool hasMfma(const Chip &chip) {
  constexpr int64_t lanes = 64;
  return chip.subgroupSize == lanes &&
         llvm::any_of(chip.instructions, [](const MatrixInstruction &row) {
           return row.matrixUnit;
         });
}

namespace {
struct SeparateOffsetsPass
    : public tessera::impl::SeparateOffsetsBase<SeparateOffsetsPass> {
  using SeparateOffsetsBase::SeparateOffsetsBase;
  void runOnOperation() override {
    FailureOr<const Chip *> chip = getChip(getOperation(), "hip");
    if (failed(chip))
      return signalPassFailure();
    if (!hasMfma(**chip))
      return;
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      separateOffsets(kernel);
  }
};
} // namespace
