//===- SplitModule.cpp - Parts of a module that compile alone -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether a function or a variable is defined in the module.
static bool isDefinition(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return !function.isExternal();
  auto global = cast<LLVM::GlobalOp>(op);
  return global.getValueOrNull() || !global.getInitializerRegion().empty();
}

SmallVector<OwningOpRef<ModuleOp>>
mlir::tessera::splitModule(ModuleOp module, size_t most,
                           size_t leastDefinitions) {
  llvm::MapVector<StringAttr, Operation *> symbols;
  llvm::EquivalenceClasses<Operation *> related;
  for (Operation &op : *module.getBody()) {
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      return {};
    symbols[SymbolTable::getSymbolName(&op)] = &op;
    if (isDefinition(&op))
      related.insert(&op);
  }
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> uses;
  for (auto [name, op] : symbols) {
    std::optional<SymbolTable::UseRange> found = SymbolTable::getSymbolUses(op);
    if (!found)
      return {};
    for (SymbolTable::SymbolUse use : *found)
      if (Operation *used =
              symbols.lookup(use.getSymbolRef().getRootReference())) {
        uses[op].insert(used);
        if (isDefinition(op) && isDefinition(used))
          related.unionSets(op, used);
      }
  }
  // In the order of the module, so that equal programs have equal parts.
  llvm::MapVector<Operation *, SmallVector<Operation *>> groups;
  llvm::DenseMap<Operation *, size_t> sizes;
  size_t total = 0;
  for (auto [name, op] : symbols)
    if (isDefinition(op)) {
      Operation *leader = *related.findLeader(op);
      groups[leader].push_back(op);
      op->walk([&](Operation *) { ++sizes[leader]; });
    }
  for (const auto &[leader, group] : groups)
    total += sizes[leader];
  if (most == 1 || groups.size() < leastDefinitions)
    return {};
  SmallVector<OwningOpRef<ModuleOp>> parts;
  size_t size = 0;
  llvm::DenseSet<Operation *> declared;
  for (const auto &[leader, group] : groups) {
    if (parts.empty() || most == 0 || size * most >= total) {
      parts.push_back(ModuleOp::create(module.getLoc()));
      parts.back()->getOperation()->setAttrs(module->getAttrDictionary());
      size = 0;
      declared.clear();
    }
    size += sizes[leader];
    Block *body = parts.back()->getBody();
    for (Operation *op : group) {
      for (Operation *used : uses[op])
        if (!isDefinition(used) && declared.insert(used).second)
          OpBuilder::atBlockBegin(body).clone(*used);
      op->moveBefore(body, body->end());
    }
  }
  return parts;
}

FailureOr<std::vector<std::string>> mlir::tessera::compileParts(
    ArrayRef<OwningOpRef<ModuleOp>> parts,
    llvm::function_ref<FailureOr<std::string>(ModuleOp)> compile) {
  std::vector<FailureOr<std::string>> made(parts.size());
  if (parts.empty())
    return std::vector<std::string>();
  MLIRContext *context = parts.front().get().getContext();
  ParallelDiagnosticHandler ordered(context);
  parallelFor(context, 0, parts.size(), [&](size_t index) {
    ordered.setOrderIDForThread(index);
    made[index] = compile(parts[index].get());
    ordered.eraseOrderIDForThread();
  });
  std::vector<std::string> results;
  for (FailureOr<std::string> &part : made) {
    if (failed(part))
      return failure();
    results.push_back(std::move(*part));
  }
  return results;
}
