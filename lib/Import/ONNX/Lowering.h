//===- Lowering.h - One node of a model to linalg ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_LOWERING_H
#define IMPORT_ONNX_LOWERING_H

#include "Import/ONNX/Model.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace mlir::tessera::onnx {

/// A float of 16 bits or more, in which operators compute.
bool isFloat(DataType type);
/// A float of 8 bits: only stored, moved and converted.
bool isFloat8(DataType type);
/// Types of fewer than 8 bits and float8e8m0: only stored, moved and converted.
/// In the module an element is an i8, with the contents of TensorData.
bool isNarrow(DataType type);
bool isUnsigned(DataType type);
/// An integer of 8 bits or more.
inline bool isInteger(DataType type) {
  return !isFloat(type) && !isFloat8(type) && !isNarrow(type) &&
         type != DataType::Bool;
}

using Shape = SmallVector<int64_t>;

/// A tensor whose contents are known at import.
struct Constant {
  /// The initializer's; empty for a computed constant.
  std::string name;
  DataType type = DataType::Undefined;
  Shape shape;
  /// One element where `isSplat`.
  StringRef bytes;
  std::shared_ptr<const void> owner;
  bool isSplat = false;
  /// The constant op, once there is one.
  mutable Value value;

  int64_t count() const;
  /// Element `i` in C order.
  double getDouble(int64_t i) const;
  int64_t getInt(int64_t i) const;
  TypedAttr getAttr(int64_t i, MLIRContext *context) const;
  StringRef getElement(int64_t i) const {
    unsigned width = getByteWidth(type);
    return bytes.substr(isSplat ? 0 : static_cast<size_t>(i) * width, width);
  }
};
using ConstantRef = std::shared_ptr<const Constant>;

struct Quantized;
struct ScaledSum;

/// A value of the model while it is imported.
struct Tensor {
  DataType type = DataType::Undefined;
  /// Dynamic sizes are ShapedType::kDynamic.
  Shape shape;
  /// Null if the contents are not known.
  ConstantRef constant;
  /// Null for a constant; Lowering::materialize makes its op.
  Value value = {};
  /// The contents of a list of sizes of which some are not known: these are
  /// ShapedType::kDynamic. Empty for other tensors.
  Shape partial = {};
  /// The bytes that DequantizeLinear made the tensor of; null for others.
  std::shared_ptr<const Quantized> quantized = nullptr;
  /// The uint8 that are larger by 128 than int8 with the zero point -128; their
  /// own zero point is 0. Null for other tensors, and where they are not known.
  std::shared_ptr<const Tensor> raised = nullptr;
  /// The integers that the tensor is a sum of; null for others.
  std::shared_ptr<const ScaledSum> scaled = nullptr;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool isStatic() const { return !ShapedType::isDynamicShape(shape); }
  /// Elements; kDynamic if they are not known.
  int64_t count() const {
    return isStatic() ? ShapedType::getNumElements(shape)
                      : ShapedType::kDynamic;
  }
};

/// The operands of a DequantizeLinear: int8 or uint8, a scale and a zero point
/// for the tensor, or for each index of `axis`.
struct Quantized {
  Tensor integers, scale;
  std::optional<Tensor> zero;
  int64_t axis;
};

/// The sum of (integers - zero) * scale over terms, plus the offset, limited to
/// [low, high]. QuantizeLinear multiplies the scales by its own, instead of
/// each number.
struct ScaledSum {
  struct Term {
    Tensor integers;
    /// float32, and constants.
    std::optional<Tensor> zero;
    Tensor scale;
  };
  SmallVector<Term, 2> terms;
  /// float32, and a constant.
  std::optional<Tensor> offset;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool isLimited() const { return !std::isinf(low) || !std::isinf(high); }
};

using ScalarBuilder = ImplicitLocOpBuilder;

/// Computes a scalar of scalars; used for the bodies of linalg.generic and,
/// with constants, to fold.
using ScalarBody = std::function<Value(ScalarBuilder &, ValueRange)>;

class GraphImporter;

/// A node while it is imported: inputs, attributes, results, and the builders
/// that operators share. A function that fails has reported an error.
class Lowering {
public:
  Lowering(GraphImporter &importer, const Node &node, Location loc,
           OpBuilder &builder, int64_t version)
      : node(node), version(version), b(loc, builder), importer(importer) {}

  const Node &node;
  /// The version of the operator set.
  const int64_t version;
  ImplicitLocOpBuilder b;

  //===--------------------------------------------------------------------===//
  // Inputs, attributes and results
  //===--------------------------------------------------------------------===//

