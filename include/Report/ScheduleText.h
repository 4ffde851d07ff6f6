//===- ScheduleText.h - The entries of a schedule's text --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_SCHEDULETEXT_H
#define REPORT_SCHEDULETEXT_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::tuning {

using llvm::StringRef;

/// The name of the attribute of an op that has this schedule.
StringRef getScheduleName(StringRef text);

/// Maps the fields of "#tessera.schedule<workgroup = [64, 64], k = 32, ...>" to
/// their texts ("[64, 64]"); a field that is left out has its default. Those of
/// "#tessera.window_schedule<...>" likewise. Empty if the text is not a
/// schedule.
std::map<std::string, std::string> parseSchedule(StringRef text);

/// The order of values on an axis: by their numbers, those without by name.
bool isBefore(StringRef a, StringRef b);

} // namespace tessera::tuning

#endif // REPORT_SCHEDULETEXT_H
