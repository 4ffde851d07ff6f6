//===- Peaks.h - Peak rates of devices --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roof of a roofline: the matrix unit's multiply-adds and the memory's
// bytes per second, by the vendor's data sheet. Compilation does not depend on
// these numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_PEAKS_H
#define TARGETINFO_PEAKS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera {

struct Chip;
struct DeviceSheet;

/// The peak rates for one matmul.
struct Roof {
  /// Operations and bytes per second; 0 if unknown.
  double operations = 0, bytes = 0;
  /// The source of the numbers: a data sheet, or their derivation from one.
  std::string source;
};

/// The data sheet of `chip`'s device whose name is part of `device`, or null.
const DeviceSheet *findSheet(const Chip &chip, llvm::StringRef device);

/// The roof for a matmul with operands of a type ("f16", "tf32", ...) on the
/// device `device` of `chip`. Without a device name, the chip's first sheet is
/// used. For a device of the chip without a sheet, the rate is scaled by its
/// units and its clock, if it reports them (else 0), from the chip's first
/// sheet, and its memory rate is unknown. Empty, with the reason in `why`, if
/// nothing is known.
std::optional<Roof> findRoof(llvm::StringRef chip, llvm::StringRef device,
                             int64_t units, int64_t clockMHz,
                             llvm::StringRef type, std::string &why);

} // namespace mlir::tessera

#endif // TARGETINFO_PEAKS_H
