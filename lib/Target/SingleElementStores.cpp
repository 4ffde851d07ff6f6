//===- SingleElementStores.cpp - Masked stores of one element -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleElementStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <optional>

/// The only element that `mask` selects; none if it is not constant or selects
/// another number of elements.
static std::optional<unsigned> findOnlyElement(llvm::Value *mask) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> only;
  for (unsigned index = 0; index < type->getNumElements(); ++index) {
    llvm::Constant *bit = constant->getAggregateElement(index);
    if (!bit || !(bit->isNullValue() || bit->isOneValue()))
      return std::nullopt;
    if (bit->isNullValue())
      continue;
    if (only)
      return std::nullopt;
    only = index;
  }
  return only;
}

void mlir::tessera::expandSingleElementStores(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      llvm::Value *value = store->getArgOperand(0),
                  *pointer = store->getArgOperand(1),
                  *mask = store->getArgOperand(2);
      std::optional<unsigned> index = findOnlyElement(mask);
      llvm::Type *element =
          llvm::cast<llvm::VectorType>(value->getType())->getElementType();
      // The elements of a vector of less than bytes have no addresses.
      if (!index || element->getPrimitiveSizeInBits() % 8 != 0)
        continue;
      llvm::IRBuilder<> builder(store);
      uint64_t bytes = element->getPrimitiveSizeInBits() / 8;
      llvm::Align align = llvm::commonAlignment(
          store->getParamAlign(1).valueOrOne(), *index * bytes);
      builder.CreateAlignedStore(
          builder.CreateExtractElement(value, *index),
          builder.CreateConstInBoundsGEP1_64(element, pointer, *index), align);
      store->eraseFromParent();
    }
}
