//===- EntrySignature.h - What an entry takes and gives ---------*- C++ -*-===//
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

/// Fills in everything but `mayWrite`. False for a type whose values cannot be
/// handed over: an entry takes and gives ranked tensors, memrefs and scalars.
/// `why` then says more, where there is more to say.
bool describeSlot(Type type, runtime::Slot &slot, std::string &why);

/// Whether a program may write a memref argument of one of its functions. An
/// operation that is not known to leave it alone counts as writing it.
bool mayWrite(Value buffer);

/// Absent if the function takes or gives what cannot be handed over.
std::optional<runtime::Signature> describeEntry(func::FuncOp function);

} // namespace mlir::tessera

#endif // DRIVER_ENTRYSIGNATURE_H
