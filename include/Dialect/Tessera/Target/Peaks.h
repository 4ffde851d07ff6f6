//===- Peaks.h - What devices can do at most --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roof of a roofline: multiply-adds of the matrix unit and bytes of memory
// in a second, by the vendor's data sheet. Nothing is compiled by these
// numbers.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_PEAKS_H
#define DIALECT_TESSERA_TARGET_PEAKS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera {

/// A device as sold.
struct DeviceSheet {
  llvm::StringLiteral chip;
  /// What the names that drivers give to it have in common.
  llvm::StringLiteral name;
  /// Units that run workgroups, and the clock in MHz at which the rates hold.
  int64_t units, clockMHz;
  /// 10^12 operations (a multiplication or an addition is one) in a second,
  /// dense, by the type of operands: of the matrix unit, and where it takes f32
  /// only as tf32 ("tf32"), of plain FMAs for "f32". 0: it has none.
  double f16, bf16, tf32, f32, f64, i8, f8;
  /// 10^12 bytes in a second.
  double memory;
  llvm::StringLiteral source;
};

/// All of them; of a chip, the first one is what stands for it.
llvm::ArrayRef<DeviceSheet> getDeviceSheets();

/// The roof over one product.
struct Roof {
  /// Operations and bytes in a second; 0 where it is not known.
  double operations = 0, bytes = 0;
  /// What the numbers are from: a data sheet, or how they were made of one.
  std::string source;
};

/// The roof for products of operands of a type ("f16", "tf32", ...) on the
/// device `device` of `chip`. With no name of a device, that of the chip's
/// first sheet. A device of the chip that has no sheet: by its units and its
/// clock, where it tells them (else 0), at the rate of each unit of the chip's
/// first sheet, and its memory is not known. Absent, and the reason in `why`,
/// if nothing is known.
std::optional<Roof> findRoof(llvm::StringRef chip, llvm::StringRef device,
                             int64_t units, int64_t clockMHz,
                             llvm::StringRef type, std::string &why);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_PEAKS_H
