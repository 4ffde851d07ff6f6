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

/// Lets bufferization work on `tessera.contract`.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