  size_t getNumInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i]; }
  const Tensor &getInput(size_t i) const { return *inputs[i]; }
  /// The integers of an input, which must be constant. `what` names it in the
  /// error.
  LogicalResult getInts(size_t i, StringRef what, SmallVector<int64_t> &values);

  bool hasAttribute(StringRef name) const { return findAttribute(name); }
  /// The values of attributes, or the default. A wrong type is reported after
  /// the operator's builder.
  int64_t getInt(StringRef name, int64_t otherwise);
  double getFloat(StringRef name, double otherwise);
  std::string getString(StringRef name, StringRef otherwise);
  SmallVector<int64_t> getInts(StringRef name);
  std::vector<float> getFloats(StringRef name);
  std::vector<std::string> getStrings(StringRef name);
  const TensorData *getTensor(StringRef name);
  const Graph *getGraph(StringRef name);
  /// An axis from an attribute or input, from 0.
  LogicalResult normalizeAxis(int64_t &axis, int64_t rank);

  bool isOutputUsed(size_t i) const {
    return i < node.outputs.size() && !node.outputs[i].empty();
  }
  void setResult(size_t i, Tensor tensor) {
    if (results.size() <= i)
      results.resize(i + 1);
    results[i] = std::move(tensor);
  }
  LogicalResult setResult(FailureOr<Tensor> tensor) {
    if (failed(tensor))
      return failure();
    setResult(0, *tensor);
    return success();
  }

  /// Reports an error at the node.
  LogicalResult fail(const Twine &message);

  //===--------------------------------------------------------------------===//
  // Types and values
  //===--------------------------------------------------------------------===//

  Type getElementType(DataType type);
  RankedTensorType getType(const Tensor &tensor) {
    return RankedTensorType::get(tensor.shape, getElementType(tensor.type));
  }
  /// The op of a constant, or the value.
  Value materialize(const Tensor &tensor);
  /// A value whose type has the shape. Checks its size.
  Tensor makeTensor(Value value, DataType type);
  /// Fails if a tensor of the shape does not fit the address space.
  LogicalResult checkShape(ArrayRef<int64_t> shape);

  /// Imports a graph of the node into a block, by default that of the node.
  FailureOr<SmallVector<Tensor>> importGraph(const Graph &graph,
                                             ArrayRef<Tensor> inputs,
                                             Block *block = nullptr);

  /// A constant of a type's width, from numbers.
  Tensor makeInts(ArrayRef<int64_t> values, ArrayRef<int64_t> shape,
                  DataType type = DataType::I64);
  Tensor makeDoubles(ArrayRef<double> values, ArrayRef<int64_t> shape,
                     DataType type);
  /// A constant whose rows, along the first dimension, are multiplied by one
  /// factor each.
  Tensor scaleRows(const Tensor &tensor, ArrayRef<double> factors);
  Tensor makeConstant(DataType type, ArrayRef<int64_t> shape, std::string bytes,
                      bool isSplat = false);
  Tensor makeConstant(DataType type, ArrayRef<int64_t> shape, StringRef bytes,
                      std::shared_ptr<const void> owner, bool isSplat = false);
  Tensor makeSplat(DataType type, ArrayRef<int64_t> shape, double value);
  /// The scalar arith.constant of a type.
  Value makeScalar(DataType type, double value);
  Value makeScalar(Type type, double value);

  /// The sizes of a value's dimensions.
  OpFoldResult getSize(const Tensor &tensor, int64_t i);
  SmallVector<OpFoldResult> getSizes(const Tensor &tensor);
  Value makeEmpty(ArrayRef<OpFoldResult> sizes, Type element) {
    return tensor::EmptyOp::create(b, sizes, element);
  }
  Value makeFilled(ArrayRef<OpFoldResult> sizes, Value scalar) {
    Value empty = makeEmpty(sizes, scalar.getType());
    return linalg::FillOp::create(b, scalar, empty).getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Shared builders
  //===--------------------------------------------------------------------===//

  /// The shape of numpy's broadcasting. Dynamic sizes are taken to be equal to
  /// the result's; `elementwise` has the program check them.
  FailureOr<Shape> broadcast(ArrayRef<Shape> shapes);
  /// Has the program fail where a dynamic dimension has another size, unless
  /// both are known to be equal.
  void assertSize(const Tensor &tensor, int64_t dim, OpFoldResult size);
  /// The same for a dimension of each of two tensors; nothing if both are
  /// static.
  void assertEqual(const Tensor &x, int64_t i, const Tensor &y, int64_t j) {
    if (ShapedType::isDynamic(x.shape[i]) || ShapedType::isDynamic(y.shape[j]))
      assertSize(y, j, getSize(x, i));
  }
  /// Applies `body` element by element, with broadcasting. Constants fold where
  /// they are small.
  FailureOr<Tensor> elementwise(ArrayRef<Tensor> inputs, DataType type,
                                const ScalarBody &body);
  /// The first result of another operator, in the version of this node.
  FailureOr<Tensor> call(StringRef op, ArrayRef<Tensor> operands,
                         std::vector<NodeAttribute> attributes = {});
  /// The same contents in another shape with the same number of elements.
  FailureOr<Tensor> reshape(const Tensor &input, ArrayRef<int64_t> shape);
  FailureOr<Tensor> transpose(const Tensor &input, ArrayRef<int64_t> order);
  /// Numbers beyond the range of a float of 8 bits become its largest number
  /// with `saturates`, else NaN or infinity.
  FailureOr<Tensor> convert(const Tensor &input, DataType type,
                            bool saturates = true);
  FailureOr<Tensor> expand(const Tensor &input, ArrayRef<int64_t> shape);
  /// Reduces the axes by `body(element, accumulator)`, in the type `sumType`.
  FailureOr<Tensor> reduce(const Tensor &input, ArrayRef<int64_t> axes,
                           bool keepDims, DataType sumType, double start,
                           const ScalarBody &body);
  /// Pads with a value; a negative number of elements crops.
  FailureOr<Tensor> pad(const Tensor &input, ArrayRef<int64_t> low,
                        ArrayRef<int64_t> high, Value value);
  FailureOr<Tensor> slice(const Tensor &input, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps);
  FailureOr<Tensor> concat(ArrayRef<Tensor> inputs, int64_t axis);
  /// A constant of elements of another one, by the index of each.
  Tensor permute(const Tensor &input, ArrayRef<int64_t> shape,
                 function_ref<int64_t(ArrayRef<int64_t>)> source);
  /// The type that sums of a type are accumulated in.
  static DataType getSumType(DataType type) {
    return type == DataType::F16 || type == DataType::BF16 ? DataType::F32
                                                           : type;
  }
  /// Whether one node, once, uses the first output of this one, which is not an
  /// output of the graph.
  bool hasOneUse() const;
  /// The only node that uses the first output of this one, which is not an
  /// output of the graph, if it is of the kind `op`; else null.
  const Node *getOnlyUser(StringRef op);
  /// Has `other` become the identity of its first input: this node's lowering
  /// includes it.
  void absorb(const Node &other);
  /// An input of another node, if it is constant.
  const Constant *getConstantInput(const Node &other, size_t i);
  bool isAbsorbed() const;

private:
  friend class GraphImporter;

  const NodeAttribute *findAttribute(StringRef name) const;
  const NodeAttribute *findAttribute(StringRef name, NodeAttribute::Kind kind);

  GraphImporter &importer;
  std::vector<const Tensor *> inputs;
  std::vector<std::optional<Tensor>> results;
  std::string wrongAttribute;
};

