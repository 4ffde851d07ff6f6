//===- PtxasDefects.cpp - Code that ptxas compiles wrongly ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxasDefects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

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

/// A zero that ptxas does not know: a product of two numbers that follow each
/// other is even. It does know that a lane's number is less than 32. As
/// assembly, since LLVM would find the zero.
static llvm::Value *emitHiddenZero(llvm::IRBuilder<> &builder) {
  auto *zero = llvm::InlineAsm::get(
      llvm::FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/false),
      "{ .reg .b32 a, b; mov.u32 a, %laneid; add.u32 b, a, 1; "
      "mul.lo.u32 a, a, b; and.b32 $0, a, 1; }",
      "=r", /*hasSideEffects=*/false);
  return builder.CreateCall(zero);
}

/// Whether code generation may find that elements of a value are constant: it
/// follows each element of a vector through branches, which LLVM's optimizer
/// does not.
static bool hasConstants(llvm::Value *value,
                         llvm::SmallPtrSetImpl<llvm::Value *> &seen) {
  if (llvm::isa<llvm::Constant>(value))
    return !llvm::isa<llvm::UndefValue>(value);
  if (!seen.insert(value).second ||
      !llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst,
                 llvm::ShuffleVectorInst, llvm::BitCastInst, llvm::SelectInst,
                 llvm::PHINode, llvm::FreezeInst>(value))
    return false;
  auto *op = llvm::cast<llvm::Instruction>(value);
  // Without the number of an element and the condition.
  unsigned first = llvm::isa<llvm::SelectInst>(op) ? 1 : 0,
           end = llvm::isa<llvm::ExtractElementInst>(op) ? 1
                 : llvm::isa<llvm::InsertElementInst>(op)
                     ? 2
                     : op->getNumOperands();
  for (unsigned index = first; index < end; ++index)
    if (hasConstants(op->getOperand(index), seen))
      return true;
  return false;
}

/// Adds a zero that ptxas does not know to operands of mma.sync of 8-bit floats
/// that may be constant. Chips without that instruction (sm_90, sm_100) execute
/// two of f16, for which ptxas of CUDA 13.0 converts the halves of each
/// operand. If it finds late that one is constant, it makes another number of
/// its upper half: 0x50 or 8 for 0.
static void hideConstantOperands(llvm::Module &module) {
  for (llvm::Function &function : module) {
    llvm::Value *zero = nullptr;
    for (llvm::Instruction &op : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
      if (!call || !isByteFloatMma(*call))
        continue;
      // The last operands are the accumulators, which are not converted.
      auto *sums = llvm::dyn_cast<llvm::StructType>(call->getType());
      unsigned count = call->arg_size() - (sums ? sums->getNumElements() : 1);
      for (unsigned index = 0; index < count; ++index) {
        llvm::Use &use = call->getArgOperandUse(index);
        llvm::SmallPtrSet<llvm::Value *, 16> seen;
        if (!hasConstants(use, seen))
          continue;
        if (!zero) {
          llvm::IRBuilder<> builder(&*function.getEntryBlock().begin());
          zero = emitHiddenZero(builder);
        }
        use.set(llvm::IRBuilder<>(call).CreateOr(use, zero));
      }
    }
  }
}

void mlir::tessera::avoidPtxasDefects(llvm::Module &module) {
  hideNegations(module);
  hideConstantOperands(module);
}
