//===- HipblasLt.h - hipBLASLt's own numbers --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HIP_HIPBLASLT_H
#define TESSERA_LIB_RUNTIME_HIP_HIPBLASLT_H

#include "../BlasLt.h"

namespace tessera::runtime {

/// hipBLASLt for a HIP device, of the same release as the HIP library that
/// reports the device.
BlasLtInterface getHipblasLt(const DeviceInfo &info);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HIP_HIPBLASLT_H
