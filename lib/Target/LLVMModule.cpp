//===- LLVMModule.cpp - Translation and optimization ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Target/Backend.h"
#include "Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace mlir::tessera;

// Not by std::call_once, whose thread-local variables of libstdc++'s take room
// of a kind that a library loaded later may not get ("static TLS").
void mlir::tessera::registerBackEnd(bool &isRegistered,
                                    llvm::function_ref<void()> initialize) {
  static std::mutex one;
  std::lock_guard<std::mutex> lock(one);
  if (!isRegistered)
    initialize();
  isRegistered = true;
}

std::unique_ptr<llvm::TargetMachine>
mlir::tessera::createMachine(ModuleOp module, llvm::StringRef backEnd,
                             const llvm::Triple &triple, const Chip &chip,
                             llvm::StringRef features,
                             std::optional<llvm::Reloc::Model> relocation) {
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError() << "LLVM has no " << backEnd << " back end: " << error;
    return nullptr;
  }
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, features, llvm::TargetOptions(), relocation,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    module.emitError() << "LLVM does not support " << chip.name;
  return machine;
}

/// Whether a launch, or the driver, finds a function by its name.
static bool isKernel(Operation *op) {
  if (op->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
      op->hasAttr(TesseraDialect::KernelAttrHelper::getNameStr()))
    return true;
  return llvm::any_of(getBackends(), [&](const TargetBackend *backend) {
    StringRef name = backend->getKernelAttribute();
    return !name.empty() && op->hasAttr(name);
  });
}

/// Renames the functions of each `gpu.module` that other functions of it call,
/// so that no two modules have one of the same name. Outlining copies a
/// function to the module of each kernel that calls it.
static void renameCallees(ModuleOp module) {
  llvm::StringSet<> taken;
  auto visit =
      [&](llvm::function_ref<void(gpu::GPUModuleOp, LLVM::LLVMFuncOp)> action) {
        for (auto kernels : module.getOps<gpu::GPUModuleOp>())
          for (auto function :
               llvm::to_vector(kernels.getOps<LLVM::LLVMFuncOp>()))
            action(kernels, function);
      };
  visit([&](gpu::GPUModuleOp, LLVM::LLVMFuncOp function) {
    if (function.isExternal() || isKernel(function))
      taken.insert(function.getName());
  });
  visit([&](gpu::GPUModuleOp kernels, LLVM::LLVMFuncOp function) {
    if (function.isExternal() || isKernel(function))
      return;
    // PTX takes any name of an internal function.
    function.setLinkage(LLVM::Linkage::Internal);
    std::string name = function.getName().str();
    for (unsigned i = 1; !taken.insert(name).second; ++i)
      name = (function.getName() + "_" + Twine(i)).str();
    auto attribute = StringAttr::get(module.getContext(), name);
    if (name == function.getName() ||
        failed(SymbolTable::replaceAllSymbolUses(function.getOperation(),
                                                 attribute, kernels)))
      return;
    function.setName(name);
  });
}

FailureOr<OwningOpRef<ModuleOp>> mlir::tessera::gatherKernels(ModuleOp module) {
  renameCallees(module);
  OwningOpRef<ModuleOp> gathered = ModuleOp::create(module.getLoc());
  llvm::StringMap<Operation *> seen;
  Block *body = gathered->getBody();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (!symbol)
        continue;
      Operation *&first = seen[symbol.getName()];
      if (!first) {
        op.moveBefore(body, body->end());
        first = &op;
        continue;
      }
      // Declarations, and the one array that dynamic memory is, are shared.
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      if ((function && function.isExternal()) || isa<LLVM::GlobalOp>(op))
        continue;
      InFlightDiagnostic diag = op.emitError()
                                << "duplicate kernel name '" << symbol.getName()
                                << "'; rename one";
      diag.attachNote(first->getLoc()) << "first kernel of that name is here";
      return diag;
    }
  }
  return gathered;
}

FailureOr<OwningOpRef<ModuleOp>>
mlir::tessera::gatherGpuKernels(ModuleOp module) {
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherKernels(module);
  if (failed(kernels))
    return failure();
  for (auto global : (*kernels)->getOps<LLVM::GlobalOp>()) {
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    if (global.getAddrSpace() == 3 && array && array.getNumElements() == 0) {
      global.setLinkage(LLVM::Linkage::External);
      // Aligned for every access there is.
      global.setAlignment(128);
    }
  }
  return kernels;
}

std::optional<llvm::Intrinsic::ID>
mlir::tessera::findMathIntrinsic(llvm::StringRef name) {
  static const std::pair<StringRef, llvm::Intrinsic::ID> functions[] = {
      {"fabs", llvm::Intrinsic::fabs},
      {"ceil", llvm::Intrinsic::ceil},
      {"floor", llvm::Intrinsic::floor},
      {"trunc", llvm::Intrinsic::trunc},
      {"rint", llvm::Intrinsic::roundeven},
      {"round", llvm::Intrinsic::round},
      {"sqrt", llvm::Intrinsic::sqrt},
      {"fma", llvm::Intrinsic::fma},
      {"fmax", llvm::Intrinsic::maxnum},
      {"fmin", llvm::Intrinsic::minnum},
      {"copysign", llvm::Intrinsic::copysign},
  };
  const auto *found = llvm::find_if(
      functions, [&](const auto &entry) { return entry.first == name; });
  if (found == std::end(functions))
    return std::nullopt;
  return found->second;
}

/// An intrinsic that back ends of this kind do not have, at which LLVM would
/// end the process; empty if there is none.
static llvm::StringRef findForeignIntrinsic(const llvm::Module &module,
                                            const llvm::Triple &triple) {
  llvm::StringRef own = llvm::Triple::getArchTypePrefix(triple.getArch());
  for (const llvm::Function &function : module) {
    llvm::StringRef name = function.getName();
    if (function.isTargetIntrinsic() && name.consume_front("llvm.") &&
        name.take_until([](char c) { return c == '.'; }) != own)
      return function.getName();
  }
  return "";
}

LogicalResult mlir::tessera::translate(ModuleOp module, IRModule &code,
                                       llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, code.getContext(), "tessera");
  if (!result)
    return failure();
  llvm::StringRef foreign =
      findForeignIntrinsic(*result, machine.getTargetTriple());
  if (!foreign.empty())
    return module.emitError()
           << "the program contains an instruction of another target than "
           << machine.getTargetTriple().getArchName() << ", '" << foreign
           << "'; compile the program for that target";
  result->setDataLayout(machine.createDataLayout());
  result->setTargetTriple(machine.getTargetTriple());
  code.set(std::move(result), module);
  return success();
}

InFlightDiagnostic mlir::tessera::emitErrorAtCall(ModuleOp module,
                                                  StringRef name) {
  Operation *origin = module;
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() != name)
      return WalkResult::advance();
    origin = call;
    return WalkResult::interrupt();
  });
  return origin->emitError();
}

LogicalResult
mlir::tessera::translateAndOptimize(ModuleOp module, IRModule &code,
                                    llvm::TargetMachine &machine) {
  return failure(failed(translate(module, code, machine)) ||
                 failed(code.optimize(machine)));
}
