//===- EntrySignature.h - Arguments and results of an entry ---*- C++ -*---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_ENTRYSIGNATURE_H
#define DRIVER_ENTRYSIGNATURE_H

#include "Runtime/Signature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

/// Fills in all fields except `mayWrite`. Returns false for a type whose values
/// cannot be passed: entry points support ranked tensors, memrefs and scalars.
/// `why` may then contain a more precise reason.
bool describeSlot(Type type, runtime::Slot &slot, std::string &why);

/// Whether a program may write a memref argument of one of its functions. An
/// operation that is not known to be read-only counts as writing.
bool mayWrite(Value buffer);

/// Absent if the function has an argument or a result that cannot be passed.
std::optional<runtime::Signature> describeEntry(func::FuncOp function);

} // namespace mlir::tessera

#endif // DRIVER_ENTRYSIGNATURE_H
