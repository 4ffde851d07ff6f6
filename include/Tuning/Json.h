//===- Json.h - Text that somebody else has written -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_JSON_H
#define TUNING_JSON_H

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace mlir::tessera::tuning {

/// Brackets that may be open at once in text from files and sockets. Parsers
/// are recursive: without a limit such text overflows the stack.
constexpr unsigned mostNested = 64;

/// The first bracket ([, {, ( or <) at which more than `mostNested` are open
/// outside of strings, as "LINE:COLUMN, byte=OFFSET"; empty if there is none.
/// For JSON and for MLIR's attributes.
std::string findDeepNesting(llvm::StringRef text);

/// `llvm::json::parse` for text from files and sockets. Errors begin with
/// "[LINE:COLUMN, byte=OFFSET]: ".
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mlir::tessera::tuning

#endif // TUNING_JSON_H
