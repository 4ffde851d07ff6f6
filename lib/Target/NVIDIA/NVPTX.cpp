//===- NVPTX.cpp - Kernels to PTX -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxasDefects.h"
#include "Runtime/DependentLaunch.h"
#include "Target/SplitModule.h"
#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/TargetSelect.h"

#include <atomic>

using namespace mlir;
using namespace mlir::tessera;

/// Defines the functions of NVIDIA's device library that have an LLVM
/// intrinsic, since the library itself is not at hand. An error names any other
/// function: those of f32 that need the library have become polynomials before.
static LogicalResult defineNvidiaFunctions(ModuleOp module,
                                           llvm::Module &code) {
  for (llvm::Function &function : code) {
    StringRef name = function.getName(), base = name;
    if (!function.isDeclaration() || !base.consume_front("__nv_"))
      continue;
    llvm::Type *type = function.getReturnType();
    if (type->isFloatTy())
      base.consume_back("f");
    llvm::IRBuilder<> builder(
        llvm::BasicBlock::Create(code.getContext(), "", &function));
    SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : function.args())
      arguments.push_back(&argument);
    llvm::Value *result;
    if (std::optional<llvm::Intrinsic::ID> found = findMathIntrinsic(base))
      result = builder.CreateIntrinsic(*found, {type}, arguments);
    else if (base == "rsqrt")
      result = builder.CreateFDiv(
          llvm::ConstantFP::get(type, 1.0),
          builder.CreateIntrinsic(llvm::Intrinsic::sqrt, {type}, arguments));
    else if (base == "exp2" && type->isFloatTy())
      result = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx, {type},
                                       arguments);
    else if (base == "abs" || base == "llabs")
      result = builder.CreateIntrinsic(llvm::Intrinsic::abs, {type},
                                       {arguments[0], builder.getFalse()});
    else if (base == "fmod")
      result = builder.CreateFRem(arguments[0], arguments[1]);
    else
      return emitErrorAtCall(module, name)
             << "target cuda does not support the function '"
             << name.drop_front(5) << "'"
             << (type->isDoubleTy() ? " of f64; compute it in f32" : "");
    builder.CreateRet(result);
    function.setLinkage(llvm::Function::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  return success();
}

/// Marks assembly that all threads of a warp must execute together as
/// convergent: PTX's modifiers `.sync` and `.aligned`, and its barriers (`bar`,
/// `barrier`). LLVM::InlineAsmOp cannot state it. Without it, LLVM moves a
/// matrix instruction to the branch that stores its result.
static void markCollectiveAssembly(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
      if (!call || !call->isInlineAsm())
        continue;
      StringRef text =
          llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
      if (text.contains(".sync") || text.contains(".aligned") ||
          text.contains("bar.") || text.contains("barrier."))
        call->setConvergent();
    }
}

