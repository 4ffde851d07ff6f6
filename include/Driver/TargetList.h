//===- TargetList.h - What a bundle is compiled for -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_TARGETLIST_H
#define DRIVER_TARGETLIST_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir::tessera {

/// A target with a chip of it.
struct TargetChip {
  std::string name, chip;
};

/// Reads "cuda:sm_80,sm_90a,hip:gfx942,cpu". A target without a chip gets that
/// of its device on this machine. Empty, and what is wrong in `why`, where the
/// list is malformed, a chip is unknown or stands there twice, or there is no
/// device.
std::vector<TargetChip> parseTargetList(StringRef text, std::string &why);

} // namespace mlir::tessera

#endif // DRIVER_TARGETLIST_H
