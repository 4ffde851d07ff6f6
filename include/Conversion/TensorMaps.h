//===- TensorMaps.h - Tensor maps of kernels --------------------*- C++ -*-===//
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
//   argument  index of the memref among the kernel operands of a launch
//   box       elements that one bulk copy copies in each dimension of the
//             memref, outermost first: 1 to 5 of them
//   swizzle   span of the swizzle in workgroup memory in bytes: 0, 32, 64, 128
//   lower, extent, stride
//             for copies of an image by windows over it (im2col): the start of
//             the first window in each dimension but the first and the last,
//             the distance from there to the start of the last window plus one,
//             and the step between windows; the last two entries of box are
//             then consecutive pixels, and channels
//   symbol    an `llvm.mlir.global external constant` of
//             `!llvm.array<128 x i8>`, whose address represents the map's in
//             the kernel
//
// tessera-place-tensor-maps gives the kernel one parameter for each entry,
// after its other parameters and in the list's order, and removes `symbol` from
// the list: an entry without it has its parameter. convert-launch-to-runtime
// creates the maps, each time the kernel is launched. time the kernel is
// launched.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TENSORMAPS_H
#define CONVERSION_TENSORMAPS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tessera {

/// The kernel's list of tensor maps, which its launches inherit.
inline llvm::StringRef getTensorMapsAttrName() { return "tessera.tensor_maps"; }

/// The number of threads (i64) that a launch adds to each workgroup, after the
/// threads of the launch op: the subgroups that issue copies.
inline llvm::StringRef getProducerThreadsAttrName() {
  return "tessera.producer_threads";
}

/// A description (a string) of how a kernel copies operands to workgroup
/// memory, and the reason why it does not use a better way, for --explain.
inline llvm::StringRef getCopiesAttrName() { return "tessera.copies"; }

} // namespace mlir::tessera

#endif // CONVERSION_TENSORMAPS_H
