//===- SearchValues.h - A configuration, applied to a space -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_SEARCHVALUES_H
#define TUNING_RUN_SEARCHVALUES_H

#include "Tuning/ScheduleSpace.h"
#include "Tuning/SpaceConfig.h"

namespace tessera::tuning {

/// Puts the values of the configuration in the place of the default ones, or
/// beside them.
void applyConfig(const mlir::tessera::tuning::SpaceConfig &config,
                 mlir::tessera::tuning::SpaceValues &values);

} // namespace tessera::tuning

#endif // TUNING_RUN_SEARCHVALUES_H
