//===- Chips.h - Rows of NVIDIA's chips -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_NVIDIA_CHIPS_H
#define TARGET_NVIDIA_CHIPS_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The hardware facts of one of NVIDIA's chips.
struct NvidiaChipRow {
  /// The instructions that a chip has besides `mma.sync`.
  enum Unit { MmaSync, Warpgroups, TensorMemory };

  const char *name;
  /// Compute capability times 10.
  int64_t level;
  /// The oldest PTX version, times 10, that has what the tables use of the chip
  /// (PTX ISA, "Release Notes"), so that old drivers take it too. LLVM's
  /// default is too old for several.
  int64_t ptx;
  /// CUDA C++ Programming Guide, "Compute Capabilities": most shared memory for
  /// each thread block.
  int64_t workgroupKiB;
  /// Multiprocessors of the largest device: V100, T4, A100, A40, RTX 4090, H100
  /// SXM, B200, RTX 5090 (a "typical" number: devices differ).
  int64_t processors;
  /// Most warps and thread blocks of a multiprocessor, and its shared memory:
  /// the same guide, table of technical specifications.
  int64_t unitWarps, unitWorkgroups, unitKiB;
  Unit unit = MmaSync;
  /// See `Chip::executedOn`.
  const char *executedOn = "";
  DeviceSheet devices[maxSheets] = {};
};

/// The chip of a row: with its instructions, and with the schedule policy and
/// the performance model of its generation.
Chip makeNvidiaChip(const NvidiaChipRow &row);

/// Whether a kernel on the chip can begin before the kernel before it has ended
/// (programmatic dependent launch; PTX ISA, "griddepcontrol").
bool hasDependentLaunch(const Chip &chip);

} // namespace mlir::tessera

#endif // TARGET_NVIDIA_CHIPS_H
