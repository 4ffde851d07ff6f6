//===- Import.h - ONNX models to linalg on tensors --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_IMPORT_H
#define IMPORT_ONNX_IMPORT_H

#include "Import/ONNX/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tessera::onnx {

struct ImportOptions {
  /// The size of the first dimension of each input where the model leaves it
  /// open; absent to keep it dynamic.
  std::optional<int64_t> batch;
  /// Computes in float16 what the model computes in float32, with sums in
  /// float32. Inputs and outputs keep their types. Nodes stay in float32 that
  /// quantize or have constants beyond the range of float16.
  bool convertsToF16 = false;
};

/// The name of the function that `importModel` makes.
inline constexpr llvm::StringLiteral entryName = "main";

/// Attributes of arguments and results of that function: the name of the input
/// or output (a string); the model's element type, where it is an unsigned
/// integer (its ONNX name, "uint8"); and the symbols of dynamic dimensions, if
/// there are any (an array of strings, one per dimension, empty where a size
/// has none).
inline constexpr llvm::StringLiteral nameAttr = "onnx.name",
                                     typeAttr = "onnx.type",
                                     symbolsAttr = "onnx.symbols";

/// Loads the dialects of the modules that `importModel` makes.
void loadImportDialects(MLIRContext &context);

/// Makes a module with one function, `main`, from the model: inputs that are
/// not initializers are its arguments, outputs its results, both as tensors in
/// the model's order. Weights are `dense_resource` attributes; their blobs
/// point into the model's files where these are aligned. Locations are a
/// NameLoc of the node in a FileLineColLoc of Model::listing under the name of
/// the file. Returns null after an error, which is a diagnostic.
OwningOpRef<ModuleOp> importModel(const Model &model,
                                  const ImportOptions &options,
                                  MLIRContext &context);

/// Prints the supported operators as a table in Markdown.
void printOperators(llvm::raw_ostream &os);

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_IMPORT_H
