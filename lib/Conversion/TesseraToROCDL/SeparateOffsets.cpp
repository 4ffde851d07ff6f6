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

namespace {
/// A sum of terms, each a value times a constant, and a constant.
struct LinearSum {
  SmallVector<std::pair<Value, int64_t>> terms;
  int64_t constant = 0;

  void add(Value value, int64_t factor);
  /// Replaces (x / c) * (c * f) + (x mod c) * f by x * f.
  void joinQuotients();
  /// Moves multiples of divisors out of quotients and remainders.
  void reduceQuotients(OpBuilder &builder, Location loc);
  Value emit(OpBuilder &builder, Location loc, int64_t plus = 0) const;
};
} // namespace

void LinearSum::add(Value value, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    constant += *known * factor;
    return;
  }
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    add(sum.getLhs(), factor);
    add(sum.getRhs(), factor);
    return;
  }
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> by = getConstantIntValue(product.getRhs())) {
      add(product.getLhs(), factor * *by);
      return;
    }
  for (auto &[term, times] : terms)
    if (term == value) {
      times += factor;
      return;
    }
  terms.push_back({value, factor});
}

void LinearSum::joinQuotients() {
  for (size_t i = 0; i < terms.size(); ++i) {
    auto quotient = terms[i].first.getDefiningOp<arith::DivUIOp>();
    std::optional<int64_t> by =
        quotient ? getConstantIntValue(quotient.getRhs()) : std::nullopt;
    if (!by)
      continue;
    auto remainder = llvm::find_if(terms, [&](const auto &term) {
      auto op = term.first.template getDefiningOp<arith::RemUIOp>();
      return op && op.getLhs() == quotient.getLhs() &&
             getConstantIntValue(op.getRhs()) == by &&
             terms[i].second == term.second * *by;
    });
    if (remainder == terms.end())
      continue;
    int64_t factor = remainder->second;
    terms.erase(remainder);
    llvm::erase_if(terms, [&](const auto &term) {
      return term.first == quotient.getResult();
    });
    add(quotient.getLhs(), factor);
    joinQuotients();
    return;
  }
}

void LinearSum::reduceQuotients(OpBuilder &builder, Location loc) {
  IndexMath math(builder, loc);
  SmallVector<std::pair<Value, int64_t>> before = std::move(terms);
  terms.clear();
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
      add(term, factor);
      continue;
    }
    Value divisor = math.constant(*by),
          rest = dividend.emit(builder, loc, dividend.constant % *by);
    add(isQuotient ? math.div(rest, divisor) : math.rem(rest, divisor), factor);
    if (isQuotient)
      constant += dividend.constant / *by * factor;
  }
}

Value LinearSum::emit(OpBuilder &builder, Location loc, int64_t plus) const {
  IndexMath math(builder, loc);
  Value sum;
  for (auto [term, factor] : terms) {
    Value scaled = math.mul(term, factor);
    sum = sum ? math.add(sum, scaled) : scaled;
  }
  return sum ? math.add(sum, plus) : math.constant(plus);
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
    sum.joinQuotients();
    sum.reduceQuotients(builder, op->getLoc());
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
    Value index = sum.emit(builder, op->getLoc());
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
