//===- Interchange.cpp - A database as lines of JSON ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Interchange.h"

#include "JsonIndex.h"
#include "Tuning/Json.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;
using llvm::StringRef;

static constexpr llvm::StringLiteral formatName = "tessera-tuning";
static constexpr int64_t formatVersion = 1;

//===----------------------------------------------------------------------===//
// Fields, both ways
//===----------------------------------------------------------------------===//

namespace {
/// A required text that is not empty.
template <typename Text> struct Required {
  Text &text;
};
template <typename Text> Required<Text> required(Text &text) { return {text}; }

/// A text that is not written if it is empty, so that earlier versions can read
/// what does not need it.
template <typename Text> struct Optional {
  Text &text;
};
template <typename Text> Optional<Text> optional(Text &text) { return {text}; }

/// The same for a number that is 0.
template <typename Number> struct OptionalNumber {
  Number &number;
};
template <typename Number>
OptionalNumber<Number> optionalNumber(Number &number) {
  return {number};
}
} // namespace

/// Calls `field` with the name and the value of each field. `T` is const where
/// they are written.
template <typename Fields, typename T>
static void visitTask(Fields &field, T &task) {
  field("task", required(task.key));
  field("target", required(task.target));
  field("chip", required(task.chip));
}

template <typename Fields, typename T>
static void visitEnvironment(Fields &field, T &environment) {
  field("device", environment.device);
  field("driver", environment.driver);
  field("features", environment.features);
  field("compiler", environment.compiler);
  field("build", environment.build);
  field("host", environment.host);
}

template <typename Fields, typename T>
static void visitRecord(Fields &field, T &record) {
  visitTask(field, record.task);
  visitEnvironment(field, record.environment);
  field("schedule", record.schedule);
  field("chosen", record.chosen);
  field("outcome", record.outcome);
  field("error", record.error);
  field("times", record.times);
  field("median", record.median);
  field("low", record.low);
  field("high", record.high);
  field("warm_median", optionalNumber(record.warmMedian));
  field("warm_low", optionalNumber(record.warmLow));
  field("warm_high", optionalNumber(record.warmHigh));
  field("clock_before", record.clockBefore);
  field("clock_after", record.clockAfter);
  field("compile_ms", record.compileTime);
  field("expected_ms", record.expected);
  field("final", record.isFinal);
  field("when", required(record.when));
  field("run", record.run);
}

template <typename Fields, typename T>
static void visitBaseline(Fields &field, T &baseline) {
  visitTask(field, baseline.task);
  visitEnvironment(field, baseline.environment);
  field("library", required(baseline.library));
  field("times", baseline.times);
  field("median", baseline.median);
  field("low", baseline.low);
  field("high", baseline.high);
  field("when", required(baseline.when));
  field("run", baseline.run);
}

template <typename Fields, typename T>
static void visitTaskText(Fields &field, T &task) {
  field("key", required(task.key));
  field("text", task.text);
  field("description", task.description);
  field("operations", task.operations);
  field("bytes", task.bytes);
  field("rate_type", task.rateType);
  field("flags", optional(task.flags));
}

template <typename Fields, typename T>
static void visitRun(Fields &field, T &run) {
  field("run", run.number);
  field("identity", required(run.identity));
  field("command", run.command);
  field("settings", run.settings);
  field("when", required(run.when));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// With as few digits as it comes back from. JSON has no others than finite
/// ones, and neither has a database.
static std::string formatNumber(double number) {
  std::string text;
  for (int digits = 15; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, number);
    if (strtod(text.c_str(), nullptr) == number)
      break;
  }
  return text;
}

namespace {
class Writer {
public:
  explicit Writer(llvm::json::OStream &os) : os(os) {}

  void operator()(StringRef name, const std::string &text) {
    os.attribute(name, text);
  }
  void operator()(StringRef name, Required<const std::string> text) {
    os.attribute(name, text.text);
  }
  void operator()(StringRef name, Optional<const std::string> text) {
    if (!text.text.empty())
      os.attribute(name, text.text);
  }
  void operator()(StringRef name, double number) {
    os.attributeBegin(name);
    os.rawValue(formatNumber(number));
    os.attributeEnd();
  }
  void operator()(StringRef name, OptionalNumber<const double> number) {
    if (number.number != 0)
      (*this)(name, number.number);
  }
  void operator()(StringRef name, int64_t number) {
    os.attribute(name, number);
  }
  void operator()(StringRef name, bool flag) { os.attribute(name, flag); }
  void operator()(StringRef name, Outcome outcome) {
    os.attribute(name, getOutcomeName(outcome));
  }
  void operator()(StringRef name, const std::vector<double> &numbers) {
    os.attributeArray(name, [&] {
      for (double number : numbers)
        os.rawValue(formatNumber(number));
    });
  }

private:
  llvm::json::OStream &os;
};
} // namespace

