//===- AMDGPU.cpp - Kernels to AMD's assembly and objects -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinObjects.h"
#include "Target/SplitModule.h"
#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::tessera;

/// The version of the code object (times 100) that every HIP runtime since 5.0
/// loads (LLVM, "User Guide for AMDGPU Backend", "Code Object V5 Metadata").
static constexpr int codeObjectVersion = 500;

static std::unique_ptr<llvm::TargetMachine> createAmdMachine(ModuleOp module,
                                                             const Chip &chip) {
  static bool isRegistered = false;
  registerBackEnd(isRegistered, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    // Barriers of chips before CDNA2 are inline assembly.
    LLVMInitializeAMDGPUAsmParser();
  });
  // Halves of a register as registers of their own: words made of them are then
  // copies, which the scheduler moves up to the loads that they wait for.
  llvm::StringRef features =
      llvm::StringRef(chip.name).starts_with("gfx11") ? "-real-true16" : "";
  return createMachine(module, "AMDGPU", llvm::Triple("amdgcn-amd-amdhsa"),
                       chip, features, llvm::Reloc::PIC_);
}

/// Defines `function`, one of OCKL's that tell a launch's extents: i64 of i32,
/// the dimension. They stand among the implicit arguments (LLVM, "User Guide
/// for AMDGPU Backend", "Code Object V5 Kernel Argument Metadata"): the
/// workgroups of the grid as three i32, then the threads of a workgroup as
/// three i16.
static void defineExtent(llvm::Function &function, bool ofWorkgroup) {
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(function.getContext(), "", &function));
  llvm::Type *type = ofWorkgroup ? builder.getInt16Ty() : builder.getInt32Ty();
  llvm::Value *first =
      builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_implicitarg_ptr, {});
  if (ofWorkgroup)
    first = builder.CreateConstGEP1_32(builder.getInt8Ty(), first, 12);
  llvm::Value *address = builder.CreateGEP(type, first, function.getArg(0));
  builder.CreateRet(builder.CreateZExt(builder.CreateLoad(type, address),
                                       function.getReturnType()));
}

/// Defines the functions of AMD's device library that have an LLVM intrinsic,
/// since the library itself is not at hand. An error names any other function:
/// those of f32 that need the library have become polynomials before.
static LogicalResult defineAmdFunctions(ModuleOp module, llvm::Module &code) {
  // Their f64 forms have no code.
  static const std::pair<StringRef, llvm::Intrinsic::ID> functionsOfF32[] = {
      {"exp", llvm::Intrinsic::exp},     {"exp2", llvm::Intrinsic::exp2},
      {"exp10", llvm::Intrinsic::exp10}, {"log", llvm::Intrinsic::log},
      {"log2", llvm::Intrinsic::log2},   {"log10", llvm::Intrinsic::log10},
  };
  for (llvm::Function &function : code) {
    StringRef name = function.getName();
    if (!function.isDeclaration() || !name.starts_with("__oc"))
      continue;
    function.setLinkage(llvm::Function::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (name == "__ockl_get_num_groups" || name == "__ockl_get_local_size") {
      defineExtent(function, name == "__ockl_get_local_size");
      continue;
    }
    if (!name.consume_front("__ocml_"))
      return emitErrorAtCall(module, function.getName())
             << "target hip does not support the function '" << name << "'";
    llvm::Type *type = function.getReturnType();
    StringRef base = name.rsplit('_').first;
    std::optional<llvm::Intrinsic::ID> intrinsic = findMathIntrinsic(base);
    if (!intrinsic && type->isFloatTy()) {
      const auto *found = llvm::find_if(functionsOfF32, [&](const auto &entry) {
        return entry.first == base;
      });
      if (found != std::end(functionsOfF32))
        intrinsic = found->second;
    }
    llvm::IRBuilder<> builder(
        llvm::BasicBlock::Create(code.getContext(), "", &function));
    SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : function.args())
      arguments.push_back(&argument);
    llvm::Value *result;
    if (intrinsic)
      result = builder.CreateIntrinsic(*intrinsic, {type}, arguments);
    else if (base == "rsqrt")
      result = builder.CreateFDiv(
          llvm::ConstantFP::get(type, 1.0),
          builder.CreateIntrinsic(llvm::Intrinsic::sqrt, {type}, arguments));
    else if (base == "fmod")
      result = builder.CreateFRem(arguments[0], arguments[1]);
    else
      return emitErrorAtCall(module, function.getName())
             << "target hip does not support the function '" << base << "'"
             << (type->isDoubleTy() ? " of f64; compute it in f32" : "");
    builder.CreateRet(result);
  }
  return success();
}

