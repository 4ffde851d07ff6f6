//===- Worker.cpp - The processes that the tuner starts -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Tuning/Worker/Workers.h"

#include "llvm/Support/raw_ostream.h"

using namespace tune;

int tune::runWorker(ArrayRef<StringRef> arguments) {
  // The channel is where `Child::start` put it.
  Channel channel(3);
  if (!arguments.empty() && arguments[0] == "compile") {
    runCompileWorker(std::move(channel));
    return 0;
  }
  if (arguments.size() >= 3 && arguments[0] == "measure") {
    int ordinal = 0;
    if (arguments[2].getAsInteger(10, ordinal))
      return 2;
    return runMeasureWorker(std::move(channel), arguments[1].str(), ordinal,
                            arguments.size() > 3 ? arguments[3].str() : "");
  }
  llvm::errs() << "error: gpu-tune worker is internal to gpu-tune\n";
  return 2;
}
