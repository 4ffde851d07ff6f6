//===- Chip.cpp - Queries of the instruction tables -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"
#include "TargetInfo/RowMaps.h"

#include "Tables.h"
#include "TargetInfo/Nearest.h"
#include "TargetInfo/ReportedChip.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

const MatrixInstruction *Chip::findInstruction(llvm::StringRef name) const {
  for (const MatrixInstruction &row : instructions)
    if (row.name == name)
      return &row;
  for (llvm::ArrayRef<MatrixInstruction> maps :
       {getRowMaps(*this), getStoreMaps(*this)})
    for (const MatrixInstruction &row : maps)
      if (row.name == name)
        return &row;
  return nullptr;
}

llvm::StringRef mlir::tessera::getChipTarget(llvm::StringRef target) {
  const TargetInfo *info = findTarget(target);
  return info ? llvm::StringRef(info->name) : target;
}

const Chip *mlir::tessera::findChip(llvm::StringRef target,
                                    llvm::StringRef name) {
  const TargetInfo *info = findTarget(target);
  if (!info)
    return nullptr;
  for (const Chip &chip : getAllChips())
    if (chip.target == info->name && chip.name == name)
      return &chip;
  return info->findDescribedChip ? info->findDescribedChip(name) : nullptr;
}

std::vector<std::string> mlir::tessera::getKnownChips(llvm::StringRef target,
                                                      llvm::StringRef name) {
  const TargetInfo *info = findTarget(target);
  if (!info)
    return {};
  std::vector<std::string> names;
  if (info->listDescribedChips)
    names = info->listDescribedChips(name);
  if (names.empty())
    for (const Chip &chip : getAllChips())
      if (chip.target == info->name)
        names.push_back(chip.name);
  llvm::sort(names, [&](llvm::StringRef l, llvm::StringRef r) {
    return std::make_pair(l.edit_distance(name), l) <
           std::make_pair(r.edit_distance(name), r);
  });
  return names;
}

llvm::StringRef mlir::tessera::getReportedDescription(llvm::StringRef target,
                                                      llvm::StringRef name) {
  const TargetInfo *info = findTarget(target);
  return info && info->getReportedDescription
             ? info->getReportedDescription(name)
             : name;
}

/// Whether `chip` has such an instruction for these types.
static bool hasInstruction(const Chip &chip, Type a, Type b, Type acc,
                           bool MatrixInstruction::*property) {
  std::string aName = debugString(a), bName = debugString(b),
              accName = debugString(acc);
  return llvm::any_of(chip.instructions, [&](const MatrixInstruction &row) {
    return row.*property && row.aType == aName && row.bType == bName &&
           row.accType == accName;
  });
}

bool mlir::tessera::hasMatrixMultiply(const Chip &chip, Type a, Type b,
                                      Type acc) {
  return hasInstruction(chip, a, b, acc, &MatrixInstruction::matrixUnit);
}

bool mlir::tessera::hasOpaqueMultiply(const Chip &chip, Type a, Type b,
                                      Type acc) {
  return hasInstruction(chip, a, b, acc, &MatrixInstruction::opaque);
}

const MatrixInstruction *mlir::tessera::selectInstruction(
    const Chip &chip, Type a, Type b, Type acc, Precision precision, int64_t m,
    int64_t n, int64_t k, llvm::SmallVectorImpl<std::string> *why,
    int64_t subgroups, bool aInMemory, bool anyUnsigned) {
  return selectInstruction(chip,
                           {debugString(a), debugString(b), debugString(acc),
                            precision, m, n, k, subgroups, aInMemory,
                            anyUnsigned},
                           why);
}

