//===- Lowering.cpp - One node of a model to linalg -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "Float16.h"
#include "GraphImporter.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Constants of at most this many elements are folded at import.
static constexpr int64_t mostFolded = 4096;
/// Constants of more bytes are resources.
static constexpr size_t mostInlineBytes = 128;

bool mlir::tessera::onnx::isFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F16 ||
         type == DataType::F64 || type == DataType::BF16;
}

bool mlir::tessera::onnx::isFloat8(DataType type) {
  return type == DataType::F8E4M3FN || type == DataType::F8E4M3FNUZ ||
         type == DataType::F8E5M2 || type == DataType::F8E5M2FNUZ;
}

bool mlir::tessera::onnx::isNarrow(DataType type) {
  return getBitWidth(type) < 8 || type == DataType::F8E8M0;
}

bool mlir::tessera::onnx::isUnsigned(DataType type) {
  return type == DataType::U2 || type == DataType::U4 || type == DataType::U8 ||
         type == DataType::U16 || type == DataType::U32 ||
         type == DataType::U64;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

int64_t Constant::count() const { return ShapedType::getNumElements(shape); }

static bool isNarrowFloat(DataType type) {
  return type == DataType::F4E2M1 || type == DataType::F8E8M0;
}

static const llvm::fltSemantics &getSemantics(DataType type) {
  switch (type) {
  case DataType::F16:
    return llvm::APFloat::IEEEhalf();
  case DataType::BF16:
    return llvm::APFloat::BFloat();
  case DataType::F32:
    return llvm::APFloat::IEEEsingle();
  case DataType::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case DataType::F8E4M3FNUZ:
    return llvm::APFloat::Float8E4M3FNUZ();
  case DataType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case DataType::F8E5M2FNUZ:
    return llvm::APFloat::Float8E5M2FNUZ();
  case DataType::F8E8M0:
    return llvm::APFloat::Float8E8M0FNU();
  case DataType::F4E2M1:
    return llvm::APFloat::Float4E2M1FN();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

template <typename T> static T readElement(StringRef bytes) {
  T value;
  assert(bytes.size() >= sizeof(T) && "an element is shorter than its type");
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// The format of a type of 16 bits.
static std::optional<Format16> getFormat16(DataType type) {
  if (type == DataType::F16)
    return formatF16;
  if (type == DataType::BF16)
    return formatBF16;
  return std::nullopt;
}

double Constant::getDouble(int64_t i) const {
  StringRef element = getElement(i);
  if (type == DataType::F32)
    return readElement<float>(element);
  if (type == DataType::F64)
    return readElement<double>(element);
  if (std::optional<Format16> format = getFormat16(type))
    if (std::optional<double> value =
            decodeNormal(*format, readElement<uint16_t>(element)))
      return *value;
  if (isFloat(type) || isFloat8(type) || isNarrowFloat(type)) {
    uint64_t contents = getByteWidth(type) == 1
                            ? readElement<uint8_t>(element)
                            : readElement<uint16_t>(element);
    llvm::APInt bits(getBitWidth(type), contents);
    llvm::APFloat value(getSemantics(type), bits);
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  if (type == DataType::U64)
    return static_cast<double>(readElement<uint64_t>(element));
  return static_cast<double>(getInt(i));
}

int64_t Constant::getInt(int64_t i) const {
  StringRef element = getElement(i);
  switch (type) {
  case DataType::Bool:
    return element[0] != 0;
  case DataType::U2:
  case DataType::U4:
  case DataType::F4E2M1:
  case DataType::F8E8M0:
  case DataType::U8:
    return readElement<uint8_t>(element);
  case DataType::I2:
  case DataType::I4:
  case DataType::I8:
    return readElement<int8_t>(element);
  case DataType::U16:
    return readElement<uint16_t>(element);
  case DataType::I16:
    return readElement<int16_t>(element);
  case DataType::U32:
    return readElement<uint32_t>(element);
  case DataType::I32:
    return readElement<int32_t>(element);
  case DataType::U64:
  case DataType::I64:
    return readElement<int64_t>(element);
  default:
    return 0;
  }
}

static Type getMLIRType(DataType type, MLIRContext *context) {
  switch (type) {
  case DataType::F32:
    return Float32Type::get(context);
  case DataType::F16:
    return Float16Type::get(context);
  case DataType::BF16:
    return BFloat16Type::get(context);
  case DataType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DataType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DataType::F64:
    return Float64Type::get(context);
  case DataType::Bool:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, 8 * getByteWidth(type));
  }
}

TypedAttr Constant::getAttr(int64_t i, MLIRContext *context) const {
  Type element = getMLIRType(type, context);
  if (!isFloat(type) && !isFloat8(type)) {
    unsigned width = element.getIntOrFloatBitWidth();
    return IntegerAttr::get(
        element,
        llvm::APInt(64, static_cast<uint64_t>(getInt(i))).zextOrTrunc(width));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, getElement(i).data(), getByteWidth(type));
  return FloatAttr::get(
      element, llvm::APFloat(getSemantics(type),
                             llvm::APInt(8 * getByteWidth(type), bits)));
}

/// Appends the bytes of a scalar attribute.
static void appendElement(Attribute attribute, DataType type,
                          std::string &bytes) {
  uint64_t bits;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    bits = number.getValue().bitcastToAPInt().getZExtValue();
  else
    bits = cast<IntegerAttr>(attribute).getValue().getZExtValue();
  bytes.append(reinterpret_cast<const char *>(&bits), getByteWidth(type));
}

/// The nearest number of 64 bits with a sign; 0 for NaN.
static int64_t roundToInteger(double value) {
  constexpr double limit = 0x1p63;
  if (value >= limit)
    return std::numeric_limits<int64_t>::max();
  return value >= -limit ? static_cast<int64_t>(value)
         : value < 0     ? std::numeric_limits<int64_t>::min()
                         : 0;
}

/// The bits of the nearest number of a type.
static uint64_t encodeElement(double value, DataType type) {
  if (type == DataType::F32)
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::optional<Format16> format = getFormat16(type))
    if (std::optional<uint64_t> bits = encodeNormal(*format, value))
      return *bits;
  if (isFloat(type) || isFloat8(type) || isNarrowFloat(type)) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(getSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.bitcastToAPInt().getZExtValue();
  }
  if (isUnsigned(type) && value >= 0x1p63 && value < 0x1p64)
    return static_cast<uint64_t>(value);
  return static_cast<uint64_t>(roundToInteger(value));
}

static void appendElement(double value, DataType type, std::string &bytes) {
  uint64_t bits = encodeElement(value, type);
  bytes.append(reinterpret_cast<const char *>(&bits), getByteWidth(type));
}

Tensor Lowering::makeConstant(DataType type, ArrayRef<int64_t> shape,
                              std::string bytes, bool isSplat) {
  auto owner = std::make_shared<std::string>(std::move(bytes));
  return makeConstant(type, shape, *owner, owner, isSplat);
}

Tensor Lowering::makeConstant(DataType type, ArrayRef<int64_t> shape,
                              StringRef bytes,
                              std::shared_ptr<const void> owner, bool isSplat) {
  auto constant = std::make_shared<Constant>();
  constant->type = type;
  constant->shape.assign(shape.begin(), shape.end());
  constant->bytes = bytes;
  constant->owner = std::move(owner);
  constant->isSplat = isSplat;
  return {type, constant->shape, constant, Value()};
}

Tensor Lowering::makeInts(ArrayRef<int64_t> values, ArrayRef<int64_t> shape,
                          DataType type) {
  std::string bytes;
  for (int64_t value : values)
    bytes.append(reinterpret_cast<const char *>(&value), getByteWidth(type));
  return makeConstant(type, shape, std::move(bytes));
}

Tensor Lowering::makeDoubles(ArrayRef<double> values, ArrayRef<int64_t> shape,
                             DataType type) {
  std::string bytes;
  bytes.reserve(values.size() * getByteWidth(type));
  for (double value : values)
    appendElement(value, type, bytes);
  return makeConstant(type, shape, std::move(bytes));
}

Tensor Lowering::scaleRows(const Tensor &tensor, ArrayRef<double> factors) {
  const Constant &constant = *tensor.constant;
  size_t width = getByteWidth(tensor.type), rows = factors.size(),
         columns =
             static_cast<size_t>(constant.count()) / std::max<size_t>(rows, 1);
  size_t size = rows * columns * width;
  std::shared_ptr<llvm::WritableMemoryBuffer> buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size);
  std::optional<Format16> format = getFormat16(tensor.type);
  parallelFor(b.getContext(), 0, rows, [&](size_t row) {
    size_t begin = row * columns, end = begin + columns;
    char *to = buffer->getBufferStart() + begin * width;
    const char *from = constant.bytes.data() + begin * width;
    double factor = factors[row];
    if (!constant.isSplat && tensor.type == DataType::F32) {
      for (size_t i = 0; i < columns; ++i) {
        float value;
        std::memcpy(&value, from + i * sizeof(value), sizeof(value));
        value = static_cast<float>(value * factor);
        std::memcpy(to + i * sizeof(value), &value, sizeof(value));
      }
      return;
    }
    if (!constant.isSplat && format &&
        scaleNumbers(*format, from, to, columns, factor))
      return;
    for (size_t i = begin; i < end; ++i, to += width) {
      double value = constant.getDouble(static_cast<int64_t>(i)) * factor;
      uint64_t bits = encodeElement(value, tensor.type);
      std::memcpy(to, &bits, width);
    }
  });
  return makeConstant(tensor.type, tensor.shape,
                      StringRef(buffer->getBufferStart(), size), buffer);
}

Tensor Lowering::makeSplat(DataType type, ArrayRef<int64_t> shape,
                           double value) {
  std::string bytes;
  appendElement(value, type, bytes);
  return makeConstant(type, shape, std::move(bytes), /*isSplat=*/true);
}

Value Lowering::makeScalar(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, roundToInteger(value)));
}

