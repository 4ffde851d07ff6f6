//===- Bench.h - Timing of a program ------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_BENCH_H
#define GPU_RUNNER_BENCH_H

#include "Execution.h"

namespace runner {

/// Times warm runs with cold caches.
LogicalResult benchmark(const Options &options, const Entry &entry,
                        const std::vector<runtime::HostArray> &arguments,
                        runtime::Device &device, Execution &execution,
                        Report &report);

} // namespace runner

#endif // GPU_RUNNER_BENCH_H
