//===- NVPTX.cpp - Kernels to PTX -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/DependentLaunch.h"
#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/TargetSelect.h"

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

/// Whether the function takes a minimum or a maximum of 32-bit integers.
static bool hasExtremes(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](const auto &op) {
    return llvm::isa<llvm::MinMaxIntrinsic>(op) &&
           op.getType()->getScalarSizeInBits() == 32;
  });
}

/// Writes -x as ~x + 1 in functions with minima and maxima. ptxas of CUDA 13.0
/// joins two maxima of which one takes a negated number to one of three
/// numbers (VIMNMX3, from sm_90 on), and forgets the negation.
static void hideNegations(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!hasExtremes(function))
      continue;
    for (llvm::Instruction &op :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      using namespace llvm::PatternMatch;
      llvm::Value *x;
      if (op.getType()->getScalarSizeInBits() != 32 ||
          !match(&op, m_Neg(m_Value(x))))
        continue;
      llvm::IRBuilder<> builder(&op);
      llvm::Type *i32 = builder.getInt32Ty();
      // As assembly, since LLVM would make the same negation of it again.
      auto *complement = llvm::InlineAsm::get(
          llvm::FunctionType::get(i32, {i32}, /*isVarArg=*/false),
          "not.b32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
      auto negate = [&](llvm::Value *value) {
        return builder.CreateAdd(builder.CreateCall(complement, {value}),
                                 builder.getInt32(1));
      };
      llvm::Value *result;
      if (auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType())) {
        result = llvm::PoisonValue::get(type);
        for (unsigned index = 0; index < type->getNumElements(); ++index)
          result = builder.CreateInsertElement(
              result, negate(builder.CreateExtractElement(x, index)), index);
      } else {
        result = negate(x);
      }
      op.replaceAllUsesWith(result);
      op.eraseFromParent();
    }
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

/// Adds the variable that promises the runtime that all kernels wait, if they
/// do. It is in machine code too.
static LogicalResult markWaitingKernels(ModuleOp module, llvm::Module &code) {
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
      return success();
    hasKernels = true;
  }
  if (!hasKernels)
    return success();
  constexpr unsigned globalMemory = 1;
  auto *type = llvm::Type::getInt8Ty(code.getContext());
  new llvm::GlobalVariable(
      code, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
      llvm::Constant::getNullValue(type), name, /*InsertBefore=*/nullptr,
      llvm::GlobalValue::NotThreadLocal, globalMemory);
  return success();
}

FailureOr<std::string> mlir::tessera::emitPTX(ModuleOp module,
                                              const Chip &chip) {
  static bool isRegistered = false;
  registerBackEnd(isRegistered, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(module, "NVPTX", llvm::Triple("nvptx64-nvidia-cuda"), chip,
                    "+ptx" + std::to_string(chip.codeVersion));
  if (!machine)
    return failure();

  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherGpuKernels(module);
  if (failed(kernels))
    return failure();
  IRModule code(module);
  if (failed(translate(**kernels, code, *machine)) ||
      failed(defineNvidiaFunctions(module, code.get())) ||
      failed(code.optimize(*machine)))
    return failure();
  hideNegations(code.get());
  if (failed(markWaitingKernels(module, code.get())))
    return failure();
  return code.emit(*machine, llvm::CodeGenFileType::AssemblyFile);
}
