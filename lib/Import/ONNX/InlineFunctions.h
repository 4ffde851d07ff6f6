//===- InlineFunctions.h - Functions of a model -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_ONNX_INLINEFUNCTIONS_H
#define LIB_IMPORT_ONNX_INLINEFUNCTIONS_H

#include "Import/ONNX/Model.h"

namespace mlir::tessera::onnx {

/// A name of the file for a message: quoted, with escapes, and not too long.
std::string quote(llvm::StringRef name);

/// Replaces the nodes of the model that call functions by the functions' nodes.
/// False after an error, with a message.
bool inlineFunctions(Model &model, llvm::ArrayRef<Function> functions,
                     std::string &error);

} // namespace mlir::tessera::onnx

#endif // LIB_IMPORT_ONNX_INLINEFUNCTIONS_H
