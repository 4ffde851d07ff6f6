//===- PtxRegisters.h - Vectors of a lane as PTX's registers ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_PTXREGISTERS_H
#define CONVERSION_TESSERATONVVM_PTXREGISTERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tessera {

/// The suffix by which instructions name an element type ("s8", "e4m3"), given
/// its MLIR name.
llvm::StringRef getPtxType(llvm::StringRef type, bool isUnsigned, bool tf32);

/// A lane's vector as the registers of an instruction: 32-bit words, or whole
/// f64 and accumulator elements; f32 is rounded to tf32 if requested.
SmallVector<Value> unpackRegisters(OpBuilder &builder, Location loc,
                                   Value vector, bool tf32);

/// The vector that `count` of the `total` results of inline assembly hold, from
/// `first` on. `results` is a struct of them, or the only one.
Value packRegisters(OpBuilder &builder, Location loc, Value results,
                    int64_t count, VectorType type, int64_t first,
                    int64_t total);

/// Emits inline assembly whose operands $0 and on are `updated`, which it reads
/// and writes, followed by `operands`. Returns the new values, as a struct if
/// there are several and null if there are none. `touchesMemory`: it has other
/// side effects, and is not moved. `overwrites`: it does not read the updated
/// registers.
Value emitAssembly(OpBuilder &builder, Location loc, StringRef text,
                   ValueRange operands, ValueRange updated, bool touchesMemory,
                   bool overwrites = false);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_PTXREGISTERS_H
