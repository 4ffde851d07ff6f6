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

/// Calls `visit` with the legal schedules of `op` for instructions of several
/// subgroups together: the chip's tilings with both lengths of a step, K in any
/// number of parts, and clusters.
void forEachGroupSchedule(ContractOp op, const Chip &chip,
                          llvm::function_ref<void(ScheduleAttr)> visit);

} // namespace mlir::tessera

#endif // LIB_SCHEDULING_GROUPTILINGS_H
