//===- GroupTilings.h - Tilings for groups of subgroups ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULING_GROUPTILINGS_H
#define LIB_SCHEDULING_GROUPTILINGS_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// The schedule of instructions of several subgroups together with the shortest
/// estimated time for `op` on `chip`; null if none fits. Extents are those of
/// M, N and K; dynamic ones count as large. `prediction`, if given, receives
/// the time, its limit, and the next best schedule.
ScheduleAttr chooseGroupSchedule(ContractOp op, const Chip &chip,
                                 const MatrixForm &form,
                                 const std::array<int64_t, 3> &extents,
                                 std::string *prediction = nullptr);

} // namespace mlir::tessera

#endif // LIB_SCHEDULING_GROUPTILINGS_H
