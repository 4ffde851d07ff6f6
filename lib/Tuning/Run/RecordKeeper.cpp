//===- RecordKeeper.cpp - Writes records to the database ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RecordKeeper.h"

using namespace tessera::tuning;

void RecordKeeper::invalidate(const tuning::TaskId &task,
                              const tuning::Environment &environment,
                              std::optional<llvm::StringRef> schedule,
                              const std::string &why) {
  size_t count = 0;
  for (Entry &entry : waiting) {
    auto *record = std::get_if<tuning::Record>(&entry);
    if (!record || record->task.key != task.key ||
        (record->outcome != tuning::Outcome::Measured &&
         record->outcome != tuning::Outcome::Slow) ||
        (schedule && record->schedule != *schedule) ||
        !tuning::isOfSameBuild(record->environment, environment))
      continue;
    tuning::invalidate(*record, why);
    ++count;
  }
  llvm::Expected<size_t> written =
      database.invalidate(task, environment, schedule, why);
  if (!written)
    return say(
        "error: records compared with wrong results remain in the database: " +
        llvm::toString(written.takeError()));
  count += *written;
  if (count > 0)
    say("note: " + std::to_string(count) +
        (count == 1 ? " record is" : " records are") +
        " marked as wrong: " + why);
}

bool RecordKeeper::flush() {
  isNew = false;
  size_t count = waiting.size();
  if (count == 0)
    return true;
  Clock::time_point start = Clock::now();
  llvm::Error error = database.transact([&]() -> llvm::Error {
    for (const Entry &entry : waiting)
      if (llvm::Error error = std::visit(
              [&](const auto &one) { return database.add(one).takeError(); },
              entry))
        return error;
    return llvm::Error::success();
  });
  Clock::time_point end = Clock::now();
  nextFlush = end + 4 * (end - start);
  if (error) {
    std::string why = llvm::toString(std::move(error));
    if (!std::exchange(isReported, true))
      say("warning: " + why +
          "; the run continues, and its records stay in memory until they "
          "can be written");
    return false;
  }
  waiting.clear();
  if (std::exchange(isReported, false))
    say("the database can be written again: " + std::to_string(count) +
        (count == 1 ? " pending record is" : " pending records are") +
        " in it");
  return true;
}
