//===- Run.h - gpu-tune run and gpu-tune space ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_RUN_H
#define GPU_TUNE_RUN_H

#include "mlir/Support/LLVM.h"

namespace tune {

/// Tunes, and gives the exit status: 0; 1 after an error that ended the run; 2
/// for a command line that cannot be right; 3 where a task was given up; 77
/// without a device.
int runTune(mlir::ArrayRef<mlir::StringRef> arguments);

/// Compiles, checks and times the fastest recorded schedules of a database's
/// tasks again, with the compiler's own choice. Exit statuses as `runTune`; 3
/// where one of them failed.
int runReplay(mlir::ArrayRef<mlir::StringRef> arguments);

/// Reports the size of the spaces, and the points that each constraint removes.
int runSpace(mlir::ArrayRef<mlir::StringRef> arguments);

} // namespace tune

#endif // GPU_TUNE_RUN_H
