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

/// Why a device of chip `host` (a target ID for hip) does not run code for
/// `chip`: "the device lacks f64 arithmetic". Empty if it does. `isCubin`: CUDA
/// machine code instead of PTX.
std::string explainIncompatible(llvm::StringRef target, llvm::StringRef chip,
                                llvm::StringRef host, bool isCubin);

/// The default chip to compile for on a device: the device's own chip, or the
/// best known chip whose code runs there. Empty if there is none.
std::string getChipFor(const runtime::DeviceInfo &device);

/// The properties of the device beyond the name of `chip`, for which a bundle's
/// code was compiled, as the device prints them: the target ID (hip:
/// "gfx90a:sramecc+:xnack-") or its own description (vulkan, opencl,
/// level-zero: "s16-w131072-t1024-f16-dpas"). Empty if the name is complete, as
/// on CUDA and on the CPU.
std::string getFeatures(const runtime::DeviceInfo &device,
                        llvm::StringRef chip);

} // namespace mlir::tessera

#endif // DRIVER_DEVICECHIP_H
