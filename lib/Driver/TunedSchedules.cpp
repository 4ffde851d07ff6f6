//===- TunedSchedules.cpp - Schedules that tuning found -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/TunedSchedules.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/TuningTask.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tessera;

std::string TunedSchedules::describe() const {
  std::string text = source;
  for (const TunedSchedule &one : schedules)
    text += "\n" + one.key + " " + one.schedule + " " + one.origin;
  return text;
}

namespace {
/// A file of lib/Driver/Tuned: "TARGET-CHIP", and its lines.
struct ShippedFile {
  StringRef name, text;
};
} // namespace

/// `shippedFiles`, which CMake makes of the files.
#include "ShippedSchedules.inc"

/// Lines of three columns, divided by tabs: the key, the schedule (empty for
/// the compiler's choice), the origin. Lines that begin with '#' are comments.
static TunedSchedules readShipped(const ShippedFile &file) {
  TunedSchedules tuned;
  tuned.source = ("the shipped records for " + file.name.split('-').second).str();
  SmallVector<StringRef> lines;
  file.text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [key, rest] = line.split('\t');
    auto [schedule, origin] = rest.split('\t');
    tuned.schedules.push_back({key.str(), schedule.str(), origin.str()});
  }
  return tuned;
}

const TunedSchedules &
mlir::tessera::getShippedSchedules(StringRef target, StringRef chip) {
  static const llvm::StringMap<TunedSchedules> all = [] {
    llvm::StringMap<TunedSchedules> read;
    for (const ShippedFile &file : shippedFiles)
      read[file.name] = readShipped(file);
    return read;
  }();
  static const TunedSchedules none;
  auto found = all.find((target + "-" + chip).str());
  return found == all.end() ? none : found->second;
}

void mlir::tessera::attachTunedSchedules(ModuleOp module,
                                         const TunedSchedules &tuned) {
  if (tuned.source.empty())
    return;
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> entries;
  for (const TunedSchedule &one : tuned.schedules) {
    SmallVector<NamedAttribute> fields;
    std::string origin = one.origin;
    if (!one.schedule.empty()) {
      // Records of another version may spell it otherwise: that is said where
      // the record would have been used.
      ScopedDiagnosticHandler quiet(module.getContext(),
                                    [](Diagnostic &) { return success(); });
      auto schedule = dyn_cast_or_null<ScheduleAttr>(
          parseAttribute(one.schedule, module.getContext()));
      if (schedule)
        fields.push_back(builder.getNamedAttr("schedule", schedule));
      else
        origin = "the compiler's choice: the schedule of a record is not one: " +
                 one.schedule;
    }
    fields.push_back(
        builder.getNamedAttr("origin", builder.getStringAttr(origin)));
    entries.push_back(
        builder.getNamedAttr(one.key, builder.getDictionaryAttr(fields)));
  }
  module->setAttr(getTunedAttrName(), builder.getDictionaryAttr(entries));
  module->setAttr(getTunedSourceAttrName(),
                  builder.getStringAttr(tuned.source));
}
