//===- Sanitizers.h - The sanitizers of this build --------*- C++ -*-------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_SANITIZERS_H
#define UNITTESTS_SANITIZERS_H

namespace mlir::tessera {

/// Whether the address sanitizer checks this build. It finds accesses and not
/// results: a test that draws many samples of the same code draws fewer here,
/// and all of them in other builds.
#if __has_feature(address_sanitizer)
inline constexpr bool isSanitized = true;
#else
inline constexpr bool isSanitized = false;
#endif

} // namespace mlir::tessera

#endif // UNITTESTS_SANITIZERS_H
