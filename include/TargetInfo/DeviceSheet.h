//===- DeviceSheet.h - Data sheets of devices -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of chips hold data sheets. The header includes nothing of LLVM, so that
// the runtime can read rows too.
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_DEVICESHEET_H
#define TARGETINFO_DEVICESHEET_H

#include <cstdint>

namespace mlir::tessera {

/// A device as sold.
struct DeviceSheet {
  /// The common part of the names that drivers report for it.
  const char *name = nullptr;
  /// Units that run workgroups, and the clock in MHz at which the rates hold.
  int64_t units = 0, clockMHz = 0;
  /// 10^12 operations (a multiplication or an addition is one) in a second,
  /// dense, by the type of operands: the rates of the matrix unit, and where it
  /// takes f32 only as tf32 ("tf32"), that of plain FMAs for "f32". 0: it has
  /// none. If a sheet has a rate with sparsity only, half of that is given
  /// here; GeForce's rates are those with accumulators of f32.
  double f16 = 0, bf16 = 0, tf32 = 0, f32 = 0, f64 = 0, i8 = 0, f8 = 0;
  /// 10^12 bytes in a second.
  double memory = 0;
  const char *source = nullptr;
};

/// The most sheets that a chip's row has.
constexpr int maxSheets = 4;

} // namespace mlir::tessera

#endif // TARGETINFO_DEVICESHEET_H
