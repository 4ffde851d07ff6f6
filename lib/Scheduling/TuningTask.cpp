//===- TuningTask.cpp - An op as a task of tuning -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/TuningTask.h"

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/WindowTask.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isTuningTask(Operation *op) {
  if (getWindowOp(op))
    return true;
  if (!isa<ContractOp, AttentionOp>(op))
    return false;
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    return !isa<ShapedType>(type) || isa<MemRefType>(type);
  });
}

SmallVector<Value> mlir::tessera::collectTaskInputs(Operation *op) {
  llvm::SmallSetVector<Value, 8> inputs(op->operand_begin(), op->operand_end());
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!op->isAncestor(value.getParentBlock()->getParentOp()))
        inputs.insert(value);
  });
  return SmallVector<Value>(inputs.getArrayRef());
}

/// The type without its layout, if that is the identity by other words, as of a
/// view that drops dimensions of size 1.
static Type dropPlainLayout(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!memref::isStaticShapeAndContiguousRowMajor(memref) ||
      failed(memref.getStridesAndOffset(strides, offset)) || offset != 0)
    return type;
  return MemRefType::get(memref.getShape(), memref.getElementType(),
                         MemRefLayoutAttrInterface(), memref.getMemorySpace());
}

/// The view of a part of an array that `value` is, if a task's program can
/// repeat it: the array and the part are static, and the array is dense.
static memref::SubViewOp getPart(Value value) {
  auto view = value.getDefiningOp<memref::SubViewOp>();
  if (!view || !view.getOffsets().empty() || !view.getSizes().empty() ||
      !view.getStrides().empty())
    return {};
  auto array =
      dyn_cast<MemRefType>(dropPlainLayout(view.getSource().getType()));
  return array && array.hasStaticShape() && array.getLayout().isIdentity()
             ? view
             : memref::SubViewOp();
}

/// Whether a value of this type can be an argument of a task's program.
static bool isPlain(Type type) {
  auto memref = dyn_cast<MemRefType>(dropPlainLayout(type));
  return !memref || memref.getLayout().isIdentity();
}

Attribute mlir::tessera::getTaskSchedule(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return contract.getScheduleAttr();
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attention.getScheduleAttr();
  return getWindowSchedule(op);
}

bool mlir::tessera::isTaskSchedule(Operation *op, Attribute schedule) {
  return getWindowOp(op) ? isa_and_present<WindowScheduleAttr>(schedule)
                         : isa<ContractOp, AttentionOp>(op) &&
                               isa_and_present<ScheduleAttr>(schedule);
}

bool mlir::tessera::setTaskSchedule(Operation *op, Attribute schedule) {
  if (schedule && !isTaskSchedule(op, schedule))
    return false;
  if (auto window = getWindowOp(op)) {
    removeWindowSchedule(window);
    if (schedule)
      window->setAttr(windowScheduleName, schedule);
    return true;
  }
  auto ofMatmul = cast_or_null<ScheduleAttr>(schedule);
  if (auto contract = dyn_cast<ContractOp>(op))
    ofMatmul ? contract.setScheduleAttr(ofMatmul)
             : static_cast<void>(contract.removeScheduleAttr());
  else if (auto attention = dyn_cast<AttentionOp>(op))
    ofMatmul ? attention.setScheduleAttr(ofMatmul)
             : static_cast<void>(attention.removeScheduleAttr());
  else
    return false;
  return true;
}

