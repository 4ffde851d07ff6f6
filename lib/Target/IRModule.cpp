//===- IRModule.cpp - LLVM's optimizer and back ends ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/IRModule.h"

#include "SingleElementStores.h"
#include "Target/FatalErrors.h"
#include "WideSubvectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/LowerMatrixIntrinsics.h"
#include <mutex>

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Keeps LLVM's diagnostics, which an LLVMContext would otherwise print; an
/// error would end the process.
class IRModule::Listener : public llvm::DiagnosticHandler {
public:
  explicit Listener(std::vector<Message> &messages) : messages(messages) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error &&
        info.getSeverity() != llvm::DS_Warning)
      return true;
    Message message{info.getSeverity(), "", 0};
    llvm::raw_string_ostream stream(message.text);
    if (const auto *assembly =
            llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info)) {
      stream << assembly->getMsgStr();
      message.assembly = assembly->getLocCookie();
    } else if (const auto *source =
                   llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      const llvm::SMDiagnostic &diagnostic = source->getSMDiag();
      stream << diagnostic.getMessage();
      if (StringRef line = diagnostic.getLineContents().trim(); !line.empty())
        stream << ": '" << line << "'";
      message.assembly = source->getLocCookie();
    } else {
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    messages.push_back(std::move(message));
    return true;
  }

private:
  std::vector<Message> &messages;
};

IRModule::IRModule(Operation *op)
    : op(op), context(std::make_unique<llvm::LLVMContext>()) {
  context->setDiagnosticHandler(std::make_unique<Listener>(messages));
}

IRModule::~IRModule() = default;

/// Numbers inline assembly, so that diagnostics tell which they are about.
void IRModule::set(std::unique_ptr<llvm::Module> newModule, Operation *source) {
  module = std::move(newModule);
  assemblies.clear();
  // By its text, since the order of blocks may differ.
  llvm::StringMap<uint64_t> numbers;
  source->walk([&](LLVM::InlineAsmOp assembly) {
    if (numbers.try_emplace(assembly.getAsmString(), assemblies.size() + 1)
            .second)
      assemblies.push_back(assembly.getLoc());
  });
  if (numbers.empty())
    return;
  auto *number = llvm::Type::getInt64Ty(*context);
  for (llvm::Function &function : *module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto *assembly =
          call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())
               : nullptr;
      if (!assembly)
        continue;
      if (auto found = numbers.find(assembly->getAsmString());
          found != numbers.end())
        call->setMetadata(
            "srcloc",
            llvm::MDNode::get(
                *context, llvm::ConstantAsMetadata::get(
                              llvm::ConstantInt::get(number, found->second))));
    }
}

/// Keeps a module and its context to the end of the process.
static void abandon(std::unique_ptr<llvm::LLVMContext> context,
                    llvm::Module *module) {
  static std::mutex one;
  static auto *abandoned =
      new std::vector<std::pair<llvm::LLVMContext *, llvm::Module *>>;
  std::lock_guard<std::mutex> lock(one);
  abandoned->emplace_back(context.release(), module);
}

LogicalResult IRModule::run(llvm::TargetMachine &machine,
                            llvm::function_ref<void()> action) {
  std::string chip =
      (machine.getTargetTriple().getArchName() + " " + machine.getTargetCPU())
          .str();
  std::string why;
  bool isDone = recoverFatalErrors(action, why);
  bool hasErrors = false;
  for (const Message &message : messages) {
    Location loc = message.assembly && message.assembly <= assemblies.size()
                       ? assemblies[message.assembly - 1]
                       : op->getLoc();
    bool isError = message.severity == llvm::DS_Error;
    hasErrors |= isError;
    (isError ? emitError(loc) : emitWarning(loc))
        << "LLVM's back end for " << chip << ": " << message.text;
  }
  messages.clear();
  if (!isDone) {
    // Half of a transformation may be done: even destructors would trip.
    abandon(std::move(context), module.release());
    return op->emitError() << "LLVM cannot compile the program for " << chip
                           << ": " << StringRef(why).trim();
  }
  return failure(hasErrors);
}

//===----------------------------------------------------------------------===//
// Optimizer and back ends
//===----------------------------------------------------------------------===//

/// Whether the code has operations on matrices, which no back end lowers.
static bool hasMatrixIntrinsics(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.getName().starts_with("llvm.matrix.");
  });
}

static void runOptimizer(llvm::Module &module, llvm::TargetMachine &machine,
                         llvm::OptimizationLevel level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving =
      !machine.getTargetTriple().isNVPTX() &&
      !machine.getTargetTriple().isAMDGPU();
  // Profitable loops are unrolled already. Further unrolling holds the operands
  // of several iterations at a time, for which AMD's chips lack registers.
  tuning.LoopUnrolling = !machine.getTargetTriple().isAMDGPU();
  // Fragments are vectors already. Their code is long and has no branches, for
  // which the SLP vectorizer takes time that grows with the square: 25 s for a
  // kernel of six 16x16 matmuls with a transposed operand, which is compiled in
  // half a second without it.
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
  if (hasMatrixIntrinsics(module))
    passes.registerPipelineStartEPCallback(
        [](llvm::ModulePassManager &all, llvm::OptimizationLevel) {
          all.addPass(llvm::createModuleToFunctionPassAdaptor(
              llvm::LowerMatrixIntrinsicsPass()));
        });
  passes.buildPerModuleDefaultPipeline(level).run(module, modules);
  mlir::tessera::expandSingleElementStores(module);
  mlir::tessera::expandWideSubvectors(module);
}

LogicalResult IRModule::optimize(llvm::TargetMachine &machine, bool runsOnce) {
  return run(machine, [&] {
    runOptimizer(*module, machine,
                 runsOnce ? llvm::OptimizationLevel::O1
                          : llvm::OptimizationLevel::O3);
  });
}

FailureOr<std::string> IRModule::emit(llvm::TargetMachine &machine,
                                      llvm::CodeGenFileType type) {
  bool isKnown = true;
  llvm::SmallVector<char, 0> bytes;
  LogicalResult result = run(machine, [&] {
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    isKnown = !machine.addPassesToEmitFile(passes, stream, nullptr, type);
    if (isKnown)
      passes.run(*module);
  });
  if (failed(result))
    return failure();
  if (!isKnown)
    return op->emitError() << "the LLVM back end for "
                           << machine.getTargetTriple().str()
                           << " cannot emit this kind of file";
  return std::string(bytes.begin(), bytes.end());
}
