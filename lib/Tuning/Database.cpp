//===- Database.cpp - Where tuning keeps what it found --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A change is written with a rollback journal, and is on disk, with the removal
// of the journal, before the call returns. So the file by itself is all there
// is, and can be copied, wherever no process writes at that moment; a
// write-ahead log would be a second file with the latest records.
//
//===----------------------------------------------------------------------===//

#include "Tuning/Database.h"

#include "Sqlite.h"
#include "Tuning/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/RandomNumberGenerator.h"

#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;
using llvm::StringRef;

/// The application ID in the file's header ("Tess").
static constexpr int64_t applicationId = 0x54657373;
/// The schema version of the tables. A file with a later version is rejected;
/// an earlier one is migrated when it is opened for writing.
static constexpr int64_t schemaVersion = 3;
/// The change from version 1: tasks are compiled with flags.
static constexpr const char addFlags[] =
    "ALTER TABLE tasks ADD COLUMN flags TEXT NOT NULL DEFAULT '';";
/// The change from version 2: records have times with warm caches.
static constexpr const char addWarmTimes[] =
    "ALTER TABLE records ADD COLUMN warm_median REAL NOT NULL DEFAULT 0; "
    "ALTER TABLE records ADD COLUMN warm_low REAL NOT NULL DEFAULT 0; "
    "ALTER TABLE records ADD COLUMN warm_high REAL NOT NULL DEFAULT 0; "
    "PRAGMA user_version = 3";
/// Milliseconds to wait for other processes that write.
static constexpr int patience = 60000;

static constexpr const char schema[] = R"(
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  description TEXT NOT NULL,
  operations REAL NOT NULL,
  bytes REAL NOT NULL,
  rate_type TEXT NOT NULL,
  flags TEXT NOT NULL DEFAULT '');
CREATE TABLE environments (
  number INTEGER PRIMARY KEY,
  device TEXT NOT NULL,
  driver TEXT NOT NULL,
  compiler TEXT NOT NULL,
  build TEXT NOT NULL,
  host TEXT NOT NULL,
  features TEXT NOT NULL,
  UNIQUE (device, driver, compiler, build, host, features));
CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  settings TEXT NOT NULL,
  "when" TEXT NOT NULL);
CREATE TABLE records (
  number INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  task TEXT NOT NULL REFERENCES tasks (key),
  target TEXT NOT NULL,
  chip TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environments (number),
  schedule TEXT NOT NULL,
  chosen TEXT NOT NULL,
  outcome TEXT NOT NULL,
  error TEXT NOT NULL,
  times TEXT NOT NULL,
  median REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  clock_before INTEGER NOT NULL,
  clock_after INTEGER NOT NULL,
  compile_ms REAL NOT NULL,
  expected_ms REAL NOT NULL,
  final INTEGER NOT NULL,
  "when" TEXT NOT NULL,
  run INTEGER REFERENCES runs (number),
  warm_median REAL NOT NULL DEFAULT 0,
  warm_low REAL NOT NULL DEFAULT 0,
  warm_high REAL NOT NULL DEFAULT 0);
CREATE INDEX records_of_task ON records (task, target, chip, outcome);
CREATE TABLE baselines (
  number INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  task TEXT NOT NULL REFERENCES tasks (key),
  target TEXT NOT NULL,
  chip TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environments (number),
  library TEXT NOT NULL,
  times TEXT NOT NULL,
  median REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  "when" TEXT NOT NULL,
  run INTEGER REFERENCES runs (number));
)";

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// A digest of all added fields, which identifies an entry.
class Digest {
public:
  Digest &add(StringRef text) {
    add(int64_t(text.size()));
    hasher.update(text);
    return *this;
  }
  Digest &add(int64_t number) {
    uint8_t bytes[8];
    llvm::support::endian::write64le(bytes, uint64_t(number));
    hasher.update(bytes);
    return *this;
  }
  Digest &add(llvm::ArrayRef<double> numbers) {
    add(int64_t(numbers.size()));
    for (double number : numbers)
      add(number);
    return *this;
  }
  Digest &add(double number) {
    // There are two zeros, which compare equal.
    return add(llvm::bit_cast<int64_t>(number == 0 ? 0.0 : number));
  }
  std::string get() {
    return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
  }

private:
  llvm::BLAKE3 hasher;
};
} // namespace

