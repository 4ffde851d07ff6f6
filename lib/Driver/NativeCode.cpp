//===- NativeCode.cpp - Symbols that native code may use ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code, and kernels of the CPU, run in this process. They are linked to
// the functions of `runtime::listHostImports` and to nothing else
// (docs/Library.md, "What is trusted").
//
//===----------------------------------------------------------------------===//

#include "NativeCode.h"

#include "Runtime/HostImports.h"
#include "Runtime/RunnerFunctions.h"
#include "Target/ObjectSymbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;
using namespace mlir::tessera;

namespace runtime = ::tessera::runtime;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Whether a function or a variable of the LLVM dialect is defined elsewhere.
static bool isDeclaration(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return function.isExternal();
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && !global.getValueOrNull() &&
         global.getInitializerRegion().empty() &&
         (global.getLinkage() == LLVM::Linkage::External ||
          global.getLinkage() == LLVM::Linkage::ExternWeak);
}

/// Whether compiled code has functions and variables of such names, which no
/// program may define or declare.
static bool isReserved(StringRef name) {
  return llvm::any_of(ArrayRef<StringRef>{runtime::packedPrefix, "tessera_rt_",
                                          "tessera_cpu_", "tessera_imports",
                                          "tessera_load",
                                          "_mlir_memref_to_llvm_"},
                      [&](StringRef own) { return name.starts_with(own); });
}

/// A type of a function of upstream's runners, with dynamic sizes.
static std::string describeRunnerType(Type type) {
  // Bufferization makes a memref of it.
  if (auto tensor = dyn_cast<UnrankedTensorType>(type))
    type = UnrankedMemRefType::get(tensor.getElementType(), Attribute());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  // As an address is, on each host.
  if (type.isIndex())
    type = IntegerType::get(type.getContext(), 64);
  if (auto memref = dyn_cast<MemRefType>(type))
    type = MemRefType::get(
        SmallVector<int64_t>(memref.getRank(), ShapedType::kDynamic),
        memref.getElementType());
  return debugString(type);
}

/// The function of upstream's runners that a declaration stands for; null for
/// none.
static const runtime::RunnerFunction *
findRunnerFunction(FunctionOpInterface function) {
  StringRef name = function.getName();
  if (const auto *found = runtime::findRunnerFunction(name))
    return found;
  return isa<func::FuncOp>(function.getOperation())
             ? runtime::findRunnerFunction(
                   (runtime::cInterfacePrefix + name).str())
             : nullptr;
}

/// Checks a declaration of a function of upstream's runners.
static LogicalResult checkRunnerFunction(FunctionOpInterface function,
                                         const runtime::RunnerFunction &known) {
  auto declared = dyn_cast<func::FuncOp>(function.getOperation());
  // The LLVM dialect is checked later.
  if (!declared)
    return success();
  SmallVector<std::string> arguments;
  for (Type type : declared.getArgumentTypes())
    arguments.push_back(describeRunnerType(type));
  std::string result;
  for (Type type : declared.getResultTypes())
    result += debugString(type);
  bool hasRanked = llvm::any_of(known.arguments, [](StringRef type) {
    return type.starts_with("memref<") && !type.starts_with("memref<*");
  });
  bool isRight = ArrayRef(arguments) == ArrayRef(known.arguments) &&
                 result == known.result;
  if (isRight && (!hasRanked || declared->hasAttr("llvm.emit_c_interface")))
    return success();
  InFlightDiagnostic diagnostic =
      function->emitError()
      << "'" << function.getName()
      << "' is a function of the runtime: declare it as (";
  llvm::interleaveComma(known.arguments, diagnostic);
  diagnostic << ") -> " << (known.result.empty() ? "()" : known.result);
  if (hasRanked)
    diagnostic << " with the attribute llvm.emit_c_interface";
  return diagnostic << ", or rename it";
}

/// The same of a declaration in the LLVM dialect.
static bool isDeclaredRightly(LLVM::LLVMFuncOp function,
                              const runtime::RunnerFunction &known) {
  SmallVector<std::string> expected;
  for (StringRef type : known.arguments) {
    if (!type.starts_with("memref<")) {
      expected.push_back(type.str());
      continue;
    }
    // The rank and the descriptor, or a pointer to both.
    if (!StringRef(known.name).starts_with(runtime::cInterfacePrefix))
      expected.push_back("i64");
    expected.push_back("!llvm.ptr");
  }
  LLVM::LLVMFunctionType type = function.getFunctionType();
  SmallVector<std::string> parameters;
  for (Type parameter : type.getParams())
    parameters.push_back(debugString(parameter));
  std::string result = isa<LLVM::LLVMVoidType>(type.getReturnType())
                           ? ""
                           : debugString(type.getReturnType());
  return !type.isVarArg() && parameters == expected && result == known.result;
}