Value Lowering::makeScalar(DataType type, double value) {
  return makeScalar(getElementType(type), value);
}

Value Lowering::materialize(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  const Constant &constant = *tensor.constant;
  if (constant.value)
    return constant.value;
  RankedTensorType type = getType(tensor);
  unsigned width = getByteWidth(constant.type);
  ElementsAttr elements;
  if (constant.isSplat && constant.count() > 0) {
    elements =
        DenseElementsAttr::get(type, constant.getAttr(0, b.getContext()));
  } else if (constant.type == DataType::Bool) {
    SmallVector<bool> values;
    for (char byte : constant.bytes)
      values.push_back(byte != 0);
    elements = DenseElementsAttr::get(type, values);
  } else if (constant.count() == 0 ||
             constant.bytes.size() <= mostInlineBytes) {
    SmallVector<Attribute> values;
    for (int64_t i = 0, e = constant.count(); i < e; ++i)
      values.push_back(constant.getAttr(i, b.getContext()));
    elements = DenseElementsAttr::get(type, values);
  } else {
    ArrayRef<char> bytes(constant.bytes.data(), constant.bytes.size());
    bool isAligned = reinterpret_cast<uintptr_t>(bytes.data()) % width == 0;
    // The blob's owner is its deleter's.
    AsmResourceBlob blob =
        isAligned ? UnmanagedAsmResourceBlob::allocateWithAlign(
                        bytes, width,
                        [owner = constant.owner](void *, size_t, size_t) {})
                  : HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, width);
    StringRef name = constant.name;
    if (auto named = dyn_cast<NameLoc>(b.getLoc()); named && name.empty())
      name = named.getName();
    auto handle =
        DenseResourceElementsHandle::getManagerInterface(b.getContext())
            .insert(name.empty() ? "weight" : name, std::move(blob));
    elements = DenseResourceElementsAttr::get(type, handle);
  }
  // All users follow the position of the first one: in the function's block,
  // ahead of the loop or branch that the node is in.
  OpBuilder::InsertionGuard guard(b);
  Block *top = &importer.function.getBody().front(),
        *current = b.getInsertionBlock();
  if (current == top)
    b.setInsertionPointToEnd(top);
  else
    b.setInsertionPoint(top->findAncestorOpInBlock(*current->getParentOp()));
  constant.value =
      arith::ConstantOp::create(b, type, cast<TypedAttr>(elements));
  return constant.value;
}

