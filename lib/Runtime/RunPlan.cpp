//===- RunPlan.cpp - Where a run's temporaries are ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunPlan.h"

#include <algorithm>
#include <numeric>

using namespace tessera::runtime;

/// The alignment of the workspace, and of all offsets.
static constexpr size_t granule = 256;

size_t PlannedBlock::reserved() const {
  size_t slack = alignment > granule ? alignment - granule : 0;
  return (std::max<size_t>(bytes, 1) + slack + granule - 1) / granule * granule;
}

size_t tessera::runtime::placeBlocks(std::vector<PlannedBlock> &blocks) {
  std::vector<size_t> order;
  for (size_t index = 0; index < blocks.size(); ++index)
    if (blocks[index].result < 0)
      order.push_back(index);
  // The largest first: small ones fit into what is left between them.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return blocks[a].reserved() > blocks[b].reserved();
  });
  size_t total = 0;
  std::vector<size_t> placed, inTheWay;
  for (size_t index : order) {
    PlannedBlock &block = blocks[index];
    inTheWay.clear();
    for (size_t other : placed)
      if (blocks[other].begin < block.end && block.begin < blocks[other].end)
        inTheWay.push_back(other);
    std::sort(inTheWay.begin(), inTheWay.end(), [&](size_t a, size_t b) {
      return blocks[a].offset < blocks[b].offset;
    });
    size_t bytes = block.reserved(), offset = 0;
    for (size_t other : inTheWay) {
      if (offset + bytes <= blocks[other].offset)
        break;
      offset =
          std::max(offset, blocks[other].offset + blocks[other].reserved());
    }
    block.offset = offset;
    total = std::max(total, offset + bytes);
    placed.push_back(index);
  }
  return total;
}
