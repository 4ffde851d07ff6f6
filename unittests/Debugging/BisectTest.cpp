//===- BisectTest.cpp - Cutting programs ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/Bisect.h"
#include "../Report/ProgramTest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace tessera::execution;

namespace {

class BisectTest : public ProgramTest {
protected:
  void begin(llvm::StringRef source) {
    program.entry = parse(source);
    program.module = *module;
    program.arguments.resize(program.entry.arguments.size());
    bisection.emplace(options, base, other, program, /*guard=*/nullptr);
  }

  /// The entry point of a cut.
  mlir::func::FuncOp getEntry(const Cut &cut) {
    return cut.program.entry.function;
  }

  ProgramOptions options;
  DiffSide base, other;
  DiffProgram program;
  std::optional<Bisection> bisection;
};

const char *const chain = R"(
func.func private @unused(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %x : tensor<4x6xf32>
}
func.func @main(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>)
      outs(%init : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.add ins(%0, %c : tensor<4x6xf32>, tensor<4x6xf32>)
      outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = linalg.exp ins(%1 : tensor<4x6xf32>) outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
})";

TEST_F(BisectTest, CandidatesComputeSomething) {
  begin(chain);
  // fill, matmul, add, exp: neither the constant nor tensor.empty.
  ASSERT_EQ(bisection->ops.size(), 4u);
  EXPECT_TRUE(mlir::isa<mlir::linalg::FillOp>(bisection->ops[0]));
  EXPECT_TRUE(mlir::isa<mlir::linalg::MatmulOp>(bisection->ops[1]));
  EXPECT_TRUE(mlir::isa<mlir::linalg::ExpOp>(bisection->ops[3]));
}

TEST_F(BisectTest, CutEndsWithTheOp) {
  begin(chain);
  std::optional<Cut> cut = bisection->cut(1, /*isAlone=*/false);
  ASSERT_TRUE(cut);
  mlir::func::FuncOp entry = getEntry(*cut);
  mlir::Operation *end = entry.getBody().front().getTerminator();
  ASSERT_EQ(end->getNumOperands(), 1u);
  EXPECT_TRUE(end->getOperand(0).getDefiningOp<mlir::linalg::MatmulOp>());
  // The third argument and the other function are not needed.
  EXPECT_EQ(entry.getNumArguments(), 2u);
  EXPECT_FALSE(cut->module->lookupSymbol("unused"));
  // Arguments keep the contents that they had by their position.
  EXPECT_EQ(cut->arguments, (std::vector<std::string>{"int:0", "int:1"}));
  EXPECT_EQ(cut->program.arguments.size(), 2u);
  EXPECT_EQ(cut->program.arguments[1].shape, (std::vector<int64_t>{5, 6}));
}

TEST_F(BisectTest, AloneTakesProducersAsArguments) {
  begin(chain);
  std::optional<Cut> cut = bisection->cut(2, /*isAlone=*/true);
  ASSERT_TRUE(cut);
  mlir::func::FuncOp entry = getEntry(*cut);
  entry.walk([](mlir::linalg::MatmulOp) { FAIL() << "it is not part of it"; });
  EXPECT_EQ(entry.getNumArguments(), 2u);
  EXPECT_EQ(cut->arguments, (std::vector<std::string>{"int:2", "random:3"}));
  auto add = entry.getBody()
                 .front()
                 .getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<mlir::linalg::AddOp>();
  ASSERT_TRUE(add);
  EXPECT_EQ(add.getDpsInputOperand(0)->get(), entry.getArgument(1));
  EXPECT_EQ(add.getDpsInputOperand(1)->get(), entry.getArgument(0));
}

TEST_F(BisectTest, KeepsArgumentsOfTheCommandLine) {
  options.arguments = {"zeros", "random"};
  begin(chain);
  std::optional<Cut> cut = bisection->cut(2, /*isAlone=*/false);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->arguments,
            (std::vector<std::string>{"zeros", "random:1", "int:2"}));
}

TEST_F(BisectTest, ReturnsWrittenBuffers) {
  begin(R"(
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
  %t = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%t : memref<4xf32>)
  linalg.log ins(%t : memref<4xf32>) outs(%b : memref<4xf32>)
  return
})");
  ASSERT_EQ(bisection->ops.size(), 2u);
  std::optional<Cut> cut = bisection->cut(0, /*isAlone=*/false);
  ASSERT_TRUE(cut);
  mlir::Operation *end = getEntry(*cut).getBody().front().getTerminator();
  ASSERT_EQ(end->getNumOperands(), 1u);
  EXPECT_TRUE(end->getOperand(0).getDefiningOp());
  EXPECT_EQ(getEntry(*cut).getNumArguments(), 1u);
}

} // namespace
