//===- schedule-work.cpp - The work of measured schedules -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   schedule-work-benchmark EXPORT.jsonl... >OUT.json
//   schedule-work-benchmark --times EXPORT.jsonl...
//   schedule-work-benchmark --candidates=FEATURES EXPORT.jsonl... >OUT.json
//
// Reads what `gpu-tune export` wrote, and writes for each task to which the
// compiler's model of schedules applies, and each of its records, what the
// schedule does (`ScheduleWork`), its time and the model's estimate. With them
// calibrate.py fits the model. With --times, prints how long the choice takes.
// With --candidates, writes the legal schedules that the compiler compares for
// each task, up to a multiple of the least estimated time, and their features
// as floats to the file FEATURES.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Driver/Compiler.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ScheduleCorrection.h"
#include "Scheduling/TuningTask.h"
#include "TargetInfo/DeviceSheet.h"
#include "TargetInfo/Peaks.h"
#include "Tuning/ScheduleSpace.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ctime>
#include <map>

using namespace mlir;
using namespace mlir::tessera;
namespace json = llvm::json;

namespace {
struct Task {
  std::string description;
  OwningOpRef<ModuleOp> module;
  ContractOp op;
  std::vector<json::Object> records;
};
} // namespace

/// `memory`: the device's bandwidth, as a share of that to which the rates were
/// fitted.
static json::Object listWork(const ScheduleWork &work, double memory) {
  return json::Object{{"isGroup", work.isGroup},
                      {"memory", memory},
                      {"rate", static_cast<int64_t>(work.rate)},
                      {"units", work.units},
                      {"resident", work.resident},
                      {"processors", work.processors},
                      {"steps", work.steps},
                      {"products", work.products},
                      {"shared", work.shared},
                      {"loaded", work.loaded},
                      {"splits", work.splits},
                      {"singles", work.singles},
                      {"ahead", work.ahead},
                      {"isSerial", work.isSerial},
                      {"stored", work.stored},
                      {"isPersistent", work.isPersistent},
                      {"isClustered", work.isClustered},
                      {"accesses", work.accesses},
                      {"heldAccesses", work.heldAccesses},
                      {"stores", work.stores},
                      {"threads", work.threads},
                      {"isGathered", work.isGathered},
                      {"parts", work.parts},
                      {"addsInCluster", work.addsInCluster},
                      {"sums", work.sums},
                      {"sumsOfTile", work.sumsOfTile},
                      {"bytes", work.bytes},
                      {"copies", work.copies},
                      {"copiedBytes", work.copiedBytes},
                      {"transposedElements", work.transposedElements}};
}

static std::string getText(const json::Object &object, StringRef name) {
  return object.getString(name).value_or("").str();
}

static llvm::Error read(StringRef path, MLIRContext &context,
                        std::map<std::string, Task> &tasks) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createFileError(path, buffer.getError());
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1,
                               /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    llvm::Expected<json::Value> value = json::parse(line);
    if (!value)
      return value.takeError();
    json::Object &object = *value->getAsObject();
    std::string kind = getText(object, "kind");
    if (kind == "record") {
      tasks[getText(object, "task")].records.push_back(std::move(object));
      continue;
    }
    if (kind != "task")
      continue;
    Task &task = tasks[getText(object, "key")];
    if (task.module)
      continue;
    task.description = getText(object, "description");
    task.module =
        parseSourceString<ModuleOp>(getText(object, "text"), &context);
    if (!task.module)
      return llvm::createStringError("a task's program cannot be read");
    task.module->walk([&](ContractOp op) { task.op = op; });
  }
  return llvm::Error::success();
}

/// The chip with the memory of a device; null if that is the memory to which
/// the rates were fitted.
static std::unique_ptr<Chip> adapt(const Chip &chip, StringRef device) {
  constexpr double ofNanosecond = 1000;
  const DeviceSheet *sheet = findSheet(chip, device);
  if (!sheet ||
      ofNanosecond * sheet->memory == chip.model.schedules->memoryOfSheet)
    return nullptr;
  auto adapted = std::make_unique<Chip>(chip);
  adapted->model.schedules =
      scaleMemory(*chip.model.schedules, ofNanosecond * sheet->memory);
  return adapted;
}

