//===- TensorMaps.cpp - The tensor maps of a launch -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Runtime/TensorMap.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::tessera;
using ::tessera::runtime::TensorMapElement;

static constexpr llvm::StringLiteral encodeName = "tessera_rt_tensor_map",
                                     encodeWindowsName =
                                         "tessera_rt_window_map";
/// The additional fields of a map of windows, with one number for each
/// dimension except two.
static constexpr llvm::StringLiteral windowNames[] = {"lower", "extent",
                                                      "stride"};

static ArrayAttr getMaps(gpu::LaunchFuncOp launch) {
  return launch->getAttrOfType<ArrayAttr>(
      TesseraDialect::TensorMapsAttrHelper::getNameStr());
}

int64_t mlir::tessera::countTensorMaps(gpu::LaunchFuncOp launch) {
  ArrayAttr maps = getMaps(launch);
  return maps ? maps.size() : 0;
}

/// The element type as the runtime names it; none for vectors, and for elements
/// of less than a byte.
static std::optional<TensorMapElement> getElement(Type type) {
  if (type.isF16())
    return TensorMapElement::F16;
  if (type.isBF16())
    return TensorMapElement::BF16;
  if (type.isF32())
    return TensorMapElement::F32;
  if (type.isF64())
    return TensorMapElement::F64;
  if (type.isIndex())
    return TensorMapElement::I64;
  switch (type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0) {
  case 8:
    return TensorMapElement::I8;
  case 16:
    return TensorMapElement::I16;
  case 32:
    return TensorMapElement::I32;
  case 64:
    return TensorMapElement::I64;
  default:
    return std::nullopt;
  }
}

namespace {

/// One entry of the list.
struct Map {
  unsigned argument;
  ArrayRef<int64_t> box;
  int64_t swizzle;
  TensorMapElement element;
  /// In the order of `windowNames`; empty for tiles.
  SmallVector<ArrayRef<int64_t>> windows;
};

/// Writes the calls of one launch.
class Encoder {
public:
  Encoder(gpu::LaunchFuncOp launch, RewriterBase &rewriter)
      : launch(launch), rewriter(rewriter), loc(launch.getLoc()),
        i64(rewriter.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(rewriter.getContext())) {}

  FailureOr<Map> read(Attribute entry) const;
  FailureOr<Value> encode(const Map &map, Value operand);

private:
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(rewriter, loc, i64,
                                    rewriter.getI64IntegerAttr(value));
  }
  /// An array on the stack.
  Value store(ArrayRef<Value> values);

  gpu::LaunchFuncOp launch;
  RewriterBase &rewriter;
  Location loc;
  Type i64, pointer;
};

} // namespace

FailureOr<Map> Encoder::read(Attribute entry) const {
  // The verifier of the dialect has checked the entries.
  auto map = cast<DictionaryAttr>(entry);
  auto argument = map.getAs<IntegerAttr>("argument"),
       swizzle = map.getAs<IntegerAttr>("swizzle");
  auto box = map.getAs<DenseI64ArrayAttr>("box");
  gpu::LaunchFuncOp op = launch;
  int64_t number = argument.getInt();
  ValueRange operands = op.getKernelOperands();
  bool known = number >= 0 && number < int64_t(operands.size());
  auto type =
      known ? dyn_cast<MemRefType>(operands[number].getType()) : MemRefType();
  if (!type || type.getRank() != int64_t(box.size()))
    return op.emitError() << "tensor map " << entry
                          << " requires a memref of rank " << box.size()
                          << " as kernel operand " << number;
  std::optional<TensorMapElement> element = getElement(type.getElementType());
  if (!element)
    return op.emitError() << "tensor maps do not support elements of type "
                          << type.getElementType();
  Map result{
      unsigned(number), box.asArrayRef(), swizzle.getInt(), *element, {}};
  for (StringRef name : windowNames) {
    if (!map.contains(windowNames[0]))
      break;
    auto numbers = map.getAs<DenseI64ArrayAttr>(name);
    if (!numbers || numbers.size() + 2 != type.getRank())
      return op.emitError()
             << "tensor map " << entry << " of windows over " << type
             << " must give lower, extent and stride for each dimension but "
                "the first and the last";
    result.windows.push_back(numbers.asArrayRef());
  }
  return result;
}

Value Encoder::store(ArrayRef<Value> values) {
  Value array = LLVM::AllocaOp::create(rewriter, loc, pointer, i64,
                                       constant(values.size()));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value address = LLVM::GEPOp::create(rewriter, loc, pointer, i64, array,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(rewriter, loc, value, address);
  }
  return array;
}

FailureOr<Value> Encoder::encode(const Map &map, Value operand) {
  MemRefDescriptor descriptor(operand);
  auto storeNumbers = [&](ArrayRef<int64_t> numbers) {
    SmallVector<Value> values;
    for (int64_t number : numbers)
      values.push_back(constant(number));
    return store(values);
  };
  SmallVector<Value> sizes, strides;
  for (unsigned dim = 0; dim < map.box.size(); ++dim) {
    sizes.push_back(descriptor.size(rewriter, loc, dim));
    strides.push_back(descriptor.stride(rewriter, loc, dim));
  }
  Value slot = LLVM::AllocaOp::create(
      rewriter, loc, pointer,
      LLVM::LLVMArrayType::get(rewriter.getI8Type(),
                               ::tessera::runtime::tensorMapBytes),
      constant(1), ::tessera::runtime::tensorMapAlignment);
  SmallVector<Value> arguments = {slot,
                                  descriptor.alignedPtr(rewriter, loc),
                                  descriptor.offset(rewriter, loc),
                                  constant(map.box.size()),
                                  store(sizes),
                                  store(strides),
                                  constant(int64_t(map.element)),
                                  storeNumbers(map.box),
                                  constant(map.swizzle)};
  for (ArrayRef<int64_t> numbers : map.windows)
    arguments.push_back(storeNumbers(numbers));
  FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
      rewriter, launch->getParentOfType<ModuleOp>(),
      map.windows.empty() ? encodeName : encodeWindowsName,
      llvm::to_vector(ValueRange(arguments).getTypes()),
      LLVM::LLVMVoidType::get(rewriter.getContext()));
  if (failed(callee))
    return failure();
  LLVM::CallOp::create(rewriter, loc, *callee, ValueRange(arguments));
  return slot;
}

FailureOr<SmallVector<Value>>
mlir::tessera::makeTensorMaps(gpu::LaunchFuncOp launch, ValueRange operands,
                              RewriterBase &rewriter) {
  Encoder encoder(launch, rewriter);
  SmallVector<Value> slots;
  for (Attribute entry :
       getMaps(launch) ? getMaps(launch).getValue() : ArrayRef<Attribute>()) {
    FailureOr<Map> map = encoder.read(entry);
    if (failed(map))
      return failure();
    FailureOr<Value> slot = encoder.encode(*map, operands[map->argument]);
    if (failed(slot))
      return failure();
    slots.push_back(*slot);
  }
  return slots;
}
