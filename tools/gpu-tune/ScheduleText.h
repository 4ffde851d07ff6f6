//===- ScheduleText.h - The entries of a schedule's text --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_SCHEDULETEXT_H
#define GPU_TUNE_SCHEDULETEXT_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace tune {

using llvm::StringRef;

/// The fields of "#tessera.schedule<workgroup = [64, 64], k = 32, ...>" by
/// their names, each as its text ("[64, 64]"); omitted ones have their default
/// values. Empty if the text is not a schedule.
std::map<std::string, std::string> parseSchedule(StringRef text);

/// The order of values on an axis: by their numbers, those without by name.
bool isBefore(StringRef a, StringRef b);

} // namespace tune

#endif // GPU_TUNE_SCHEDULETEXT_H
