//===- HostCode.cpp - Code that runs in this process ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"

#include "NativeCode.h"
#include "Runtime/HostImports.h"
#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::tessera;

static llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::ExecutionSession &es) {
  llvm::orc::SymbolMap symbols;
  for (const auto &[name, address] : ::tessera::runtime::listHostImports())
    symbols[es.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                llvm::JITSymbolFlags::Exported |
                                    llvm::JITSymbolFlags::Callable};
  return symbols;
}

//===----------------------------------------------------------------------===//
// HostCode
//===----------------------------------------------------------------------===//

std::unique_ptr<HostCode> HostCode::create(const Chip &chip, bool isPortable,
                                           std::string &why) {
  auto result = std::make_unique<HostCode>();
  result->chip = &chip;
  result->isPortable = isPortable;
  result->machine = createCPUMachine(chip, isPortable);
  if (!result->machine) {
    why = "cannot generate code for " + chip.name + " on this CPU";
    return nullptr;
  }
  llvm::orc::JITTargetMachineBuilder builder(
      result->machine->getTargetTriple());
  builder.setCPU(result->machine->getTargetCPU().str());
  builder.addFeatures(
      llvm::SubtargetFeatures(result->machine->getTargetFeatureString())
          .getFeatures());
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(builder))
                 // The process has more functions than programs may call.
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit) {
    why = "cannot set up code generation: " + llvm::toString(jit.takeError());
    return nullptr;
  }
  result->jit = std::move(*jit);
  // ORC prints errors by default.
  result->jit->getExecutionSession().setErrorReporter(
      [why = result->linkError](llvm::Error error) {
        *why += (why->empty() ? "" : "; ") + llvm::toString(std::move(error));
      });
  if (llvm::Error error =
          result->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(
              getRuntimeSymbols(result->jit->getExecutionSession())))) {
    why = llvm::toString(std::move(error));
    return nullptr;
  }
  return result;
}

/// Whether a function or a variable is defined in the module.
static bool isDefinition(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return !function.isExternal();
  auto global = cast<LLVM::GlobalOp>(op);
  return global.getValueOrNull() || !global.getInitializerRegion().empty();
}

/// Moves definitions of the module to others, so that none refers to one of
/// another part and the parts have about the same number of ops. Each part has
/// the declarations that it needs. Empty if the module has too few definitions,
/// or others than functions and variables.
static SmallVector<OwningOpRef<ModuleOp>> split(ModuleOp module) {
  constexpr size_t leastDefinitions = 16;
  MLIRContext *context = module.getContext();
  size_t most =
      context->isMultithreadingEnabled() ? context->getNumThreads() : 1;
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
  if (most < 2 || groups.size() < leastDefinitions)
    return {};
  SmallVector<OwningOpRef<ModuleOp>> parts;
  size_t size = 0;
  llvm::DenseSet<Operation *> declared;
  for (const auto &[leader, group] : groups) {
    if (parts.empty() || size * most >= total) {
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

FailureOr<std::string> HostCode::compile(ModuleOp module) const {
  // A machine belongs to one thread at a time.
  std::unique_ptr<llvm::TargetMachine> own =
      createCPUMachine(*chip, isPortable);
  IRModule code(module);
  if (failed(translateAndOptimize(module, code, *own)))
    return failure();
  return code.emit(*own, llvm::CodeGenFileType::ObjectFile);
}

LogicalResult HostCode::add(ModuleOp module) {
  if (failed(checkNativeCode(module)))
    return failure();
  isolateNames(module);
  SmallVector<OwningOpRef<ModuleOp>> parts = split(module);
  std::vector<FailureOr<std::string>> made(std::max<size_t>(parts.size(), 1));
  if (parts.empty()) {
    made[0] = compile(module);
  } else {
    ParallelDiagnosticHandler ordered(module.getContext());
    parallelFor(module.getContext(), 0, parts.size(), [&](size_t index) {
      ordered.setOrderIDForThread(index);
      made[index] = compile(*parts[index]);
      ordered.eraseOrderIDForThread();
    });
  }
  for (FailureOr<std::string> &object : made) {
    std::string why;
    if (failed(object))
      return failure();
    if (!addObject(std::move(*object), why))
      return module.emitError() << why;
  }
  return success();
}

bool HostCode::addObject(std::string object, std::string &why) {
  why.clear();
  std::string import = findForeignImport(object, why);
  if (!import.empty())
    why = "the program needs '" + import +
          "', which the runtime does not export to programs";
  if (!why.empty())
    return false;
  if (llvm::Error error = jit->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "tessera"))) {
    why = llvm::toString(std::move(error));
    return false;
  }
  objects.push_back(std::move(object));
  return true;
}

void *HostCode::lookup(llvm::StringRef name) {
  auto address = jit->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}
