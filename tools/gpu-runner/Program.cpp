//===- Program.cpp - What an entry takes and gives ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace runner;

std::string Slot::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// What a program may write
//===----------------------------------------------------------------------===//

namespace {
/// Follows a buffer to everything that may write it. An operation that is not
/// known to leave it alone counts as writing it.
class WriteSearch {
public:
  bool mayWrite(mlir::Value buffer) {
    if (!seen.insert(buffer).second)
      return false;
    return llvm::any_of(buffer.getUses(), [&](mlir::OpOperand &use) {
      return mayWriteThrough(use);
    });
  }

private:
  bool mayWriteThrough(mlir::OpOperand &use);
  bool mayWriteCallee(mlir::Operation *op, mlir::SymbolRefAttr callee,
                      unsigned argument);

  llvm::DenseSet<mlir::Value> seen;
};
} // namespace

/// The function that `op` calls by the name `callee` gets the buffer as its
/// argument number `argument`.
bool WriteSearch::mayWriteCallee(mlir::Operation *op,
                                 mlir::SymbolRefAttr callee,
                                 unsigned argument) {
  auto function = mlir::dyn_cast_or_null<mlir::FunctionOpInterface>(
      mlir::SymbolTable::lookupNearestSymbolFrom(op, callee));
  if (!function || function.isExternal() ||
      argument >= function.getNumArguments())
    return true;
  return mayWrite(function.getArgument(argument));
}

bool WriteSearch::mayWriteThrough(mlir::OpOperand &use) {
  mlir::Operation *op = use.getOwner();
  if (auto tensor = mlir::dyn_cast<mlir::bufferization::ToTensorOp>(op))
    return tensor.getWritable();
  if (auto call = mlir::dyn_cast<mlir::func::CallOp>(op))
    return mayWriteCallee(op, call.getCalleeAttr(), use.getOperandNumber());
  if (auto launch = mlir::dyn_cast<mlir::gpu::LaunchFuncOp>(op)) {
    mlir::OperandRange operands = launch.getKernelOperands();
    if (operands.empty() ||
        use.getOperandNumber() < operands.getBeginOperandIndex())
      return true;
    return mayWriteCallee(op, launch.getKernelAttr(),
                          use.getOperandNumber() -
                              operands.getBeginOperandIndex());
  }
  // The caller may read a returned buffer, and nobody else gets it.
  if (mlir::isa<mlir::func::ReturnOp>(op))
    return false;
  if (mlir::isa<mlir::ViewLikeOpInterface>(op))
    return llvm::any_of(op->getResults(),
                        [&](mlir::Value view) { return mayWrite(view); });
  // What else could hand the buffer on.
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() ||
      mlir::isa<mlir::memref::ExtractAlignedPointerAsIndexOp>(op) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<mlir::BaseMemRefType>))
    return true;
  auto effects = mlir::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  if (!effects || (op->getNumRegions() != 0 &&
                   mlir::isa<mlir::RegionBranchOpInterface>(op)))
    return !mlir::isMemoryEffectFree(op);
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](auto &instance) {
    if (mlir::isa<mlir::MemoryEffects::Read>(instance.getEffect()))
      return false;
    // An effect on nothing in particular may be on this.
    return !instance.getValue() || instance.getValue() == use.get();
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

mlir::OwningOpRef<mlir::ModuleOp>
runner::readProgram(const Options &options, llvm::SourceMgr &sources,
                    mlir::MLIRContext &context, Report &report) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.file,
                                                   /*IsText=*/true);
  if (!buffer) {
    (void)report.fail(Exit::Usage, "cannot read '" + options.file +
                                       "': " + buffer.getError().message());
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  mlir::ParserConfig config(&context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module)
    (void)report.failDiagnosed("reading the program");
  return module;
}

