//===- Nearest.cpp - The nearest matmul with a better row -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Nearest.h"

#include "Tables.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

/// The mantissa bits of a float type, by its name; empty for integers.
static std::optional<int> getMantissaBits(StringRef type) {
  static constexpr std::pair<StringRef, int> known[] = {
      {"f64", 52},     {"f32", 23},   {"f16", 10},       {"bf16", 7},
      {"f8E4M3FN", 3}, {"f8E5M2", 2}, {"f8E4M3FNUZ", 3}, {"f8E5M2FNUZ", 2}};
  for (auto [name, bits] : known)
    if (name == type)
      return bits;
  return std::nullopt;
}

/// The cost of changing the element type; empty if the types are of different
/// kinds.
static std::optional<double> getTypeCost(StringRef from, StringRef to) {
  if (from == to)
    return 0;
  std::optional<int> here = getMantissaBits(from), there = getMantissaBits(to);
  if (here.has_value() != there.has_value())
    return std::nullopt;
  return here ? 100 + 2 * std::abs(*here - *there) : 100;
}

static std::string formatShape(int64_t m, int64_t n, int64_t k) {
  return llvm::utostr(m) + "x" + llvm::utostr(n) + "x" + llvm::utostr(k);
}

/// Changes `nearest` to a matmul that `row` supports. Returns the cost.
static std::optional<double> change(const MatmulForm &form,
                                    const MatrixInstruction &row,
                                    NearestMatmul &nearest) {
  MatmulForm &form2 = nearest.form = form;
  double cost = 0;
  auto add = [&](double by, std::string text) {
    cost += by;
    nearest.changes.push_back(std::move(text));
  };
  std::optional<double> a = getTypeCost(form.a, row.aType),
                        b = getTypeCost(form.b, row.bType),
                        acc = getTypeCost(form.acc, row.accType);
  if (!a || !b || !acc)
    return std::nullopt;
  form2.a = row.aType;
  form2.b = row.bType;
  form2.acc = row.accType;
  if (form.a == form.b && row.aType == row.bType) {
    if (*a != 0)
      add(*a + *b, "operands of " + row.aType + " (" + form.a + " here)");
  } else {
    if (*a != 0)
      add(*a, "operand a of " + row.aType + " (" + form.a + " here)");
    if (*b != 0)
      add(*b, "operand b of " + row.bType + " (" + form.b + " here)");
  }
  if (*acc != 0)
    add(*acc, "an accumulator of " + row.accType + " (" + form.acc + " here)");
  if (row.tf32 && form.precision != Precision::Tf32) {
    form2.precision = Precision::Tf32;
    add(1, tf32Option.str());
  }
  if (row.signedOnly && form.anyUnsigned) {
    form2.anyUnsigned = false;
    add(50, "signed operands");
  }
  if (row.aInMemory && !form.aInMemory) {
    form2.aInMemory = true;
    add(30, "operand a in swizzled workgroup memory");
  }
  // Other types and options make other fragments as well.
  bool areFragmentsFree = cost > 0;
  if (row.subgroups != form.subgroups) {
    form2.subgroups = row.subgroups;
    add(20, row.subgroups == 1
                ? std::string("fragments of single subgroups")
                : "fragments owned by " + llvm::utostr(row.subgroups) +
                      " subgroups together (subgroupsPerFragment = " +
                      llvm::utostr(row.subgroups) + " in a schedule)");
  }
  form2.m = llvm::alignTo(form.m, row.m);
  form2.n = llvm::alignTo(form.n, row.n);
  form2.k = llvm::alignTo(form.k, row.k);
  if (form2.m != form.m || form2.n != form.n || form2.k != form.k) {
    auto here = static_cast<double>(form.m * form.n * form.k),
         there = static_cast<double>(form2.m * form2.n * form2.k);
    if (!areFragmentsFree)
      cost += 2 + std::log2(there / here);
    nearest.shape = "fragments of a multiple of " +
                    formatShape(row.m, row.n, row.k) + " (" +
                    formatShape(form.m, form.n, form.k) + " here)";
  }
  return cost;
}

std::optional<NearestMatmul>
mlir::tessera::findNearestMatmul(const Chip &chip, const MatmulForm &form,
                                 const MatrixInstruction *chosen) {
  if (form.m <= 0 || form.n <= 0 || form.k <= 0)
    return std::nullopt;
  // It is as good as the instruction that it repeats.
  if (chosen && !chosen->repeated.empty())
    chosen = chip.findInstruction(chosen->repeated);
  bool isOnMatrixUnit = chosen && chosen->matrixUnit, isAfter = false;
  std::optional<NearestMatmul> best;
  double least = 0;
  for (const MatrixInstruction &row : chip.instructions) {
    isAfter |= &row == chosen;
    if (!row.matrixUnit || &row == chosen || !row.repeated.empty())
      continue;
    if (isOnMatrixUnit &&
        (row.aType != form.a || row.bType != form.b || row.accType != form.acc))
      continue;
    // Several subgroups together are better than one.
    bool isBetter = !isOnMatrixUnit || row.subgroups > chosen->subgroups ||
                    (row.subgroups == chosen->subgroups && !isAfter);
    if (!isBetter)
      continue;
    NearestMatmul nearest;
    std::optional<double> cost = change(form, row, nearest);
    if (!cost || (best && *cost >= least))
      continue;
    // The instruction that is selected then may be better still.
    nearest.row = selectInstruction(chip, nearest.form);
    if (!nearest.row || !nearest.row->matrixUnit || nearest.row == chosen)
      continue;
    least = *cost;
    best = std::move(nearest);
  }
  return best;
}
