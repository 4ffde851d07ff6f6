//===- RecordedRun.cpp - The launches of a run, to repeat them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordedRun.h"

#include "DriverDevice.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace tessera::runtime;

static uint64_t toWord(const void *address) {
  return reinterpret_cast<uintptr_t>(address);
}

static uint64_t readScalar(const void *value, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, value, bytes);
  return word;
}

static uint64_t getMode(const RunInputs &inputs) {
  return static_cast<uint64_t>(inputs.mode);
}

/// Which of sizes and strides an operand has.
static uint64_t getForm(const Operand &operand) {
  return (operand.sizes ? 1 : 0) | (operand.strides ? 2 : 0);
}

void RecordedRun::clear() {
  key.clear();
  graph = nullptr;
  launches.clear();
}

void RecordedRun::setKey(const RunInputs &inputs, const RunPlan &plan,
                         const std::vector<void *> &newResults) {
  clear();
  results = newResults;
  if (planNumber != plan.number) {
    planNumber = plan.number;
    planned = plan.results;
    workspaceBytes = plan.workspaceBytes;
  }
  key.push_back(getMode(inputs));
  key.push_back(toWord(inputs.workspace));
  for (size_t index = 0; index < inputs.operands.size(); ++index) {
    const Operand &operand = inputs.operands[index];
    const OperandShape &shape = inputs.shapes[index];
    if (shape.scalarBytes != 0) {
      key.push_back(readScalar(operand.data, shape.scalarBytes));
      continue;
    }
    key.push_back(toWord(operand.data));
    key.push_back(getForm(operand));
    for (const int64_t *values : {operand.sizes, operand.strides})
      for (size_t dim = 0; values && dim < shape.rank; ++dim)
        key.push_back(static_cast<uint64_t>(values[dim]));
  }
}

bool RecordedRun::hasInputs(const RunInputs &inputs) const {
  if (key.empty() || key[0] != getMode(inputs) ||
      key[1] != toWord(inputs.workspace) ||
      inputs.operands.size() != inputs.shapes.size())
    return false;
  const uint64_t *next = key.data() + 2;
  const OperandShape *shape = inputs.shapes.data();
  for (const Operand &operand : inputs.operands) {
    size_t rank = shape->rank, scalarBytes = shape->scalarBytes;
    ++shape;
    if (scalarBytes != 0) {
      if (!operand.data || *next++ != readScalar(operand.data, scalarBytes))
        return false;
      continue;
    }
    uint64_t form = getForm(operand);
    if (operand.kind != MemoryKind::Device || next[0] != toWord(operand.data) ||
        next[1] != form)
      return false;
    next += 2;
    if (form == 0)
      continue;
    for (const int64_t *values : {operand.sizes, operand.strides})
      for (size_t dim = 0; values && dim < rank; ++dim)
        if (*next++ != static_cast<uint64_t>(values[dim]))
          return false;
  }
  return true;
}

void RecordedRun::keepLaunches(WorkList &&list, DirectReason newReason,
                               int64_t units) {
  work = std::move(list);
  reason = newReason;
  overlaps = 0;
  arguments.clear();
  for (size_t index = 0; index < work.size(); ++index) {
    Launch launch = {work.getStep(index).kernel, work.getLaunch(index, units)};
    launch.request.kernel = launch.kernel->name.c_str();
    overlaps += launch.request.mayOverlap;
    arguments.insert(arguments.end(), launch.request.args,
                     launch.request.args + launch.request.numArgs);
    launches.push_back(launch);
  }
  // The list of addresses does not change any more.
  void **next = arguments.data();
  for (Launch &launch : launches) {
    launch.request.args = next;
    next += launch.request.numArgs;
  }
}

RecordedRun *RecordedRuns::find(const RunInputs &inputs,
                                const std::vector<void *> *results) {
  for (RecordedRun &run : runs)
    if ((!results || run.hasResults(*results)) && run.hasInputs(inputs))
      return &run;
  return nullptr;
}

RecordedRun &RecordedRuns::add() {
  RecordedRun &run = runs[next];
  next = next + 1 == most ? 0 : next + 1;
  return run;
}

void RecordedRuns::forget(const KeptGraph *graph) {
  for (RecordedRun &run : runs)
    if (run.getGraph() == graph)
      run.clear();
}
