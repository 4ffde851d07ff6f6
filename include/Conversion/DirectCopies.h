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

/// Which asynchronous copies are loads that bring what they read straight to
/// workgroup memory, on chips that have such (`Chip::directCopyBytes`).
enum class DirectCopies {
  /// Where a load brings as much as one to registers would.
  Auto,
  /// Where there is one for the copy, however little it brings.
  Always,
  Never,
};

/// As it is written in options.
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

/// The choices, for options of passes and pipelines.
inline llvm::cl::ValuesClass getDirectCopiesValues() {
  return llvm::cl::values(
      clEnumValN(DirectCopies::Auto, "auto",
                 "where a load brings as much as one to registers"),
      clEnumValN(DirectCopies::Always, "always",
                 "where the chip has a load for it"),
      clEnumValN(DirectCopies::Never, "never", "none"));
}

} // namespace mlir::tessera

#endif // CONVERSION_DIRECTCOPIES_H