void tuning::writeFields(llvm::json::OStream &os,
                         const Environment &environment) {
  Writer writer(os);
  visitEnvironment(writer, environment);
}
void tuning::writeFields(llvm::json::OStream &os, const Record &record) {
  Writer writer(os);
  visitRecord(writer, record);
}
void tuning::writeFields(llvm::json::OStream &os, const Baseline &baseline) {
  Writer writer(os);
  visitBaseline(writer, baseline);
}

llvm::Error tuning::exportLines(Database &database, llvm::raw_ostream &os) {
  std::vector<Run> runs;
  std::vector<TaskText> tasks;
  std::vector<Record> records;
  std::vector<Baseline> baselines;
  if (llvm::Error error = database.transact([&]() -> llvm::Error {
        if (llvm::Error error = database.getRuns().moveInto(runs))
          return error;
        if (llvm::Error error = database.getTasks().moveInto(tasks))
          return error;
        if (llvm::Error error = database.getRecords({}).moveInto(records))
          return error;
        return database.getBaselines({}).moveInto(baselines);
      }))
    return error;
  auto writeLine = [&](llvm::function_ref<void(llvm::json::OStream &)> write) {
    llvm::json::OStream line(os);
    line.object([&] { write(line); });
    line.flush();
    os << "\n";
  };
  auto writeAll = [&](StringRef kind, const auto &all, auto visit) {
    for (const auto &entry : all)
      writeLine([&](llvm::json::OStream &line) {
        line.attribute("kind", kind);
        Writer writer(line);
        visit(writer, entry);
      });
  };
  writeLine([](llvm::json::OStream &line) {
    line.attribute("format", formatName);
    line.attribute("version", formatVersion);
  });
  writeAll("run", runs, [](Writer &w, const Run &run) { visitRun(w, run); });
  writeAll("task", tasks,
           [](Writer &w, const TaskText &task) { visitTaskText(w, task); });
  writeAll("record", records,
           [](Writer &w, const Record &record) { visitRecord(w, record); });
  writeAll("baseline", baselines, [](Writer &w, const Baseline &baseline) {
    visitBaseline(w, baseline);
  });
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads the fields of an object. A missing field keeps its value; the first
/// error is kept.
class Reader {
public:
  explicit Reader(const llvm::json::Object &object) : object(object) {}

  void operator()(StringRef name, std::string &text) {
    if (const llvm::json::Value *value = get(name)) {
      if (std::optional<StringRef> found = value->getAsString())
        text = found->str();
      else
        fail(name, "a text", *value);
    }
  }
  void operator()(StringRef name, Required<std::string> text) {
    (*this)(name, text.text);
    if (error.empty() && !object.get(name))
      error = ("'" + name + "' is missing").str();
    else if (error.empty() && text.text.empty())
      error = ("'" + name + "' is empty").str();
    if (error.empty() && name == "when" && !isTimestamp(text.text))
      error = "'when' must be a time like \"2026-11-23T04:05:06Z\", not \"" +
              text.text + "\"";
  }
  void operator()(StringRef name, Optional<std::string> text) {
    (*this)(name, text.text);
  }
  void operator()(StringRef name, double &number) {
    if (const llvm::json::Value *value = get(name)) {
      if (std::optional<double> found = value->getAsNumber())
        number = *found;
      else
        fail(name, "a number", *value);
    }
  }
  void operator()(StringRef name, OptionalNumber<double> number) {
    (*this)(name, number.number);
  }
  void operator()(StringRef name, int64_t &number) {
    if (const llvm::json::Value *value = get(name)) {
      std::optional<int64_t> found = value->getAsInteger();
      if (found && *found >= 0)
        number = *found;
      else
        fail(name, "a whole number that is not negative", *value);
    }
  }
  void operator()(StringRef name, bool &flag) {
    if (const llvm::json::Value *value = get(name)) {
      if (std::optional<bool> found = value->getAsBoolean())
        flag = *found;
      else
        fail(name, "true or false", *value);
    }
  }
  void operator()(StringRef name, Outcome &outcome) {
    std::string text;
    (*this)(name, required(text));
    if (!error.empty())
      return;
    if (std::optional<Outcome> found = parseOutcome(text)) {
      outcome = *found;
      return;
    }
    llvm::SmallVector<StringRef> known;
    for (int i = 0; i <= int(Outcome::Crashed); ++i)
      known.push_back(getOutcomeName(Outcome(i)));
    error = ("'" + name + "' is '" + text + "': " + suggest(text, known)).str();
  }
  void operator()(StringRef name, std::vector<double> &numbers) {
    const llvm::json::Value *value = get(name);
    if (!value)
      return;
    const llvm::json::Array *array = value->getAsArray();
    if (!array)
      return fail(name, "an array of numbers", *value);
    numbers.clear();
    for (const llvm::json::Value &element : *array) {
      std::optional<double> number = element.getAsNumber();
      if (!number)
        return fail(name, "an array of numbers", *value);
      numbers.push_back(*number);
    }
  }

  /// The error; empty if there is none.
  std::string finish() {
    if (!error.empty())
      return error;
    for (const auto &field : object) {
      StringRef name = field.first;
      if (name != "kind" && !llvm::is_contained(known, name))
        return ("unknown field '" + name + "': " + suggest(name, known)).str();
    }
    return "";
  }

private:
  const llvm::json::Value *get(StringRef name) {
    known.push_back(name);
    return error.empty() ? object.get(name) : nullptr;
  }
  void fail(StringRef name, StringRef wanted, const llvm::json::Value &value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    if (text.size() > 60)
      text = "another value";
    error = ("'" + name + "' must be " + wanted + ", not " + text).str();
  }
  static bool isTimestamp(StringRef text) {
    StringRef form = "0000-00-00T00:00:00Z";
    return text.size() == form.size() &&
           llvm::all_of(llvm::zip(text, form), [](auto pair) {
             auto [c, f] = pair;
             return f == '0' ? llvm::isDigit(c) : c == f;
           });
  }

  const llvm::json::Object &object;
  llvm::SmallVector<StringRef> known;
  std::string error;
};

/// Reads lines into a database.
class Importer {
public:
  explicit Importer(Database &database) : database(database) {}

  llvm::Error readLine(StringRef line);
  Added added;

private:
  llvm::Error readFormat(const llvm::json::Object &object);
  llvm::Error readRun(const llvm::json::Object &object);
  llvm::Error setRun(int64_t &number);
  template <typename T, typename Visit>
  llvm::Error readEntry(const llvm::json::Object &object, Visit visit,
                        size_t &count);

  Database &database;
  bool hasFormat = false;
  /// The number of each run of the text, here.
  std::map<int64_t, int64_t> runs;
};
} // namespace

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

