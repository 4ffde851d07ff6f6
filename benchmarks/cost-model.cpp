//===- cost-model.cpp - The search's models beside measurements -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   cost-model-benchmark EXPORT.jsonl OUT.json
//
// Reads what `gpu-tune export` wrote, and writes what the cost model sees of
// each candidate, and its predictions:
//
// - candidates: outcome, time, the machine model's estimate, the features;
// - splits: a part of a task's candidates that the model was fitted to, and
//   what it expects of the others;
// - replays: the order in which the model would have tried the candidates, if
//   it had begun with 34 at random.
//
// cost-models.py beside this file fits libraries to the same splits, and
// computes the figures of all of them.
//
//===----------------------------------------------------------------------===//

#include "Driver/Compiler.h"
#include "Scheduling/TuningTask.h"
#include "Scheduling/WindowTask.h"
#include "Tuning/CostModel.h"
#include "Tuning/Interchange.h"
#include "Tuning/MachineModel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ctime>
#include <numeric>
#include <random>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;
namespace json = llvm::json;

/// How many candidates a model is fitted to.
static constexpr size_t trainingSizes[] = {32, 64, 128, 256};
/// So many are left at least, to be judged by.
static constexpr size_t fewestLeft = 48;
/// Parts at random of each size, and replays.
static constexpr uint64_t repetitions = 5;
/// As the search begins, and goes on.
static constexpr size_t replayFirst = 34, replayStep = 12;

namespace {

struct Candidate {
  CostModel::Sample sample;
  Outcome outcome;
  bool isOwn;
};

struct Split {
  std::string kind;
  uint64_t seed;
  std::vector<size_t> training;
};

/// CPU time, so that other processes do not count.
class Stopwatch {
public:
  double getSeconds() const {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }

private:
  std::clock_t start = std::clock();
};

} // namespace

