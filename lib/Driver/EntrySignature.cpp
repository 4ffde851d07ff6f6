//===- EntrySignature.cpp - Arguments and results of an entry -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/EntrySignature.h"

#include "Import/ONNX/Import.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Arguments that a program may write
//===----------------------------------------------------------------------===//

namespace {
/// Follows a buffer to everything that may write it. An operation that is not
/// known to leave it alone counts as writing it.
class WriteSearch {
public:
  bool mayWrite(Value buffer) {
    if (!seen.insert(buffer).second)
      return false;
    return llvm::any_of(buffer.getUses(),
                        [&](OpOperand &use) { return mayWriteThrough(use); });
  }

private:
  bool mayWriteThrough(OpOperand &use);
  bool mayWriteCallee(Operation *op, SymbolRefAttr callee, unsigned argument);

  llvm::DenseSet<Value> seen;
};
} // namespace

/// The function that `op` calls by the name `callee` gets the buffer as its
/// argument number `argument`.
bool WriteSearch::mayWriteCallee(Operation *op, SymbolRefAttr callee,
                                 unsigned argument) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(
      SymbolTable::lookupNearestSymbolFrom(op, callee));
  if (!function || function.isExternal() ||
      argument >= function.getNumArguments())
    return true;
  return mayWrite(function.getArgument(argument));
}

bool WriteSearch::mayWriteThrough(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto tensor = dyn_cast<bufferization::ToTensorOp>(op))
    return tensor.getWritable();
  if (auto call = dyn_cast<func::CallOp>(op))
    return mayWriteCallee(op, call.getCalleeAttr(), use.getOperandNumber());
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
    OperandRange operands = launch.getKernelOperands();
    if (operands.empty() ||
        use.getOperandNumber() < operands.getBeginOperandIndex())
      return true;
    return mayWriteCallee(op, launch.getKernelAttr(),
                          use.getOperandNumber() -
                              operands.getBeginOperandIndex());
  }
  // The caller may read a returned buffer, and no other code receives it.
  if (isa<func::ReturnOp>(op))
    return false;
  if (isa<ViewLikeOpInterface>(op))
    return llvm::any_of(op->getResults(),
                        [&](Value view) { return mayWrite(view); });
  // Other ops that could pass the buffer on.
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa<memref::ExtractAlignedPointerAsIndexOp>(op) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  // The regions of an op on whole arrays see elements only.
  if (!effects ||
      (op->getNumRegions() != 0 && isa<RegionBranchOpInterface>(op) &&
       !isa<DestinationStyleOpInterface>(op)))
    return !isMemoryEffectFree(op);
  llvm::SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](auto &instance) {
    if (isa<MemoryEffects::Read>(instance.getEffect()))
      return false;
    // An effect on nothing in particular may be on this.
    return !instance.getValue() || instance.getValue() == use.get();
  });
}

bool mlir::tessera::mayWrite(Value buffer) {
  return WriteSearch().mayWrite(buffer);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Whether a dense row-major array is of this type: strides left open take its.
static bool isDense(MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      (offset != 0 && !ShapedType::isDynamic(offset)))
    return false;
  if (type.getLayout().isIdentity())
    return true;
  // The stride of an array; absent after a dynamic dimension.
  std::optional<int64_t> dense = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (!ShapedType::isDynamic(strides[i]) && strides[i] != dense)
      return false;
    if (type.isDynamicDim(i))
      dense.reset();
    else if (dense)
      *dense *= type.getDimSize(i);
  }
  return true;
}

bool mlir::tessera::describeSlot(Type type, runtime::Slot &slot,
                                 std::string &why) {
  llvm::raw_string_ostream(slot.text) << type;
  Type element = type;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!isa<RankedTensorType, MemRefType>(shaped))
      return false;
    slot.kind =
        isa<MemRefType>(shaped) ? runtime::Slot::MemRef : runtime::Slot::Tensor;
    for (int64_t size : shaped.getShape())
      slot.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
    element = shaped.getElementType();
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    auto space =
        dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace());
    if (memref.getMemorySpace() &&
        (!space || space.getValue() != gpu::AddressSpace::Global)) {
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

/// Adds what a model states about an argument or a result.
static void addModelInfo(DictionaryAttr attrs, runtime::Slot &slot) {
  if (!attrs)
    return;
  if (auto name = attrs.getAs<StringAttr>(onnx::nameAttr))
    slot.name = name.str();
  if (auto type = attrs.getAs<StringAttr>(onnx::typeAttr))
    slot.isUnsigned = type.getValue().starts_with("uint");
  auto symbols = attrs.getAs<ArrayAttr>(onnx::symbolsAttr);
  // A program's text may have any attribute.
  if (!symbols || symbols.size() != slot.shape.size() ||
      !llvm::all_of(symbols, llvm::IsaPred<StringAttr>))
    return;
  for (StringAttr symbol : symbols.getAsRange<StringAttr>())
    slot.symbols.push_back(symbol.str());
}

std::optional<runtime::Signature>
mlir::tessera::describeEntry(func::FuncOp function) {
  runtime::Signature signature;
  signature.name = function.getName().str();
  std::string why;
  for (BlockArgument argument : function.getArguments()) {
    runtime::Slot &slot = signature.arguments.emplace_back();
    if (!describeSlot(argument.getType(), slot, why))
      return std::nullopt;
    if (slot.kind == runtime::Slot::MemRef)
      slot.mayWrite = mayWrite(argument);
    addModelInfo(function.getArgAttrDict(argument.getArgNumber()), slot);
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    runtime::Slot &slot = signature.results.emplace_back();
    if (!describeSlot(type, slot, why))
      return std::nullopt;
    addModelInfo(function.getResultAttrDict(static_cast<unsigned>(i)), slot);
  }
  return signature;
}
