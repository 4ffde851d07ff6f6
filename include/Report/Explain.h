//===- Explain.h - Explanation of compiled code -------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include "Execution/Compile.h"
#include "Execution/Report.h"
#include "Report/MatmulWork.h"

#include "Driver/Compiler.h"
#include "Runtime/Session.h"

namespace tessera::execution {

/// The version of what docs/Explain.md describes of the JSON object. It goes up
/// where a field goes away or means something else.
constexpr int explainVersion = 1;

/// Puts matmuls, kernels and compile times into the JSON object, and prints
/// them if `print` is set. With a device, also what the kernels take of it;
/// `launches` are those of one run. `chip` is what it was compiled for, `work`
/// what the source's products come to.
void explain(const compiler::CompiledProgram &program,
             const compiler::Chip &chip, const CacheUse &cache,
             runtime::Device *device, ArrayRef<runtime::LaunchRecord> launches,
             ArrayRef<MatmulWork> work, bool print, llvm::raw_ostream &os,
             Report &report);

/// "hit", "miss" or "off".
StringRef getCacheKind(const CacheUse &cache);

/// --cache-why-miss.
void printCacheUse(const CacheUse &cache, llvm::raw_ostream &os);

/// "compile: 123 ms: schedule 12, ...", and what the cache had to do with it.
void printTimes(ArrayRef<compiler::StageTime> times, const CacheUse &cache,
                llvm::raw_ostream &os);

} // namespace tessera::execution

#endif // REPORT_EXPLAIN_H
