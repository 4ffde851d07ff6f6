//===- FinalComparison.cpp - The leaders, measured together ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/FinalComparison.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

using namespace tessera::tuning;
namespace json = llvm::json;

std::vector<double> tessera::tuning::getTimes(const json::Array *list) {
  std::vector<double> times;
  if (list)
    for (const json::Value &value : *list)
      if (auto number = value.getAsNumber())
        times.push_back(*number);
  return times;
}

bool tessera::tuning::isComparedWarm(const TaskState &state) {
  return llvm::all_of(state.compared, [](const tuning::Record &record) {
    return record.warmMedian > 0;
  });
}

void tessera::tuning::selectWinner(TaskState &state) {
  bool isWarm = isComparedWarm(state);
  for (const tuning::Record &record : state.compared)
    if (!state.winner || getComparedTime(record, isWarm) <
                             getComparedTime(*state.winner, isWarm))
      state.winner = record;
}

double tessera::tuning::getOwnRatio(const TaskState &state) {
  bool isWarm = isComparedWarm(state);
  return getComparedTime(*state.own, isWarm) /
         getComparedTime(*state.winner, isWarm);
}

/// A matmul as a vendor's library takes it.
static json::Object describe(const runtime::LibraryMatmul &matmul) {
  auto type = [](runtime::ElementType element) {
    return runtime::elementTypeName(element);
  };
  return json::Object{{"m", matmul.m},
                      {"n", matmul.n},
                      {"k", matmul.k},
                      {"matrices", matmul.matrices},
                      {"transposedLhs", matmul.transposedLhs},
                      {"transposedRhs", matmul.transposedRhs},
                      {"lhsStride", matmul.lhsStride},
                      {"rhsStride", matmul.rhsStride},
                      {"outStride", matmul.outStride},
                      {"lhs", type(matmul.lhs)},
                      {"rhs", type(matmul.rhs)},
                      {"out", type(matmul.out)},
                      {"sum", type(matmul.sum)},
                      {"tf32", matmul.tf32}};
}

Message tessera::tuning::makeFinalRequest(const TaskState &state,
                                          unsigned leaders, double seconds) {
  Message message;
  json::Array list;
  auto add = [&](int64_t id, const std::string &bundle) {
    list.push_back(json::Object{
        {"id", id}, {"bytes", static_cast<int64_t>(bundle.size())}});
    message.bytes += bundle;
  };
  add(-1, state.ownBundle);
  unsigned count = 0;
  for (auto [position, leader] : llvm::enumerate(state.leaders)) {
    // The compiler's own choice is the first already.
    if (!leader.point || count == leaders)
      continue;
    ++count;
    add(static_cast<int64_t>(position), leader.bundle);
  }
  message.head = json::Object{{"op", "final"},
                              {"task", state.task->text.key},
                              {"candidates", std::move(list)},
                              {"rounds", 400},
                              {"seconds", seconds}};
  if (state.task->matmul)
    message.head["product"] = describe(*state.task->matmul);
  return message;
}

bool FinalAnswer::hasClockMoved() const {
  return clockBefore > 0 &&
         std::abs(clockBefore - clockAfter) > clockBefore / 20;
}

FinalAnswer tessera::tuning::parseFinalAnswer(const json::Object &head,
                                              size_t leaders) {
  FinalAnswer answer;
  answer.clockBefore = head.getInteger("clockBefore").value_or(0);
  answer.clockAfter = head.getInteger("clockAfter").value_or(0);
  answer.library = getText(head, "library");
  answer.libraryError = getText(head, "libraryError");
  answer.libraryTimes = getTimes(head.getArray("libraryTimes"));
  const json::Array *results = head.getArray("results");
  if (!results)
    return answer;
  for (const json::Value &value : *results) {
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    FinalResult result;
    int64_t id = object->getInteger("id").value_or(-1);
    if (id >= 0) {
      result.leader = static_cast<size_t>(id);
      if (*result.leader >= leaders)
        continue;
    }
    result.outcome = tuning::parseOutcome(getText(*object, "outcome"))
                         .value_or(tuning::Outcome::NotRun);
    result.error = getText(*object, "error");
    result.times = getTimes(object->getArray("times"));
    result.warmTimes = getTimes(object->getArray("warmTimes"));
    answer.results.push_back(std::move(result));
  }
  return answer;
}
