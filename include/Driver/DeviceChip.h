//===- DeviceChip.h - Which chip's code a device runs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_DEVICECHIP_H
#define DRIVER_DEVICECHIP_H

#include "Dialect/Tessera/Target/Chip.h"
#include "Runtime/Device.h"

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

/// Whether code for `chip` runs on a device of chip `host` (of a target ID for
/// hip, and not on any other chip). `isCubin`: machine code of CUDA's, where it
/// would be PTX otherwise.
bool runsOn(llvm::StringRef target, llvm::StringRef chip, llvm::StringRef host,
            bool isCubin);

/// The chip to compile for where the device's own is not given: the device's,
/// or the best of the known ones whose code runs there. Empty if none does.
std::string getChipFor(const runtime::DeviceInfo &device);

} // namespace mlir::tessera

#endif // DRIVER_DEVICECHIP_H
