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

FailureOr<std::string> mlir::tessera::linkCodeObject(Operation *op,
                                                     StringRef object) {
  // Removed when they go out of scope.
  SmallString<64> in, out;
  for (auto [name, suffix] :
       {std::pair<SmallString<64> *, const char *>{&in, "o"}, {&out, "hsaco"}})
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("tessera", suffix, *name))
      return op->emitError()
             << "cannot make a temporary file: " << code.message();
  llvm::FileRemover removeIn(in), removeOut(out);
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(in, code);
    stream << object;
    stream.close();
    if (code || stream.has_error())
      return op->emitError() << "cannot write " << in;
  }
  std::string log;
  llvm::raw_string_ostream messages(log);
  {
    // lld keeps its state in variables of the process.
    static std::mutex one;
    std::lock_guard<std::mutex> lock(one);
    lld::Result result = lld::lldMain(
        {"ld.lld", "--no-undefined", "-shared", in.c_str(), "-o", out.c_str()},
        messages, messages, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return op->emitError() << "the code object cannot be linked:\n" << log;
  }
  auto linked = llvm::MemoryBuffer::getFile(out, /*IsText=*/false);
  if (!linked)
    return op->emitError() << "the linker wrote no code object";
  return (*linked)->getBuffer().str();
}