llvm::Error Importer::readFormat(const llvm::json::Object &object) {
  std::string name;
  int64_t version = 0;
  Reader reader(object);
  reader("format", name);
  reader("version", version);
  if (std::string error = reader.finish(); !error.empty())
    return fail(error);
  if (name != formatName)
    return fail("its format is '" + name + "', not '" + formatName + "'");
  if (version != formatVersion)
    return fail("its version is " + llvm::Twine(version) +
                ", but this build reads version " + llvm::Twine(formatVersion));
  // Another text may follow the previous one: it counts its own runs.
  hasFormat = true;
  runs.clear();
  return llvm::Error::success();
}

llvm::Error Importer::readRun(const llvm::json::Object &object) {
  Run run;
  Reader reader(object);
  visitRun(reader, run);
  if (std::string error = reader.finish(); !error.empty())
    return fail(error);
  if (run.number == 0)
    return fail("'run' must be a number of at least 1");
  if (runs.count(run.number))
    return fail("duplicate run " + llvm::Twine(run.number) + " before");
  llvm::Expected<std::vector<Run>> before = database.getRuns();
  if (!before)
    return before.takeError();
  added.runs += llvm::none_of(*before, [&](const Run &known) {
    return known.identity == run.identity;
  });
  return database.add(run).moveInto(runs[run.number]);
}

llvm::Error Importer::setRun(int64_t &number) {
  if (number == 0)
    return llvm::Error::success();
  auto found = runs.find(number);
  if (found == runs.end())
    return fail("no earlier line defines run " + llvm::Twine(number));
  number = found->second;
  return llvm::Error::success();
}