//===----------------------------------------------------------------------===//
// Inputs and attributes
//===----------------------------------------------------------------------===//

LogicalResult Lowering::fail(const Twine &message) {
  InFlightDiagnostic diagnostic = emitError(b.getLoc());
  if (!node.op.empty())
    diagnostic << node.describe() << ": ";
  return diagnostic << message;
}

LogicalResult Lowering::getInts(size_t i, StringRef what,
                                SmallVector<int64_t> &values) {
  if (!hasInput(i))
    return fail(what + " is missing: it is input " + Twine(i));
  const Tensor &input = getInput(i);
  if (!input.constant)
    return fail(what + " must be constant; input " + Twine(i) +
                " is computed when the model runs");
  if (isFloat(input.type))
    return fail(what + " must be integers");
  if (input.constant->count() > 1 << 20)
    return fail(what + " has too many elements");
  values.clear();
  for (int64_t k = 0, e = input.constant->count(); k < e; ++k)
    values.push_back(input.constant->getInt(k));
  return success();
}

const NodeAttribute *Lowering::findAttribute(StringRef name) const {
  auto found =
      llvm::find_if(node.attributes, [&](const NodeAttribute &attribute) {
        return attribute.name == name;
      });
  return found == node.attributes.end() ? nullptr : &*found;
}

const NodeAttribute *Lowering::findAttribute(StringRef name,
                                             NodeAttribute::Kind kind) {
  const NodeAttribute *attribute = findAttribute(name);
  if (!attribute || attribute->kind == kind)
    return attribute;
  wrongAttribute = name.str();
  return nullptr;
}

int64_t Lowering::getInt(StringRef name, int64_t otherwise) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Int);
  return attribute ? attribute->integer : otherwise;
}
double Lowering::getFloat(StringRef name, double otherwise) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Float);
  return attribute ? attribute->number : otherwise;
}
std::string Lowering::getString(StringRef name, StringRef otherwise) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::String);
  return attribute ? attribute->text : otherwise.str();
}
SmallVector<int64_t> Lowering::getInts(StringRef name) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Ints);
  if (!attribute)
    return {};
  return SmallVector<int64_t>(ArrayRef<int64_t>(attribute->integers));
}
std::vector<float> Lowering::getFloats(StringRef name) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Floats);
  return attribute ? attribute->numbers : std::vector<float>();
}
std::vector<std::string> Lowering::getStrings(StringRef name) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Strings);
  return attribute ? attribute->texts : std::vector<std::string>();
}
const TensorData *Lowering::getTensor(StringRef name) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Tensor);
  return attribute ? attribute->tensor.get() : nullptr;
}

const Graph *Lowering::getGraph(StringRef name) {
  const NodeAttribute *attribute =
      findAttribute(name, NodeAttribute::Kind::Graph);
  return attribute ? attribute->graph.get() : nullptr;
}

FailureOr<SmallVector<Tensor>> Lowering::importGraph(const Graph &graph,
                                                     ArrayRef<Tensor> inputs,
                                                     Block *block) {
  return importer.importNested(graph, inputs, block ? block : importer.block,
                               b.getLoc());
}

LogicalResult Lowering::normalizeAxis(int64_t &axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return fail("axis " + Twine(axis) + " is out of range for a tensor of " +
                Twine(rank) + " dimensions");
  axis += axis < 0 ? rank : 0;
  return success();
}

FailureOr<Tensor> Lowering::call(StringRef op, ArrayRef<Tensor> operands,
                                 std::vector<NodeAttribute> attributes) {
  Node inner;
  inner.name = node.name.empty() && !node.outputs.empty() ? node.outputs.front()
                                                          : node.name;
  inner.op = op.str();
  // No other node uses a result of that name.
  inner.outputs = {""};
  inner.attributes = std::move(attributes);
  Lowering lowering(importer, inner, b.getLoc(), b, version);
  for (const Tensor &operand : operands)
    lowering.inputs.push_back(&operand);
  if (failed(findOperator(op)->lower(lowering)))
    return failure();
  assert(lowering.wrongAttribute.empty() && "attribute of a wrong type");
  return *lowering.results.front();
}

bool Lowering::hasOneUse() const {
  if (node.outputs.empty())
    return false;
  auto found = importer.users.find(node.outputs.front());
  return found != importer.users.end() && found->second.size() == 1 &&
         found->second.front();
}

const Node *Lowering::getOnlyUser(StringRef op) {
  if (node.outputs.empty())
    return nullptr;
  auto found = importer.users.find(node.outputs.front());
  if (found == importer.users.end() || found->second.size() != 1)
    return nullptr;
  const Node *user = found->second.front();
  bool isOne = user && user->op == op && !user->inputs.empty() &&
               user->inputs.front() == node.outputs.front();
  return isOne ? user : nullptr;
}

void Lowering::absorb(const Node &other) { importer.absorbed.insert(&other); }

const Constant *Lowering::getConstantInput(const Node &other, size_t i) {
  if (i >= other.inputs.size())
    return nullptr;
  auto found = importer.values.find(other.inputs[i]);
  return found == importer.values.end() ? nullptr
                                        : found->second.constant.get();
}

//===----------------------------------------------------------------------===//
// Types and values
//===----------------------------------------------------------------------===//

Type Lowering::getElementType(DataType type) {
  return getMLIRType(type, b.getContext());
}

LogicalResult Lowering::checkShape(ArrayRef<int64_t> shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size) &&
        __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count))
      count = ~0ull;
  // More would overflow the addresses of some targets.
  if (count >> 44)
    return fail("a tensor would have more than 2^44 elements");
  return success();
}

