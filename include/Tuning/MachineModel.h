//===- MachineModel.h - Estimated time of a schedule ------*- C++ -*-------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_MACHINEMODEL_H
#define TUNING_MACHINEMODEL_H

#include "Scheduling/ScheduleCheck.h"

namespace mlir::tessera::tuning {

/// An estimate of a task's time, of which the order matters and not the value
/// (of a window, only the roofline):
/// traffic, occupancy, and the time of the matrix unit. Rates are those of the
/// chip's data sheet (`findRoof`); where there is none, of a machine of common
/// proportions.
class MachineModel {
public:
  /// `device`: a device's name; empty for the chip's first.
  MachineModel(Operation *op, const Chip &chip, llvm::StringRef device = "");

  /// Milliseconds.
  double estimate(const ScheduleNumbers &point) const;

  /// Multiplications and additions of one run, and the bytes of all arrays.
  double getOperations() const { return operations; }
  double getBytes() const { return bytes; }
  /// The type that its rate goes by, as `findRoof` takes it.
  const std::string &getRateType() const { return rateType; }
  /// The least time by the roofline, in milliseconds.
  double getRoof() const;

private:
  const Chip &chip;
  /// M, N, K; for an attention: queries, keys, D.
  std::array<double, 3> extents = {1, 1, 1};
  bool isAttention = false;
  double matrices = 1, operations = 0, bytes = 0;
  /// Bytes of an element of lhs, rhs, the output, and of a sum.
  double lhsBytes = 2, rhsBytes = 2, outputBytes = 2, sumBytes = 4;
  /// Peak rate and memory bandwidth of all SMs together, per second.
  double rate, memory;
  double processors;
  std::string rateType;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_MACHINEMODEL_H
