//===- TunedSchedules.cpp - Schedules that tuning found -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Driver/ScheduleDatabase.h"
#include "Scheduling/TuningTask.h"
#include "Tuning/Database.h"
#include "Tuning/Json.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

#include <array>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::tessera;

std::string TunedSchedules::describe() const {
  std::string text = source;
  for (const TunedSchedule &one : schedules)
    text += "\n" + one.target + ":" + one.chip + " " + one.key + " " +
            one.schedule + " " + one.origin;
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
static void readShipped(const ShippedFile &file, TunedSchedules &tuned) {
  auto [target, chip] = file.name.split('-');
  SmallVector<StringRef> lines;
  file.text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [key, rest] = line.split('\t');
    auto [schedule, origin] = rest.split('\t');
    tuned.schedules.push_back(
        {target.str(), chip.str(), key.str(), schedule.str(), origin.str()});
  }
}

const TunedSchedules &mlir::tessera::getShippedSchedules() {
  static const TunedSchedules all = [] {
    TunedSchedules read;
    read.source = "the shipped records";
    for (const ShippedFile &file : shippedFiles)
      readShipped(file, read);
    return read;
  }();
  return all;
}

static std::string formatMilliseconds(double time) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g ms", time);
  return text;
}

/// Describes the origin of a record in messages.
static std::string describeOrigin(const tuning::Record &record,
                                  const tuning::Record *own, StringRef path) {
  std::string text =
      (record.schedule.empty()
           ? "the compiler's choice; tuning found nothing faster ("
           : "tuned (") +
      formatMilliseconds(record.median) + " on " + record.environment.device;
  if (own && !record.schedule.empty())
    text +=
        ", where the compiler's choice took " + formatMilliseconds(own->median);
  return text + "; " + record.when.substr(0, 10) + ", " +
         record.environment.compiler + "; " + path.str() + ")";
}

std::shared_ptr<const TunedSchedules>
mlir::tessera::readScheduleDatabase(StringRef path, std::string &why) {
  std::vector<std::string> notes;
  return readScheduleDatabase(path, RecordFilter(), notes, why);
}

/// The compiler's own choice as it was measured with `best`, or null.
static const tuning::Record *findOwn(ArrayRef<tuning::Record> records,
                                     const tuning::Record &best) {
  const tuning::Record *own = nullptr;
  for (const tuning::Record &record : records)
    if (record.schedule.empty() &&
        record.outcome == tuning::Outcome::Measured &&
        record.isFinal == best.isFinal && record.run == best.run)
      own = &record;
  return own;
}

/// Whether `best` was faster than the compiler's own choice by a factor, and by
/// more than the noise, and was not slower with cold or with warm caches.
static bool isFaster(const tuning::Record &best, const tuning::Record *own,
                     double gain) {
  if (!best.isFinal || best.schedule.empty() || !own)
    return false;
  bool isWarm = best.warmMedian > 0 && own->warmMedian > 0;
  if (!isWarm)
    return best.high < own->low && own->median >= gain * best.median;
  bool isSlower = best.low > own->high || best.warmLow > own->warmHigh;
  bool isSurelyFaster = best.high < own->low || best.warmHigh < own->warmLow;
  return !isSlower && isSurelyFaster &&
         getComparedTime(*own, isWarm) >= gain * getComparedTime(best, isWarm);
}

