//===- Roofline.h - Highest rate of a matmul ----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_ROOFLINE_H
#define GPU_RUNNER_ROOFLINE_H

#include "Work.h"

#include "Driver/Compiler.h"

namespace runner {

/// Reports the operations and bytes of a matmul, and the highest rate that the
/// device could reach: the lesser of its rate for the type, and of its memory's
/// rate times the matmul's operations per byte. `work` is null where nothing is
/// known of it, `device` where none is open: then the chip's first data sheet
/// counts. Adds `work`, `roof` and `roof_unknown` to `object`.
void explainRoof(const compiler::ProductReport &product,
                 const ProductWork *work, const compiler::Chip &chip,
                 const runtime::DeviceInfo *device, llvm::raw_ostream &os,
                 llvm::json::Object &object);

} // namespace runner

#endif // GPU_RUNNER_ROOFLINE_H
