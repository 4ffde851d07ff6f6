//===- MmaSync.cpp - mma.sync ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One format for every row of the table (PTX ISA, "mma"):
//
//   mma.sync.aligned.SHAPE.row.col.D.A.B.C  {d...}, {a...}, {b...}, {c...};
//
// as inline assembly, because nvvm.mma.sync has neither the f64 shapes of sm_90
// nor the 8-bit floats.
//
//===----------------------------------------------------------------------===//

#include "NvidiaTarget.h"
#include "PtxRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

/// Splits an f64 mma of k = 16 into two of k = 8: the registers of the long
/// shape are those of the short ones, in order (PTX ISA, "Matrix Fragments for
/// mma.m16n8k16 with .f64 type").
///
/// ptxas of CUDA 13.0 overwrites operands of the long shape before it is
/// executed, if a kernel contains several of them.
static Value emitHalves(OpBuilder &builder, Location loc, ArrayRef<Value> a,
                        ArrayRef<Value> b, SmallVector<Value> acc) {
  std::string text = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                     "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                     "{$0, $1, $2, $3};";
  Value sums;
  for (size_t half : {0, 1}) {
    SmallVector<Value> operands(a.slice(4 * half, 4));
    llvm::append_range(operands, b.slice(2 * half, 2));
    sums = emitAssembly(builder, loc, text, operands, acc,
                        /*touchesMemory=*/false);
    for (auto [index, value] : llvm::enumerate(acc))
      value = LLVM::ExtractValueOp::create(builder, loc, sums, index);
  }
  return sums;
}

/// Splits an instruction that is two along N, for the even and the odd columns.
Value NvidiaTarget::emitPairs(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) const {
  const MatrixInstruction *each = chip.findInstruction(row.repeated);
  assert(each && "the table has the instruction that is repeated");
  auto select = [&](Value from, ArrayRef<int64_t> elements) -> Value {
    return vector::ShuffleOp::create(builder, loc, from, from, elements);
  };
  SmallVector<Value> sums;
  for (int64_t odd : {0, 1}) {
    SmallVector<int64_t> ofB, ofSums;
    for (int64_t word : {odd, odd + 2})
      for (int64_t byte = 0; byte < 4; ++byte)
        ofB.push_back(4 * word + byte);
    for (int64_t i = 0; i < 4; ++i)
      ofSums.push_back(2 * i + odd);
    sums.push_back(emitMma(builder, loc, *each, op, a, select(b, ofB),
                           select(acc, ofSums)));
  }
  return vector::ShuffleOp::create(builder, loc, sums[0], sums[1],
                                   ArrayRef<int64_t>{0, 4, 1, 5, 2, 6, 3, 7});
}

/// Splits an instruction that is several along K. Which lane holds which
/// element of K has no effect if it is the same for a and b.
Value NvidiaTarget::emitRepeated(OpBuilder &builder, Location loc,
                                 const MatrixInstruction &row, MmaOp op,
                                 Value a, Value b, Value acc) const {
  const MatrixInstruction *each = chip.findInstruction(row.repeated);
  assert(each && "the table has the instruction that is repeated");
  int64_t run = row.bMap.getNumRegisters(), parts = row.k / each->k;
  for (int64_t part = 0; part < parts; ++part) {
    // Two pairs of this lane's run of K; rows g and g + 8 of a.
    int64_t k0 = 4 * part, k1 = k0 + 1, k2 = k0 + 2, k3 = k0 + 3;
    Value left = vector::ShuffleOp::create(
              builder, loc, a, a,
              {k0, k1, run + k0, run + k1, k2, k3, run + k2, run + k3}),
          right =
              vector::ShuffleOp::create(builder, loc, b, b, {k0, k1, k2, k3});
    acc = emitMma(builder, loc, *each, op, left, right, acc);
  }
  return acc;
}

Value NvidiaTarget::emitMma(OpBuilder &builder, Location loc,
                            const MatrixInstruction &row, MmaOp op, Value a,
                            Value b, Value acc) const {
  // One subgroup's; those of groups have conversions of their own.
  if (row.subgroups > 1)
    return {};
  if (row.pairsColumns)
    return emitPairs(builder, loc, row, op, a, b, acc);
  if (!row.repeated.empty())
    return emitRepeated(builder, loc, row, op, a, b, acc);
  SmallVector<Value> aWords = unpackRegisters(builder, loc, a, row.tf32),
                     bWords = unpackRegisters(builder, loc, b, row.tf32),
                     accWords = unpackRegisters(builder, loc, acc, false);
  StringRef shape = StringRef(row.name).split('.').second.split('.').first;
  int64_t count = accWords.size();
  auto pack = [&](Value sums) {
    return packRegisters(builder, loc, sums, count,
                         cast<VectorType>(acc.getType()), /*first=*/0, count);
  };
  if (shape == "m16n8k16" && row.aType == "f64")
    return pack(emitHalves(builder, loc, aWords, bWords, accWords));
  StringRef aType = getPtxType(row.aType, op.getUnsignedA(), row.tf32),
            bType = getPtxType(row.bType, op.getUnsignedB(), row.tf32),
            accType = getPtxType(row.accType, false, false);

  unsigned next = 0;
  auto registers = [&](size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", $" : "$") + llvm::utostr(next++);
    return text + "}";
  };
  std::string accText = registers(accWords.size());
  std::string text = ("mma.sync.aligned." + shape + ".row.col." + accType +
                      "." + aType + "." + bType + "." + accType + " ")
                         .str();
  text += accText + ", " + registers(aWords.size());
  text += ", " + registers(bWords.size()) + ", " + accText + ";";

  SmallVector<Value> operands(aWords);
  llvm::append_range(operands, bWords);
  return pack(emitAssembly(builder, loc, text, operands, accWords,
                           /*touchesMemory=*/false));
}
