//===- CodeReport.h - Resources of machine code -------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_CODEREPORT_H
#define TARGET_CODEREPORT_H

#include <cstdint>

namespace mlir::tessera {

/// The resources of a kernel, as stated in its machine code. Registers are
/// those of one lane, or of a subgroup where they are scalar.
struct CodeReport {
  /// Vector registers, with those for accumulation where one file has both; -1
  /// where nothing is known.
  int64_t vectorRegisters = -1;
  int64_t accumulationRegisters = 0, scalarRegisters = 0;
  /// Registers that are kept in memory, and memory of one thread in bytes.
  int64_t vectorSpills = 0, scalarSpills = 0, privateBytes = 0;
  /// The most threads that a workgroup may have, and how many such workgroups
  /// are on a unit at the same time.
  int64_t threads = 0, workgroupsPerUnit = 0;
};

} // namespace mlir::tessera

#endif // TARGET_CODEREPORT_H
