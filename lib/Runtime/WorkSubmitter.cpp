//===- WorkSubmitter.cpp - How a run's work is queued ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkSubmitter.h"

#include "DriverDevice.h"
#include "RecordedRun.h"
#include "Runtime/Nvtx.h"

#include <utility>

using namespace tessera::runtime;

/// Fewest launches of a run that is recorded. In units of one launch, the
/// launch of a graph takes the host 0.42, each node 0.001 and the change of a
/// node 0.156 (`benchmarks/launches.c`, H200): from two launches on a graph is
/// faster, even if each run changes all of it. One launch needs no graph.
static constexpr size_t fewestSteps = 2;
/// Most times that a graph is made anew because the kernels are others.
static constexpr unsigned mostMisses = 3;

const char *tessera::runtime::describe(DirectReason reason) {
  switch (reason) {
  case DirectReason::None:
    return "";
  case DirectReason::Asked:
    return "direct launches were asked for";
  case DirectReason::NoGraphs:
    return "the device has no graphs";
  case DirectReason::Watched:
    return "memory is checked or launches are traced";
  case DirectReason::FewLaunches:
    return "a run has too few launches for a graph";
  case DirectReason::FirstRun:
    return "it was the first run with these sizes in this queue";
  case DirectReason::Captured:
    return "the queue is being captured";
  case DirectReason::ReadsScalars:
    return "host code reads a scalar of the device";
  case DirectReason::LaunchesVary:
    return "runs with the same sizes launch different kernels";
  case DirectReason::UnderWay:
    return "the graph cannot be changed while its last launch is under way";
  case DirectReason::UnknownArguments:
    return "the sizes of a kernel's arguments are not known";
  case DirectReason::GraphFailed:
    return "the driver did not make the graph";
  }
  return "";
}

void KeptGraph::drop() {
  forgetRecord();
  if (!graph)
    return;
  // The driver may free memory of it, while another queue is captured.
  Device::DuringCapture permitted(device);
  device.destroyGraph(std::exchange(graph, nullptr));
}

void WorkSubmitter::begin(KeptGraph *newKept, LaunchMode newMode, size_t steps,
                          const std::optional<void *> &newQueue) {
  kept = newKept;
  mode = newMode;
  target = newQueue;
  numSteps = 0;
  listed = nullptr;
  statistics.overlaps = 0;
  previous = nullptr;
  work.clear();
  DirectReason reason = DirectReason::None;
  if (mode == LaunchMode::Direct)
    reason = DirectReason::Asked;
  else if (!device.hasGraphs() || !kept)
    reason = DirectReason::NoGraphs;
  else if (mode == LaunchMode::Auto && steps < fewestSteps)
    reason = DirectReason::FewLaunches;
  else if (kept->obstacle != DirectReason::None)
    reason = kept->obstacle;
  // Most programs are warmed up by one run; sizes that come once get no graph.
  else if (!std::exchange(kept->hasRun, true) && mode == LaunchMode::Auto)
    reason = DirectReason::FirstRun;
  else if (target && device.isCapturing(*target))
    reason = DirectReason::Captured;
  isRecording = reason == DirectReason::None;
  statistics.whyDirect = reason;
  if (!isRecording)
    ++statistics.directRuns;
}

void WorkSubmitter::beginDirect(DirectReason reason,
                                const std::optional<void *> &newQueue) {
  begin(/*newKept=*/nullptr, LaunchMode::Direct, /*steps=*/0, newQueue);
  statistics.whyDirect = reason;
}

Status WorkSubmitter::queue(LoadedKernel &kernel,
                            const LaunchRequest &request) {
  if (isEmptyGrid(request))
    return device.launchKernel(kernel, request, target);
  LaunchRequest own = request;
  // A watched kernel must end before the next one begins.
  int64_t workgroups = request.grid[0] * request.grid[1] * request.grid[2];
  own.mayOverlap = statistics.whyDirect != DirectReason::Watched &&
                   mayOverlap(previous, previousWorkgroups, kernel, workgroups,
                              device.info().computeUnits);
  previous = &kernel;
  previousWorkgroups = workgroups;
  statistics.overlaps += own.mayOverlap;
  return device.launchKernel(kernel, own, target);
}

Status WorkSubmitter::queueCopy(void *to, const void *from, size_t bytes) {
  previous = nullptr;
  bool isDirect = target && device.isConcurrent();
  return isDirect ? device.copyInQueue(to, from, bytes, *target)
                  : device.copyOnDevice(to, from, bytes);
}

Status WorkSubmitter::queueAll(DirectReason reason) {
  isRecording = false;
  ++statistics.directRuns;
  statistics.whyDirect = reason;
  Status status;
  for (size_t index = 0; index < work.size() && status.ok(); ++index) {
    const WorkList::Step &step = work.getStep(index);
    if (step.kernel) {
      LaunchRequest request = work.getLaunch(index, device.info().computeUnits);
      request.kernel = step.kernel->name.c_str();
      status = queue(*step.kernel, request);
    } else {
      status = queueCopy(step.to, step.from, step.bytes);
    }
  }
  work.clear();
  return status;
}

