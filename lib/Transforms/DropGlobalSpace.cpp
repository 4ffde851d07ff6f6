//===- DropGlobalSpace.cpp - Global memory without a memory space ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERADROPGLOBALSPACE
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-drop-global-space"

STATISTIC(numDroppedSpaces, "Number of allocations whose memory space was 1");

using namespace mlir;
using namespace mlir::tessera;

/// The number of global memory in the LLVM back ends of all GPUs.
static constexpr int64_t globalSpace = 1;

static bool isGlobalSpace(Attribute space) {
  auto number = dyn_cast_or_null<IntegerAttr>(space);
  return number && number.getValue() == globalSpace;
}

/// Drops the space of an op that allocates a tensor.
static void dropSpace(bufferization::AllocTensorOp op) {
  if (!isGlobalSpace(op.getMemorySpaceAttr()))
    return;
  LDBG() << op.getLoc() << ": global memory is the default";
  ++numDroppedSpaces;
  op.removeMemorySpaceAttr();
}

namespace {
struct DropGlobalSpacePass
    : public tessera::impl::TesseraDropGlobalSpaceBase<DropGlobalSpacePass> {
  void runOnOperation() override {
    getOperation()->walk(
        [](bufferization::AllocTensorOp op) { dropSpace(op); });
    bool hasSpace = false;
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](MemRefType type) -> Type {
      if (!isGlobalSpace(type.getMemorySpace()))
        return type;
      hasSpace = true;
      return MemRefType::get(type.getShape(), type.getElementType(),
                             type.getLayout());
    });
    replacer.addReplacement([&](UnrankedMemRefType type) -> Type {
      if (!isGlobalSpace(type.getMemorySpace()))
        return type;
      hasSpace = true;
      return UnrankedMemRefType::get(type.getElementType(), Attribute());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!hasSpace)
      return;
    // Casts between the two spaces have become casts of a type to itself.
    getOperation()->walk([](memref::MemorySpaceCastOp op) {
      if (op.getSource().getType() != op.getType())
        return;
      op.replaceAllUsesWith(op.getSource());
      op.erase();
    });
    LDBG() << getOperation()->getLoc() << ": memrefs in memory space 1";
    ++numDroppedSpaces;
  }
};
} // namespace
