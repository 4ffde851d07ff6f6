//===- BufferizableOpInterfaceImpl.h - Tensors to memrefs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define DIALECT_TESSERA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tessera {

/// Registers the bufferization of `tessera.contract` and `tessera.attention`.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
