//===- Bench.h - Timing of a program ------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_BENCH_H
#define REPORT_BENCH_H

#include "Execution/Execution.h"

namespace tessera::execution {

/// Times warm runs with cold caches.
LogicalResult benchmark(const ProgramOptions &options,
                        compiler::CompiledProgram &program, const Entry &entry,
                        const std::vector<runtime::HostArray> &arguments,
                        runtime::Device &device, Execution &execution,
                        Report &report);

} // namespace tessera::execution

#endif // REPORT_BENCH_H
