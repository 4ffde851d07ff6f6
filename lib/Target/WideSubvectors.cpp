//===- WideSubvectors.cpp - Parts of vectors as wide integers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WideSubvectors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include <numeric>

void mlir::tessera::expandWideSubvectors(llvm::Module &module) {
  const llvm::DataLayout &layout = module.getDataLayout();
  if (!layout.isLittleEndian())
    return;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *part = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      auto *type = part ? llvm::dyn_cast<llvm::FixedVectorType>(part->getType())
                        : nullptr;
      if (!type || !part->getSrcTy()->isIntegerTy() ||
          layout.fitsInLegalInteger(part->getSrcTy()->getIntegerBitWidth()))
        continue;
      auto *element =
          llvm::dyn_cast<llvm::ExtractElementInst>(part->getOperand(0));
      auto *index =
          element
              ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand())
              : nullptr;
      auto *whole =
          element
              ? llvm::dyn_cast<llvm::BitCastInst>(element->getVectorOperand())
              : nullptr;
      auto *source =
          whole ? llvm::dyn_cast<llvm::FixedVectorType>(whole->getSrcTy())
                : nullptr;
      if (!index || !source ||
          source->getElementType() != type->getElementType())
        continue;
      unsigned count = type->getNumElements();
      // An index that is too large gives poison.
      if (index->getValue().uge(source->getNumElements() / count))
        continue;
      llvm::SmallVector<int> mask(count);
      std::iota(mask.begin(), mask.end(),
                static_cast<int>(index->getZExtValue() * count));
      llvm::IRBuilder<> builder(part);
      part->replaceAllUsesWith(
          builder.CreateShuffleVector(whole->getOperand(0), mask));
      part->eraseFromParent();
    }
}