/// A permutation that is the same wherever this is compiled.
static std::vector<size_t> shuffle(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

static CostModel fit(const std::vector<Candidate> &candidates,
                     llvm::ArrayRef<size_t> training) {
  std::vector<CostModel::Sample> samples;
  for (size_t index : training)
    samples.push_back(candidates[index].sample);
  CostModel model;
  model.fit(std::move(samples));
  return model;
}

static std::vector<size_t> getRest(size_t count,
                                   llvm::ArrayRef<size_t> training) {
  std::vector<bool> isTaken(count);
  for (size_t index : training)
    isTaken[index] = true;
  std::vector<size_t> rest;
  for (size_t i = 0; i < count; ++i)
    if (!isTaken[i])
      rest.push_back(i);
  return rest;
}

static void write(json::OStream &os, StringRef name,
                  llvm::ArrayRef<size_t> list) {
  os.attributeArray(name, [&] {
    for (size_t value : list)
      os.value(static_cast<int64_t>(value));
  });
}

static void writeSplit(json::OStream &os,
                       const std::vector<Candidate> &candidates,
                       const Split &split) {
  Stopwatch fitting;
  CostModel model = fit(candidates, split.training);
  double fitSeconds = fitting.getSeconds();
  std::vector<size_t> rest = getRest(candidates.size(), split.training);
  Stopwatch predicting;
  std::vector<CostModel::Guess> guesses;
  for (size_t index : rest) {
    const CostModel::Sample &sample = candidates[index].sample;
    guesses.push_back(model.predict(sample.point, sample.expected));
  }
  double predictSeconds = predicting.getSeconds();
  os.object([&] {
    os.attribute("kind", split.kind);
    os.attribute("seed", static_cast<int64_t>(split.seed));
    os.attribute("fit_s", fitSeconds);
    os.attribute("predict_s", predictSeconds);
    write(os, "training", split.training);
    write(os, "rest", rest);
    os.attributeArray("ranks", [&] {
      for (const CostModel::Guess &guess : guesses)
        os.value(guess.getRank());
    });
    os.attributeArray("successes", [&] {
      for (const CostModel::Guess &guess : guesses)
        os.value(guess.success);
    });
  });
}

/// The order in which the candidates are tried, until the best is among them.
static std::vector<size_t> replay(const std::vector<Candidate> &candidates,
                                  uint64_t seed) {
  size_t fastest = 0;
  double least = INFINITY;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (double time = candidates[i].sample.time; time > 0 && time < least) {
      least = time;
      fastest = i;
    }
  std::vector<size_t> order = shuffle(candidates.size(), seed);
  order.resize(std::min(order.size(), replayFirst));
  while (!llvm::is_contained(order, fastest)) {
    CostModel model = fit(candidates, order);
    double best = INFINITY;
    for (size_t index : order)
      if (double time = candidates[index].sample.time; time > 0)
        best = std::min(best, time);
    std::vector<size_t> rest = getRest(candidates.size(), order);
    std::vector<CostModel::Guess> guesses;
    for (size_t index : rest) {
      const CostModel::Sample &sample = candidates[index].sample;
      guesses.push_back(model.predict(sample.point, sample.expected));
    }
    for (size_t index : CostModel::choose(guesses, best, replayStep))
      order.push_back(rest[index]);
  }
  return order;
}

static llvm::Error writeTask(json::OStream &os, const TaskText &task,
                             Database &database) {
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "task " + task.key + ": " + why);
  };
  MLIRContext context;
  prepareContext(context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(task.text, &context);
  Operation *op = nullptr;
  if (module)
    module->walk([&](Operation *inner) {
      if (isTuningTask(inner))
        op = inner;
    });
  if (!op)
    return fail("its program cannot be read");
  // All schedules of a window are tried, without a model.
  if (getWindowOp(op))
    return llvm::Error::success();
  auto records = database.getRecords({task.key, "", ""});
  if (!records)
    return records.takeError();

  std::optional<MachineModel> machine;
  std::vector<Candidate> candidates;
  for (const Record &record : *records) {
    if (record.isFinal)
      continue;
    if (!machine) {
      const Chip *chip = findChip(record.task.target, record.task.chip);
      if (!chip)
        return fail("unknown chip '" + record.task.chip + "'");
      machine.emplace(op, *chip);
    }
    bool isOwn = record.schedule.empty();
    auto schedule = dyn_cast_or_null<ScheduleAttr>(parseAttribute(
        isOwn ? StringRef(record.chosen) : StringRef(record.schedule),
        &context));
    if (!schedule)
      return fail("a schedule of it cannot be read: " + record.schedule);
    ScheduleNumbers point(schedule);
    bool hasTime = record.outcome == Outcome::Measured ||
                   (record.outcome == Outcome::Slow && !record.times.empty());
    candidates.push_back(
        {{point, hasTime ? record.median : 0, machine->estimate(point)},
         record.outcome,
         isOwn});
  }

  std::vector<Split> splits;
  for (size_t size : trainingSizes) {
    if (candidates.size() < size + fewestLeft)
      break;
    std::vector<size_t> first(size);
    std::iota(first.begin(), first.end(), 0);
    splits.push_back({"first", 0, first});
    for (uint64_t seed = 1; seed <= repetitions; ++seed) {
      std::vector<size_t> some = shuffle(candidates.size(), seed);
      some.resize(size);
      splits.push_back({"random", seed, some});
    }
  }

  os.object([&] {
    os.attribute("key", task.key);
    os.attribute("description", task.description);
    os.attributeArray("candidates", [&] {
      for (const Candidate &one : candidates)
        os.object([&] {
          os.attribute("outcome", getOutcomeName(one.outcome));
          os.attribute("own", one.isOwn);
          os.attribute("time", one.sample.time);
          os.attribute("expected", one.sample.expected);
          os.attributeArray("features", [&] {
            for (double value :
                 CostModel::getFeatures(one.sample.point, one.sample.expected))
              os.value(value);
          });
        });
    });
    os.attributeArray("splits", [&] {
      for (const Split &split : splits)
        writeSplit(os, candidates, split);
    });
    os.attributeArray("replays", [&] {
      for (uint64_t seed = 1; seed <= repetitions; ++seed)
        os.object([&] {
          os.attribute("seed", static_cast<int64_t>(seed));
          write(os, "order", replay(candidates, seed));
        });
    });
  });
  return llvm::Error::success();
}

static llvm::Error run(StringRef input, StringRef output) {
  auto buffer = llvm::MemoryBuffer::getFile(input);
  if (!buffer)
    return llvm::createFileError(input, buffer.getError());
  SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("cost-model", folder))
    return llvm::createFileError(folder, error);
  auto work = [&]() -> llvm::Error {
    auto database =
        Database::open((folder + "/tuning.db").str(), Database::Mode::Write);
    if (!database)
      return database.takeError();
    auto added = importLines(**database, (*buffer)->getBuffer(), input);
    if (!added)
      return added.takeError();
    auto tasks = (*database)->getTasks();
    if (!tasks)
      return tasks.takeError();
    std::error_code error;
    llvm::raw_fd_ostream file(output, error);
    if (error)
      return llvm::createFileError(output, error);
    json::OStream os(file);
    llvm::Error result = llvm::Error::success();
    os.array([&] {
      for (const TaskText &task : *tasks)
        if (!result)
          result = writeTask(os, task, **database);
    });
    return result;
  };
  llvm::Error result = work();
  if (std::error_code error = llvm::sys::fs::remove_directories(folder))
    result = llvm::joinErrors(std::move(result),
                              llvm::createFileError(folder, error));
  return result;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: " << argv[0] << " EXPORT.jsonl OUT.json\n";
    return 2;
  }
  if (llvm::Error error = run(argv[1], argv[2])) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
