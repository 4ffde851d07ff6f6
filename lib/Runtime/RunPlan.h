//===- RunPlan.h - Where a run's temporaries are ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code does not read device memory, but for scalars on which its control
// flow depends. So what it allocates and frees follows from the sizes of its
// arguments and its scalars, unless it takes another path than the plan, in
// which scalars of the device are zero. A plan is the record of one execution:
// from the lifetimes of its temporaries follow their offsets in one block of
// memory, the workspace.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_RUNPLAN_H
#define TESSERA_LIB_RUNTIME_RUNPLAN_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::runtime {

/// Memory that host code asks for.
struct PlannedBlock {
  size_t bytes = 0;
  /// A power of two, 256 at least.
  size_t alignment = 256;
  /// The events (`RunPlan::Event`) between which it is in use: it is allocated
  /// by `begin` and freed by `end`.
  size_t begin = 0, end = SIZE_MAX;
  /// In the workspace. The memory begins at the next address of the alignment.
  size_t offset = 0;
  /// The result whose memory it is, or -1 for a temporary.
  int result = -1;

  /// Bytes of the workspace that it takes.
  size_t reserved() const;
};

/// Chooses the offsets of all temporaries and returns the size of the
/// workspace. Blocks that are in use at the same time do not overlap.
size_t placeBlocks(std::vector<PlannedBlock> &blocks);

struct RunPlan {
  /// One request of host code: memory for a block, or its release.
  struct Event {
    bool isRelease;
    size_t block;
  };
  /// A result.
  struct Result {
    /// Bytes of its elements, and the alignment of its memory.
    size_t bytes = 0, alignment = 256;
    std::vector<int64_t> sizes;
    /// Whether host code returns memory of its own for it, which then is that
    /// of the result. Otherwise its elements are copied.
    bool isBlock = false;
  };

  /// The sizes of arguments and the integer scalars for which the plan is.
  std::vector<uint64_t> key;
  std::vector<PlannedBlock> blocks;
  std::vector<Event> events;
  std::vector<Result> results;
  size_t workspaceBytes = 0;
  /// The launches of kernels, and the copies of results.
  size_t steps = 0;
  /// Differs from that of all other plans of the executable.
  uint64_t number = 0;
  /// Whether host code reads scalars of the device.
  bool readsScalars = false;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_RUNPLAN_H
