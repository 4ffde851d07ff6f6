//===- PassTrace.h - When each pass ran -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_PASSTRACE_H
#define LIB_DRIVER_PASSTRACE_H

#include "Runtime/Trace.h"

#include "mlir/Pass/PassInstrumentation.h"
#include <memory>

namespace mlir::tessera {

/// Adds an event to `trace` for each pass that runs.
std::unique_ptr<PassInstrumentation>
createPassTrace(::tessera::runtime::Trace &trace);

} // namespace mlir::tessera

#endif // LIB_DRIVER_PASSTRACE_H