Tensor Lowering::makeTensor(Value value, DataType type) {
  return {type, Shape(cast<RankedTensorType>(value.getType()).getShape()),
          nullptr, value};
}

OpFoldResult Lowering::getSize(const Tensor &tensor, int64_t i) {
  if (!ShapedType::isDynamic(tensor.shape[i]))
    return b.getIndexAttr(tensor.shape[i]);
  return tensor::DimOp::create(b, tensor.value, i).getResult();
}

SmallVector<OpFoldResult> Lowering::getSizes(const Tensor &tensor) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    sizes.push_back(getSize(tensor, i));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

FailureOr<Shape> Lowering::broadcast(ArrayRef<Shape> shapes) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.size());
  Shape result(rank, 1);
  for (const Shape &shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &to = result[rank - shape.size() + i];
      int64_t size = shape[i];
      if (to == 1 || (ShapedType::isDynamic(to) && size != 1))
        to = size;
      else if (size != 1 && !ShapedType::isDynamic(size) && size != to)
        return fail("sizes " + Twine(to) + " and " + Twine(size) +
                    " of dimension " + Twine(rank - shape.size() + i) +
                    " cannot be broadcast to each other");
    }
  return result;
}

/// Runs `body` on constants by the folders of its ops; null if one does not
/// fold.
static Attribute foldScalar(ImplicitLocOpBuilder &b, const ScalarBody &body,
                            ArrayRef<TypedAttr> operands) {
  Block scratch;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&scratch);
  SmallVector<Value> arguments;
  for (TypedAttr operand : operands)
    arguments.push_back(arith::ConstantOp::create(b, operand));
  Value result = body(b, arguments);
  llvm::DenseMap<Value, Attribute> known;
  for (Operation &op : scratch) {
    Attribute value;
    if (matchPattern(&op, m_Constant(&value))) {
      known[op.getResult(0)] = value;
      continue;
    }
    SmallVector<Attribute> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> folded;
    if (llvm::is_contained(inputs, Attribute()) ||
        failed(op.fold(inputs, folded)) || folded.size() != 1)
      return nullptr;
    known[op.getResult(0)] = isa<Attribute>(folded[0])
                                 ? cast<Attribute>(folded[0])
                                 : known.lookup(cast<Value>(folded[0]));
  }
  return known.lookup(result);
}

/// The element of a constant that is broadcast, by the index of a result.
static int64_t getBroadcastIndex(ArrayRef<int64_t> index,
                                 ArrayRef<int64_t> shape) {
  int64_t at = 0;
  size_t skip = index.size() - shape.size();
  for (auto [i, size] : llvm::enumerate(shape))
    at = at * size + (size == 1 ? 0 : index[skip + i]);
  return at;
}

/// Calls `visit` for each index of a shape, in C order, while it returns true.
static bool forEachIndex(ArrayRef<int64_t> shape,
                         function_ref<bool(ArrayRef<int64_t>)> visit) {
  int64_t count = ShapedType::getNumElements(shape);
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    if (!visit(index))
      return false;
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return true;
}

/// The tensor and dimension whose size a dimension of `value` has: that of an
/// operand through ops whose results are as large as their destinations.
static std::pair<Value, int64_t> findSizeSource(Value value, int64_t dim) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
      continue;
    }
    Value size;
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      if (empty.getType().isDynamicDim(dim))
        size = empty.getDynamicSize(dim);
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      size = dyn_cast<Value>(expand.getMixedOutputShape()[dim]);
    }
    auto query = size ? size.getDefiningOp<tensor::DimOp>() : nullptr;
    std::optional<int64_t> from =
        query ? query.getConstantIndex() : std::nullopt;
    if (!from)
      break;
    value = query.getSource();
    dim = *from;
  }
  return {value, dim};
}

void Lowering::assertSize(const Tensor &tensor, int64_t dim,
                          OpFoldResult size) {
  OpFoldResult own = getSize(tensor, dim);
  if (auto other = llvm::dyn_cast_if_present<Value>(size))
    if (auto op = other.getDefiningOp<tensor::DimOp>())
      if (std::optional<int64_t> from = op.getConstantIndex())
        if (findSizeSource(op.getSource(), *from) ==
            findSizeSource(tensor.value, dim))
          return;
  Value equal = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      getValueOrCreateConstantIndexOp(b, b.getLoc(), own),
      getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
  cf::AssertOp::create(b, equal,
                       node.describe() + ": dimension " + std::to_string(dim) +
                           " of an input does not have the size of the other "
                           "inputs");
}

