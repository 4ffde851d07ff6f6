//===- PassTrace.cpp - When each pass ran ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTrace.h"

#include "mlir/Pass/Pass.h"

#include <mutex>

using namespace mlir;
using namespace mlir::tessera;
using ::tessera::runtime::Trace;
using ::tessera::runtime::TraceEvent;

namespace {
class PassTrace : public PassInstrumentation {
public:
  explicit PassTrace(Trace &trace) : trace(trace) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    int track = trace.getTrack();
    std::lock_guard<std::mutex> lock(mutex);
    starts[track].push_back(trace.now());
  }
  void runAfterPass(Pass *pass, Operation *op) override { end(pass, op); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { end(pass, op); }

private:
  void end(Pass *pass, Operation *op) {
    TraceEvent event;
    event.track = trace.getTrack();
    {
      std::lock_guard<std::mutex> lock(mutex);
      event.start = starts[event.track].pop_back_val();
    }
    // The adaptor that runs nested passes is not a pass itself.
    if (pass->getArgument().empty() &&
        pass->getName().contains("OpToOpPassAdaptor"))
      return;
    event.name =
        (pass->getArgument().empty() ? pass->getName() : pass->getArgument())
            .str();
    event.category = "pass";
    event.duration = trace.now() - event.start;
    event.details.emplace_back("op", op->getName().getStringRef().str());
    trace.add(std::move(event));
  }

  Trace &trace;
  std::mutex mutex;
  /// The running passes, by track.
  std::map<int, SmallVector<double>> starts;
};
} // namespace

std::unique_ptr<PassInstrumentation>
mlir::tessera::createPassTrace(Trace &trace) {
  return std::make_unique<PassTrace>(trace);
}
