//===- DirectCopies.h - Copies straight to workgroup memory -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_DIRECTCOPIES_H
#define CONVERSION_DIRECTCOPIES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

namespace mlir::tessera {

/// Selects the asynchronous copies that are loads directly to workgroup memory
/// (async copies to LDS), on chips with such loads (`Chip::directCopyBytes`).
enum class DirectCopies {
  /// If such a load is as wide as one to registers would be.
  Auto,
  /// If there is such a load for the copy, of any width.
  Always,
  Never,
};

/// The name of `use` in options.
inline llvm::StringRef getName(DirectCopies use) {
  return use == DirectCopies::Auto     ? "auto"
         : use == DirectCopies::Always ? "always"
                                       : "never";
}

inline std::optional<DirectCopies> findDirectCopies(llvm::StringRef name) {
  for (DirectCopies use :
       {DirectCopies::Auto, DirectCopies::Always, DirectCopies::Never})
    if (name == getName(use))
      return use;
  return std::nullopt;
}

/// The values of the option of passes and pipelines.
inline llvm::cl::ValuesClass getDirectCopiesValues() {
  return llvm::cl::values(
      clEnumValN(DirectCopies::Auto, "auto",
                 "where such a load is as wide as one to registers"),
      clEnumValN(DirectCopies::Always, "always",
                 "where the chip has such a load of any width"),
      clEnumValN(DirectCopies::Never, "never", "none"));
}

} // namespace mlir::tessera

#endif // CONVERSION_DIRECTCOPIES_H