/// Builds each element of a result by `body`, which gets the loops' indices and
/// the elements of `inputs` by their maps.
Tensor generate(
    Lowering &l, ArrayRef<OpFoldResult> sizes, DataType type,
    ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
    function_ref<Value(ScalarBuilder &, ArrayRef<Value>, ValueRange)> body);

/// Converts from or to a narrow type. Floats of fewer than 8 bits saturate;
/// integers are those of the lowest bits.
FailureOr<Tensor> convertNarrow(Lowering &l, const Tensor &input,
                                DataType type);

/// An integer of fewer than 8 bits as int8 or uint8, which its elements are
/// stored as; other tensors as they are.
Tensor widenToBytes(const Tensor &input);

/// An input of the graph with the unused bits of each element cleared, or equal
/// to its sign.
FailureOr<Tensor> clearUnusedBits(Lowering &l, const Tensor &input);

/// Softmax or its logarithm over axes, in the type of `x`.
FailureOr<Tensor> softmax(Lowering &l, const Tensor &x, ArrayRef<int64_t> axes,
                          bool isLog);

/// MatMul as numpy defines it, in `sumType`.
FailureOr<Tensor> multiplyBatches(Lowering &l, Tensor a, Tensor c,
                                  DataType sumType);

/// An operand of an integer contraction, which multiplies `bytes - zero`.
struct ByteOperand {
  /// int8, or uint8 without a zero point.
  Tensor bytes;
  /// int32; absent for zero.
  std::optional<Tensor> zero;
};

/// The operand of an int8 or uint8 tensor and its zero point, which may be
/// null. 128 is subtracted of uint8 and its zero point, except of values that
/// are not known and whose zero point is 0, if `mayBeUnsigned`.
FailureOr<ByteOperand> makeByteOperand(Lowering &l, const Tensor &integers,
                                       const Tensor *zero,
                                       bool mayBeUnsigned = false);