namespace {
/// The choices by rules and of the compiler.
using Choices = std::pair<ScheduleAttr, ScheduleAttr>;

/// Chooses schedules as `tessera-choose-schedule` does, for a chip that may
/// have the memory of another device.
struct ChoosePass
    : public PassWrapper<ChoosePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChoosePass)

  ChoosePass(const Chip &chip, Choices &choices)
      : chip(chip), choices(choices) {}
  ChoosePass(const ChoosePass &other) = default;

  void runOnOperation() override {
    auto &rankings = getAnalysis<ScheduleRankings>();
    getOperation()->walk([&](ContractOp op) {
      choices.first = getScheduleByRules(op, chip);
      choices.second =
          getDefaultSchedule(op, chip, /*prediction=*/nullptr, &rankings);
    });
  }

  const Chip &chip;
  Choices &choices;
};
} // namespace

/// The choices where operands are copied before if that pays.
static Choices getChoices(Task &task, const Chip &chip) {
  OwningOpRef<ModuleOp> copy(task.module->clone());
  attachChip(*copy, chip);
  Choices choices;
  PassManager pm(copy->getContext());
  pm.addNestedPass<func::FuncOp>(createTesseraPackOperands());
  pm.addNestedPass<func::FuncOp>(std::make_unique<ChoosePass>(chip, choices));
  return succeeded(pm.run(*copy)) ? choices : Choices();
}

static void writeRecord(json::OStream &os, const ScheduledMatmul &matmul,
                        const json::Object &record, const Chip &chip,
                        double memory, ScheduleAttr byRules,
                        ScheduleAttr choice, MLIRContext &context) {
  std::string text = getText(record, "schedule");
  bool isOwn = text.empty();
  if (isOwn)
    text = getText(record, "chosen");
  auto schedule =
      dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, &context));
  if (!schedule)
    return;
  ScheduleWork work = describeWork(matmul, schedule.getFields(), chip);
  ScheduleEstimate estimate = estimateTime(work, *chip.model.schedules);
  json::Array features;
  for (const ScheduleFeature &feature :
       describeFeatures(matmul, schedule.getFields(), work, estimate, chip))
    features.push_back(feature.value);
  os.value(json::Object{
      {"own", isOwn},
      {"final", record.getBoolean("final").value_or(false)},
      {"byRules", schedule == byRules},
      {"isChoice", schedule == choice},
      {"schedule", text},
      {"outcome", getText(record, "outcome")},
      {"when", getText(record, "when")},
      {"time", record.getNumber("median").value_or(0)},
      {"low", record.getNumber("low").value_or(0)},
      {"high", record.getNumber("high").value_or(0)},
      {"estimate", estimate.time},
      {"corrected", estimateSchedule(matmul, schedule.getFields(), chip).time},
      {"features", std::move(features)},
      {"work", listWork(work, memory)}});
}

/// Prints the milliseconds of the CPU that the choice takes for each task: for
/// the list of ranked schedules, and for everything from the decision about
/// copies on.
static void printTimes(std::map<std::string, Task> &tasks) {
  struct Total {
    double sum = 0, most = 0;
    size_t numLong = 0;
    void add(double value) {
      constexpr double longest = 20;
      sum += value;
      most = std::max(most, value);
      numLong += value > longest;
    }
  };
  Total counts, ranking, choices;
  size_t number = 0;
  for (auto &entry : tasks) {
    Task &task = entry.second;
    if (!task.op || task.records.empty())
      continue;
    const Chip *chip = findChip(getText(task.records.front(), "target"),
                                getText(task.records.front(), "chip"));
    if (!chip || !canRankSchedules(task.op, *chip))
      continue;
    auto measure = [](auto run) {
      std::clock_t start = std::clock();
      run();
      return 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC;
    };
    size_t count = 0;
    ranking.add(measure(
        [&] { count = rankSchedules(task.op, task.op, *chip).size(); }));
    choices.add(measure([&] { getChoices(task, *chip); }));
    counts.add(static_cast<double>(count));
    ++number;
  }
  for (auto [name, total] : {std::pair{"ranked schedules", counts},
                             {"ms to rank them", ranking},
                             {"ms of the choice with copies", choices}})
    llvm::outs() << llvm::format("%-30s mean %9.2f, most %9.2f", name,
                                 total.sum / static_cast<double>(number),
                                 total.most)
                 << (name == StringRef("ranked schedules")
                         ? std::string()
                         : ", above 20: " + std::to_string(total.numLong) +
                               " of " + std::to_string(number))
                 << "\n";
}