const MatrixInstruction *
mlir::tessera::selectInstruction(const Chip &chip, const MatmulForm &form,
                                 llvm::SmallVectorImpl<std::string> *why) {
  const auto &[aName, bName, accName, precision, m, n, k, subgroups, aInMemory,
               anyUnsigned] = form;
  bool anyMatrixRow = false;
  const MatrixInstruction *chosen = nullptr;
  for (const MatrixInstruction &row : chip.instructions) {
    if (row.aType != aName || row.bType != bName || row.accType != accName ||
        row.subgroups != subgroups || !row.repeated.empty())
      continue;
    anyMatrixRow |= row.matrixUnit;
    bool isRounded = row.tf32 && precision != Precision::Tf32,
         isWrongSign = row.signedOnly && anyUnsigned,
         isInRegisters = row.aInMemory && !aInMemory,
         isPart = m % row.m || n % row.n || k % row.k;
    if (!chosen && !isRounded && !isWrongSign && !isInRegisters && !isPart) {
      chosen = &row;
      continue;
    }
    // Most callers need no reasons, which take longer than the choice.
    if (!why)
      continue;
    std::string reason;
    if (chosen)
      reason = row.matrixUnit ? "a better instruction fits" : "";
    else if (isRounded)
      reason =
          "rounds its operands to tf32: allow it with 'precision tf32' or " +
          tf32Option.str();
    else if (isWrongSign)
      reason = "treats operands as signed, but one is unsigned";
    else if (isInRegisters)
      reason = "reads operand a from swizzled workgroup memory, but it is in "
               "registers";
    else
      reason = "the fragment, " + llvm::utostr(m) + "x" + llvm::utostr(n) +
               "x" + llvm::utostr(k) + ", is not a multiple of " +
               llvm::utostr(row.m) + "x" + llvm::utostr(row.n) + "x" +
               llvm::utostr(row.k);
    if (!reason.empty())
      why->push_back(row.name + ": " + reason);
  }
  if (!chosen && aName == "i4" && bName == "i4") {
    if (why)
      why->push_back(chip.name +
                     " has no matrix instruction for this combination of " +
                     aName + ": operands are extended to i8 in registers");
    // Instructions that read operands from memory would read the narrow
    // elements.
    MatmulForm wide = form;
    wide.a = wide.b = "i8";
    wide.aInMemory = wide.anyUnsigned = false;
    const MatrixInstruction *row = selectInstruction(chip, wide, why);
    return row && !row->bInMemory ? row : nullptr;
  }
  if (why && !anyMatrixRow) {
    std::string line = chip.name + " has no matrix instruction for " + aName +
                       " x " + bName + " -> " + accName;
    llvm::SmallVector<std::string> matmuls;
    for (const MatrixInstruction &row : chip.instructions)
      if (row.matrixUnit)
        matmuls.push_back(llvm::utostr(row.m) + "x" + llvm::utostr(row.n) +
                          "x" + llvm::utostr(row.k) + " " +
                          (row.tf32 ? "tf32" : row.aType) +
                          (row.aType == row.bType ? "" : " x " + row.bType) +
                          " -> " + row.accType);
    line += matmuls.empty() ? "; it has no matrix unit"
                            : "; it supports " + llvm::join(matmuls, ", ");
    why->push_back(line);
  }
  return chosen;
}

const MatrixInstruction *
mlir::tessera::findRepetition(const Chip &chip, const MatrixInstruction &row,
                              int64_t storedBits, int64_t k) {
  const MatrixInstruction *longest = nullptr;
  for (const MatrixInstruction &other : chip.instructions)
    if (other.repeated == row.name && !other.pairsColumns &&
        other.storedBits == storedBits && k % other.k == 0 &&
        (!longest || longest->k < other.k))
      longest = &other;
  return longest;
}

const MatrixInstruction *
mlir::tessera::findColumnPairs(const Chip &chip, const MatrixInstruction &row,
                               int64_t n) {
  for (const MatrixInstruction &other : chip.instructions)
    if (other.pairsColumns && other.repeated == row.name && n % other.n == 0)
      return &other;
  return nullptr;
}

const MatrixInstruction *mlir::tessera::selectPlainLayout(const Chip &chip,
                                                          FragmentType type,
                                                          int64_t subgroups) {
  std::string element = debugString(type.getElementType());
  const MatrixInstruction *best = nullptr;
  for (const MatrixInstruction &row : chip.instructions) {
    const LaneMap &map = row.getMap(type.getRole());
    if (row.subgroups != subgroups || row.isInMemory(type.getRole()) ||
        row.opaque || !row.repeated.empty())
      continue;
    bool fits = (type.getRows() % map.getRows() == 0 ||
                 (type.getRole() == Role::Acc && type.getRows() == 1)) &&
                (type.getCols() % map.getCols() == 0 ||
                 (type.getRole() == Role::Acc && type.getCols() == 1));
    if (!fits)
      continue;
    const std::string &rowType = type.getRole() == Role::A   ? row.aType
                                 : type.getRole() == Role::B ? row.bType
                                                             : row.accType;
    if (rowType == element)
      return &row;
    // Another element type's map serves as well: a map knows no types.
    if (!best && (!row.matrixUnit || subgroups > 1))
      best = &row;
  }
  return best;
}