std::shared_ptr<const TunedSchedules>
mlir::tessera::readScheduleDatabase(StringRef path, const RecordFilter &filter,
                                    std::vector<std::string> &notes,
                                    std::string &why) {
  auto fail = [&](llvm::Error error) {
    why = llvm::toString(std::move(error));
    return nullptr;
  };
  auto database = tuning::Database::open(path, tuning::Database::Mode::Read);
  if (!database)
    return fail(database.takeError());
  llvm::Expected<std::vector<tuning::Record>> records =
      (*database)->getRecords({});
  if (!records)
    return fail(records.takeError());
  auto tuned = std::make_shared<TunedSchedules>();
  tuned->source = path.str();
  StringRef source = filter.source.empty() ? path : StringRef(filter.source);
  std::map<std::array<std::string, 3>, size_t> positions;
  std::vector<std::vector<tuning::Record>> tasks;
  for (tuning::Record &record : *records) {
    const tuning::TaskId &task = record.task;
    auto [position, isNew] =
        positions.try_emplace({task.target, task.chip, task.key}, tasks.size());
    if (isNew)
      tasks.emplace_back();
    tasks[position->second].push_back(std::move(record));
  }
  std::set<std::string> others;
  size_t left = 0;
  for (const std::vector<tuning::Record> &ofTask : tasks) {
    const tuning::TaskId &task = ofTask.front().task;
    const tuning::Record *best = tuning::pickBest(ofTask, filter.device);
    if (!best) {
      if (const tuning::Record *other = tuning::pickBest(ofTask, "")) {
        others.insert(other->environment.device);
        ++left;
      }
      continue;
    }
    const tuning::Record *own = findOwn(ofTask, *best);
    if (filter.gain > 0 && !isFaster(*best, own, filter.gain))
      continue;
    tuned->schedules.push_back({task.target, task.chip, task.key,
                                best->schedule,
                                describeOrigin(*best, own, source)});
  }
  if (left > 0)
    notes.push_back(std::to_string(left) +
                    (left == 1 ? " task of '" : " tasks of '") + path.str() +
                    "' " + (left == 1 ? "has" : "have") +
                    " no measurements on " + filter.device + " and " +
                    (left == 1 ? "is" : "are") +
                    " ignored; measured on: " + llvm::join(others, ", "));
  return tuned;
}

std::shared_ptr<const TunedSchedules>
mlir::tessera::findTunedSchedules(StringRef option, std::string &why) {
  if (option.empty())
    return nullptr;
  if (option == "off")
    return std::make_shared<TunedSchedules>();
  return readScheduleDatabase(option, why);
}

/// An entry of the module's dictionary.
static NamedAttribute makeEntry(const TunedSchedule &one, Builder &builder) {
  SmallVector<NamedAttribute> fields;
  if (!one.schedule.empty()) {
    // A database may be somebody else's: the parser is recursive. Few of many
    // records are of use to a program: they are parsed there.
    bool isDeep = !tuning::findDeepNesting(one.schedule).empty();
    fields.push_back(builder.getNamedAttr(
        "schedule",
        builder.getStringAttr(isDeep ? "(nested too deeply)" : one.schedule)));
  }
  fields.push_back(
      builder.getNamedAttr("origin", builder.getStringAttr(one.origin)));
  return builder.getNamedAttr(one.key, builder.getDictionaryAttr(fields));
}

void mlir::tessera::attachTunedSchedules(ModuleOp module,
                                         const TunedSchedules *tuned,
                                         StringRef target, StringRef chip) {
  if (tuned && tuned->source.empty())
    return;
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> entries;
  llvm::StringSet<> known;
  // Tasks that are known for other chips only, with these.
  llvm::MapVector<StringRef, std::string> elsewhere;
  const TunedSchedules &shipped = getShippedSchedules();
  for (const TunedSchedules *from : {tuned, &shipped}) {
    if (!from)
      continue;
    for (const TunedSchedule &one : from->schedules) {
      if (one.target == target && one.chip == chip) {
        if (known.insert(one.key).second)
          entries.push_back(makeEntry(one, builder));
        continue;
      }
      std::string &chips = elsewhere[one.key];
      chips += (chips.empty() ? "" : ", ") + one.target + ":" + one.chip;
    }
  }
  // Without a database there is no note if nothing is known.
  if (!tuned && entries.empty())
    return;
  for (const auto &[key, chips] : elsewhere)
    if (tuned && known.insert(key).second)
      entries.push_back(makeEntry(
          {"", "", key.str(), "",
           "the compiler's choice: " + tuned->source + " has records for " +
               chips + ", but not for " + target.str() + ":" + chip.str()},
          builder));
  module->setAttr(TesseraDialect::TunedAttrHelper::getNameStr(),
                  builder.getDictionaryAttr(entries));
  if (tuned)
    module->setAttr(TesseraDialect::TunedSourceAttrHelper::getNameStr(),
                    builder.getStringAttr(tuned->source));
}
