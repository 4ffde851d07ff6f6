//===- ReportedChip.h - Chips by device reports -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_REPORTEDCHIP_H
#define TARGETINFO_REPORTEDCHIP_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tessera {

/// The name that a device of the chip `name` reports
/// ("s8-w32768-t1024-n16-n32-n64" for "lavapipe-simt"), if it differs from
/// `name`; otherwise `name`. For code without access to the chip tables, such
/// as the runtime.
llvm::StringRef getReportedDescription(llvm::StringRef target,
                                       llvm::StringRef name);

} // namespace mlir::tessera

#endif // TARGETINFO_REPORTEDCHIP_H