/// Whether a dense row-major array is of this type: strides left open take its.
static bool isDense(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      (offset != 0 && !mlir::ShapedType::isDynamic(offset)))
    return false;
  if (type.getLayout().isIdentity())
    return true;
  // The stride of an array; absent behind a dynamic dimension.
  std::optional<int64_t> dense = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (!mlir::ShapedType::isDynamic(strides[i]) && strides[i] != dense)
      return false;
    if (type.isDynamicDim(i))
      dense.reset();
    else if (dense)
      *dense *= type.getDimSize(i);
  }
  return true;
}

/// Fills in everything but `type` and `mayWrite`. False for a type whose values
/// cannot be handed over; `why` then says more, where there is more to say.
static bool describe(Slot &slot, std::string &why) {
  mlir::Type element = slot.type;
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(slot.type)) {
    if (!mlir::isa<mlir::RankedTensorType, mlir::MemRefType>(shaped))
      return false;
    slot.kind =
        mlir::isa<mlir::MemRefType>(shaped) ? Slot::MemRef : Slot::Tensor;
    for (int64_t size : shaped.getShape())
      slot.shape.push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
    element = shaped.getElementType();
  }
  if (auto memref = mlir::dyn_cast<mlir::MemRefType>(slot.type)) {
    auto space = mlir::dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(
        memref.getMemorySpace());
    if (memref.getMemorySpace() &&
        (!space || space.getValue() != mlir::gpu::AddressSpace::Global)) {
      why = "only the default memory space and the global one can be passed";
      return false;
    }
    if (!isDense(memref)) {
      why = "only dense row-major layouts can be passed";
      return false;
    }
  }
  std::string name;
  llvm::raw_string_ostream(name) << element;
  runtime::Expected<runtime::ElementType> known =
      runtime::parseElementType(name);
  if (!known.ok()) {
    why = known.status().message();
    return false;
  }
  slot.element = *known;
  return true;
}

static LogicalResult describe(std::vector<Slot> &slots, mlir::TypeRange types,
                              bool isResult, mlir::func::FuncOp function,
                              Report &report) {
  for (auto [i, type] : llvm::enumerate(types)) {
    Slot slot;
    slot.type = type;
    std::string why;
    if (!describe(slot, why)) {
      mlir::Location location =
          isResult ? function.getLoc() : function.getArgument(i).getLoc();
      mlir::InFlightDiagnostic diagnostic =
          mlir::emitError(location)
          << (isResult ? "result " : "argument ") << i << " of entry '"
          << function.getName() << "' is of type " << type
          << ", which gpu-runner cannot pass: an entry takes and gives ranked "
             "tensors, memrefs and scalars";
      if (!why.empty())
        diagnostic.attachNote() << why;
      diagnostic.report();
      return report.failDiagnosed("the entry");
    }
    slots.push_back(std::move(slot));
  }
  return success();
}

LogicalResult runner::findEntry(mlir::ModuleOp module, StringRef name,
                                Entry &entry, Report &report) {
  llvm::SmallVector<StringRef> names;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal())
      names.push_back(function.getName());
    if (function.getName() == name)
      entry.function = function;
  }
  if (!entry.function) {
    if (names.empty())
      return report.fail(Exit::Usage,
                         "no entry '" + name +
                             "': the program has no func.func with a body");
    StringRef nearest = findNearest(name, names);
    std::string mend = "; choose one by --entry=" +
                       (nearest.empty() ? names.front() : nearest).str();
    (void)report.fail(Exit::Usage, "no entry '" + name + "'" + mend);
    Report::note("the program has " + llvm::join(names, ", "));
    return failure();
  }
  if (entry.function.isExternal())
    return report.fail(Exit::Usage,
                       "entry '" + name + "' is declared only; it has no body");
  mlir::FunctionType type = entry.function.getFunctionType();
  if (failed(describe(entry.arguments, type.getInputs(), /*isResult=*/false,
                      entry.function, report)) ||
      failed(describe(entry.results, type.getResults(), /*isResult=*/true,
                      entry.function, report)))
    return failure();
  for (auto [slot, value] :
       llvm::zip_equal(entry.arguments, entry.function.getArguments()))
    if (slot.kind == Slot::MemRef)
      slot.mayWrite = WriteSearch().mayWrite(value);
  return success();
}