LogicalResult mlir::tessera::checkNames(ModuleOp module) {
  WalkResult result = module.walk([&](SymbolOpInterface symbol) {
    StringAttr attribute =
        symbol->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    StringRef name = attribute ? attribute.getValue() : StringRef();
    if (isReserved(name)) {
      symbol.emitError() << "the name '" << name
                         << "' is reserved for the compiler; rename it";
      return WalkResult::interrupt();
    }
    // Lowering may need it, and would not see that the declaration is another.
    auto function = dyn_cast<FunctionOpInterface>(symbol.getOperation());
    const runtime::RunnerFunction *known = function && function.isExternal()
                                               ? findRunnerFunction(function)
                                               : nullptr;
    if (known)
      return WalkResult(checkRunnerFunction(function, *known));
    if (function && function.isExternal() && runtime::findHostImport(name) &&
        !runtime::findMathFunction(name)) {
      symbol.emitError() << "'" << name
                         << "' is reserved for the compiler; use a different "
                            "function name, or express its effect with ops";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void mlir::tessera::isolateNames(ModuleOp module) {
  llvm::DenseMap<StringAttr, FlatSymbolRefAttr> renamed;
  MLIRContext *context = module.getContext();
  auto internal = LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal);
  for (Operation &op : *module.getBody()) {
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp, LLVM::AliasOp>(op) ||
        isDeclaration(&op))
      continue;
    StringAttr name = SymbolTable::getSymbolName(&op);
    if (name.getValue().starts_with(runtime::packedPrefix))
      continue;
    op.setAttr("linkage", internal);
    // No function of C is called so.
    auto own = StringAttr::get(context, "program." + name.getValue());
    renamed[name] = FlatSymbolRefAttr::get(own);
    SymbolTable::setSymbolName(&op, own);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr reference) {
    auto found = renamed.find(reference.getAttr());
    return std::pair<Attribute, WalkResult>(
        found == renamed.end() ? reference : found->second, WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether `function` is declared as the function of the mathematical library
/// is that has its name.
static bool isDeclaredRightly(LLVM::LLVMFuncOp function,
                              const runtime::MathFunction &known) {
  LLVM::LLVMFunctionType type = function.getFunctionType();
  auto isRight = [&](Type operand) {
    return known.isDouble ? operand.isF64() : operand.isF32();
  };
  return !type.isVarArg() && type.getNumParams() == known.arguments &&
         isRight(type.getReturnType()) &&
         llvm::all_of(type.getParams(), isRight);
}

/// An intrinsic that leaves the program: instructions of one processor, among
/// which are calls of the system, and such as change registers or the stack.
static bool isForbiddenIntrinsic(StringRef name) {
  if (!name.starts_with("llvm."))
    return false;
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic ||
      llvm::Intrinsic::isTargetIntrinsic(id))
    return true;
  static const llvm::Intrinsic::ID forbidden[] = {
      llvm::Intrinsic::addressofreturnaddress,
      llvm::Intrinsic::adjust_trampoline,
      llvm::Intrinsic::clear_cache,
      llvm::Intrinsic::eh_dwarf_cfa,
      llvm::Intrinsic::eh_return_i32,
      llvm::Intrinsic::eh_return_i64,
      llvm::Intrinsic::eh_sjlj_callsite,
      llvm::Intrinsic::eh_sjlj_functioncontext,
      llvm::Intrinsic::eh_sjlj_longjmp,
      llvm::Intrinsic::eh_sjlj_lsda,
      llvm::Intrinsic::eh_sjlj_setjmp,
      llvm::Intrinsic::eh_sjlj_setup_dispatch,
      llvm::Intrinsic::eh_unwind_init,
      llvm::Intrinsic::frameaddress,
      llvm::Intrinsic::init_trampoline,
      llvm::Intrinsic::localescape,
      llvm::Intrinsic::localrecover,
      llvm::Intrinsic::read_register,
      llvm::Intrinsic::read_volatile_register,
      llvm::Intrinsic::returnaddress,
      llvm::Intrinsic::sponentry,
      llvm::Intrinsic::write_register,
  };
  return llvm::is_contained(forbidden, id);
}

/// Whether an instruction of the chip's table consists of the intrinsic.
static bool isOfChip(StringRef name, const Chip &chip) {
  return llvm::any_of(chip.instructions, [&](const MatrixInstruction &row) {
    return !row.intrinsic.empty() && row.intrinsic == name;
  });
}

/// The first op that refers to `symbol`, if one does.
static Operation *findUse(Operation *symbol, ModuleOp module) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(symbol, module);
  return uses && !uses->empty() ? uses->begin()->getUser() : nullptr;
}

/// Checks a function without a body. One that is not used does no harm.
static LogicalResult checkDeclaration(LLVM::LLVMFuncOp function,
                                      ModuleOp module) {
  StringRef name = function.getName();
  std::optional<runtime::MathFunction> known = runtime::findMathFunction(name);
  if (const auto *runner = runtime::findRunnerFunction(name)) {
    if (isDeclaredRightly(function, *runner))
      return success();
    return function.emitError()
           << "'" << name
           << "' is a function of the runtime with a different type "
              "(docs/Upstream.md); correct the declaration, or rename it";
  }
  bool isIntrinsic = name.starts_with("llvm.");
  if (isIntrinsic ? !isForbiddenIntrinsic(name)
      : known     ? isDeclaredRightly(function, *known)
                  : runtime::findHostImport(name) != nullptr)
    return success();
  Operation *use = findUse(function, module);
  if (!use)
    return success();
  InFlightDiagnostic diagnostic = function.emitError();
  if (isIntrinsic) {
    diagnostic << "host code and CPU kernels must not use the intrinsic '"
               << name << "'";
  } else if (known) {
    const char *type = known->isDouble ? "f64" : "f32";
    diagnostic << "'" << name << "' is a math library function "
               << "that takes ";
    for (unsigned i = 0; i < known->arguments; ++i)
      diagnostic << (i ? ", " : "") << type;
    diagnostic << " and returns " << type
               << "; declare it with this signature, or rename it";
  } else {
    diagnostic
        << "'" << name
        << "' has no body, and the runtime does not provide a function of that "
           "name; define it in this module, or express its effect with ops";
  }
  if (use->getLoc() != function.getLoc())
    diagnostic.attachNote(use->getLoc()) << "it is used here";
  return diagnostic;
}

static LogicalResult checkVariable(LLVM::GlobalOp global, ModuleOp module) {
  Operation *use = isDeclaration(global) ? findUse(global, module) : nullptr;
  if (!use)
    return success();
  InFlightDiagnostic diagnostic =
      global.emitError() << "'" << global.getSymName()
                         << "' has no initial value, and the runtime does not "
                            "provide variables; initialize it";
  diagnostic.attachNote(use->getLoc()) << "it is used here";
  return diagnostic;
}

/// The operation that native code must not perform with an op; empty for most
/// ops.
static std::string findForbidden(Operation *op, const Chip &chip) {
  if (isa<LLVM::InlineAsmOp>(op))
    return "contain inline assembly";
  if (isa<LLVM::GlobalCtorsOp, LLVM::GlobalDtorsOp, LLVM::IFuncOp>(op))
    return "contain global constructors or destructors";
  if (isa<LLVM::LinkerOptionsOp>(op))
    return "contain linker options";
  if (isa<LLVM::IndirectBrOp>(op))
    return "branch indirectly";
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
      call && isForbiddenIntrinsic(call.getIntrin()) &&
      !isOfChip(call.getIntrin(), chip))
    return ("use the intrinsic '" + call.getIntrin() + "'").str();
  bool isIndirect = false;
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    isIndirect = !call.getCallee();
  else if (auto invoke = dyn_cast<LLVM::InvokeOp>(op))
    isIndirect = !invoke.getCallee();
  if (isIndirect)
    return "call through a pointer";
  // Sections of some names hold functions that run when the code is loaded.
  if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op) && op->hasAttr("section"))
    return "choose a section";
  return "";
}

