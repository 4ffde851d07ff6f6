//===- WorkList.cpp - The work of a run -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkList.h"

#include "DriverDevice.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace tessera::runtime;

void WorkList::clear() {
  steps.clear();
  arguments.clear();
  values.clear();
  usedBytes = 0;
  isNewRun = true;
}

void WorkList::addLaunch(LoadedKernel &kernel, const LaunchRequest &request,
                         const int64_t *sizes) {
  Step step;
  step.kernel = &kernel;
  std::copy(request.grid, request.grid + 3, step.grid);
  std::copy(request.block, request.block + 3, step.block);
  step.workgroupBytes = request.workgroupBytes;
  step.isFirst = std::exchange(isNewRun, false);
  step.firstArgument = arguments.size();
  step.numArguments = static_cast<size_t>(request.numArgs);
  for (size_t index = 0; index < step.numArguments; ++index) {
    Argument argument;
    argument.bytes = static_cast<size_t>(sizes[index]);
    size_t alignment = argument.bytes <= 8    ? 8
                       : argument.bytes <= 16 ? 16
                                              : sizeof(Line);
    argument.offset = (usedBytes + alignment - 1) / alignment * alignment;
    usedBytes = argument.offset + argument.bytes;
    values.resize((usedBytes + sizeof(Line) - 1) / sizeof(Line));
    std::memcpy(getValue(argument), request.args[index], argument.bytes);
    arguments.push_back(argument);
  }
  steps.push_back(step);
}

void WorkList::addCopy(void *to, const void *from, size_t bytes) {
  Step step;
  step.isFirst = std::exchange(isNewRun, false);
  step.firstArgument = arguments.size();
  step.to = to;
  step.from = from;
  step.bytes = bytes;
  steps.push_back(step);
}

LaunchRequest WorkList::getLaunch(size_t index, int64_t units) {
  const Step &step = steps[index];
  LaunchRequest request;
  std::copy(step.grid, step.grid + 3, request.grid);
  std::copy(step.block, step.block + 3, request.block);
  request.workgroupBytes = step.workgroupBytes;
  request.numArgs = static_cast<int64_t>(step.numArguments);
  addresses.clear();
  for (size_t number = 0; number < step.numArguments; ++number)
    addresses.push_back(getValue(arguments[step.firstArgument + number]));
  request.args = addresses.data();
  if (!step.isFirst && index != 0) {
    const Step &before = steps[index - 1];
    request.mayOverlap = mayOverlap(
        before.kernel, before.grid[0] * before.grid[1] * before.grid[2],
        *step.kernel, step.grid[0] * step.grid[1] * step.grid[2], units);
  }
  return request;
}

bool WorkList::hasStructureOf(const WorkList &other) const {
  return arguments == other.arguments &&
         std::equal(steps.begin(), steps.end(), other.steps.begin(),
                    other.steps.end(), [](const Step &a, const Step &b) {
                      return a.kernel == b.kernel &&
                             a.numArguments == b.numArguments;
                    });
}

bool WorkList::isSameStep(const WorkList &other, size_t index) const {
  const Step &a = steps[index], &b = other.steps[index];
  if (!a.kernel)
    return a.to == b.to && a.from == b.from && a.bytes == b.bytes;
  if (!std::equal(a.grid, a.grid + 3, b.grid) ||
      !std::equal(a.block, a.block + 3, b.block) ||
      a.workgroupBytes != b.workgroupBytes)
    return false;
  for (size_t number = 0; number < a.numArguments; ++number) {
    const Argument &argument = arguments[a.firstArgument + number];
    if (std::memcmp(getValue(argument), other.getValue(argument),
                    argument.bytes) != 0)
      return false;
  }
  return true;
}

void WorkList::copyStep(const WorkList &other, size_t index) {
  const Step &step = other.steps[index];
  steps[index] = step;
  for (size_t number = 0; number < step.numArguments; ++number) {
    const Argument &argument = arguments[step.firstArgument + number];
    std::memcpy(getValue(argument), other.getValue(argument), argument.bytes);
  }
}