inline FailureOr<ByteOperand> makeByteOperand(Lowering &l, const Quantized &x,
                                              bool mayBeUnsigned = false) {
  return makeByteOperand(l, x.integers, x.zero ? &*x.zero : nullptr,
                         mayBeUnsigned);
}

/// Whether dequantization is known to keep the order of the numbers: there is
/// one scale, which is a positive constant.
bool keepsOrder(const Quantized &quantized);

/// Dequantizes other bytes with the one scale and zero point of `quantized`.
FailureOr<Tensor> dequantizeAs(Lowering &l, const Quantized &quantized,
                               const Tensor &integers);

/// The sum of int8 over axes, in int32.
FailureOr<Tensor> sumBytes(Lowering &l, const Tensor &bytes,
                           ArrayRef<int64_t> axes);

/// sum - zero * other, in int32, with broadcasting. A constant `zero * other`
/// is the offset of a scaled sum if `sum` never wraps.
FailureOr<Tensor> subtractProduct(Lowering &l, const Tensor &sum,
                                  const Tensor &zero, const Tensor &other,
                                  bool neverWraps = false);

/// factor * sum * left * right + beta * offset in `type`, of an int32 sum; it
/// is computed in float32.
FailureOr<Tensor> dequantizeSum(Lowering &l, const Tensor &sum,
                                const Tensor &left, const Tensor &right,
                                double factor, std::optional<Tensor> offset,
                                double beta, DataType type);

/// `x`, an f32, rounded to the nearest integer, ties to even, plus `zero`,
/// which may be null, limited to `type`, whose element type is `element`.
Value quantizeNumber(ScalarBuilder &b, Value x, Value zero, DataType type,
                     Type element);

/// `sum` as the only term.
ScaledSum makeScaledSum(Lowering &l, const Tensor &sum);

/// The terms and the offset times a factor; the limits are not changed.
FailureOr<ScaledSum> scaleSum(Lowering &l, const ScaledSum &sum,
                              const Tensor &factor);

LogicalResult addOffset(Lowering &l, ScaledSum &sum, const Tensor &offset);

/// The sum rounded, plus a zero point of `type`, limited to `type`.
FailureOr<Tensor> quantizeSum(Lowering &l, const ScaledSum &sum,
                              std::optional<Tensor> zero, DataType type);

/// Keeps in `result`, the node's, that it is the sum of `inputs`, or input 0
/// limited to [low, high]. Nothing is kept if an input is not known to be a sum
/// of integers, or several nodes use the result, as they would compute it
/// again.
void keepScaledSum(Lowering &l, Tensor &result, ArrayRef<Tensor> inputs);
void keepScaledLimits(Lowering &l, Tensor &result, double low, double high);

/// round(sum * left * right / result) + zero, limited to the type of the zero
/// point; the factors and the zero point are inputs by their numbers. Scales of
/// several elements are for dimension `axis` of the sum.
FailureOr<Tensor> requantize(Lowering &l, const Tensor &sum, size_t left,
                             size_t right, size_t result, size_t zero,
                             int64_t axis);

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// How an operator is imported.
struct Operator {
  const char *name;
  /// The operator set versions at which its form is known, and the numbers of
  /// inputs.
  int64_t firstVersion;
  unsigned fewestInputs, mostInputs;
  LogicalResult (*lower)(Lowering &);
  /// Unsupported forms; empty if there are none.
  const char *limits = "";
};

/// Many inputs, in Operator::mostInputs.
inline constexpr unsigned anyNumber = ~0u;

/// The operators of each file.
ArrayRef<Operator> getElementwiseOperators();
ArrayRef<Operator> getMovementOperators();
ArrayRef<Operator> getIndexingOperators();
ArrayRef<Operator> getConvolutionOperators();
ArrayRef<Operator> getMatmulOperators();
ArrayRef<Operator> getReductionOperators();
ArrayRef<Operator> getNormalizationOperators();
ArrayRef<Operator> getQuantizationOperators();
ArrayRef<Operator> getControlFlowOperators();
ArrayRef<Operator> getAttentionOperators();
ArrayRef<Operator> getLossOperators();
ArrayRef<Operator> getScatterOperators();
ArrayRef<Operator> getRecurrentOperators();
ArrayRef<Operator> getSelectionOperators();
ArrayRef<Operator> getSamplingOperators();
ArrayRef<Operator> getSignalOperators();

/// Null if there is none.
const Operator *findOperator(StringRef name);

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_LOWERING_H
