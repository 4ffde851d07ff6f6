//===- Join.cpp - gpu-tune join -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Support/Interrupt.h"
#include "Tuning/Cluster/JoinFile.h"

#include "llvm/Support/raw_ostream.h"

using namespace tessera::tuning;

static constexpr const char joinHelp[] =
    R"(gpu-tune join ADDRESS:PORT[,...] --key-file=FILE [options]
gpu-tune join --join-file=FILE [options]

Compiles and measures for `gpu-tune run --listen` on another host.

  --key-file=FILE       the run's key, in a file that no other user can read;
                        default: the variable TESSERA_TUNE_KEY
  --join-file=FILE      addresses and key, as `gpu-tune run --join-file`
                        wrote them
  --jobs=N              compile workers, or 0 (default: cores - 1)
  --devices=0,1         devices that measure; all: those that run the
                        chip's code and that no other process of the run
                        uses (the default); own: all visible ones, if
                        each process of the host sees its own; none
  --measurers=N         processes per device (2)
  --wait=SECONDS        how long to try to connect to the run (10)
)";

int tessera::tuning::runJoin(ArrayRef<StringRef> args) {
  JoinOptions options;
  options.jobs = getDefaultJobs(countCores());
  std::string joinFile, keyFile;
  Arguments arguments(joinHelp);
  arguments.allowRepeats();
  addKeyOptions(arguments, keyFile);
  arguments.addText("--join-file", joinFile);
  arguments.addNumber("--jobs", options.jobs, 0);
  arguments.addNumber("--measurers", options.measurers);
  arguments.addValue("--devices", [&](StringRef value) {
    return parseDevices(value, options);
  });
  arguments.addValue("--wait", [&](StringRef value) -> llvm::Error {
    if (value.getAsDouble(options.wait) || !(options.wait >= 0))
      return llvm::createStringError("--wait=" + value +
                                     ": expected a number of seconds");
    return llvm::Error::success();
  });
  if (std::optional<int> status = parse(arguments, args))
    return *status;
  for (const std::string &addresses : arguments.getFiles())
    addAddresses(addresses, options);
  if (llvm::Error error = findRun(joinFile, keyFile, options))
    return fail(std::move(error), Exit::Usage);
  ::tessera::support::handleInterrupts(
      ::tessera::support::InterruptHandling::First);
  return int(joinRun(options, llvm::errs()) ? Exit::Done : Exit::Failed);
}
