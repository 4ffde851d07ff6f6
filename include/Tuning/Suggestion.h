//===- Suggestion.h - Suggestions for unknown names ---*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_SUGGESTION_H
#define TUNING_SUGGESTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::tessera::tuning {

/// The candidate with the least edit distance to `name`; empty if none comes
/// close.
llvm::StringRef findNearest(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// Suggestion appended to an "unknown name" error: "did you mean 'best'?" or
/// "there are best, merge, report".
std::string suggest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates);

/// " (did you mean 'best'?)", appended to the name in such an error; empty if
/// no candidate comes close.
std::string formatHint(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

/// Text for HTML, between tags and in quotes.
std::string escapeHtml(llvm::StringRef text);

} // namespace mlir::tessera::tuning

#endif // TUNING_SUGGESTION_H