FailureOr<Tensor> Lowering::elementwise(ArrayRef<Tensor> inputs, DataType type,
                                        const ScalarBody &body) {
  SmallVector<Shape> shapes;
  bool isConstant = true, isSplat = true;
  for (const Tensor &input : inputs) {
    shapes.push_back(input.shape);
    isConstant &= input.constant != nullptr;
    isSplat &= input.constant &&
               (input.constant->isSplat || input.constant->count() == 1);
  }
  FailureOr<Shape> shape = broadcast(shapes);
  if (failed(shape) || failed(checkShape(*shape)))
    return failure();

  if (isConstant &&
      (isSplat || ShapedType::getNumElements(*shape) <= mostFolded)) {
    std::string bytes;
    bool folds =
        forEachIndex(isSplat ? Shape() : *shape, [&](ArrayRef<int64_t> index) {
          SmallVector<TypedAttr> operands;
          for (const Tensor &input : inputs)
            operands.push_back(input.constant->getAttr(
                isSplat ? 0 : getBroadcastIndex(index, input.shape),
                b.getContext()));
          Attribute value = foldScalar(b, body, operands);
          if (value)
            appendElement(value, type, bytes);
          return value != nullptr;
        });
    if (folds)
      return makeConstant(type, *shape, std::move(bytes),
                          isSplat && ShapedType::getNumElements(*shape) != 1);
  }

  auto rank = static_cast<unsigned>(shape->size());
  SmallVector<OpFoldResult> sizes;
  for (unsigned i = 0; i < rank; ++i) {
    OpFoldResult size = b.getIndexAttr((*shape)[i]);
    if (ShapedType::isDynamic((*shape)[i]))
      for (const Tensor &input : inputs) {
        int64_t own = i - (static_cast<int64_t>(rank) - input.rank());
        if (own >= 0 && ShapedType::isDynamic(input.shape[own])) {
          size = getSize(input, own);
          break;
        }
      }
    sizes.push_back(size);
    for (const Tensor &input : inputs) {
      int64_t own = i - (static_cast<int64_t>(rank) - input.rank());
      if (own >= 0 && ShapedType::isDynamic(input.shape[own]))
        assertSize(input, own, size);
    }
  }
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  // Scalars are constants of the body; 'position' is that of an operand.
  SmallVector<std::optional<unsigned>> positions;
  for (const Tensor &input : inputs) {
    if (input.constant &&
        (input.constant->isSplat || input.constant->count() == 1)) {
      positions.push_back(std::nullopt);
      continue;
    }
    positions.push_back(static_cast<unsigned>(operands.size()));
    SmallVector<AffineExpr> exprs;
    Shape kept;
    for (int64_t i = 0; i < input.rank(); ++i) {
      auto dim = static_cast<unsigned>(rank - input.rank() + i);
      bool isOne = input.shape[i] == 1 && (*shape)[dim] != 1;
      // Reshaping constants is free.
      if (isOne && input.constant)
        continue;
      exprs.push_back(isOne ? b.getAffineConstantExpr(0)
                            : b.getAffineDimExpr(dim));
      kept.push_back(input.shape[i]);
    }
    maps.push_back(AffineMap::get(rank, 0, exprs, b.getContext()));
    if (!input.constant) {
      operands.push_back(input.value);
      continue;
    }
    FailureOr<Tensor> flat = reshape(input, kept);
    if (failed(flat))
      return failure();
    operands.push_back(materialize(*flat));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value init = makeEmpty(sizes, getElementType(type));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, init.getType(), operands, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, nested);
        SmallVector<Value> values;
        for (auto [input, position] : llvm::zip_equal(inputs, positions))
          values.push_back(position ? arguments[*position]
                                    : arith::ConstantOp::create(
                                          inner, input.constant->getAttr(
                                                     0, inner.getContext())));
        linalg::YieldOp::create(inner, body(inner, values));
      });
  return makeTensor(generic.getResult(0), type);
}

/// A float32 within the range of `type`; NaN stays.
static Value saturate(ImplicitLocOpBuilder &b, Value x, DataType type) {
  double most = llvm::APFloat::getLargest(getSemantics(type)).convertToDouble();
  auto limit = [&](arith::CmpFPredicate predicate, double bound) {
    Value end = arith::ConstantOp::create(
        b, b.getF32FloatAttr(static_cast<float>(bound)));
    Value isBeyond = arith::CmpFOp::create(b, predicate, x, end);
    x = arith::SelectOp::create(b, isBeyond, end, x);
  };
  limit(arith::CmpFPredicate::OGT, most);
  limit(arith::CmpFPredicate::OLT, -most);
  return x;
}

FailureOr<Tensor> Lowering::convert(const Tensor &input, DataType type,
                                    bool saturates) {
  if (input.type == type)
    return input;
  if (isNarrow(input.type) || isNarrow(type))
    return convertNarrow(*this, input, type);
  // By way of float32.
  bool fromSmall = isFloat8(input.type), toSmall = isFloat8(type);
  if ((fromSmall && (toSmall || type != DataType::F32)) ||
      (toSmall && input.type != DataType::F32)) {
    FailureOr<Tensor> wide = convert(input, DataType::F32);
    if (failed(wide))
      return failure();
    return convert(*wide, type, saturates);
  }
  if (fromSmall || toSmall) {
    Type element = getElementType(type);
    return elementwise(input, type,
                       [=](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                         if (fromSmall)
                           return arith::ExtFOp::create(b, element, v[0]);
                         Value x = saturates ? saturate(b, v[0], type) : v[0];
                         return arith::TruncFOp::create(b, element, x);
                       });
  }
  if (!input.partial.empty() && isInteger(type)) {
    Tensor flat = input;
    flat.partial.clear();
    FailureOr<Tensor> result = convert(flat, type);
    if (succeeded(result))
      result->partial = input.partial;
    return result;
  }
  DataType from = input.type;
  Type element = getElementType(type);
  return elementwise(input, type, [=](ImplicitLocOpBuilder &b, ValueRange v) {
    Value x = v[0];
    Type source = x.getType();
    if (type == DataType::Bool) {
      if (isFloat(from)) {
        Value zero = arith::ConstantOp::create(b, b.getFloatAttr(source, 0));
        return Value(
            arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, zero));
      }
      Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(source, 0));
      return Value(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero));
    }
    bool fromUnsigned = isUnsigned(from) || from == DataType::Bool;
    if (isFloat(from) && !isFloat(type))
      return isUnsigned(type) ? Value(arith::FPToUIOp::create(b, element, x))
                              : Value(arith::FPToSIOp::create(b, element, x));
    if (!isFloat(from) && isFloat(type))
      return fromUnsigned ? Value(arith::UIToFPOp::create(b, element, x))
                          : Value(arith::SIToFPOp::create(b, element, x));
    unsigned oldWidth = source.getIntOrFloatBitWidth(),
             newWidth = element.getIntOrFloatBitWidth();
    if (isFloat(from)) {
      if (oldWidth == newWidth) {
        // f16 and bf16.
        x = arith::ExtFOp::create(b, b.getF32Type(), x);
        return Value(arith::TruncFOp::create(b, element, x));
      }
      return oldWidth < newWidth
                 ? Value(arith::ExtFOp::create(b, element, x))
                 : Value(arith::TruncFOp::create(b, element, x));
    }
    if (oldWidth == newWidth)
      return x;
    if (oldWidth > newWidth)
      return Value(arith::TruncIOp::create(b, element, x));
    return fromUnsigned ? Value(arith::ExtUIOp::create(b, element, x))
                        : Value(arith::ExtSIOp::create(b, element, x));
  });
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Tensor Lowering::permute(const Tensor &input, ArrayRef<int64_t> shape,
                         function_ref<int64_t(ArrayRef<int64_t>)> source) {
  const Constant &constant = *input.constant;
  std::string bytes;
  if (constant.isSplat) {
    bytes = constant.bytes.str();
  } else {
    bytes.reserve(static_cast<size_t>(ShapedType::getNumElements(shape)) *
                  getByteWidth(input.type));
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      StringRef element = constant.getElement(source(index));
      bytes.append(element.data(), element.size());
      return true;
    });
  }
  return makeConstant(input.type, shape, std::move(bytes), constant.isSplat);
}

