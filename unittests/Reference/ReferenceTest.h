//===- ReferenceTest.h - Running small programs -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_REFERENCE_REFERENCETEST_H
#define UNITTESTS_REFERENCE_REFERENCETEST_H

#include "Reference/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

namespace mlir::tessera::reference {

class ReferenceTest : public ::testing::Test {
protected:
  ReferenceTest();

  /// Parses a module and finds its function @main.
  func::FuncOp parse(StringRef source);
  /// Parses and runs it; a failure to parse fails the test.
  Outcome runSource(StringRef source, MutableArrayRef<Array> arguments,
                    const Options &options = {});

  Type f16() { return Float16Type::get(&context); }
  Type bf16() { return BFloat16Type::get(&context); }
  Type f32() { return Float32Type::get(&context); }
  Type f64() { return Float64Type::get(&context); }
  Type i8() { return IntegerType::get(&context, 8); }
  Type i32() { return IntegerType::get(&context, 32); }
  Type index() { return IndexType::get(&context); }

  std::string moduleText();

  /// Elements that follow no simple pattern: small integers, or fractions.
  Array integers(Type type, ArrayRef<int64_t> shape, unsigned seed = 1,
                 int64_t low = -3, int64_t high = 3);
  Array fractions(Type type, ArrayRef<int64_t> shape, unsigned seed = 1);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  /// The diagnostics emitted since the last run.
  std::string diagnostics;
};

/// sum over k of a[i][k] * b[k][j], with strides of the caller's choice.
double dot(const Array &a, int64_t aStart, int64_t aStride, const Array &b,
           int64_t bStart, int64_t bStride, int64_t length);

} // namespace mlir::tessera::reference

#endif // UNITTESTS_REFERENCE_REFERENCETEST_H