/// JSON: every digit that a double has.
static std::string formatTimes(const std::vector<double> &times) {
  llvm::json::Array array;
  for (double time : times)
    array.push_back(time);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(array));
  return text;
}

static llvm::Expected<std::vector<double>> parseTimes(StringRef text) {
  auto value = parseJson(text);
  if (!value)
    return value.takeError();
  std::vector<double> times;
  const llvm::json::Array *array = value->getAsArray();
  if (!array)
    return llvm::createStringError("not an array");
  for (const llvm::json::Value &element : *array) {
    std::optional<double> time = element.getAsNumber();
    if (!time)
      return llvm::createStringError("not an array of numbers");
    times.push_back(*time);
  }
  return times;
}

/// Replaces bytes of a driver's or a device's text that are not UTF-8, which
/// could not be exported as JSON.
static void fixText(std::initializer_list<std::string *> texts) {
  for (std::string *text : texts)
    if (!llvm::json::isUTF8(*text))
      *text = llvm::json::fixUTF8(*text);
}

static void fixText(TaskId &task, Environment &environment) {
  fixText({&task.key, &task.target, &task.chip, &environment.device,
           &environment.driver, &environment.compiler, &environment.build,
           &environment.host, &environment.features});
}

static void addTo(Digest &digest, const TaskId &task,
                  const Environment &environment) {
  for (const std::string *text :
       {&task.key, &task.target, &task.chip, &environment.device,
        &environment.driver, &environment.compiler, &environment.build,
        &environment.host, &environment.features})
    digest.add(*text);
}

//===----------------------------------------------------------------------===//
// The implementation
//===----------------------------------------------------------------------===//

class Database::Impl {
public:
  /// Makes the tables of an empty file; checks the version of another.
  llvm::Error prepare(Mode mode);

  llvm::Error transact(llvm::function_ref<llvm::Error()> body);
  /// The same for a body that returns a value.
  template <typename T>
  llvm::Expected<T> transact(llvm::function_ref<llvm::Expected<T>()> body) {
    std::optional<T> result;
    if (llvm::Error error = transact([&]() -> llvm::Error {
          llvm::Expected<T> value = body();
          if (!value)
            return value.takeError();
          result = std::move(*value);
          return llvm::Error::success();
        }))
      return std::move(error);
    return std::move(*result);
  }

  /// Whether a table has a column, which files of earlier versions may lack.
  llvm::Expected<bool> hasColumn(StringRef table, StringRef column);
  llvm::Expected<int64_t> add(const Run &run);
  llvm::Expected<int64_t> add(const Environment &environment);
  /// The name of a run in all databases; empty for 0.
  llvm::Expected<std::string> getIdentity(int64_t run);
  /// If `record` is invalidated, removes its earlier copy, which may have come
  /// by a merge. Returns whether `record` is such a copy itself, of one that
  /// was invalidated here.
  llvm::Expected<bool> replace(const Record &record, int64_t environment);
  /// Runs the insertion of a record or a baseline.
  llvm::Expected<bool> insert(Statement &statement, StringRef task);

  llvm::Error fail(const llvm::Twine &message) {
    return llvm::createStringError("'" + llvm::Twine(connection.getPath()) +
                                   "': " + message);
  }

  Connection connection;
  Mode mode = Mode::Read;
  std::recursive_mutex mutex;
};

llvm::Error Database::Impl::transact(llvm::function_ref<llvm::Error()> body) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!sqlite3_get_autocommit(connection.get()))
    return body();
  // A writer waits at its beginning, where waiting cannot end in a deadlock.
  if (llvm::Error error =
          connection.execute(mode == Mode::Write ? "BEGIN IMMEDIATE" : "BEGIN"))
    return error;
  llvm::Error error = body();
  if (!error)
    error = connection.execute("COMMIT");
  // Some failures have taken it back already.
  if (!sqlite3_get_autocommit(connection.get()))
    error = llvm::joinErrors(std::move(error), connection.execute("ROLLBACK"));
  return error;
}

