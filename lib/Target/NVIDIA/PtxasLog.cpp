//===- PtxasLog.cpp - Parser of ptxas' log --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With -v, ptxas prints for each kernel
//
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

/// The number before `what` in a line; 0 if it is not there.
static int64_t getNumberBefore(StringRef line, StringRef what) {
  size_t offset = line.find(what);
  if (offset == StringRef::npos)
    return 0;
  StringRef before = line.take_front(offset).rtrim();
  size_t first = before.find_last_not_of("0123456789");
  int64_t number = 0;
  before.drop_front(first == StringRef::npos ? 0 : first + 1)
      .getAsInteger(10, number);
  return number;
}

/// The threads of a workgroup by `.maxntid` or `.reqntid` of a kernel.
static int64_t getThreads(StringRef ptx, StringRef kernel) {
  size_t offset = ptx.find((".entry " + kernel + "(").str());
  if (offset == StringRef::npos)
    return 0;
  StringRef head = ptx.drop_front(offset).split('{').first;
  for (StringRef name : {".maxntid", ".reqntid"}) {
    size_t found = head.find(name);
    if (found == StringRef::npos)
      continue;
    int64_t threads = 1;
    SmallVector<StringRef> sizes;
    head.drop_front(found + name.size())
        .take_while([](char c) {
          return llvm::isDigit(c) || c == ',' || c == ' ' || c == '\t';
        })
        .split(sizes, ',');
    for (StringRef size : sizes) {
      int64_t number;
      if (!size.trim().getAsInteger(10, number))
        threads *= number;
    }
    return threads;
  }
  return 0;
}

std::vector<PtxasKernel> mlir::tessera::readPtxasLog(StringRef log,
                                                     StringRef ptx) {
  std::vector<PtxasKernel> kernels;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (size_t offset = line.find("Compiling entry function '");
        offset != StringRef::npos) {
      PtxasKernel &kernel = kernels.emplace_back();
      kernel.name =
          line.drop_front(offset).split('\'').second.split('\'').first;
      kernel.threads = getThreads(ptx, kernel.name);
      continue;
    }
    if (kernels.empty())
      continue;
    PtxasKernel &kernel = kernels.back();
    if (line.contains("bytes stack frame")) {
      kernel.stackBytes = getNumberBefore(line, " bytes stack frame");
      kernel.spillBytes = getNumberBefore(line, " bytes spill stores");
    } else if (line.contains(": Used ")) {
      kernel.registers = getNumberBefore(line, " registers");
      kernel.staticBytes = getNumberBefore(line, " bytes smem");
    }
  }
  return kernels;
}
