//===- Ptxas.cpp - NVIDIA's assembler -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "Runtime/NamelessFile.h"

#include "llvm/Support/Program.h"
#include <cerrno>
#include <cstring>

using namespace mlir;
using namespace mlir::tessera;

std::string mlir::tessera::findPtxas() {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("ptxas");
  if (!program)
    program = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  return program ? *program : "";
}

FailureOr<std::string> mlir::tessera::runPtxas(Operation *op, StringRef ptx,
                                               const Chip &chip,
                                               std::string &log) {
  std::string program = findPtxas();
  if (program.empty())
    return op->emitError() << "ptxas is not on the PATH, nor in "
                              "/usr/local/cuda/bin; install the CUDA toolkit";

  ::tessera::runtime::NamelessFile in, out, messages;
  if (!in.write(ptx) || !out.isOpen() || !messages.isOpen())
    return op->emitError() << "cannot write a temporary file: "
                           << std::strerror(errno);
  std::string arch = "--gpu-name=" + chip.name, inPath = in.getPathForChild(),
              outPath = out.getPathForChild(),
              logPath = messages.getPathForChild();
  SmallVector<StringRef> arguments{program, arch, "-v", inPath, "-o", outPath};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(logPath),
                                          StringRef(logPath)};
  int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects);
  log = messages.read();
  if (status != 0)
    return op->emitError() << "ptxas rejected the PTX for " << chip.name
                           << ":\n"
                           << log;
  std::string cubin = out.read();
  if (cubin.empty())
    return op->emitError() << "ptxas wrote no cubin";
  return cubin;
}
