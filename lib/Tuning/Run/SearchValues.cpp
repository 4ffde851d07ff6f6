//===- SearchValues.cpp - A configuration, applied to a space -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/SearchValues.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

void tessera::tuning::applyConfig(const SpaceConfig &config,
                                  SpaceValues &values) {
  for (bool isMore : {false, true})
    forEachScheduleField(
        [&](const ScheduleFieldInfo &, const auto &given, auto &list) {
          if (!given)
            return;
          if (!isMore)
            list.clear();
          for (const auto &value : *given)
            if (!llvm::is_contained(list, value))
              list.push_back(value);
        },
        isMore ? config.add : config.parameters, values);
}
