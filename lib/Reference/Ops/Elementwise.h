//===- Elementwise.h - Functions of scalars ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_ELEMENTWISE_H
#define LIB_REFERENCE_OPS_ELEMENTWISE_H

#include "../PreparedCode.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::tessera::reference {

/// A function of up to three scalars, which shaped operands apply to each
/// element.
struct Elementwise {
  using Function = bool (*)(const Elementwise &self, const Number *in,
                            Number &out, Run &run);

  Function function = nullptr;
  std::array<const Format *, 3> inputs = {};
  const Format *result = nullptr;
  /// A predicate.
  int64_t attribute = 0;
  Operation *op = nullptr;
};

/// `op` applies the function to its operands.
InstrPtr makeElementwise(Operation *op, Scope &scope,
                         Elementwise::Function function, int64_t attribute = 0);

/// Replaces the element at `address` by `element`'s function of it and `value`,
/// one thread at a time. Stores the previous value in `old`, if given.
bool updateAtomically(const Elementwise &element, const View &view,
                      int64_t address, const Number &value, Run &run,
                      Number *old = nullptr);

#define TESSERA_ELEMENTWISE(name)                                              \
  bool name(const Elementwise &self, const Number *in, Number &out, Run &run);
TESSERA_ELEMENTWISE(addFloats)
TESSERA_ELEMENTWISE(subtractFloats)
TESSERA_ELEMENTWISE(multiplyFloats)
TESSERA_ELEMENTWISE(divideFloats)
TESSERA_ELEMENTWISE(negateFloat)
TESSERA_ELEMENTWISE(fuseMultiplyAdd)
TESSERA_ELEMENTWISE(maximumFloat)
TESSERA_ELEMENTWISE(minimumFloat)
TESSERA_ELEMENTWISE(maximumNumber)
TESSERA_ELEMENTWISE(minimumNumber)
TESSERA_ELEMENTWISE(addIntegers)
TESSERA_ELEMENTWISE(subtractIntegers)
TESSERA_ELEMENTWISE(multiplyIntegers)
TESSERA_ELEMENTWISE(maximumSigned)
TESSERA_ELEMENTWISE(minimumSigned)
TESSERA_ELEMENTWISE(maximumUnsigned)
TESSERA_ELEMENTWISE(minimumUnsigned)
TESSERA_ELEMENTWISE(divideSigned)
TESSERA_ELEMENTWISE(divideUnsigned)
TESSERA_ELEMENTWISE(andIntegers)
TESSERA_ELEMENTWISE(orIntegers)
TESSERA_ELEMENTWISE(xorIntegers)
#undef TESSERA_ELEMENTWISE

/// One step of a reduction: combines two elements.
Elementwise::Function getReductionFunction(ReductionKind kind, bool isFloat);

Number truncateFloat(const Format &to, const Number &in);
Number castInteger(const Format &from, const Format &to, const Number &in,
                   bool isUnsigned);
Number integerToFloat(const Format &from, const Format &to, const Number &in,
                      bool isUnsigned);
Number floatToInteger(const Format &to, const Number &in, bool isUnsigned);

/// The elements of a constant; null where the reference has no numbers for it.
ViewRef makeDense(DenseElementsAttr elements);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_ELEMENTWISE_H