OwningOpRef<ModuleOp> mlir::tessera::makeTaskProgram(Operation *op) {
  MLIRContext *context = op->getContext();
  Location loc = op->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SmallVector<Value> inputs = collectTaskInputs(op);
  SmallVector<Value> arguments;
  SmallVector<Operation *> constants;
  for (Value input : inputs) {
    if (matchPattern(input, m_Constant()))
      constants.push_back(input.getDefiningOp());
    else
      arguments.push_back(input);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  // Parts of one array get an array each: a task writes no array that it reads.
  auto getWhole = [](Value value) {
    memref::SubViewOp part =
        isPlain(value.getType()) ? nullptr : getPart(value);
    return part ? part.getSource() : value;
  };
  SmallVector<Type> types;
  for (Value argument : arguments)
    types.push_back(dropPlainLayout(getWhole(argument).getType()));
  auto function = func::FuncOp::create(builder, loc, "main",
                                       FunctionType::get(context, types, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [value, argument] :
       llvm::zip_equal(arguments, body->getArguments())) {
    if (getWhole(value) == value) {
      mapping.map(value, argument);
      continue;
    }
    memref::SubViewOp part = getPart(value);
    IRMapping whole;
    whole.map(part.getSource(), argument);
    mapping.map(value, builder.clone(*part, whole)->getResult(0));
  }
  for (Operation *constant : constants)
    if (!mapping.contains(constant->getResult(0)))
      builder.clone(*constant, mapping);
  Operation *clone = builder.clone(*op, mapping);
  clone->removeDiscardableAttr(
      TesseraDialect::ScheduleAttrHelper::getNameStr());
  clone->removeDiscardableAttr(
      TesseraDialect::ScheduleOriginAttrHelper::getNameStr());
  setTaskSchedule(clone, {});
  func::ReturnOp::create(builder, loc);
  return module;
}

std::string mlir::tessera::getTaskText(Operation *op) {
  OwningOpRef<ModuleOp> module = makeTaskProgram(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo(false));
  return text;
}

std::string mlir::tessera::getTaskKey(StringRef text, StringRef codeFlags) {
  std::string all =
      codeFlags.empty() ? text.str() : (codeFlags + "\n" + text).str();
  return llvm::utohexstr(llvm::xxh3_64bits(all), /*LowerCase=*/true,
                         /*Width=*/16);
}

static std::string formatExtent(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(type);
  return text;
}

static std::string describeOp(Operation *op) {
  if (auto window = getWindowOp(op))
    return describeWindow(window);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    os << "attention ";
    for (unsigned dim = 0; dim < attention.getNumBatchDims(); ++dim)
      os << formatExtent(attention.getStaticExtent(dim)) << "x";
    os << " " << formatExtent(attention.getStaticExtent(AttentionOp::M))
       << " queries, "
       << formatExtent(attention.getStaticExtent(AttentionOp::N)) << " keys of "
       << formatExtent(attention.getStaticExtent(AttentionOp::D)) << " "
       << formatType(attention.getOperandType())
       << (attention.getCausal() ? ", causal" : "");
    return text;
  }
  auto contract = cast<ContractOp>(op);
  ContractOp::Dims dims = contract.getDims();
  bool isWindow = llvm::any_of(ArrayRef<unsigned>{0, 1}, [&](unsigned side) {
    return !contract.getMap(side).isProjectedPermutation();
  });
  if (isWindow)
    os << "window ";
  if (!dims.batch.empty())
    os << formatExtent(getLinearExtent(contract, dims.batch)) << " of ";
  os << formatExtent(getLinearExtent(contract, dims.m)) << "x"
     << formatExtent(getLinearExtent(contract, dims.n)) << "x"
     << formatExtent(getLinearExtent(contract, dims.k)) << " "
     << formatType(contract.getLhs().getType()) << " x "
     << formatType(contract.getRhs().getType()) << " -> "
     << formatType(contract.getOutput().getType());
  Block &epilogue = contract.getEpilogue().front();
  size_t count = epilogue.getOperations().size() - 1;
  if (count)
    os << ", epilogue of " << count << (count == 1 ? " op" : " ops");
  return text;
}

std::string mlir::tessera::describeTask(Operation *op,
                                        const CompileFlags &flags) {
  std::string text = describeOp(op), codeFlags = listCodeFlags(flags);
  return codeFlags.empty() ? text : text + ", with " + codeFlags;
}

std::string mlir::tessera::explainUntunable(Operation *op) {
  // The body of a window reads images and filters.
  SmallVector<Value> inputs(op->getOperands());
  if (getWindowOp(op))
    inputs = collectTaskInputs(op);
  for (auto [i, value] : llvm::enumerate(inputs)) {
    auto type = dyn_cast<MemRefType>(dropPlainLayout(value.getType()));
    if (!type)
      continue;
    if (!type.hasStaticShape())
      return "operand " + std::to_string(i) +
             " has a dynamic extent: make its shape static";
    if (!type.getLayout().isIdentity() && !getPart(value))
      return "operand " + std::to_string(i) +
             " does not have the identity layout, and is not a part of an "
             "array with one";
  }
  return "";
}
