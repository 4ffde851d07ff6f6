//===- DeviceChip.h - Which chip's code a device runs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_DEVICECHIP_H
#define DRIVER_DEVICECHIP_H

#include "Runtime/Device.h"
#include "TargetInfo/Chip.h"

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

/// What the device has that the name of `chip`, which a bundle's code is for,
/// does not say, as the device spells it: the target ID (hip:
/// "gfx90a:sramecc+:xnack-") or what it reports of itself (vulkan, opencl,
/// level-zero: "s16-w131072-t1024-f16-dpas"). Empty where the name says all, as
/// it does on CUDA and on the CPU.
std::string getFeatures(const runtime::DeviceInfo &device,
                        llvm::StringRef chip);

} // namespace mlir::tessera

#endif // DRIVER_DEVICECHIP_H