/// Writes the candidates of a task whose corrected estimate is at most
/// `mostOfBest` times the least one.
static void writeCandidates(json::OStream &os, llvm::raw_ostream &floats,
                            Task &task, const Chip &chip) {
  constexpr double mostOfBest = 2.5;
  tuning::ScheduleSpace space(*task.module, chip,
                              tuning::getDefaultValues(task.op, chip),
                              /*isEnumerated=*/false);
  auto packed =
      space.getPackedOp() ? cast<ContractOp>(space.getPackedOp()) : task.op;
  ScheduledMatmul matmul(task.op, chip);
  std::vector<RankedSchedule> ranked = rankSchedules(task.op, packed, chip);
  if (ranked.empty())
    return;
  double most = mostOfBest * ranked.front().time;
  for (const RankedSchedule &one : ranked) {
    if (one.time > most)
      break;
    auto schedule = ScheduleAttr::get(task.op.getContext(), one.fields);
    bool isGroup = one.fields.subgroupsPerFragment > 1;
    if (!getScheduleProblems(isGroup ? packed : task.op, schedule, chip)
             .empty())
      continue;
    ScheduleWork work = describeWork(matmul, one.fields, chip);
    ScheduleEstimate estimate = estimateTime(work, *chip.model.schedules);
    for (const ScheduleFeature &feature :
         describeFeatures(matmul, one.fields, work, estimate, chip)) {
      auto value = static_cast<float>(feature.value);
      floats.write(reinterpret_cast<const char *>(&value), sizeof(value));
    }
    std::string text;
    llvm::raw_string_ostream(text) << schedule;
    os.array([&] {
      os.value(text);
      os.value(estimate.time);
      os.value(one.time);
    });
  }
}

int main(int argc, char **argv) {
  MLIRContext context;
  prepareContext(context);
  std::map<std::string, Task> tasks;
  bool isTimed = argc > 1 && StringRef(argv[1]) == "--times";
  StringRef features = argc > 1 ? argv[1] : "";
  bool hasFeatures = features.consume_front("--candidates=");
  for (int i = isTimed || hasFeatures ? 2 : 1; i < argc; ++i)
    if (llvm::Error error = read(argv[i], context, tasks)) {
      llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
      return 1;
    }
  if (isTimed) {
    printTimes(tasks);
    return 0;
  }
  std::unique_ptr<llvm::raw_fd_ostream> floats;
  if (hasFeatures) {
    std::error_code error;
    floats = std::make_unique<llvm::raw_fd_ostream>(features, error);
    if (error) {
      llvm::errs() << "error: " << features << ": " << error.message() << "\n";
      return 1;
    }
  }
  json::OStream os(llvm::outs());
  os.array([&] {
    for (auto &entry : tasks) {
      const std::string &key = entry.first;
      Task &task = entry.second;
      if (!task.op || task.records.empty())
        continue;
      const json::Object &first = task.records.front();
      const Chip *found =
          findChip(getText(first, "target"), getText(first, "chip"));
      if (!found || !canRankSchedules(task.op, *found))
        continue;
      std::unique_ptr<Chip> adapted = adapt(*found, getText(first, "device"));
      const Chip &chip = adapted ? *adapted : *found;
      ScheduledMatmul matmul(task.op, chip);
      Choices choices = getChoices(task, chip);
      os.object([&] {
        os.attribute("key", key);
        os.attribute("description", task.description);
        os.attributeArray("features", [&] {
          ScheduleFields fields;
          fields.workgroup = fields.subgroup = {1, 1};
          fields.k = fields.kFragment = 1;
          ScheduleWork work = describeWork(matmul, fields, chip);
          for (const ScheduleFeature &feature : describeFeatures(
                   matmul, fields, work,
                   estimateTime(work, *chip.model.schedules), chip))
            os.value(feature.name);
        });
        os.attribute("isChanged", choices.first != choices.second);
        if (floats) {
          std::array<std::string, 2> texts;
          for (auto [text, schedule] : llvm::zip_equal(
                   texts, std::array{choices.first, choices.second}))
            llvm::raw_string_ostream(text) << schedule;
          os.attribute("byRules", texts[0]);
          os.attribute("choice", texts[1]);
          os.attributeArray("candidates",
                            [&] { writeCandidates(os, *floats, task, chip); });
        }
        os.attributeArray("records", [&] {
          for (const json::Object &record : task.records)
            writeRecord(os, matmul, record, chip,
                        chip.model.schedules->memory /
                            found->model.schedules->memory,
                        choices.first, choices.second, context);
        });
      });
    }
  });
  return 0;
}
