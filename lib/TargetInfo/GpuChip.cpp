//===- GpuChip.cpp - Common properties of GPUs ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

using namespace mlir::tessera;

Chip mlir::tessera::makeGpuChip(llvm::StringRef name, llvm::StringRef target,
                                llvm::ArrayRef<DeviceSheet> devices) {
  Chip chip;
  chip.name = name.str();
  chip.target = target.str();
  for (const DeviceSheet &sheet : devices)
    if (sheet.name)
      chip.devices.push_back(sheet);
  chip.maxThreads = 1024;
  chip.accessBytes = 16;
  chip.alignedAccess = true;
  chip.rowPaddingBytes = 16;
  return chip;
}