/// Whether an instruction may access memory that other kernels may access, or
/// wait for what they hold. The set-up of mbarriers, prefetches of tensor maps,
/// which are parameters, and barriers do not.
static bool mayDependOnKernels(const llvm::Instruction &op) {
  if (!op.mayReadOrWriteMemory())
    return false;
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  if (!call)
    return true;
  StringRef name = call->getCalledFunction()->getName();
  return llvm::none_of(
      ArrayRef<StringRef>{"llvm.nvvm.mbarrier.init", "llvm.nvvm.fence.",
                          "llvm.nvvm.prefetch.tensormap", "llvm.nvvm.barrier",
                          "llvm.assume"},
      [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// Whether all threads of a kernel wait for the kernel before it ahead of
/// anything that may depend on it.
static bool waitsFirst(llvm::Function &kernel) {
  const llvm::Instruction *wait = nullptr;
  for (const llvm::Instruction &op : llvm::instructions(kernel)) {
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    if (call &&
        call->getIntrinsicID() == llvm::Intrinsic::nvvm_griddepcontrol_wait)
      wait = wait ? wait : call;
  }
  if (!wait)
    return false;
  llvm::PostDominatorTree ends(kernel);
  if (!ends.dominates(wait->getParent(), &kernel.getEntryBlock()))
    return false;
  llvm::DominatorTree begins(kernel);
  return llvm::all_of(llvm::instructions(kernel),
                      [&](const llvm::Instruction &op) {
                        return &op == wait || !mayDependOnKernels(op) ||
                               begins.dominates(wait, &op);
                      });
}

/// Whether all kernels wait first. Fails if the name is taken that promises
/// this to the runtime.
static FailureOr<bool> allWaitFirst(ModuleOp module, llvm::Module &code) {
  std::string name(::tessera::runtime::waitingKernelsMark);
  if (llvm::GlobalValue *other = code.getNamedValue(name))
    return emitErrorAtCall(module, other->getName())
           << "'" << name << "' is a reserved name; rename it";
  bool hasKernels = false;
  for (llvm::Function &function : code) {
    if (function.isDeclaration() ||
        function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      continue;
    if (!waitsFirst(function))
      return false;
    hasKernels = true;
  }
  return hasKernels;
}

/// Emits PTX of a module of kernels, which a thread of its own may do. Clears
/// `allWait` if one of them does not wait first.
static FailureOr<std::string> emitModule(ModuleOp kernels, const Chip &chip,
                                         std::atomic<bool> &allWait) {
  // A machine belongs to one thread at a time.
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(kernels, "NVPTX", llvm::Triple("nvptx64-nvidia-cuda"), chip,
                    "+ptx" + std::to_string(chip.codeVersion));
  if (!machine)
    return failure();
  IRModule code(kernels);
  if (failed(translate(kernels, code, *machine)) ||
      failed(defineNvidiaFunctions(kernels, code.get())))
    return failure();
  markCollectiveAssembly(code.get());
  if (failed(code.optimize(*machine)))
    return failure();
  avoidPtxasDefects(code.get());
  FailureOr<bool> waits = allWaitFirst(kernels, code.get());
  if (failed(waits))
    return failure();
  if (!*waits)
    allWait = false;
  return code.emit(*machine, llvm::CodeGenFileType::AssemblyFile);
}

/// Joins the PTX of several modules to that of one. The directives that a
/// module begins with, and declarations of the one array in workgroup memory,
/// occur once. Labels are local to functions, and all other names are unique.
static std::string joinPTX(ArrayRef<std::string> parts) {
  constexpr StringRef lastDirective = ".address_size ";
  std::string joined;
  llvm::StringSet<> declared;
  for (StringRef part : parts) {
    if (!joined.empty()) {
      part = part.substr(part.find(lastDirective));
      part = part.substr(part.find('\n') + 1);
    }
    while (!part.empty()) {
      auto [line, rest] = part.split('\n');
      if (!line.starts_with(".extern .shared") || declared.insert(line).second)
        joined.append(line.begin(), line.end()).push_back('\n');
      part = rest;
    }
  }
  return joined;
}

FailureOr<std::string> mlir::tessera::emitPTX(ModuleOp module, const Chip &chip,
                                              bool hasLineTable) {
  static bool isRegistered = false;
  registerBackEnd(isRegistered, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherGpuKernels(module);
  if (failed(kernels))
    return failure();
  std::atomic<bool> allWait = true;
  auto emitPart = [&](ModuleOp part) {
    return emitModule(part, chip, allWait);
  };
  // Each kernel alone, however many threads there are, so that its code does
  // not depend on the machine. The table of lines is one for all kernels.
  SmallVector<OwningOpRef<ModuleOp>> parts;
  if (!hasLineTable)
    parts = splitModule(**kernels, /*parts=*/0, /*leastDefinitions=*/2);
  std::string text;
  if (parts.empty()) {
    FailureOr<std::string> whole = emitPart(**kernels);
    if (failed(whole))
      return failure();
    text = std::move(*whole);
  } else {
    FailureOr<std::vector<std::string>> texts = compileParts(parts, emitPart);
    if (failed(texts))
      return failure();
    text = joinPTX(*texts);
  }
  // A variable, which is in machine code too, promises the runtime that all
  // kernels wait for the one before them.
  if (allWait)
    text += ".visible .global .align 1 .b8 " +
            std::string(::tessera::runtime::waitingKernelsMark) + ";\n";
  return text;
}
