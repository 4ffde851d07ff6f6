//===- Registration.h - Registration for Tessera tools -----*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_REGISTRATION_H
#define TESSERA_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tessera {

/// Adds Tessera's dialect and its extensions of other dialects to `registry`.
void registerTesseraDialects(DialectRegistry &registry);

/// Registers Tessera's passes and pipelines with MLIR's global pass registry.
void registerTesseraPasses();

} // namespace mlir::tessera

#endif // TESSERA_PIPELINES_REGISTRATION_H