FailureOr<Tensor> Lowering::reshape(const Tensor &input,
                                    ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(input.shape) == shape)
    return input;
  if (input.constant) {
    auto constant = std::make_shared<Constant>(*input.constant);
    constant->shape.assign(shape.begin(), shape.end());
    constant->value = Value();
    return Tensor{input.type, constant->shape, constant, Value()};
  }
  if (!input.partial.empty()) {
    Tensor flat = input;
    flat.partial.clear();
    FailureOr<Tensor> result = reshape(flat, shape);
    if (succeeded(result) && shape.size() <= 1)
      result->partial = input.partial;
    return result;
  }
  // Groups of dimensions with the same number of elements.
  SmallVector<ReassociationIndices> from, to;
  size_t i = 0, j = 0, n = input.shape.size(), m = shape.size();
  bool matches = true;
  while (matches && (i < n || j < m)) {
    ReassociationIndices left, right;
    if (i < n && j < m && ShapedType::isDynamic(input.shape[i]) &&
        ShapedType::isDynamic(shape[j])) {
      left.push_back(static_cast<int64_t>(i++));
      right.push_back(static_cast<int64_t>(j++));
    } else if (i == n || j == m) {
      // Ones at the end join the last group.
      bool isOne = i == n ? shape[j] == 1 : input.shape[i] == 1;
      matches = isOne && !from.empty();
      if (matches && i == n)
        to.back().push_back(static_cast<int64_t>(j++));
      else if (matches)
        from.back().push_back(static_cast<int64_t>(i++));
      continue;
    } else {
      int64_t x = input.shape[i], y = shape[j];
      left.push_back(static_cast<int64_t>(i++));
      right.push_back(static_cast<int64_t>(j++));
      matches = x > 0 && y > 0;
      while (matches && x != y) {
        bool growsLeft = x < y;
        matches =
            growsLeft ? i < n && input.shape[i] > 0 : j < m && shape[j] > 0;
        if (!matches)
          break;
        if (growsLeft) {
          x *= input.shape[i];
          left.push_back(static_cast<int64_t>(i++));
        } else {
          y *= shape[j];
          right.push_back(static_cast<int64_t>(j++));
        }
      }
    }
    from.push_back(std::move(left));
    to.push_back(std::move(right));
  }
  if (!matches) {
    from.clear();
    to.clear();
    if (n)
      from.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, n)));
    if (m)
      to.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, m)));
    if (llvm::count(shape, ShapedType::kDynamic) > 1)
      return fail("the reshape of a tensor with more than one dynamic "
                  "dimension is not supported");
  }
  Value value = input.value;
  Shape middle = input.shape;
  // A tensor without dimensions has no groups.
  if (n == 0 || m == 0) {
    from.clear();
    to.clear();
  }
  if (from.size() < n) {
    middle.clear();
    for (const ReassociationIndices &group : from) {
      int64_t size = 1;
      for (int64_t k : group)
        size =
            ShapedType::isDynamic(size) || ShapedType::isDynamic(input.shape[k])
                ? ShapedType::kDynamic
                : size * input.shape[k];
      middle.push_back(size);
    }
    value = tensor::CollapseShapeOp::create(
        b, RankedTensorType::get(middle, getElementType(input.type)), value,
        from);
  }
  if (to.size() < m || middle.size() < m) {
    SmallVector<OpFoldResult> sizes;
    Tensor flat = makeTensor(value, input.type);
    for (auto [k, group] : llvm::enumerate(to)) {
      int64_t known = 1;
      for (int64_t d : group)
        known *= ShapedType::isDynamic(shape[d]) ? 1 : shape[d];
      for (int64_t d : group) {
        if (!ShapedType::isDynamic(shape[d])) {
          sizes.push_back(b.getIndexAttr(shape[d]));
          continue;
        }
        OpFoldResult size = getSize(flat, static_cast<int64_t>(k));
        if (known != 1) {
          Value all = getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
          Value divisor = arith::ConstantIndexOp::create(b, known);
          size = arith::DivUIOp::create(b, all, divisor).getResult();
        }
        sizes.push_back(size);
      }
    }
    for (size_t d = sizes.size(); d < m; ++d)
      sizes.push_back(b.getIndexAttr(1));
    value = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, getElementType(input.type)), value, to,
        sizes);
  }
  return makeTensor(value, input.type);
}

FailureOr<Tensor> Lowering::transpose(const Tensor &input,
                                      ArrayRef<int64_t> order) {
  Shape shape;
  SmallVector<OpFoldResult> sizes;
  bool isIdentity = true;
  for (auto [i, from] : llvm::enumerate(order)) {
    shape.push_back(input.shape[from]);
    isIdentity &= from == static_cast<int64_t>(i);
  }
  if (isIdentity)
    return input;
  if (input.constant) {
    SmallVector<int64_t> strides(input.shape.size(), 1);
    for (size_t d = strides.size(); d-- > 1;)
      strides[d - 1] = strides[d] * input.shape[d];
    return permute(input, shape, [&](ArrayRef<int64_t> index) {
      int64_t at = 0;
      for (auto [i, from] : llvm::enumerate(order))
        at += index[i] * strides[from];
      return at;
    });
  }
  for (int64_t from : order)
    sizes.push_back(getSize(input, from));
  Value init = makeEmpty(sizes, getElementType(input.type));
  return makeTensor(
      linalg::TransposeOp::create(b, input.value, init, order).getResult()[0],
      input.type);
}

