//===- Roofline.h - Highest rate of a matmul ----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_ROOFLINE_H
#define REPORT_ROOFLINE_H

#include "Report/MatmulWork.h"

#include "Driver/Compiler.h"

namespace tessera::execution {

/// Prints the work of a matmul, and the rate that the device can reach at most:
/// the lesser of its rate for the type, and the rate of its memory times the
/// operations for each byte. `work` is null where nothing is known of it,
/// `device` where none is open: then the chip's first data sheet counts. Adds
/// `work`, `roof` and `roof_unknown` to `object`.
void explainRoof(const compiler::MatmulReport &matmul, const MatmulWork *work,
                 const compiler::Chip &chip, const runtime::DeviceInfo *device,
                 llvm::raw_ostream &os, llvm::json::Object &object);

} // namespace tessera::execution

#endif // REPORT_ROOFLINE_H
