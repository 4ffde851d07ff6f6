//===- LLVMModule.cpp - Translation and optimization ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
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

FailureOr<OwningOpRef<ModuleOp>> mlir::tessera::gatherKernels(ModuleOp module) {
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
                                << "two kernels are called '"
                                << symbol.getName() << "'; rename one";
      diag.attachNote(first->getLoc()) << "the other is here";
      return diag;
    }
  }
  return gathered;
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

std::unique_ptr<llvm::Module>
mlir::tessera::translate(ModuleOp module, llvm::LLVMContext &context,
                         llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "tessera");
  if (!result)
    return nullptr;
  llvm::StringRef foreign =
      findForeignIntrinsic(*result, machine.getTargetTriple());
  if (!foreign.empty()) {
    module.emitError() << "the program has an instruction of another target "
                          "than "
                       << machine.getTargetTriple().getArchName() << ", '"
                       << foreign
                       << "'; compile it for the target that it was written "
                          "for";
    return nullptr;
  }
  result->setDataLayout(machine.createDataLayout());
  result->setTargetTriple(machine.getTargetTriple());
  return result;
}

void mlir::tessera::optimize(llvm::Module &module,
                             llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving =
      !machine.getTargetTriple().isNVPTX() &&
      !machine.getTargetTriple().isAMDGPU();
  // What is worth it is unrolled already. More of it holds the operands of
  // several rounds at a time, for which AMD's chips have not the registers.
  tuning.LoopUnrolling = !machine.getTargetTriple().isAMDGPU();
  // Fragments are vectors already. Their code is long and has no branches, for
  // which the SLP vectorizer takes time that grows with the square: 25 s for a
  // kernel of six 16x16 products with a transposed operand, which is compiled
  // in half a second without it.
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine, tuning);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(graph);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, graph, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

std::unique_ptr<llvm::Module>
mlir::tessera::translateAndOptimize(ModuleOp module, llvm::LLVMContext &context,
                                    llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result = translate(module, context, machine);
  if (result)
    optimize(*result, machine);
  return result;
}

FailureOr<std::string> mlir::tessera::emitFile(Operation *op,
                                               llvm::Module &module,
                                               llvm::TargetMachine &machine,
                                               llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return op->emitError() << "the back end of "
                           << machine.getTargetTriple().str()
                           << " cannot emit this kind of file";
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}