FailureOr<Tensor> Lowering::expand(const Tensor &input,
                                   ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(input.shape) == shape)
    return input;
  if (failed(checkShape(shape)))
    return failure();
  if (input.constant && !ShapedType::isDynamicShape(shape)) {
    if (input.constant->isSplat || input.constant->count() == 1) {
      bool isSplat = ShapedType::getNumElements(shape) > 1;
      return makeConstant(input.type, shape,
                          input.constant->getElement(0).str(), isSplat);
    }
    if (ShapedType::getNumElements(shape) <= mostFolded)
      return permute(input, shape, [&](ArrayRef<int64_t> index) {
        return getBroadcastIndex(index, input.shape);
      });
  }
  // An element-wise copy, with the shape from a constant that is not read.
  // Sizes that are not known stay the input's.
  Shape known(shape);
  std::replace(known.begin(), known.end(), ShapedType::kDynamic, int64_t(1));
  Tensor like = makeSplat(input.type, known, 0);
  return elementwise({input, like}, input.type,
                     [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
}

FailureOr<Tensor> Lowering::pad(const Tensor &input, ArrayRef<int64_t> low,
                                ArrayRef<int64_t> high, Value value) {
  Tensor source = input;
  if (llvm::any_of(low, [](int64_t n) { return n < 0; }) ||
      llvm::any_of(high, [](int64_t n) { return n < 0; })) {
    SmallVector<int64_t> offsets, sizes, steps(low.size(), 1);
    for (auto [size, l, h] : llvm::zip_equal(input.shape, low, high)) {
      if (ShapedType::isDynamic(size))
        return fail("negative padding of a dynamic dimension is not supported");
      offsets.push_back(std::max<int64_t>(-l, 0));
      sizes.push_back(size + std::min<int64_t>(l, 0) + std::min<int64_t>(h, 0));
      if (sizes.back() < 0)
        return fail("negative padding exceeds a dimension of size " +
                    Twine(size));
    }
    FailureOr<Tensor> cropped = slice(input, offsets, sizes, steps);
    if (failed(cropped))
      return failure();
    source = *cropped;
  }
  SmallVector<OpFoldResult> before, after;
  Shape shape = source.shape;
  bool isEmpty = true;
  for (auto [size, l, h] : llvm::zip_equal(shape, low, high)) {
    before.push_back(b.getIndexAttr(std::max<int64_t>(l, 0)));
    after.push_back(b.getIndexAttr(std::max<int64_t>(h, 0)));
    isEmpty &= l <= 0 && h <= 0;
    if (!ShapedType::isDynamic(size))
      size += std::max<int64_t>(l, 0) + std::max<int64_t>(h, 0);
  }
  if (isEmpty)
    return source;
  if (failed(checkShape(shape)))
    return failure();
  auto type = RankedTensorType::get(shape, getElementType(input.type));
  return makeTensor(
      tensor::PadOp::create(b, type, materialize(source), before, after, value),
      input.type);
}

FailureOr<Tensor> Lowering::slice(const Tensor &input,
                                  ArrayRef<int64_t> offsets,
                                  ArrayRef<int64_t> sizes,
                                  ArrayRef<int64_t> steps) {
  if (input.constant)
    return permute(input, sizes, [&](ArrayRef<int64_t> index) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d)
        at = at * input.shape[d] + offsets[d] + index[d] * steps[d];
      return at;
    });
  if (!input.partial.empty() && sizes.size() == 1) {
    Shape partial;
    for (int64_t i = 0; i < sizes[0]; ++i)
      partial.push_back(input.partial[offsets[0] + i * steps[0]]);
    if (!partial.empty() && !ShapedType::isDynamicShape(partial))
      return makeInts(partial, sizes, input.type);
    Tensor flat = input;
    flat.partial.clear();
    FailureOr<Tensor> result = slice(flat, offsets, sizes, steps);
    if (succeeded(result))
      result->partial = partial;
    return result;
  }
  SmallVector<OpFoldResult> from, size, step;
  bool isWhole = true, isReversed = false;
  for (size_t d = 0; d < offsets.size(); ++d) {
    // An empty part may begin at the end, which the op does not accept.
    from.push_back(b.getIndexAttr(sizes[d] == 0 ? 0 : offsets[d]));
    size.push_back(ShapedType::isDynamic(sizes[d])
                       ? getSize(input, static_cast<int64_t>(d))
                       : b.getIndexAttr(sizes[d]));
    step.push_back(b.getIndexAttr(steps[d]));
    isWhole &= offsets[d] == 0 && steps[d] == 1 && sizes[d] == input.shape[d];
    isReversed |= steps[d] < 0;
  }
  if (isWhole)
    return input;
  if (!isReversed)
    return makeTensor(
        tensor::ExtractSliceOp::create(b, materialize(input), from, size, step),
        input.type);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < rank; ++d)
    exprs.push_back(b.getAffineDimExpr(d) * steps[d] + offsets[d]);
  SmallVector<AffineMap> maps = {AffineMap::get(rank, 0, exprs, b.getContext()),
                                 b.getMultiDimIdentityMap(rank)};
  Value init = makeEmpty(size, getElementType(input.type));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, init.getType(), materialize(input), init, maps, iterators,
      [](OpBuilder &nested, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(nested, loc, arguments[0]);
      });
  return makeTensor(generic.getResult(0), input.type);
}

