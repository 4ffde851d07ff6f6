//===- PlantedFault.h - A fault that --verify must find ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_PLANTEDFAULT_H
#define DEBUGGING_PLANTEDFAULT_H

#include "Runtime/HostArray.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tessera::execution {

/// The fault that --debug-corrupt-output plants in an output. A row is all
/// elements whose indices but the last are the same.
enum class PlantedFault {
  /// Changes one element.
  Element,
  /// Sets a row to zero.
  ZeroRow,
  /// Exchanges two rows.
  SwappedRows,
};

/// "element", "zero-row", "swapped-rows".
std::optional<PlantedFault> findPlantedFault(llvm::StringRef name);

/// Changes the array, and describes the change. Where a fault of that kind
/// would change nothing, changes an element. Empty where there is none.
std::string plant(PlantedFault fault, tessera::runtime::HostArray &array);

} // namespace tessera::execution

#endif // DEBUGGING_PLANTEDFAULT_H
