//===- gpu-tune.cpp - Finds schedules by measuring ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One source for each group of subcommands has their command lines. The tuner
// itself is in lib/Tuning: Run proposes and schedules candidates, Worker
// compiles and measures them in processes of their own, Cluster connects
// processes and hosts.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Tuning/Cluster/Child.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Worker/Workers.h"

#include "Driver/ProgramCache.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera::tuning;

namespace {
struct Subcommand {
  llvm::StringLiteral name;
  int (*run)(ArrayRef<StringRef> args);
  /// Its one-line description in --help.
  llvm::StringLiteral summary;
};
} // namespace

/// A new subcommand is a line here.
static constexpr Subcommand subcommands[] = {
    {"run", runTune, "tunes programs and shapes (the default)"},
    {"space", runSpace, "counts the schedules, and what removes others"},
    {"join", runJoin, "works for a run on another host"},
    {"replay", runReplay, "measures the schedules of a database again"},
    {"report", runReport, "writes an HTML report"},
    {"best", runBest, "prints the best schedule of each task"},
    {"export", runExport, "writes a database as JSON lines"},
    {"import", runImport, "adds JSON lines to a database"},
    {"merge", runMerge, "merges databases into one"},
};

int tessera::tuning::fail(Exit status, const llvm::Twine &message) {
  std::string storage = message.str();
  auto [first, rest] = StringRef(storage).rtrim().split('\n');
  llvm::outs().flush();
  llvm::errs() << "error: " << first << "\n";
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    llvm::errs() << "note: " << line << "\n";
  }
  return int(status);
}

int tessera::tuning::fail(llvm::Error error, Exit status) {
  return fail(status, llvm::toString(std::move(error)));
}

std::optional<int> tessera::tuning::parse(Arguments &arguments,
                                          ArrayRef<StringRef> args,
                                          StringRef others) {
  if (llvm::Error error = others.empty()
                              ? arguments.parse(args)
                              : arguments.parseWithoutFiles(args, others))
    return fail(std::move(error), Exit::Usage);
  if (!arguments.wantsHelp())
    return std::nullopt;
  llvm::outs() << arguments.getHelp();
  return int(Exit::Done);
}

void tessera::tuning::addKeyOptions(Arguments &arguments,
                                    std::string &keyFile) {
  arguments.addText("--key-file", keyFile);
  arguments.addHidden("--token", [](StringRef) {
    return llvm::createStringError(tokenProblem);
  });
}

/// Whether it is something to tune, rather than a word.
static bool isWork(StringRef word) {
  return word.contains('.') || word.contains(':') || word.contains('/');
}

static void printHelp(llvm::raw_ostream &os) {
  os << "gpu-tune SUBCOMMAND ...\n\n"
        "Finds schedules by measuring, and keeps them in a database "
        "(docs/Tuning.md).\n\n";
  for (const Subcommand &subcommand : subcommands)
    os << "  " << llvm::left_justify(subcommand.name, 10) << subcommand.summary
       << "\n";
  os << "\ngpu-tune SUBCOMMAND --help prints its options. gpu-tune --version "
        "prints the version.\n\n"
        "Exit status: 0 success; 1 failure; 2 invalid command line; 3 (run "
        "only) a task was given up; 77 no device.\n";
}

int main(int argc, char **argv) {
  Child::setProgram(argc, argv);
  // Computed before any driver is loaded, since it must be the same on all
  // hosts.
  (void)mlir::tessera::getCompilerIdentity();
  llvm::SmallVector<StringRef> args(argv + 1, argv + argc);
  if (args.empty()) {
    printHelp(llvm::errs());
    return int(Exit::Usage);
  }
  StringRef name = args.front();
  if (name == "--help" || name == "-h" || name == "help") {
    printHelp(llvm::outs());
    return int(Exit::Done);
  }
  if (name == "--version") {
    llvm::outs() << "gpu-tune (Tessera) " TESSERA_VERSION "\n";
    return int(Exit::Done);
  }
  llvm::SmallVector<StringRef> names;
  for (const Subcommand &subcommand : subcommands) {
    if (subcommand.name == name)
      return subcommand.run(ArrayRef<StringRef>(args).drop_front());
    names.push_back(subcommand.name);
  }
  // Its own processes.
  if (name == "worker")
    return runWorker(ArrayRef<StringRef>(args).drop_front(),
                     Channel(Child::channelFile), llvm::errs());
  // `gpu-tune WORK ...`.
  if (isWork(name))
    return runTune(args);
  return fail(Exit::Usage, "unknown subcommand '" + name + "': " +
                               mlir::tessera::tuning::suggest(name, names));
}
