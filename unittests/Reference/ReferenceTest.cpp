//===- ReferenceTest.cpp - Running small programs -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTest.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"

#include <random>

using namespace mlir;
using namespace mlir::tessera::reference;

ReferenceTest::ReferenceTest() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<tessera::TesseraDialect>();
  context.appendDialectRegistry(registry);
}

func::FuncOp ReferenceTest::parse(StringRef source) {
  module = parseSourceString<ModuleOp>(source, &context);
  return module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
}

Outcome ReferenceTest::runSource(StringRef source,
                                 MutableArrayRef<Array> arguments,
                                 const Options &options) {
  func::FuncOp entry = parse(source);
  EXPECT_TRUE(entry);
  if (!entry) {
    Outcome bad;
    bad.status = Status::Failed;
    return bad;
  }
  diagnostics.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  return run(entry, arguments, options);
}

std::string ReferenceTest::moduleText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

Array ReferenceTest::integers(Type type, ArrayRef<int64_t> shape, unsigned seed,
                              int64_t low, int64_t high) {
  Array array = Array::zeros(type, shape);
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> distribution(low, high);
  for (int64_t i = 0; i < array.getNumElements(); ++i) {
    int64_t value = distribution(generator);
    if (array.isFloat())
      array.floats()[i] = static_cast<double>(value);
    else
      array.integers()[i] = value;
  }
  return array;
}

Array ReferenceTest::fractions(Type type, ArrayRef<int64_t> shape,
                               unsigned seed) {
  Array array = Array::zeros(type, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (double &value : array.floats())
    value = distribution(generator);
  // As numbers of the type.
  return *Array::decode(type, shape, *array.encode());
}

double tessera::reference::dot(const Array &a, int64_t aStart, int64_t aStride,
                               const Array &b, int64_t bStart, int64_t bStride,
                               int64_t length) {
  double sum = 0;
  for (int64_t k = 0; k < length; ++k)
    sum +=
        a.getDouble(aStart + k * aStride) * b.getDouble(bStart + k * bStride);
  return sum;
}
