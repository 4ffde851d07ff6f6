//===- Join.cpp - The command line of gpu-tune join -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Runtime/PrivateFile.h"
#include "Support/Interrupt.h"
#include "Tuning/Cluster/Agent.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Cluster/Socket.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace tune;
namespace runtime = ::tessera::runtime;

static void printJoinHelp(llvm::raw_ostream &os) {
  os << "usage: gpu-tune join ADDRESS:PORT[,...] --key-file=FILE [options]\n"
        "       gpu-tune join --join-file=FILE [options]\n"
        "\n"
        "Compiles and measures for `gpu-tune run --listen` on another host.\n"
        "\n"
        "  --key-file=FILE       the run's key, in a file that no other "
        "user can read;\n"
        "                        default: the variable TESSERA_TUNE_KEY\n"
        "  --join-file=FILE      addresses and key, as `gpu-tune run "
        "--join-file`\n"
        "                        wrote them\n"
        "  --jobs=N              compile workers, or 0 (default: cores - 1)\n"
        "  --devices=0,1         devices that measure; all: those that run "
        "the\n"
        "                        chip's code and that no other process of the "
        "run\n"
        "                        uses (the default); own: all visible ones, "
        "if\n"
        "                        each process of the host sees its own; none\n"
        "  --measurers=N         processes per device (2)\n"
        "  --wait=SECONDS        how long to try to connect to the run (10)\n";
}

int tune::runJoin(llvm::ArrayRef<StringRef> arguments) {
  JoinOptions options;
  unsigned cores = countCores();
  options.jobs = cores > 1 ? cores - 1 : 1;
  std::string file, keyFile;
  auto fail = [](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << "\n";
    return 2;
  };
  auto addPlaces = [&](StringRef text) {
    llvm::SmallVector<StringRef> parts;
    text.split(parts, ',');
    for (StringRef part : parts)
      options.places.push_back(part.str());
  };
  for (StringRef argument : arguments) {
    auto [name, value] = argument.split('=');
    auto number = [value = value](auto &result, int least) {
      return !value.getAsInteger(10, result) &&
             result >= static_cast<std::decay_t<decltype(result)>>(least);
    };
    if (name == "--help") {
      printJoinHelp(llvm::outs());
      return 0;
    }
    if (!argument.starts_with("-")) {
      addPlaces(argument);
    } else if (name == "--token") {
      return fail(tokenProblem);
    } else if (name == "--key-file") {
      keyFile = value.str();
    } else if (name == "--join-file") {
      file = value.str();
    } else if (name == "--jobs") {
      if (!number(options.jobs, 0))
        return fail("--jobs=" + value + ": expected a number of at least 0");
    } else if (name == "--measurers") {
      if (!number(options.measurers, 1))
        return fail("--measurers=" + value +
                    ": expected a number of at least 1");
    } else if (name == "--devices") {
      if (!parseDevices(value, options))
        return fail("--devices=" + value +
                    ": expected numbers separated by ',', or all, own, none");
    } else if (name == "--wait") {
      if (value.getAsDouble(options.wait) || options.wait < 0)
        return fail("--wait=" + value + ": expected a number of seconds");
    } else {
      return fail("unknown option '" + argument +
                  "'; gpu-tune join --help lists the options");
    }
  }
  if (!file.empty()) {
    runtime::PrivateFileOptions how;
    how.isSecret = true;
    how.maxBytes = 1 << 16;
    runtime::Expected<std::string> text = runtime::readPrivateFile(file, how);
    if (!text.ok())
      return fail("--join-file=" + file + ": the file " +
                  text.status().message());
    auto [places, key] = StringRef(*text).trim().split('\n');
    addPlaces(places.trim());
    options.key = key.trim().str();
  }
  if (!keyFile.empty() || options.key.empty()) {
    llvm::Expected<std::string> key = readKey(keyFile);
    if (!key)
      return fail(llvm::toString(key.takeError()));
    options.key = *key;
  }
  if (options.places.empty())
    return fail("the run's address is missing: pass ADDRESS:PORT, as gpu-tune "
                "run --listen prints it");
  for (const std::string &place : options.places)
    if (!isAddress(place))
      return fail("'" + place + "' is not ADDRESS:PORT");
  if (options.key.empty())
    return fail(llvm::Twine("the run's key is missing: pass --key-file=FILE, "
                            "or set the variable ") +
                keyVariable);
  if (std::string problem = findKeyProblem(options.key); !problem.empty())
    return fail(problem);
  if (options.jobs == 0 && options.devices && options.devices->empty())
    return fail("--jobs=0 with --devices=none leaves nothing to do");
  ::tessera::support::handleInterrupts(
      ::tessera::support::InterruptHandling::First);
  return joinRun(options, llvm::errs()) ? 0 : 1;
}
