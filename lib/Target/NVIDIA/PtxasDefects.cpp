//===- PtxasDefects.cpp - Code that ptxas compiles wrongly ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxasDefects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace mlir;
using llvm::StringRef;

/// Whether the function takes a minimum or a maximum of 32-bit integers.
static bool hasExtremes(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](const auto &op) {
    return llvm::isa<llvm::MinMaxIntrinsic>(op) &&
           op.getType()->getScalarSizeInBits() == 32;
  });
}

/// Writes -x as ~x + 1 in functions with minima and maxima. ptxas of CUDA 13.0
/// joins two maxima of which one takes a negated number to one of three
/// numbers (VIMNMX3, from sm_90 on), and forgets the negation.
static void hideNegations(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!hasExtremes(function))
      continue;
    for (llvm::Instruction &op :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      using namespace llvm::PatternMatch;
      llvm::Value *x;
      if (op.getType()->getScalarSizeInBits() != 32 ||
          !match(&op, m_Neg(m_Value(x))))
        continue;
      llvm::IRBuilder<> builder(&op);
      llvm::Type *i32 = builder.getInt32Ty();
      // As assembly, since LLVM would make the same negation of it again.
      auto *complement = llvm::InlineAsm::get(
          llvm::FunctionType::get(i32, {i32}, /*isVarArg=*/false),
          "not.b32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
      auto negate = [&](llvm::Value *value) {
        return builder.CreateAdd(builder.CreateCall(complement, {value}),
                                 builder.getInt32(1));
      };
      llvm::Value *result;
      if (auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType())) {
        result = llvm::PoisonValue::get(type);
        for (unsigned index = 0; index < type->getNumElements(); ++index)
          result = builder.CreateInsertElement(
              result, negate(builder.CreateExtractElement(x, index)), index);
      } else {
        result = negate(x);
      }
      op.replaceAllUsesWith(result);
      op.eraseFromParent();
    }
  }
}

/// Whether the instruction is mma.sync of 8-bit floats, as assembly.
static bool isByteFloatMma(const llvm::CallInst &call) {
  if (!call.isInlineAsm())
    return false;
  StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  return text.starts_with("mma.sync") &&
         (text.contains(".e4m3") || text.contains(".e5m2"));
}

/// Adds a zero that ptxas does not know to constant operands of mma.sync of
/// 8-bit floats. Chips without that instruction (sm_90, sm_100) execute two of
/// f16, for which ptxas of CUDA 13.0 converts the halves of each operand; of a
/// constant's upper half it makes another number: 0x50 for 0.
static void hideConstantOperands(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
      if (!call || !isByteFloatMma(*call))
        continue;
      // The last operands are the accumulators, which are not converted.
      auto *sums = llvm::dyn_cast<llvm::StructType>(call->getType());
      unsigned count = call->arg_size() - (sums ? sums->getNumElements() : 1);
      for (unsigned index = 0; index < count; ++index) {
        // Code generation finds constants that are elements of vectors.
        llvm::Use &use = call->getArgOperandUse(index);
        if (!llvm::computeKnownBits(use, module.getDataLayout()).isConstant())
          continue;
        llvm::IRBuilder<> builder(call);
        // A lane's number is less than 32. As assembly, since LLVM knows it.
        auto *zero = llvm::InlineAsm::get(
            llvm::FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/false),
            "{ .reg .b32 lane; mov.u32 lane, %laneid; shr.u32 $0, lane, 5; }",
            "=r", /*hasSideEffects=*/false);
        use.set(builder.CreateOr(use, builder.CreateCall(zero)));
      }
    }
}

void mlir::tessera::avoidPtxasDefects(llvm::Module &module) {
  hideNegations(module);
  hideConstantOperands(module);
}
