//===- Signature.cpp - Arguments and results of an entry ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Signature.h"

using namespace tessera::runtime;

ResultLayout::ResultLayout(const std::vector<Slot> &results) {
  for (const Slot &slot : results) {
    size_t size =
        slot.isBuffer() ? 8 * countWords(slot) : elementBytes(slot.element);
    size_t alignment = slot.isBuffer() ? 8 : size;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    offsets.push_back(bytes);
    bytes += size;
  }
}
