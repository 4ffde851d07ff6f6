//===- Reductions.cpp - The steps of reductions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::reference;

static bool maximumSigned(const Elementwise &, const Number *in, Number &out,
                          Run &) {
  out = in[0].i >= in[1].i ? in[0] : in[1];
  return true;
}

static bool minimumSigned(const Elementwise &, const Number *in, Number &out,
                          Run &) {
  out = in[0].i <= in[1].i ? in[0] : in[1];
  return true;
}

// Integers are kept sign-extended, which leaves the order of the bits as it is.

static bool maximumUnsigned(const Elementwise &, const Number *in, Number &out,
                            Run &) {
  out = static_cast<uint64_t>(in[0].i) >= static_cast<uint64_t>(in[1].i)
            ? in[0]
            : in[1];
  return true;
}

static bool minimumUnsigned(const Elementwise &, const Number *in, Number &out,
                            Run &) {
  out = static_cast<uint64_t>(in[0].i) <= static_cast<uint64_t>(in[1].i)
            ? in[0]
            : in[1];
  return true;
}

Elementwise::Function
tessera::reference::getReductionFunction(ReductionKind kind, bool isFloat) {
  switch (kind) {
  case ReductionKind::Add:
    return isFloat ? addFloats : addIntegers;
  case ReductionKind::Mul:
    return isFloat ? multiplyFloats : multiplyIntegers;
  case ReductionKind::Max:
    return isFloat ? maximumFloat : maximumSigned;
  case ReductionKind::Min:
    return isFloat ? minimumFloat : minimumSigned;
  case ReductionKind::MaxNum:
    return maximumNumber;
  case ReductionKind::MinNum:
    return minimumNumber;
  case ReductionKind::MaxU:
    return maximumUnsigned;
  case ReductionKind::MinU:
    return minimumUnsigned;
  }
  return nullptr;
}