LogicalResult mlir::tessera::checkNativeCode(ModuleOp module,
                                             const Chip &chip) {
  for (StringRef name : {LLVM::LLVMDialect::getModuleLevelAsmAttrName(),
                         LLVM::LLVMDialect::getDependentLibrariesAttrName()})
    if (module->hasAttr(name))
      return module.emitError()
             << "host code and CPU kernels must not contain their own assembly "
                "or link libraries; remove the attribute '"
             << name << "'";
  WalkResult result = module.walk([&](Operation *op) {
    if (std::string what = findForbidden(op, chip); !what.empty()) {
      op->emitError() << "host code and CPU kernels must not " << what;
      return WalkResult::interrupt();
    }
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
        function && function.isExternal())
      return WalkResult(checkDeclaration(function, module));
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      return WalkResult(checkVariable(global, module));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

std::string mlir::tessera::findForeignImport(StringRef object,
                                             std::string &why) {
  llvm::Expected<SmallVector<ObjectSymbol>> symbols = listSymbols(object);
  if (!symbols) {
    why = llvm::toString(symbols.takeError());
    return "";
  }
  // The packed functions are those of another object of the program.
  for (const ObjectSymbol &symbol : *symbols)
    if (symbol.isUndefined && !symbol.name.starts_with(runtime::packedPrefix) &&
        !runtime::findHostImport(symbol.name))
      return symbol.name.str();
  return "";
}
