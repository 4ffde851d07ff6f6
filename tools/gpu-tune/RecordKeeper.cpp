//===- RecordKeeper.cpp - What is measured goes into the database ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordKeeper.h"

using namespace tune;

void RecordKeeper::add(Entry entry) {
  waiting.push_back(std::move(entry));
  flush();
}

bool RecordKeeper::flush() {
  size_t count = waiting.size();
  while (!waiting.empty()) {
    llvm::Error error = std::visit(
        [&](const auto &entry) { return database.add(entry).takeError(); },
        waiting.front());
    if (error) {
      std::string why = llvm::toString(std::move(error));
      if (!std::exchange(isTold, true))
        say("warning: " + why +
            "; the run goes on, and its records wait in memory until they can "
            "be written");
      return false;
    }
    waiting.pop_front();
  }
  if (std::exchange(isTold, false))
    say("the database can be written again: " + std::to_string(count) +
        (count == 1 ? " record that waited is" : " records that waited are") +
        " in it");
  return true;
}
