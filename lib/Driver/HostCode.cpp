//===- HostCode.cpp - Code that runs in this process ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"

#include "NativeCode.h"
#include "Runtime/HostImports.h"
#include "Target/SplitModule.h"
#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// Whether the code of a function branches back: to a block of its own or to
/// one before it.
static bool hasLoop(LLVM::LLVMFuncOp function) {
  llvm::DenseSet<Block *> seen;
  for (Block &block : function.getBody()) {
    seen.insert(&block);
    for (Block *next : block.getSuccessors())
      if (seen.contains(next))
        return true;
  }
  return false;
}

FailureOr<std::string> HostCode::compile(ModuleOp module, bool runsOnce) const {
  // A machine belongs to one thread at a time.
  std::unique_ptr<llvm::TargetMachine> own =
      createCPUMachine(*chip, isPortable);
  IRModule code(module);
  if (failed(translate(module, code, *own)) ||
      failed(code.optimize(*own, runsOnce)))
    return failure();
  return code.emit(*own, llvm::CodeGenFileType::ObjectFile);
}

LogicalResult HostCode::add(ModuleOp module, bool areKernels) {
  if (failed(checkNativeCode(module, *chip)))
    return failure();
  isolateNames(module);
  // Functions that launch kernels are long and compute little. Without loops
  // they would take longer to optimize than optimization saves.
  bool runsOnce =
      !areKernels && llvm::none_of(module.getOps<LLVM::LLVMFuncOp>(), hasLoop);
  constexpr size_t leastDefinitions = 16;
  MLIRContext *context = module.getContext();
  SmallVector<OwningOpRef<ModuleOp>> parts =
      splitModule(module,
                  context->isMultithreadingEnabled()
                      ? std::max(context->getNumThreads(), 1u)
                      : 1,
                  leastDefinitions);
  std::vector<std::string> made;
  if (parts.empty()) {
    FailureOr<std::string> object = compile(module, runsOnce);
    if (failed(object))
      return failure();
    made.push_back(std::move(*object));
  } else {
    FailureOr<std::vector<std::string>> compiled = compileParts(
        parts, [&](ModuleOp part) { return compile(part, runsOnce); });
    if (failed(compiled))
      return failure();
    made = std::move(*compiled);
  }
  for (std::string &object : made) {
    std::string why;
    if (!addObject(std::move(object), why))
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
