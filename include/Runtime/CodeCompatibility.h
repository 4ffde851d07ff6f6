//===- CodeCompatibility.h - Which code a device runs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler asks before it opens a device, the runtime when it selects code
// of a bundle, and a device when it loads an image. Each API has one rule
// (`RuntimeBackend::explainIncompatible`), and all messages have one form.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CODECOMPATIBILITY_H
#define TESSERA_RUNTIME_CODECOMPATIBILITY_H

#include "Runtime/Device.h"

#include <string>

namespace tessera::runtime {

/// Why a device of the chip `device` does not run code for the chip `code` of
/// `target`: "the device lacks f64 arithmetic". Empty if it does. Chips of HIP
/// are target IDs, those of Vulkan, OpenCL and Level Zero what a device reports
/// (`DeviceInfo::chip`). `isMachineCode`: not in the form that the driver
/// compiles for the device.
std::string explainIncompatible(const std::string &target,
                                const std::string &code,
                                const std::string &device, bool isMachineCode);

/// The message for code that a device does not run: "NAME (CHIP) does not run
/// WHAT: WHY". `what` is the code ("code for gfx942").
std::string describeIncompatible(const DeviceInfo &device,
                                 const std::string &what,
                                 const std::string &why);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CODECOMPATIBILITY_H