Status WorkSubmitter::flush() {
  Status status;
  if (isRecording) {
    kept->obstacle = DirectReason::ReadsScalars;
    status = queueAll(kept->obstacle);
  }
  // The copy that host code waits for comes next.
  previous = nullptr;
  return status;
}

/// The sizes of a launch's arguments; null if they are not known.
static const int64_t *findSizes(const LoadedKernel &kernel,
                                const LaunchRequest &request) {
  if (request.argSizes)
    return request.argSizes;
  return kernel.parametersKnown ? kernel.parameters.data() : nullptr;
}

Status WorkSubmitter::launch(LoadedKernel &kernel,
                             const LaunchRequest &request) {
  if (isEmptyGrid(request) || !isRecording) {
    numSteps += !isEmptyGrid(request);
    Status status = queue(kernel, request);
    if (const int64_t *sizes = findSizes(kernel, request);
        listed && status.ok() && !isEmptyGrid(request) &&
        (sizes || request.numArgs == 0))
      listed->addLaunch(kernel, request, sizes);
    return status;
  }
  // Errors are those of the launch, whether or not it is queued now.
  if (Status status = device.prepareLaunch(kernel, request); !status.ok())
    return status;
  ++numSteps;
  const int64_t *sizes = findSizes(kernel, request);
  if (sizes || request.numArgs == 0) {
    work.addLaunch(kernel, request, sizes);
    return Status::success();
  }
  kept->obstacle = DirectReason::UnknownArguments;
  Status status = queueAll(kept->obstacle);
  return status.ok() ? queue(kernel, request) : status;
}

Status WorkSubmitter::copy(void *to, const void *from, size_t bytes) {
  numSteps += bytes != 0;
  if (!isRecording)
    return queueCopy(to, from, bytes);
  if (bytes != 0)
    work.addCopy(to, from, bytes);
  return Status::success();
}

void WorkSubmitter::cancel() {
  isRecording = false;
  work.clear();
}

Status WorkSubmitter::makeGraph() {
  kept->drop();
  // The driver may allocate memory for it, while another queue is captured.
  Device::DuringCapture permitted(device);
  Expected<WorkGraph *> made = device.makeGraph(work);
  if (!made.ok())
    return made.status();
  kept->graph = *made;
  ++statistics.graphs;
  return Status::success();
}

/// The steps that differ between lists of the same structure.
static size_t countChanges(const WorkList &a, const WorkList &b) {
  size_t changed = 0;
  for (size_t index = 0; index < a.size(); ++index)
    changed += !a.isSameStep(b, index);
  return changed;
}

Status WorkSubmitter::submit() {
  if (!isRecording)
    return Status::success();
  if (work.size() == 0) {
    cancel();
    return Status::success();
  }
  bool isMiss = kept->graph && !kept->graph->work.hasStructureOf(work);
  if (isMiss && ++kept->misses > mostMisses) {
    kept->drop();
    kept->obstacle = DirectReason::LaunchesVary;
    return queueAll(kept->obstacle);
  }
  if (!kept->graph || isMiss) {
    if (Status status = makeGraph(); !status.ok()) {
      kept->obstacle = DirectReason::GraphFailed;
      statistics.failure = status.message();
      return queueAll(kept->obstacle);
    }
    return launchGraph();
  }
  size_t changed = countChanges(work, kept->graph->work);
  if (mode == LaunchMode::Auto &&
      device.mustWaitForGraph(*kept->graph, changed != 0))
    return queueAll(DirectReason::UnderWay);
  statistics.updates += changed;
  if (changed != 0)
    kept->forgetRecord();
  if (changed != 0)
    if (Status status = device.updateGraph(*kept->graph, work); !status.ok()) {
      // Some nodes are changed and others are not.
      kept->drop();
      kept->obstacle = DirectReason::GraphFailed;
      statistics.failure = status.message();
      return queueAll(kept->obstacle);
    }
  return launchGraph();
}

void WorkSubmitter::setRecord(const RecordedRun &record) {
  kept->record = &record;
}

bool WorkSubmitter::repeat(const RecordedRun &record, LaunchMode newMode,
                           void *queue, Status &status) {
  KeptGraph *graph = record.getGraph();
  if (!graph) {
    ++statistics.directRuns;
    statistics.whyDirect = record.getReason();
    statistics.overlaps = record.getOverlaps();
    ++statistics.repeatedRuns;
    for (const RecordedRun::Launch &launch : record.getLaunches()) {
      NvtxRange range(launch.request.kernel);
      status = device.launchAgain(*launch.kernel, launch.request, queue);
      if (!status.ok())
        break;
    }
    return true;
  }
  if (graph->record != &record || !graph->graph || device.isCapturing(queue) ||
      (newMode == LaunchMode::Auto &&
       device.mustWaitForGraph(*graph->graph, /*isChanged=*/false)))
    return false;
  ++statistics.repeatedRuns;
  statistics.whyDirect = DirectReason::None;
  kept = graph;
  target = queue;
  status = launchGraph();
  return true;
}

Status WorkSubmitter::launchGraph() {
  isRecording = false;
  ++statistics.graphRuns;
  statistics.overlaps = kept->graph->overlaps;
  NvtxRange range("graph");
  return device.launchGraph(*kept->graph, target);
}