llvm::Error Database::Impl::prepare(Mode wanted) {
  // EXTRA: a commit is safe from power failures too, once it is done.
  if (llvm::Error error = connection.execute(
          "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; "
          "PRAGMA foreign_keys = ON"))
    return error;
  auto read = [&](StringRef statement, int64_t &value) -> llvm::Error {
    Statement pragma(connection, statement);
    llvm::Expected<bool> row = pragma.step();
    if (!row)
      return row.takeError();
    value = pragma.getInt();
    return llvm::Error::success();
  };
  // Another process may be making the same file.
  mode = wanted;
  if (llvm::Error error = transact([&]() -> llvm::Error {
        int64_t id = 0, version = 0, tables = 0;
        if (llvm::Error error = read("PRAGMA application_id", id))
          return error;
        if (llvm::Error error = read("PRAGMA user_version", version))
          return error;
        if (llvm::Error error =
                read("SELECT count(*) FROM sqlite_master", tables))
          return error;
        if (id == applicationId && version == schemaVersion)
          return llvm::Error::success();
        if (id == applicationId && (version == 1 || version == 2)) {
          if (mode == Mode::Read)
            return llvm::Error::success();
          if (version == 1)
            if (llvm::Error error = connection.execute(addFlags))
              return error;
          return connection.execute(addWarmTimes);
        }
        if (id == applicationId && version > schemaVersion)
          return fail("it is a tuning database of version " +
                      llvm::Twine(version) + ", but this build supports " +
                      llvm::Twine(schemaVersion) +
                      " and earlier; use the newer build, or export the "
                      "database with it");
        if (id == applicationId)
          return fail("it is a tuning database of version " +
                      llvm::Twine(version) + ", which does not exist");
        if (id != 0 || tables != 0)
          return fail("it is an SQLite database of another program");
        if (mode == Mode::Read)
          return fail("it is an empty file, not a tuning database");
        std::string text =
            (schema + llvm::Twine("PRAGMA application_id = ") +
             llvm::Twine(applicationId) +
             "; PRAGMA user_version = " + llvm::Twine(schemaVersion))
                .str();
        return connection.execute(text.c_str());
      }))
    return error;
  return connection.execute(mode == Mode::Read ? "PRAGMA query_only = ON" : "");
}

