//===- PackedCall.h - Calls with packed arguments -----*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_PACKEDCALL_H
#define CONVERSION_PACKEDCALL_H

#include "Runtime/HostImports.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::tessera {

/// The name of the packed function of `name`.
inline std::string getPackedName(StringRef name) {
  return (::tessera::runtime::packedPrefix + name).str();
}

/// Loads the first `count` arguments of `function` from an array of pointers to
/// them.
inline SmallVector<Value> unpackArguments(OpBuilder &builder, Location loc,
                                          LLVM::LLVMFuncOp function,
                                          Value array, unsigned count) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < count; ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
    arguments.push_back(LLVM::LoadOp::create(
        builder, loc, function.getFunctionType().getParamType(i), address));
  }
  return arguments;
}

} // namespace mlir::tessera

#endif // CONVERSION_PACKEDCALL_H
