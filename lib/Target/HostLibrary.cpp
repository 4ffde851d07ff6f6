//===- HostLibrary.cpp - Host code as a shared library --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library depends on no other and asks the dynamic linker for nothing. In
// place of each function that it calls stands one of its own:
//
//   define hidden void @f(...) {
//     %address = load ptr, ptr <entry of @f in @tessera_imports>
//     musttail call void (...) %address(...)
//     ret void
//   }
//
// which forwards all registers and the stack unchanged (LLVM Language
// Reference, "call", musttail of a variadic function). The loader of the
// library fills in the table.
//
//===----------------------------------------------------------------------===//

#include "Target/ObjectSymbols.h"
#include "Target/Target.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::tessera;

/// The names that objects refer to and none of them defines.
static LogicalResult findImports(Operation *op, ArrayRef<std::string> objects,
                                 std::vector<std::string> &imports) {
  llvm::StringSet<> defined;
  llvm::SetVector<StringRef> used;
  for (const std::string &object : objects) {
    llvm::Expected<SmallVector<ObjectSymbol>> symbols = listSymbols(object);
    if (!symbols)
      return op->emitError() << "an object of the host cannot be read: "
                             << llvm::toString(symbols.takeError());
    for (const ObjectSymbol &symbol : *symbols)
      if (symbol.isUndefined)
        used.insert(symbol.name);
      else if (symbol.isGlobal)
        defined.insert(symbol.name);
  }
  for (StringRef name : used)
    if (!defined.contains(name))
      imports.push_back(name.str());
  return success();
}

/// The table, and the thunks that replace the imports.
static void buildThunks(llvm::Module &module, ArrayRef<std::string> imports) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *type = llvm::ArrayType::get(pointer, imports.size());
  auto *table = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantAggregateZero::get(type), "tessera_imports");
  auto *signature = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                            /*isVarArg=*/true);
  for (auto [index, name] : llvm::enumerate(imports)) {
    auto *thunk = llvm::Function::Create(
        signature, llvm::GlobalValue::ExternalLinkage, name, module);
    thunk->setVisibility(llvm::GlobalValue::HiddenVisibility);
    thunk->addFnAttr("thunk");
    llvm::IRBuilder<> builder(
        llvm::BasicBlock::Create(context, "entry", thunk));
    llvm::Value *address = builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP2_64(type, table, 0, index));
    llvm::CallInst *call = builder.CreateCall(signature, address);
    call->setTailCallKind(llvm::CallInst::TCK_MustTail);
    builder.CreateRetVoid();
  }
}

FailureOr<std::string>
mlir::tessera::linkHostLibrary(Operation *op, ArrayRef<std::string> objects,
                               llvm::TargetMachine &machine,
                               std::vector<std::string> &imports) {
  imports.clear();
  if (failed(findImports(op, objects, imports)))
    return failure();
  SmallVector<StringRef> all(objects.begin(), objects.end());
  FailureOr<std::string> thunks = std::string();
  if (!imports.empty()) {
    IRModule code(op);
    auto module = std::make_unique<llvm::Module>("tessera", code.getContext());
    module->setDataLayout(machine.createDataLayout());
    module->setTargetTriple(machine.getTargetTriple());
    buildThunks(*module, imports);
    code.set(std::move(module), op);
    thunks = code.emit(machine, llvm::CodeGenFileType::ObjectFile);
    if (failed(thunks))
      return failure();
    all.push_back(*thunks);
  }
  return linkShared(op, all);
}
