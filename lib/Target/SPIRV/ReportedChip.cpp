//===- ReportedChip.cpp - Chips by what devices report --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device of Vulkan has no name to compile for; it reports its limits and the
// shapes of its matmuls (VkCooperativeMatrixPropertiesKHR). These form a chip,
// which is described by a text that contains all of them and is also the chip's
// name:
//
//     s32-w49152-t1024-n16-n32-reduce-m16n16k16.f32.f16-m16n8k16.f32.f16
//
// The lanes of a subgroup, and the maximal bytes of workgroup memory and
// threads of a workgroup; followed by the float types, by their bits, for which
// it can preserve NaNs on request (shaderSignedZeroInfNanPreserveFloat32 and
// the like); whether matrices can be reduced along rows and converted from
// accumulators to operands; followed by the matmuls, accumulator first.
// Well-known devices have a short name for this text, so that programs can be
// compiled for them anywhere.
//
//===----------------------------------------------------------------------===//

#include "../../TargetInfo/Tables.h"
#include "Schedules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <mutex>

using namespace mlir::tessera;

/// A placeholder for a map that only the device knows: it has the tile's
/// extents, over all lanes.
static LaneMap getExtentMap(int64_t rows, int64_t cols, int64_t lanes) {
  llvm::SmallVector<LaneMap::Step> steps;
  for (int32_t col = 1; col < cols; col *= 2)
    steps.push_back({0, col});
  for (int32_t row = 1; row < rows; row *= 2)
    steps.push_back({row, 0});
  size_t bits = llvm::Log2_64(static_cast<uint64_t>(lanes));
  while (steps.size() < bits)
    steps.push_back({0, 0});
  return LaneMap(llvm::ArrayRef(steps).take_front(bits),
                 llvm::ArrayRef(steps).drop_front(bits));
}

/// "m16n16k16.f32.f16". Empty for shapes and types that the dialect does not
/// support. The dialect's i8 has its sign in the op, so that a row represents
/// both matmuls of a shape, "s32.s8" and "u32.u8", of which a device may
/// support one.
static std::optional<MatrixInstruction>
parseMatmul(llvm::StringRef text, int64_t lanes,
            llvm::ArrayRef<llvm::StringRef> all) {
  MatrixInstruction row;
  auto [shape, types] = text.split('.');
  llvm::StringRef extents = shape;
  if (!shape.consume_front("m") || shape.consumeInteger(10, row.m) ||
      !shape.consume_front("n") || shape.consumeInteger(10, row.n) ||
      !shape.consume_front("k") || shape.consumeInteger(10, row.k) ||
      !shape.empty())
    return std::nullopt;
  for (int64_t extent : {row.m, row.n, row.k})
    if (extent <= 0 || extent > 256 || !llvm::isPowerOf2_64(extent))
      return std::nullopt;
  bool isUnsigned = types == "u32.u8";
  if (types == "s32.s8" || isUnsigned) {
    bool hasOther = llvm::is_contained(
        all, (extents + (isUnsigned ? ".s32.s8" : ".u32.u8")).str());
    // The signed one represents both.
    if (isUnsigned && hasOther)
      return std::nullopt;
    row.accType = "i32";
    row.aType = row.bType = "i8";
    using Signs = MatrixInstruction::Signs;
    row.signs = hasOther     ? Signs::Both
                : isUnsigned ? Signs::Unsigned
                             : Signs::Signed;
  } else {
    auto [acc, operand] = types.split('.');
    auto isFloat = [](llvm::StringRef type) {
      return type == "f16" || type == "f32" || type == "f64";
    };
    if (!(isFloat(acc) && isFloat(operand)) && types != "f32.bf16")
      return std::nullopt;
    row.accType = acc.str();
    row.aType = row.bType = operand.str();
  }
  row.name = ("coop." + extents + "." + row.accType + "." + row.aType).str();
  row.opaque = true;
  row.aMap = getExtentMap(row.m, row.k, lanes);
  row.bMap = getExtentMap(row.k, row.n, lanes);
  row.accMap = getExtentMap(row.m, row.n, lanes);
  return row;
}

std::unique_ptr<Chip>
mlir::tessera::parseReportedChip(llvm::StringRef target, llvm::StringRef name,
                                 llvm::StringRef description) {
  auto chip = std::make_unique<Chip>();
  chip->name = name.str();
  chip->target = target.str();
  llvm::SmallVector<llvm::StringRef> fields;
  description.split(fields, '-');
  if (fields.size() < 3)
    return nullptr;
  auto number = [](llvm::StringRef field, const char *letter, int64_t &value) {
    return field.consume_front(letter) && !field.getAsInteger(10, value) &&
           value > 0;
  };
  if (!number(fields[0], "s", chip->subgroupSize) ||
      !number(fields[1], "w", chip->workgroupMemoryBytes) ||
      !number(fields[2], "t", chip->maxThreads) ||
      !llvm::isPowerOf2_64(chip->subgroupSize) || chip->subgroupSize > 128 ||
      (chip->hasLanes() && chip->subgroupSize < 8))
    return nullptr;
  for (llvm::StringRef field : llvm::ArrayRef(fields).drop_front(3))
    if (std::optional<MatrixInstruction> row =
            parseMatmul(field, chip->subgroupSize, fields))
      chip->instructions.push_back(std::move(*row));
  // An eighth is for matrices on their way to vectors and back.
  if (!chip->instructions.empty())
    chip->workgroupMemoryBytes -= chip->workgroupMemoryBytes / 8;
  // The largest instruction that fits is first.
  llvm::stable_sort(chip->instructions,
                    [](const MatrixInstruction &x, const MatrixInstruction &y) {
                      return x.m * x.n * x.k > y.m * y.n * y.k;
                    });
  chip->accessBytes = 16;
  chip->alignedAccess = true;
  chip->rowPaddingBytes = 16;
  chip->asyncCopy = false;
  // A large GPU, or a software device.
  chip->processors = chip->subgroupSize >= 32 ? 128 : 4;
  setReportedSchedules(*chip);
  if (chip->hasLanes())
    addScalarInstructions(*chip);
  else
    addVectorInstructions(*chip, 32);
  return chip;
}

/// The fields in a canonical order: drivers list matmuls in any order.
static llvm::SmallVector<llvm::StringRef>
getSortedFields(llvm::StringRef description) {
  llvm::SmallVector<llvm::StringRef> fields;
  description.split(fields, '-');
  llvm::sort(fields);
  return fields;
}

const Chip *mlir::tessera::findReportedChip(
    llvm::StringRef target, llvm::StringRef description,
    llvm::ArrayRef<ReportedProfile> profiles,
    std::unique_ptr<Chip> (*parse)(llvm::StringRef name,
                                   llvm::StringRef description)) {
  // A chip with a short name is known by that name.
  for (const ReportedProfile &profile : profiles)
    if (getSortedFields(description) == getSortedFields(profile.description))
      return findChip(target, profile.name);
  static std::mutex mutex;
  static std::vector<std::unique_ptr<Chip>> known;
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &chip : known)
    if (chip->target == target && chip->name == description)
      return chip.get();
  std::unique_ptr<Chip> chip = parse(description, description);
  if (!chip)
    return nullptr;
  known.push_back(std::move(chip));
  return known.back().get();
}

llvm::StringRef
mlir::tessera::getDescription(llvm::ArrayRef<ReportedProfile> profiles,
                              llvm::StringRef name) {
  for (const ReportedProfile &profile : profiles)
    if (name == profile.name)
      return profile.description;
  return name;
}
