//===- TensorMaps.h - The tensor maps that a kernel takes -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel lists the tensor maps that its bulk copies use:
//
//   tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 128, 64>,
//                           swizzle = 128 : i64, symbol = @k_map_0}]
//
//   argument  number of the memref among the kernel operands of a launch
//   box       elements that one bulk copy moves in each dimension of the
//             memref, outermost first: 1 to 5 of them
//   swizzle   span of the swizzle in workgroup memory in bytes: 0, 32, 64, 128
//   lower, extent, stride
//             where an image is copied by windows over it: where the first one
//             begins in each dimension but the first and the last, how far from
//             there the last one does and one more, and the steps between them;
//             the last two entries of box are then pixels, one behind the
//             other, and channels
//   symbol    an `llvm.mlir.global external constant` of
//             `!llvm.array<128 x i8>`, whose address stands for the map's in
//             the kernel
//
// tessera-place-tensor-maps gives the kernel one parameter for each, after its
// others and in the list's order, and takes `symbol` out of the list: an entry
// without it has its parameter. convert-launch-to-runtime makes the maps, each
// time the kernel is launched.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TENSORMAPS_H
#define CONVERSION_TENSORMAPS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tessera {

/// The kernel's list of tensor maps, which its launches take over.
inline llvm::StringRef getTensorMapsAttrName() { return "tessera.tensor_maps"; }

/// How many threads a launch adds to each workgroup (i64), after those that it
/// says: a subgroup that does nothing but copy.
inline llvm::StringRef getProducerThreadsAttrName() {
  return "tessera.producer_threads";
}

/// What a kernel copies operands to workgroup memory by, and why not by better
/// (a string): what --explain says.
inline llvm::StringRef getCopiesAttrName() { return "tessera.copies"; }

} // namespace mlir::tessera

#endif // CONVERSION_TENSORMAPS_H
