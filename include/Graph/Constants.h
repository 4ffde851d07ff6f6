//===- Constants.h - Large constants of a program ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Large constants are `dense_resource<tessera_HASH>` attributes, where HASH is
// a hash of the contents. They become data beside the code: host code refers to
// them by the globals that `getDataSymbol` names.
//
//===----------------------------------------------------------------------===//

#ifndef GRAPH_CONSTANTS_H
#define GRAPH_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <optional>
#include <string>

namespace mlir::tessera {

/// Constants of fewer bytes stay in the code.
inline constexpr size_t leastLiftedBytes = 1024;

/// The name of the function that computes constants when a program is loaded.
inline constexpr llvm::StringLiteral loaderName = "tessera_load";

/// The resource of the contents of a large constant, which this makes if there
/// is none; null for one that stays in the code, and for a resource whose name
/// is another hash.
DenseResourceElementsAttr liftConstant(Attribute elements);
/// The same where the hash of the contents is known.
DenseResourceElementsAttr liftConstant(Attribute elements,
                                       llvm::StringRef hash);
/// The contents of what `liftConstant` lifts; empty for other attributes.
llvm::ArrayRef<char> getLiftedBytes(Attribute elements);

/// The hash of the contents of a lifted constant; empty if the resource is not
/// one.
llvm::StringRef getConstantHash(DenseResourceElementsAttr elements);

/// The hash of contents, in hexadecimal digits.
std::string hashConstant(llvm::ArrayRef<char> bytes);

/// The name of the resource of contents by their hash.
std::string getConstantName(llvm::StringRef hash);

/// The contents of the resource of that name, or null if it has none.
const AsmResourceBlob *findConstant(MLIRContext &context, llvm::StringRef name);

/// Makes the resource of contents that stay where they are, or replaces its
/// contents. `owner` is destroyed with the context.
void setConstant(MLIRContext &context, llvm::StringRef name,
                 llvm::ArrayRef<char> bytes,
                 std::shared_ptr<const void> owner = nullptr);

/// Puts the contents of lifted constants back into their attributes, for
/// printing.
void restoreConstants(ModuleOp module);

/// The symbol of the global that stands for the constant of that number.
std::string getDataSymbol(int64_t number);
/// The number of such a symbol; absent for other symbols.
std::optional<int64_t> getDataNumber(llvm::StringRef symbol);

/// Symbols of globals whose contents the loader computes begin so.
inline constexpr llvm::StringLiteral computedPrefix = "__tessera_computed_";

} // namespace mlir::tessera

#endif // GRAPH_CONSTANTS_H
