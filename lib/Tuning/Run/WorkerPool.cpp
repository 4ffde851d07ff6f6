//===- WorkerPool.cpp - The processes that work for a run -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/WorkerPool.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera::tuning;

WorkerPool::~WorkerPool() {
  auto beginEnd = [](WorkerSlot &slot) {
    if (slot.child)
      slot.child->beginEnd();
  };
  llvm::for_each(compilers, beginEnd);
  llvm::for_each(measurers, beginEnd);
}

bool WorkerPool::start(Compiler &compiler, std::string &why) {
  compiler.known.clear();
  compiler.dying.reset();
  compiler.since = Clock::now();
  compiler.child = startWorker(compiler.host, {"compile"}, why);
  return compiler.child != nullptr;
}

bool WorkerPool::start(Measurer &measurer, const std::string &target,
                       const std::string &fault, std::string &why) {
  measurer.open.clear();
  measurer.dying.reset();
  measurer.checking.clear();
  measurer.state = Measurer::Starting;
  measurer.since = Clock::now();
  std::vector<std::string> arguments = {"measure", target,
                                        std::to_string(measurer.ordinal)};
  if (!fault.empty())
    arguments.push_back(fault);
  measurer.child = startWorker(measurer.host, arguments, why);
  return measurer.child != nullptr;
}

bool WorkerPool::isBusy(const std::string &identity) const {
  return llvm::any_of(measurers, [&](const Measurer &measurer) {
    return measurer.identity == identity && !measurer.isRemoved &&
           (measurer.state == Measurer::Going ||
            measurer.state == Measurer::Comparing);
  });
}

bool WorkerPool::hasWorker(const std::string &identity) const {
  return llvm::any_of(measurers, [&](const Measurer &measurer) {
    return measurer.identity == identity;
  });
}

bool WorkerPool::isOpenElsewhere(const Measurer &measurer, size_t task) {
  return llvm::any_of(measurers, [&](Measurer &other) {
    return &other != &measurer && other.getChannel() &&
           (other.open.count(task) != 0 ||
            (other.state == Measurer::Opening && other.task == task));
  });
}

bool WorkerPool::isMeasuring() const {
  return llvm::any_of(measurers, [](const Measurer &measurer) {
    return measurer.work.has_value();
  });
}

void WorkerPool::stopCompilers(std::vector<TaskState> &states) {
  for (Compiler &compiler : compilers) {
    if (compiler.work)
      --states[compiler.work->task].inHand;
    compiler.work.reset();
    compiler.child.reset();
  }
}

void WorkerPool::removeEnded() {
  compilers.remove_if([](const Compiler &one) { return one.isRemoved; });
  measurers.remove_if([](const Measurer &one) { return one.isRemoved; });
}

void WorkerPool::addFiles(std::vector<pollfd> &files, bool withCompilers) {
  auto add = [&](WorkerSlot &slot) {
    if (Channel *channel = slot.getChannel())
      files.push_back({channel->getFile(), POLLIN, 0});
  };
  if (withCompilers)
    for (Compiler &compiler : compilers)
      add(compiler);
  for (Measurer &measurer : measurers)
    add(measurer);
}

static bool isPast(Clock::time_point since, double limit,
                   Clock::time_point now) {
  return std::chrono::duration<double>(now - since).count() > limit;
}

bool WorkerPool::isOverdue(const WorkerSlot &slot, Clock::time_point now) {
  return slot.dying && isPast(*slot.dying, dyingLimit, now);
}

bool WorkerPool::isLate(const Compiler &compiler, Clock::time_point now) const {
  if (!compiler.child || compiler.dying || compiler.isRemoved)
    return false;
  bool isStarting = !compiler.child->getChannel();
  return (compiler.work && isPast(compiler.since, compileLimit, now)) ||
         (isStarting && isPast(compiler.since, startLimit, now));
}

bool WorkerPool::isLate(const Measurer &measurer, Clock::time_point now) const {
  if (!measurer.child || measurer.dying || measurer.isRemoved)
    return false;
  switch (measurer.state) {
  case Measurer::Starting:
    return isPast(measurer.since, startLimit, now);
  case Measurer::Opening:
    return isPast(measurer.since, openLimit, now);
  case Measurer::Loading:
    return isPast(measurer.since, loadLimit, now);
  case Measurer::Going:
    return isPast(measurer.since, candidateLimit, now);
  case Measurer::Comparing:
    return isPast(measurer.since, candidateLimit + 10 * finalSeconds, now);
  case Measurer::Idle:
  case Measurer::Loaded:
    return false;
  }
  return false;
}
