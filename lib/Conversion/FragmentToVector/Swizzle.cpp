//===- Swizzle.cpp - Where a swizzled memory keeps its elements -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With E elements in a chunk of 16 bytes, S phases and L rows for each of them,
// all powers of two, element (r, c) is stored in the column
//
//   ((c / E) xor ((r / L) mod S)) * E + c mod E  =  c xor ((r / L) mod S) * E
//
// since the phase times E has none of the bits of c mod E. For elements of 8
// bytes the bits of the phase are rotated (getSwizzlePhase): eight lanes read
// two chunks of each of four rows at once. Longer rows are stored in
// panels, each of 128 bytes of all rows, or of 64: with N elements in a row of
// a panel and R rows, the element has the index (c / N * R + r) * N + (c mod
// N), with c mod N permuted as above. Terms of r that are multiples of L * S do
// not change the phase, and terms of c that are multiples of S * E do not
// overlap with it: they are not part of this arithmetic, so that only the terms
// of the lane id remain, which are the same in every step of a loop.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// A sum in two parts: `outer` + `inner` + `constant`, where `outer` is a
/// multiple of some power of two, and 0 <= constant < that power.
struct SplitSum {
  SmallVector<Value> outer, inner;
  int64_t outerConstant = 0, constant = 0;

  SplitSum(Value sum, int64_t modulus) {
    add(sum, modulus, /*depth=*/8);
    outerConstant = constant & -modulus;
    constant &= modulus - 1;
  }

  /// The sum of `terms` and a constant.
  static Value emit(const IndexMath &math, ArrayRef<Value> terms,
                    int64_t constant) {
    Value sum;
    for (Value term : terms)
      sum = sum ? math.add(sum, term) : term;
    return sum ? math.add(sum, constant) : math.constant(constant);
  }

private:
  void add(Value term, int64_t modulus, int depth) {
    auto sum = term.getDefiningOp<arith::AddIOp>();
    if (std::optional<int64_t> known = getConstantIntValue(term)) {
      constant += *known;
    } else if (getKnownDivisor(term) % modulus == 0) {
      outer.push_back(term);
    } else if (sum && depth) {
      add(sum.getLhs(), modulus, depth - 1);
      add(sum.getRhs(), modulus, depth - 1);
    } else {
      inner.push_back(term);
    }
  }
};
} // namespace

Value mlir::tessera::emitSwizzledColumn(OpBuilder &builder, Location loc,
                                        MemRefType type, Value row, Value col) {
  IndexMath math(builder, loc);
  int64_t bits = getElementBits(type.getElementType());
  int64_t phases = getSwizzlePhases(type), perChunk = 8 * 16 / bits;
  int64_t panelBytes = getSwizzlePanelBytes(type.getShape().back() * bits / 8);
  int64_t rowsPerPhase = 128 / panelBytes;

  SplitSum rows(row, rowsPerPhase * phases), cols(col, phases * perChunk);
  // The phase times E: its bits are shifted from where they are in the row.
  int64_t mask = (phases - 1) * perChunk;
  Value phase;
  if (rows.inner.empty()) {
    phase = math.constant(
        getSwizzlePhase(rows.constant / rowsPerPhase, phases, bits) * perChunk);
  } else {
    phase = SplitSum::emit(math, rows.inner, rows.constant);
    if (perChunk > rowsPerPhase)
      phase = arith::ShLIOp::create(
          builder, loc, phase,
          math.constant(llvm::Log2_64(perChunk / rowsPerPhase)));
    else if (perChunk < rowsPerPhase)
      phase = arith::ShRUIOp::create(
          builder, loc, phase,
          math.constant(llvm::Log2_64(rowsPerPhase / perChunk)));
    phase = arith::AndIOp::create(builder, loc, phase, math.constant(mask));
    if (rotatesSwizzlePhases(bits) && phases > 2) {
      Value high = arith::ShRUIOp::create(
                builder, loc, phase, math.constant(llvm::Log2_64(phases) - 1)),
            low = arith::ShLIOp::create(builder, loc, phase, math.constant(1));
      auto mask = [&](Value value, int64_t bits) -> Value {
        return arith::AndIOp::create(builder, loc, value, math.constant(bits));
      };
      phase =
          arith::OrIOp::create(builder, loc, mask(low, (phases - 2) * perChunk),
                               mask(high, perChunk));
    }
  }
  Value inner = SplitSum::emit(math, cols.inner, cols.constant);
  std::optional<int64_t> knownPhase = getConstantIntValue(phase),
                         knownInner = getConstantIntValue(inner);
  if (knownPhase && knownInner)
    inner = math.constant(*knownPhase ^ *knownInner);
  else if (knownInner == 0)
    inner = phase;
  else if (knownPhase != 0)
    inner = arith::XOrIOp::create(builder, loc, inner, phase);
  if (cols.outer.empty())
    return math.add(inner, cols.outerConstant);
  return math.add(SplitSum::emit(math, cols.outer, cols.outerConstant), inner);
}

std::array<Value, 2> mlir::tessera::emitSwizzledPosition(OpBuilder &builder,
                                                         Location loc,
                                                         MemRefType type,
                                                         Value row, Value col) {
  Value kept = emitSwizzledColumn(builder, loc, type, row, col);
  int64_t bits = getElementBits(type.getElementType()),
          perPanel = 8 *
                     getSwizzlePanelBytes(type.getShape().back() * bits / 8) /
                     bits;
  int64_t panels = type.getShape().back() / perPanel;
  if (panels <= 1)
    return {row, kept};
  IndexMath math(builder, loc);
  Value size = math.constant(perPanel), count = math.constant(panels);
  int64_t rows = type.getShape()[type.getRank() - 2];
  Value line = math.add(math.mul(math.div(kept, size), rows), row);
  return {math.div(line, count),
          math.add(math.mul(math.rem(line, count), perPanel),
                   math.rem(kept, size))};
}