/// Sums that several workgroups add to need no order among themselves, and are
/// in the device's own memory: then there is an instruction for them, which the
/// compiler would else replace by a loop that compares and swaps (LLVM, "User
/// Guide for AMDGPU Backend", "amdgpu.no.fine.grained.memory").
static void relaxAtomics(llvm::Module &code) {
  llvm::LLVMContext &context = code.getContext();
  llvm::MDNode *yes = llvm::MDNode::get(context, {});
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (!atomic)
        continue;
      atomic->setOrdering(llvm::AtomicOrdering::Monotonic);
      atomic->setSyncScopeID(context.getOrInsertSyncScopeID("agent"));
      atomic->setMetadata("amdgpu.no.fine.grained.memory", yes);
      atomic->setMetadata("amdgpu.no.remote.memory", yes);
    }
}

/// Local variables are in an address space of their own, which MLIR's are not.
static void placeVariables(llvm::Module &code) {
  unsigned space = code.getDataLayout().getAllocaAddrSpace();
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *old = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!old || old->getAddressSpace() == space)
        continue;
      llvm::IRBuilder<> builder(old);
      llvm::AllocaInst *variable = builder.CreateAlloca(
          old->getAllocatedType(), space, old->getArraySize());
      variable->setAlignment(old->getAlign());
      old->replaceAllUsesWith(
          builder.CreateAddrSpaceCast(variable, old->getType()));
      old->eraseFromParent();
    }
}

/// Emits a module of kernels, which a thread of its own may do.
static FailureOr<std::string> emitModule(ModuleOp kernels, const Chip &chip,
                                         llvm::CodeGenFileType type) {
  // A machine belongs to one thread at a time.
  std::unique_ptr<llvm::TargetMachine> machine =
      createAmdMachine(kernels, chip);
  if (!machine)
    return failure();
  IRModule code(kernels);
  if (failed(translate(kernels, code, *machine)) ||
      failed(defineAmdFunctions(kernels, code.get())))
    return failure();
  placeVariables(code.get());
  relaxAtomics(code.get());
  code.get().addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                           codeObjectVersion);
  if (failed(code.optimize(*machine)))
    return failure();
  return code.emit(*machine, type);
}

FailureOr<std::string> mlir::tessera::emitAMDGCN(ModuleOp module,
                                                 const Chip &chip) {
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherGpuKernels(module);
  if (failed(kernels))
    return failure();
  return emitModule(**kernels, chip, llvm::CodeGenFileType::AssemblyFile);
}

FailureOr<std::string>
mlir::tessera::emitHSACO(ModuleOp module, const Chip &chip, bool hasLineTable) {
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherGpuKernels(module);
  if (failed(kernels))
    return failure();
  auto emitPart = [&](ModuleOp part) {
    return emitModule(part, chip, llvm::CodeGenFileType::ObjectFile);
  };
  // As many parts however many threads there are, so that the code does not
  // depend on the machine. Each takes a few milliseconds, and code for
  // prefetches beyond its end, so a long program does not have one for each
  // kernel. The table of lines is one for all kernels.
  constexpr size_t mostParts = 32;
  SmallVector<OwningOpRef<ModuleOp>> parts;
  if (!hasLineTable)
    parts = splitModule(**kernels, mostParts, /*leastDefinitions=*/2);
  if (parts.empty()) {
    FailureOr<std::string> object = emitPart(**kernels);
    if (failed(object))
      return failure();
    return linkShared(module, {*object});
  }
  FailureOr<std::vector<std::string>> objects = compileParts(parts, emitPart);
  if (failed(objects) || failed(joinMetadata(module, *objects)))
    return failure();
  return linkShared(module,
                    SmallVector<StringRef>(objects->begin(), objects->end()));
}
