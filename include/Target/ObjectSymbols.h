//===- ObjectSymbols.h - The symbols of an object file ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_OBJECTSYMBOLS_H
#define TARGET_OBJECTSYMBOLS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::tessera {

/// A symbol that has a name and is not the linker's own.
struct ObjectSymbol {
  StringRef name;
  bool isUndefined = false;
  bool isGlobal = false;
};

/// The symbols of an object file. The names are in the memory of `object`.
llvm::Expected<SmallVector<ObjectSymbol>> listSymbols(StringRef object);

} // namespace mlir::tessera

#endif // TARGET_OBJECTSYMBOLS_H