llvm::Expected<bool> Database::Impl::hasColumn(StringRef table,
                                               StringRef column) {
  Statement statement(connection,
                      "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return statement.bind(table).bind(column).step();
}

llvm::Expected<int64_t> Database::Impl::add(const Run &run) {
  Statement known(connection, "SELECT number FROM runs WHERE identity = ?");
  llvm::Expected<bool> row = known.bind(run.identity).step();
  if (!row)
    return row.takeError();
  if (*row)
    return known.getInt();
  Statement statement(connection,
                      "INSERT INTO runs (identity, command, settings, \"when\")"
                      " VALUES (?, ?, ?, ?)");
  if (llvm::Error error = statement.bind(run.identity)
                              .bind(run.command)
                              .bind(run.settings)
                              .bind(run.when)
                              .run())
    return std::move(error);
  return sqlite3_last_insert_rowid(connection.get());
}

llvm::Expected<int64_t> Database::Impl::add(const Environment &environment) {
  auto bind = [&](Statement &statement) -> Statement & {
    return statement.bind(environment.device)
        .bind(environment.driver)
        .bind(environment.compiler)
        .bind(environment.build)
        .bind(environment.host)
        .bind(environment.features);
  };
  Statement known(connection,
                  "SELECT number FROM environments WHERE device = ? AND driver "
                  "= ? AND compiler = ? AND build = ? AND host = ? AND "
                  "features = ?");
  llvm::Expected<bool> row = bind(known).step();
  if (!row)
    return row.takeError();
  if (*row)
    return known.getInt();
  Statement statement(connection,
                      "INSERT INTO environments (device, driver, compiler, "
                      "build, host, features) VALUES (?, ?, ?, ?, ?, ?)");
  if (llvm::Error error = bind(statement).run())
    return std::move(error);
  return sqlite3_last_insert_rowid(connection.get());
}

llvm::Expected<std::string> Database::Impl::getIdentity(int64_t run) {
  if (run == 0)
    return std::string();
  Statement statement(connection, "SELECT identity FROM runs WHERE number = ?");
  llvm::Expected<bool> row = statement.bind(run).step();
  if (!row)
    return row.takeError();
  if (!*row)
    return fail("unknown run " + llvm::Twine(run) +
                "; begin a run before adding its records");
  return statement.getText();
}

llvm::Expected<bool> Database::Impl::replace(const Record &record,
                                             int64_t environment) {
  bool isNew = isInvalidated(record);
  if (!isNew && record.outcome != Outcome::Measured &&
      record.outcome != Outcome::Slow)
    return false;
  // An old database has its text with the former names of fields.
  std::string former = useFormerNames(record.schedule);
  // The same candidate at the same time; SQL's IS compares NULL too.
  Statement statement(
      connection,
      (llvm::Twine(isNew ? "DELETE FROM" : "SELECT 1 FROM") +
       " records WHERE task = ? AND target = ? AND chip = ? AND environment = "
       "? AND schedule IN (?, ?) AND final = ? AND \"when\" = ? AND run IS ? "
       "AND " +
       (isNew ? "outcome IN ('measured', 'slow')"
              : "outcome = 'wrong' AND error LIKE 'invalidated: %'"))
          .str());
  statement.bind(record.task.key)
      .bind(record.task.target)
      .bind(record.task.chip)
      .bind(environment)
      .bind(record.schedule)
      .bind(former)
      .bind(int64_t(record.isFinal))
      .bind(record.when);
  record.run ? statement.bind(record.run) : statement.bindNull();
  llvm::Expected<bool> row = statement.step();
  if (!row)
    return row.takeError();
  return !isNew && *row;
}

llvm::Expected<bool> Database::Impl::insert(Statement &statement,
                                            StringRef task) {
  Statement known(connection, "SELECT 1 FROM tasks WHERE key = ?");
  llvm::Expected<bool> row = known.bind(task).step();
  if (!row)
    return row.takeError();
  if (!*row)
    return fail("unknown task " + task + "; add a task before its records");
  if (llvm::Error error = statement.run())
    return std::move(error);
  return sqlite3_changes(connection.get()) != 0;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Database::Database(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Database::~Database() = default;

llvm::Expected<std::unique_ptr<Database>> Database::open(StringRef path,
                                                         Mode mode) {
  auto impl = std::make_unique<Impl>();
  if (llvm::Error error =
          impl->connection.open(path, mode == Mode::Write, patience))
    return std::move(error);
  if (llvm::Error error = impl->prepare(mode))
    return std::move(error);
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

llvm::Error Database::transact(llvm::function_ref<llvm::Error()> body) {
  return impl->transact(body);
}

//===----------------------------------------------------------------------===//
// Adding
//===----------------------------------------------------------------------===//

llvm::Expected<int64_t> Database::beginRun(StringRef command,
                                           StringRef settings) {
  uint8_t bytes[16];
  if (std::error_code error = llvm::getRandomBytes(bytes, sizeof(bytes)))
    return llvm::createStringError("no random numbers: " + error.message());
  Run run;
  run.identity = llvm::toHex(bytes, /*LowerCase=*/true);
  run.command = command.str();
  run.settings = settings.str();
  run.when = getTimestamp();
  return add(run);
}

llvm::Expected<int64_t> Database::add(const Run &given) {
  Run run = given;
  fixText({&run.identity, &run.command, &run.settings, &run.when});
  if (run.identity.empty())
    return impl->fail("a run must have an identity");
  return impl->transact<int64_t>([&] { return impl->add(run); });
}

llvm::Expected<bool> Database::add(const TaskText &given) {
  TaskText task = given;
  fixText(
      {&task.key, &task.text, &task.flags, &task.description, &task.rateType});
  if (task.key.empty())
    return impl->fail("a task must have a key");
  if (!std::isfinite(task.operations) || !std::isfinite(task.bytes))
    return impl->fail("operations and bytes of task " + task.key +
                      " are not finite");
  return impl->transact<bool>([&]() -> llvm::Expected<bool> {
    Statement statement(impl->connection,
                        "INSERT INTO tasks (key, text, description, "
                        "operations, bytes, rate_type, flags) VALUES (?, ?, ?, "
                        "?, ?, ?, ?) ON CONFLICT (key) DO NOTHING");
    if (llvm::Error error = statement.bind(task.key)
                                .bind(task.text)
                                .bind(task.description)
                                .bind(task.operations)
                                .bind(task.bytes)
                                .bind(task.rateType)
                                .bind(task.flags)
                                .run())
      return std::move(error);
    return sqlite3_changes(impl->connection.get()) != 0;
  });
}

llvm::Expected<bool> Database::add(const Record &given) {
  Record record = given;
  fixText(record.task, record.environment);
  fixText({&record.schedule, &record.chosen, &record.error, &record.when});
  for (std::string *text : {&record.schedule, &record.chosen})
    *text = useCurrentNames(*text);
  if (record.when.empty())
    record.when = getTimestamp();
  if (llvm::Error error = validate(record))
    return impl->fail("a record that cannot be: " +
                      llvm::toString(std::move(error)));
  return impl->transact<bool>([&]() -> llvm::Expected<bool> {
    llvm::Expected<std::string> identity = impl->getIdentity(record.run);
    if (!identity)
      return identity.takeError();
    llvm::Expected<int64_t> environment = impl->add(record.environment);
    if (!environment)
      return environment.takeError();
    llvm::Expected<bool> isStale = impl->replace(record, *environment);
    if (!isStale)
      return isStale.takeError();
    if (*isStale)
      return false;
    StringRef outcome = getOutcomeName(record.outcome);
    Digest digest;
    addTo(digest, record.task, record.environment);
    digest.add(useFormerNames(record.schedule));
    digest.add(useFormerNames(record.chosen)).add(outcome);
    digest.add(record.error).add(record.times);
    digest.add(record.median).add(record.low).add(record.high);
    digest.add(record.clockBefore).add(record.clockAfter);
    digest.add(record.compileTime).add(record.expected);
    digest.add(int64_t(record.isFinal)).add(record.when).add(*identity);
    // Records without these have the digests of earlier versions.
    if (record.warmMedian > 0)
      digest.add(record.warmMedian).add(record.warmLow).add(record.warmHigh);
    std::string name = digest.get(), times = formatTimes(record.times);
    Statement statement(
        impl->connection,
        "INSERT INTO records (digest, task, target, chip, environment, "
        "schedule, chosen, outcome, error, times, median, low, high, "
        "clock_before, clock_after, compile_ms, expected_ms, final, \"when\", "
        "warm_median, warm_low, warm_high, run) VALUES (?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) "
        "DO NOTHING");
    statement.bind(name)
        .bind(record.task.key)
        .bind(record.task.target)
        .bind(record.task.chip)
        .bind(*environment)
        .bind(record.schedule)
        .bind(record.chosen)
        .bind(outcome)
        .bind(record.error)
        .bind(times)
        .bind(record.median)
        .bind(record.low)
        .bind(record.high)
        .bind(record.clockBefore)
        .bind(record.clockAfter)
        .bind(record.compileTime)
        .bind(record.expected)
        .bind(int64_t(record.isFinal))
        .bind(record.when)
        .bind(record.warmMedian)
        .bind(record.warmLow)
        .bind(record.warmHigh);
    record.run ? statement.bind(record.run) : statement.bindNull();
    return impl->insert(statement, record.task.key);
  });
}

llvm::Expected<bool> Database::add(const Baseline &given) {
  Baseline baseline = given;
  fixText(baseline.task, baseline.environment);
  fixText({&baseline.library, &baseline.when});
  if (baseline.when.empty())
    baseline.when = getTimestamp();
  if (llvm::Error error = validate(baseline))
    return impl->fail("a baseline that cannot be: " +
                      llvm::toString(std::move(error)));
  return impl->transact<bool>([&]() -> llvm::Expected<bool> {
    llvm::Expected<std::string> identity = impl->getIdentity(baseline.run);
    if (!identity)
      return identity.takeError();
    llvm::Expected<int64_t> environment = impl->add(baseline.environment);
    if (!environment)
      return environment.takeError();
    Digest digest;
    addTo(digest, baseline.task, baseline.environment);
    digest.add(baseline.library).add(baseline.times);
    digest.add(baseline.median).add(baseline.low).add(baseline.high);
    digest.add(baseline.when).add(*identity);
    std::string name = digest.get(), times = formatTimes(baseline.times);
    Statement statement(
        impl->connection,
        "INSERT INTO baselines (digest, task, target, chip, environment, "
        "library, times, median, low, high, \"when\", run) VALUES (?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING");
    statement.bind(name)
        .bind(baseline.task.key)
        .bind(baseline.task.target)
        .bind(baseline.task.chip)
        .bind(*environment)
        .bind(baseline.library)
        .bind(times)
        .bind(baseline.median)
        .bind(baseline.low)
        .bind(baseline.high)
        .bind(baseline.when);
    baseline.run ? statement.bind(baseline.run) : statement.bindNull();
    return impl->insert(statement, baseline.task.key);
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// An empty part of a task stands for every value.
static constexpr const char ofTask[] =
    " WHERE (?1 = '' OR task = ?1) AND (?2 = '' OR target = ?2) AND "
    "(?3 = '' OR chip = ?3)";

static constexpr const char recordColumns[] =
    "SELECT task, target, chip, device, driver, compiler, build, host, "
    "features, schedule, chosen, outcome, error, times, median, low, high, "
    "clock_before, clock_after, compile_ms, expected_ms, final, \"when\", "
    "run, ";
static constexpr const char recordTables[] =
    " FROM records JOIN environments ON environments.number = environment";

static void readHead(Statement &row, TaskId &task, Environment &environment) {
  for (std::string *text :
       {&task.key, &task.target, &task.chip, &environment.device,
        &environment.driver, &environment.compiler, &environment.build,
        &environment.host, &environment.features})
    *text = row.getText();
}

static llvm::Error readTimes(Statement &row, std::vector<double> &times,
                             Connection &connection) {
  llvm::Expected<std::vector<double>> parsed = parseTimes(row.getText());
  if (!parsed)
    return llvm::createStringError("'" + connection.getPath() +
                                   "' is corrupt: the times of an entry: " +
                                   llvm::toString(parsed.takeError()));
  times = std::move(*parsed);
  return llvm::Error::success();
}

static llvm::Error readRecord(Statement &row, Record &record,
                              Connection &connection) {
  readHead(row, record.task, record.environment);
  record.schedule = useCurrentNames(row.getText());
  record.chosen = useCurrentNames(row.getText());
  std::string name = row.getText();
  std::optional<Outcome> outcome = parseOutcome(name);
  if (!outcome)
    return llvm::createStringError("'" + connection.getPath() +
                                   "' is corrupt: a record has the outcome '" +
                                   name + "'");
  record.outcome = *outcome;
  record.error = row.getText();
  if (llvm::Error error = readTimes(row, record.times, connection))
    return error;
  record.median = row.getDouble();
  record.low = row.getDouble();
  record.high = row.getDouble();
  record.clockBefore = row.getInt();
  record.clockAfter = row.getInt();
  record.compileTime = row.getDouble();
  record.expected = row.getDouble();
  record.isFinal = row.getInt() != 0;
  record.when = row.getText();
  record.run = row.getInt();
  record.warmMedian = row.getDouble();
  record.warmLow = row.getDouble();
  record.warmHigh = row.getDouble();
  return llvm::Error::success();
}

/// All rows of a statement.
template <typename T>
static llvm::Expected<std::vector<T>>
readAll(Statement &statement,
        llvm::function_ref<llvm::Error(Statement &, T &)> read) {
  std::vector<T> all;
  while (true) {
    llvm::Expected<bool> row = statement.step();
    if (!row)
      return row.takeError();
    if (!*row)
      return all;
    if (llvm::Error error = read(statement, all.emplace_back()))
      return std::move(error);
  }
}

llvm::Expected<std::vector<Run>> Database::getRuns() {
  std::lock_guard<std::recursive_mutex> lock(impl->mutex);
  Statement statement(impl->connection,
                      "SELECT number, identity, command, settings, \"when\" "
                      "FROM runs ORDER BY number");
  return readAll<Run>(statement, [](Statement &row, Run &run) {
    run.number = row.getInt();
    run.identity = row.getText();
    run.command = row.getText();
    run.settings = row.getText();
    run.when = row.getText();
    return llvm::Error::success();
  });
}

llvm::Expected<std::vector<TaskText>> Database::getTasks() {
  std::lock_guard<std::recursive_mutex> lock(impl->mutex);
  // A file of version 1 that is only read has no flags.
  llvm::Expected<bool> hasFlags = impl->hasColumn("tasks", "flags");
  if (!hasFlags)
    return hasFlags.takeError();
  std::string text =
      (llvm::Twine("SELECT key, text, description, operations, bytes, "
                   "rate_type, ") +
       (*hasFlags ? "flags" : "''") + " FROM tasks ORDER BY number")
          .str();
  Statement statement(impl->connection, text);
  return readAll<TaskText>(statement, [](Statement &row, TaskText &task) {
    task.key = row.getText();
    task.text = row.getText();
    task.description = row.getText();
    task.operations = row.getDouble();
    task.bytes = row.getDouble();
    task.rateType = row.getText();
    task.flags = row.getText();
    return llvm::Error::success();
  });
}

llvm::Expected<std::vector<Record>> Database::getRecords(const TaskId &task) {
  std::lock_guard<std::recursive_mutex> lock(impl->mutex);
  // A file of version 1 or 2 that is only read has no times with warm caches.
  llvm::Expected<bool> isWarm = impl->hasColumn("records", "warm_median");
  if (!isWarm)
    return isWarm.takeError();
  std::string text =
      (llvm::Twine(recordColumns) +
       (*isWarm ? "warm_median, warm_low, warm_high" : "0.0, 0.0, 0.0") +
       recordTables + ofTask + " ORDER BY \"when\", records.number")
          .str();
  Statement statement(impl->connection, text);
  statement.bind(task.key).bind(task.target).bind(task.chip);
  return readAll<Record>(statement, [&](Statement &row, Record &record) {
    return readRecord(row, record, impl->connection);
  });
}

llvm::Expected<std::vector<Baseline>>
Database::getBaselines(const TaskId &task) {
  std::lock_guard<std::recursive_mutex> lock(impl->mutex);
  std::string text =
      (llvm::Twine("SELECT task, target, chip, device, driver, compiler, "
                   "build, host, features, library, times, median, low, high, "
                   "\"when\", run FROM baselines JOIN environments ON "
                   "environments.number = environment") +
       ofTask + " ORDER BY \"when\", baselines.number")
          .str();
  Statement statement(impl->connection, text);
  statement.bind(task.key).bind(task.target).bind(task.chip);
  return readAll<Baseline>(
      statement, [&](Statement &row, Baseline &baseline) -> llvm::Error {
        readHead(row, baseline.task, baseline.environment);
        baseline.library = row.getText();
        if (llvm::Error error =
                readTimes(row, baseline.times, impl->connection))
          return error;
        baseline.median = row.getDouble();
        baseline.low = row.getDouble();
        baseline.high = row.getDouble();
        baseline.when = row.getText();
        baseline.run = row.getInt();
        return llvm::Error::success();
      });
}

static auto tieAll(const Environment &one) {
  return std::tie(one.device, one.driver, one.features, one.compiler, one.build,
                  one.host);
}

const Record *tuning::pickBest(llvm::ArrayRef<Record> records,
                               StringRef device) {
  auto isUsable = [&](const Record &record) {
    return record.outcome == Outcome::Measured &&
           (device.empty() || record.environment.device == device);
  };
  // The times of this record's run count.
  const Record *latest = nullptr;
  for (const Record &record : records)
    if (isUsable(record) &&
        (!latest || std::tie(record.isFinal, record.when) >
                        std::tie(latest->isFinal, latest->when)))
      latest = &record;
  auto isCompared = [&](const Record &record) {
    return isUsable(record) && record.isFinal == latest->isFinal &&
           tieAll(record.environment) == tieAll(latest->environment);
  };
  bool isWarm = llvm::all_of(records, [&](const Record &record) {
    return !isCompared(record) || record.warmMedian > 0;
  });
  const Record *best = nullptr;
  for (const Record &record : records)
    if (isCompared(record) && (!best || getComparedTime(record, isWarm) <
                                            getComparedTime(*best, isWarm)))
      best = &record;
  return best;
}

llvm::Expected<std::optional<Record>> Database::getBest(const TaskId &task,
                                                        StringRef device) {
  llvm::Expected<std::vector<Record>> records = getRecords(task);
  if (!records)
    return records.takeError();
  const Record *best = pickBest(*records, device);
  return best ? std::optional<Record>(*best) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Invalidating
//===----------------------------------------------------------------------===//

static constexpr const char invalidPrefix[] = "invalidated: ";

bool tuning::isInvalidated(const Record &record) {
  return record.outcome == Outcome::Wrong &&
         StringRef(record.error).starts_with(invalidPrefix);
}

void tuning::invalidate(Record &record, StringRef why) {
  record.outcome = Outcome::Wrong;
  record.error = (invalidPrefix + why).str();
  record.times.clear();
  record.median = record.low = record.high = 0;
  record.warmMedian = record.warmLow = record.warmHigh = 0;
}

bool tuning::isOfSameBuild(const Environment &one, const Environment &other) {
  return std::tie(one.device, one.driver, one.features, one.build) ==
         std::tie(other.device, other.driver, other.features, other.build);
}

llvm::Expected<size_t> Database::invalidate(const TaskId &task,
                                            const Environment &environment,
                                            std::optional<StringRef> schedule,
                                            StringRef why) {
  return impl->transact<size_t>([&]() -> llvm::Expected<size_t> {
    llvm::Expected<std::vector<Record>> records = getRecords(task);
    if (!records)
      return records.takeError();
    size_t count = 0;
    for (Record &record : *records) {
      if ((record.outcome != Outcome::Measured &&
           record.outcome != Outcome::Slow) ||
          (schedule && record.schedule != *schedule) ||
          !isOfSameBuild(record.environment, environment))
        continue;
      tuning::invalidate(record, why);
      // Replaces the one that it was.
      if (llvm::Error error = add(record).takeError())
        return std::move(error);
      ++count;
    }
    return count;
  });
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

llvm::Expected<Added> Database::merge(Database &other) {
  // All of `other` comes first, which may be the same file.
  std::vector<Run> runs;
  std::vector<TaskText> tasks;
  std::vector<Record> records;
  std::vector<Baseline> baselines;
  if (llvm::Error error = other.transact([&]() -> llvm::Error {
        if (llvm::Error error = other.getRuns().moveInto(runs))
          return error;
        if (llvm::Error error = other.getTasks().moveInto(tasks))
          return error;
        if (llvm::Error error = other.getRecords({}).moveInto(records))
          return error;
        return other.getBaselines({}).moveInto(baselines);
      }))
    return std::move(error);

  Added added;
  if (llvm::Error error = transact([&]() -> llvm::Error {
        llvm::Expected<std::vector<Run>> before = getRuns();
        if (!before)
          return before.takeError();
        std::map<int64_t, int64_t> numbers = {{0, 0}};
        for (const Run &run : runs) {
          if (llvm::Error error = add(run).moveInto(numbers[run.number]))
            return error;
          added.runs += llvm::none_of(*before, [&](const Run &known) {
            return known.identity == run.identity;
          });
        }
        auto addAll = [&](auto &all, size_t &count) -> llvm::Error {
          for (auto &entry : all) {
            llvm::Expected<bool> isNew = add(entry);
            if (!isNew)
              return isNew.takeError();
            count += *isNew;
          }
          return llvm::Error::success();
        };
        for (Record &record : records)
          record.run = numbers[record.run];
        for (Baseline &baseline : baselines)
          baseline.run = numbers[baseline.run];
        if (llvm::Error error = addAll(tasks, added.tasks))
          return error;
        if (llvm::Error error = addAll(records, added.records))
          return error;
        return addAll(baselines, added.baselines);
      }))
    return std::move(error);
  return added;
}
