//===- TargetList.h - Targets of a bundle -------------*- C++ -*-----------===//
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

/// A target and one of its chips.
struct TargetChip {
  std::string name, chip;
};

/// Parses "cuda:sm_80,sm_90a,hip:gfx942,cpu". A target without a chip gets the
/// chip of its device on this machine. Returns an empty list, with the reason
/// in `why`, if the list is malformed, a chip is unknown or duplicate, or there
/// is no device.
std::vector<TargetChip> parseTargetList(StringRef text, std::string &why);

} // namespace mlir::tessera

#endif // DRIVER_TARGETLIST_H