FailureOr<Tensor> Lowering::concat(ArrayRef<Tensor> inputs, int64_t axis) {
  if (inputs.size() == 1)
    return inputs[0];
  Shape shape = inputs[0].shape;
  bool isConstant = inputs[0].constant != nullptr;
  for (const Tensor &input : inputs.drop_front()) {
    if (input.rank() != inputs[0].rank())
      return fail("its inputs have different ranks");
    for (int64_t d = 0; d < input.rank(); ++d) {
      if (d == axis)
        shape[d] = ShapedType::isDynamic(shape[d]) ||
                           ShapedType::isDynamic(input.shape[d])
                       ? ShapedType::kDynamic
                       : shape[d] + input.shape[d];
      else if (ShapedType::isDynamic(shape[d]))
        shape[d] = input.shape[d];
      else if (!ShapedType::isDynamic(input.shape[d]) &&
               input.shape[d] != shape[d])
        return fail("its inputs have the sizes " + Twine(shape[d]) + " and " +
                    Twine(input.shape[d]) + " in dimension " + Twine(d));
    }
    isConstant &= input.constant != nullptr;
  }
  if (failed(checkShape(shape)))
    return failure();
  if (isConstant && ShapedType::getNumElements(shape) <= mostFolded) {
    std::string bytes;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> own(index);
      const Tensor *from = inputs.begin();
      while (own[axis] >= from->shape[axis])
        own[axis] -= (from++)->shape[axis];
      int64_t at = 0;
      for (auto [i, size] : llvm::zip_equal(own, from->shape))
        at = at * size + i;
      StringRef element = from->constant->getElement(at);
      bytes.append(element.data(), element.size());
      return true;
    });
    return makeConstant(inputs[0].type, shape, std::move(bytes));
  }
  // Sizes that are known stay known.
  Shape partial;
  for (const Tensor &input : inputs) {
    bool isList =
        input.rank() == 1 &&
        (!input.partial.empty() || (input.constant && isInteger(input.type)));
    if (!isList || input.count() > mostFolded) {
      partial.clear();
      break;
    }
    for (int64_t i = 0, e = input.count(); i < e; ++i)
      partial.push_back(input.constant ? input.constant->getInt(i)
                                       : input.partial[i]);
  }
  SmallVector<Value> values;
  for (const Tensor &input : inputs)
    if (input.shape[axis] != 0)
      values.push_back(materialize(input));
  if (values.size() == 1)
    return makeTensor(values[0], inputs[0].type);
  if (values.empty())
    return inputs[0];
  Tensor result =
      makeTensor(tensor::ConcatOp::create(b, axis, values), inputs[0].type);
  result.partial = std::move(partial);
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

FailureOr<Tensor> Lowering::reduce(const Tensor &input, ArrayRef<int64_t> axes,
                                   bool keepDims, DataType sumType,
                                   double start, const ScalarBody &body) {
  Shape kept, result;
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> exprs;
  SmallVector<utils::IteratorType> iterators;
  for (int64_t d = 0; d < input.rank(); ++d) {
    bool isReduced = llvm::is_contained(axes, d);
    iterators.push_back(isReduced ? utils::IteratorType::reduction
                                  : utils::IteratorType::parallel);
    if (!isReduced) {
      kept.push_back(input.shape[d]);
      result.push_back(input.shape[d]);
      exprs.push_back(b.getAffineDimExpr(static_cast<unsigned>(d)));
    } else if (keepDims) {
      result.push_back(1);
    }
  }
  FailureOr<Tensor> wide = input;
  if (input.constant && input.constant->count() <= mostFolded &&
      !input.constant->isSplat) {
    // By the body's own folders.
    wide = convert(input, sumType);
    SmallVector<Attribute> sums(
        static_cast<size_t>(ShapedType::getNumElements(kept)),
        makeSplat(sumType, {}, start).constant->getAttr(0, b.getContext()));
    int64_t i = 0;
    auto addElement = [&](ArrayRef<int64_t> index) {
      int64_t at = 0;
      for (int64_t d = 0; d < input.rank(); ++d)
        if (!llvm::is_contained(axes, d))
          at = at * input.shape[d] + index[d];
      Attribute &sum = sums[static_cast<size_t>(at)];
      sum = foldScalar(
          b, body,
          {wide->constant->getAttr(i++, b.getContext()), cast<TypedAttr>(sum)});
      return sum != nullptr;
    };
    if (succeeded(wide) && wide->constant &&
        forEachIndex(input.shape, addElement)) {
      std::string bytes;
      for (Attribute sum : sums)
        appendElement(sum, sumType, bytes);
      return makeConstant(sumType, result, std::move(bytes));
    }
  }
  Value source = materialize(input);
  Tensor whole = makeTensor(source, input.type);
  for (int64_t d = 0; d < input.rank(); ++d)
    if (!llvm::is_contained(axes, d))
      sizes.push_back(getSize(whole, d));
  Value init = makeFilled(sizes, makeScalar(sumType, start));
  auto rank = static_cast<unsigned>(input.rank());
  SmallVector<AffineMap> maps = {
      b.getMultiDimIdentityMap(rank),
      AffineMap::get(rank, 0, exprs, b.getContext())};
  Type element = getElementType(sumType);
  auto generic = linalg::GenericOp::create(
      b, init.getType(), source, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value x = arguments[0];
        if (x.getType() != element)
          x = isFloat(sumType)
                  ? Value(arith::ExtFOp::create(inner, element, x))
                  : Value(arith::ExtSIOp::create(inner, element, x));
        linalg::YieldOp::create(inner, body(inner, {x, arguments[1]}));
      });
  return reshape(makeTensor(generic.getResult(0), sumType), result);
}

Tensor mlir::tessera::onnx::generate(
    Lowering &l, ArrayRef<OpFoldResult> sizes, DataType type,
    ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
    function_ref<Value(ScalarBuilder &, ArrayRef<Value>, ValueRange)> body) {
  auto rank = static_cast<unsigned>(sizes.size());
  Value init = l.makeEmpty(sizes, l.getElementType(type));
  SmallVector<AffineMap> all(maps);
  all.push_back(l.b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), inputs, init, all, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ScalarBuilder b(loc, nested);
        SmallVector<Value> indices;
        for (unsigned d = 0; d < rank; ++d)
          indices.push_back(linalg::IndexOp::create(b, d));
        linalg::YieldOp::create(b, body(b, indices, arguments.drop_back()));
      });
  return l.makeTensor(generic.getResult(0), type);
}
