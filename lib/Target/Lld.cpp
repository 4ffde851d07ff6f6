//===- Lld.cpp - LLVM's linker, in this process ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace mlir;
using namespace mlir::tessera;

LLD_HAS_DRIVER(elf)

/// Writes a temporary file. An error at `op` if that is not possible.
static LogicalResult writeTemporary(Operation *op, StringRef bytes,
                                    SmallVectorImpl<char> &path) {
  int file = -1;
  std::error_code code =
      llvm::sys::fs::createTemporaryFile("tessera", "o", file, path);
  if (code)
    return op->emitError() << "cannot make a temporary file: "
                           << code.message();
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << bytes;
  stream.close();
  if (!stream.has_error())
    return success();
  code = stream.error();
  stream.clear_error();
  return op->emitError() << "cannot write " << path << ": " << code.message();
}

FailureOr<std::string> mlir::tessera::linkShared(Operation *op,
                                                 ArrayRef<StringRef> objects) {
  // Removed when they go out of scope.
  SmallVector<SmallString<64>> inputs;
  SmallVector<std::unique_ptr<llvm::FileRemover>> removers;
  for (StringRef object : objects) {
    SmallString<64> path;
    LogicalResult written = writeTemporary(op, object, path);
    if (!path.empty())
      removers.push_back(std::make_unique<llvm::FileRemover>(path));
    if (failed(written))
      return failure();
    inputs.push_back(path);
  }
  SmallString<64> output;
  LogicalResult written = writeTemporary(op, "", output);
  llvm::FileRemover remover(output);
  if (failed(written))
    return failure();
  SmallVector<const char *> arguments = {"ld.lld",     "--no-undefined",
                                         "-Bsymbolic", "-shared",
                                         "-o",         output.c_str()};
  for (SmallString<64> &input : inputs)
    arguments.push_back(input.c_str());
  std::string log;
  llvm::raw_string_ostream messages(log);
  {
    // lld keeps its state in variables of the process.
    static std::mutex one;
    std::lock_guard<std::mutex> lock(one);
    lld::Result result = lld::lldMain(arguments, messages, messages,
                                      {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return op->emitError() << "the objects cannot be linked:\n" << log;
  }
  auto linked = llvm::MemoryBuffer::getFile(output, /*IsText=*/false);
  if (!linked)
    return op->emitError() << "the linker wrote nothing";
  return (*linked)->getBuffer().str();
}
