//===- Ptxas.cpp - NVIDIA's assembler -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

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

  // Removed when they go out of scope.
  SmallString<64> in, out, messages;
  for (auto [name, suffix] :
       {std::pair<SmallString<64> *, const char *>{&in, "ptx"},
        {&out, "cubin"},
        {&messages, "log"}})
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("tessera", suffix, *name))
      return op->emitError()
             << "cannot make a temporary file: " << code.message();
  llvm::FileRemover removeIn(in), removeOut(out), removeLog(messages);
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(in, code);
    stream << ptx;
    stream.close();
    if (code || stream.has_error())
      return op->emitError() << "cannot write " << in;
  }
  std::string arch = "--gpu-name=" + chip.name;
  SmallVector<StringRef> arguments{program, arch, "-v", in, "-o", out};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects);
  if (auto text = llvm::MemoryBuffer::getFile(messages))
    log = (*text)->getBuffer().str();
  if (status != 0)
    return op->emitError() << "ptxas refuses the PTX for " << chip.name << ":\n"
                           << log;
  auto cubin = llvm::MemoryBuffer::getFile(out, /*IsText=*/false);
  if (!cubin)
    return op->emitError() << "ptxas wrote no cubin";
  return (*cubin)->getBuffer().str();
}
