//===- RunGraph.cpp - Runs of sessions as one graph -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/RunGraph.h"

#include "Runtime/Nvtx.h"
#include "Runtime/Session.h"
#include "WorkList.h"

using namespace tessera::runtime;

RunGraph::RunGraph(Device &device)
    : device(device), work(std::make_unique<WorkList>()) {}

RunGraph::~RunGraph() {
  if (graph)
    device.destroyGraph(graph);
}

void RunGraph::record(Session &session) {
  work->beginRun();
  session.setRecorder(work.get());
}

void RunGraph::stop(Session &session) { session.setRecorder(nullptr); }

Status RunGraph::make() {
  Expected<WorkGraph *> made = device.makeGraph(*work);
  if (made.ok())
    graph = *made;
  return made.status();
}

Status RunGraph::launch() {
  NvtxRange range("graph");
  return device.launchGraph(*graph, /*queue=*/std::nullopt);
}