template <typename T, typename Visit>
llvm::Error Importer::readEntry(const llvm::json::Object &object, Visit visit,
                                size_t &count) {
  T entry;
  Reader reader(object);
  visit(reader, entry);
  if (std::string error = reader.finish(); !error.empty())
    return fail(error);
  if constexpr (!std::is_same_v<T, TaskText>) {
    if (llvm::Error error = validate(entry))
      return error;
    if (llvm::Error error = setRun(entry.run))
      return error;
  }
  llvm::Expected<bool> isNew = database.add(entry);
  if (!isNew)
    return isNew.takeError();
  count += *isNew;
  return llvm::Error::success();
}

llvm::Error Importer::readLine(StringRef line) {
  llvm::Expected<llvm::json::Value> value = parseJson(line);
  if (!value)
    return fail("invalid JSON: " + llvm::toString(value.takeError()));
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return fail("it is not a JSON object");
  if (std::string twice = JsonIndex(line).getDuplicate(); !twice.empty())
    return fail("it has '" + twice + "' twice");
  if (object->get("format"))
    return readFormat(*object);
  if (!hasFormat)
    return fail("the first line must be {\"format\":\"" + formatName +
                "\",\"version\":" + llvm::Twine(formatVersion) + "}");
  StringRef kind = object->getString("kind").value_or("");
  if (kind == "run")
    return readRun(*object);
  if (kind == "task")
    return readEntry<TaskText>(
        *object, [](Reader &r, TaskText &task) { visitTaskText(r, task); },
        added.tasks);
  if (kind == "record")
    return readEntry<Record>(
        *object, [](Reader &r, Record &record) { visitRecord(r, record); },
        added.records);
  if (kind == "baseline")
    return readEntry<Baseline>(
        *object,
        [](Reader &r, Baseline &baseline) { visitBaseline(r, baseline); },
        added.baselines);
  return fail("its 'kind' is '" + kind +
              "': " + suggest(kind, {"run", "task", "record", "baseline"}));
}

llvm::Expected<Added> tuning::importLines(Database &database, StringRef text,
                                          StringRef name) {
  Importer importer(database);
  if (llvm::Error error = database.transact([&]() -> llvm::Error {
        size_t number = 0;
        bool isEmpty = true;
        while (!text.empty()) {
          StringRef line;
          std::tie(line, text) = text.split('\n');
          ++number;
          line = line.trim();
          if (line.empty())
            continue;
          isEmpty = false;
          if (llvm::Error error = importer.readLine(line))
            return fail(name + ":" + llvm::Twine(number) + ": " +
                        llvm::toString(std::move(error)));
        }
        if (isEmpty)
          return fail(name +
                      ": it is empty; gpu-tune export writes such files");
        return llvm::Error::success();
      }))
    return std::move(error);
  return importer.added;
}

llvm::Error tuning::importFiles(const std::string &path,
                                llvm::ArrayRef<std::string> files,
                                ReportAdded report) {
  // All of them are read before a database is made.
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file, /*IsText=*/true);
    if (!buffer)
      return fail("cannot read '" + file + "': " + buffer.getError().message());
    buffers.push_back(std::move(*buffer));
  }
  auto database = Database::open(path, Database::Mode::Write);
  if (!database)
    return database.takeError();
  for (auto [file, buffer] : llvm::zip(files, buffers)) {
    llvm::Expected<Added> added =
        importLines(**database, buffer->getBuffer(), file);
    if (!added)
      return added.takeError();
    report(file, *added);
  }
  return llvm::Error::success();
}

llvm::Error tuning::mergeFiles(const std::string &path,
                               llvm::ArrayRef<std::string> files,
                               ReportAdded report) {
  // None is merged if one cannot be.
  std::vector<std::unique_ptr<Database>> databases;
  for (const std::string &file : files) {
    auto database = Database::open(file, Database::Mode::Read);
    if (!database)
      return database.takeError();
    databases.push_back(std::move(*database));
  }
  auto out = Database::open(path, Database::Mode::Write);
  if (!out)
    return out.takeError();
  for (auto [file, database] : llvm::zip(files, databases)) {
    llvm::Expected<Added> added = (*out)->merge(*database);
    if (!added)
      return added.takeError();
    report(file, *added);
  }
  return llvm::Error::success();
}

std::string tuning::formatAdded(const Added &added) {
  auto count = [](size_t number, StringRef what) {
    return (llvm::Twine(number) + " " + what + (number == 1 ? "" : "s")).str();
  };
  return "new are " + count(added.tasks, "task") + ", " +
         count(added.runs, "run") + ", " + count(added.records, "record") +
         ", " + count(added.baselines, "baseline");
}
