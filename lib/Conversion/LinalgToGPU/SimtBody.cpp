//===- SimtBody.cpp - Code for one point, or for several at once ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

BlockArgument simt::getReadArgument(linalg::LinalgOp op, OpOperand &operand) {
  // Not every op's body has an argument for each output.
  Block *body = op.getBlock();
  unsigned i = operand.getOperandNumber();
  if (i >= body->getNumArguments() || body->getArgument(i).use_empty())
    return {};
  return body->getArgument(i);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::optional<int64_t> simt::getStaticProduct(ArrayRef<Value> sizes,
                                              ArrayRef<unsigned> dims) {
  int64_t total = 1;
  for (unsigned d : dims) {
    std::optional<int64_t> size = getConstantIntValue(sizes[d]);
    if (!size)
      return std::nullopt;
    total *= *size;
  }
  return total;
}

gpu::LaunchOp simt::createLaunch(ImplicitLocOpBuilder &builder, Value gridX,
                                 Value gridY, int64_t threads) {
  IndexMath math(builder);
  Value one = math.constant(1);
  auto launch = gpu::LaunchOp::create(builder, gridX, gridY, one,
                                      math.constant(threads), one, one);
  builder.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(builder);
  builder.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// By how much `expr` grows with dimension `dim`, if that is a constant.
static std::optional<int64_t> getCoefficient(AffineExpr expr, unsigned dim,
                                             unsigned numDims) {
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  AffineExpr difference =
      simplifyAffineExpr(expr.replace(d, d + 1) - expr, numDims, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(difference))
    return constant.getValue();
  return std::nullopt;
}

/// The strides of `operand`'s memory; none without a strided layout.
static std::optional<SmallVector<int64_t>> getStrides(const Operand &operand) {
  auto type = dyn_cast<MemRefType>(operand.memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  return strides;
}

/// The position of the only index of `operand` that moves with `dim`, by one
/// element of memory per step.
static std::optional<unsigned> getContiguousIndex(const Operand &operand,
                                                  unsigned dim) {
  std::optional<SmallVector<int64_t>> strides = getStrides(operand);
  if (!strides)
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [r, expr] : llvm::enumerate(operand.map.getResults())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (found || (*strides)[r] != 1 ||
        getCoefficient(expr, dim, operand.map.getNumDims()) != 1)
      return std::nullopt;
    found = r;
  }
  return found;
}

/// Whether `expr` is the same for `width` points along `dim` that start at a
/// multiple of it: it divides the dimension by a multiple.
static bool isSameWithin(AffineExpr expr, unsigned dim, int64_t width) {
  if (!expr.isFunctionOfDim(dim))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::FloorDiv)
    if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (auto d = dyn_cast<AffineDimExpr>(binary.getLHS()))
        return d.getPosition() == dim && divisor.getValue() > 0 &&
               divisor.getValue() % width == 0;
  return isSameWithin(binary.getLHS(), dim, width) &&
         isSameWithin(binary.getRHS(), dim, width);
}

Movement simt::getMovement(const Operand &operand, unsigned dim) {
  if (!isa<MemRefType>(operand.memory.getType()) ||
      !operand.map.isFunctionOfDim(dim))
    return Movement::None;
  return getContiguousIndex(operand, dim) ? Movement::Contiguous
                                          : Movement::Strided;
}

std::optional<unsigned> simt::getFastestDim(const Operand &operand,
                                            ArrayRef<unsigned> preferred) {
  auto type = dyn_cast<MemRefType>(operand.memory.getType());
  if (!type)
    return std::nullopt;
  SmallVector<unsigned> order(preferred);
  for (unsigned d = 0; d < operand.map.getNumDims(); ++d)
    if (!llvm::is_contained(preferred, d))
      order.push_back(d);
  // A dimension of one element is contiguous, but useless.
  for (bool anySize : {false, true})
    for (unsigned d : order)
      if (std::optional<unsigned> r = getContiguousIndex(operand, d))
        if (anySize || type.getDimSize(*r) != 1)
          return d;
  return std::nullopt;
}

/// The alignment in bytes of `operand` at indices of which the one along `dim`
/// is a multiple of 16 elements, and the others are arbitrary.
static int64_t getAlignmentAlong(const Operand &operand, unsigned dim) {
  auto type = cast<MemRefType>(operand.memory.getType());
  std::optional<unsigned> at = getContiguousIndex(operand, dim);
  // A sum is a multiple of nothing.
  if (!at || !isa<AffineDimExpr>(operand.map.getResult(*at)))
    return getElementBits(type.getElementType()) / 8;
  ImplicitLocOpBuilder builder(operand.memory.getLoc(),
                               operand.memory.getContext());
  builder.setInsertionPointAfterValue(operand.memory);
  Operation *any = arith::ConstantIndexOp::create(builder, 1),
            *multiple = arith::ConstantIndexOp::create(builder, 16);
  SmallVector<Value> indices(type.getRank(), any->getResult(0));
  indices[*at] = multiple->getResult(0);
  int64_t alignment = getKnownTileAlignment(operand.memory, indices);
  any->erase();
  multiple->erase();
  return alignment;
}

bool simt::isDense(Type element) {
  return element.isIndex() || isPacked(element) ||
         (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
          llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()));
}

int64_t simt::getVectorWidth(ArrayRef<Operand> operands, unsigned dim,
                             const Chip &chip, ArrayRef<Operand> anywhere) {
  int64_t width = chip.accessBytes;
  bool any = false;
  for (size_t i = 0; i < operands.size() + anywhere.size(); ++i) {
    bool isAnywhere = i >= operands.size();
    const Operand &operand =
        isAnywhere ? anywhere[i - operands.size()] : operands[i];
    Movement movement = getMovement(operand, dim);
    if (movement == Movement::None)
      continue;
    Type element = cast<MemRefType>(operand.memory.getType()).getElementType();
    if (movement == Movement::Strided || !isDense(element))
      return 1;
    any = true;
    int64_t bytes = chip.accessBytes;
    // Packed elements are not whole bytes that could be accessed in pieces.
    if (chip.alignedAccess && (!isAnywhere || isPacked(element)))
      bytes = std::min(bytes, getAlignmentAlong(operand, dim));
    width = std::min(width, 8 * bytes / getElementBits(element));
  }
  return any ? std::max<int64_t>(1,
                                 llvm::bit_floor(static_cast<uint64_t>(width)))
             : 1;
}

static SmallVector<Value> emitIndices(ImplicitLocOpBuilder &builder,
                                      AffineMap map, ArrayRef<Value> index) {
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults()) {
    // Indices are not negative, which affine's own expansion would check.
    auto binary = dyn_cast<AffineBinaryOpExpr>(result);
    if (binary && binary.getKind() == AffineExprKind::FloorDiv)
      if (auto dim = dyn_cast<AffineDimExpr>(binary.getLHS()))
        if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
            divisor && divisor.getValue() > 0) {
          IndexMath math(builder);
          indices.push_back(math.div(index[dim.getPosition()],
                                     math.constant(divisor.getValue())));
          continue;
        }
    indices.push_back(affine::expandAffineExpr(builder, builder.getLoc(),
                                               result, index,
                                               /*symbolValues=*/{}));
  }
  return indices;
}

namespace {
/// `operand` with the index that moves along the vector last.
struct VectorAccess {
  Value memory;
  SmallVector<Value> indices;
  llvm::MaybeAlign alignment;
};
} // namespace

static VectorAccess emitAccess(ImplicitLocOpBuilder &builder,
                               const Operand &operand, const Position &position,
                               unsigned at) {
  VectorAccess access{operand.memory,
                      emitIndices(builder, operand.map, position.index),
                      llvm::MaybeAlign()};
  int64_t bits = getElementBits(
      cast<MemRefType>(operand.memory.getType()).getElementType());
  int64_t whole = bits * position.width / 8,
          alignment =
              position.alignment
                  ? position.alignment
                  : std::min(getAlignmentAlong(operand, position.along), whole);
  // Packed elements may start in the middle of a byte.
  if (int64_t known = std::max(bits / 8, alignment))
    access.alignment = llvm::MaybeAlign(known);
  unsigned rank = operand.map.getNumResults();
  if (at + 1 == rank)
    return access;
  // Vectors run along a memref's last dimension.
  SmallVector<unsigned> permutation;
  for (unsigned r = 0; r < rank; ++r)
    if (r != at)
      permutation.push_back(r);
  permutation.push_back(at);
  access.memory = memref::TransposeOp::create(
      builder, operand.memory,
      AffineMapAttr::get(
          AffineMap::getPermutationMap(permutation, builder.getContext())));
  SmallVector<Value> indices;
  for (unsigned r : permutation)
    indices.push_back(access.indices[r]);
  access.indices = indices;
  return access;
}

/// The point with number `i` of `position`.
static Position getPoint(ImplicitLocOpBuilder &builder,
                         const Position &position, int64_t i) {
  IndexMath math(builder);
  Position point = position;
  point.width = 1;
  point.index[position.along] =
      math.add(position.index[position.along], math.constant(i));
  return point;
}

Value simt::broadcast(ImplicitLocOpBuilder &builder, Value value,
                      int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, VectorType::get(width, value.getType()), value);
}

Value simt::emitLoad(ImplicitLocOpBuilder &builder, const Operand &operand,
                     const Position &position) {
  auto type = dyn_cast<MemRefType>(operand.memory.getType());
  if (!type)
    return broadcast(builder, operand.memory, position.width);
  if (llvm::all_of(operand.map.getResults(), [&](AffineExpr result) {
        return position.width == 1 ||
               isSameWithin(result, position.along, position.width);
      })) {
    Value value = memref::LoadOp::create(
        builder, operand.memory,
        emitIndices(builder, operand.map, position.index));
    return broadcast(builder, value, position.width);
  }
  auto vectorType = VectorType::get(position.width, type.getElementType());
  if (std::optional<unsigned> at =
          getContiguousIndex(operand, position.along)) {
    VectorAccess access = emitAccess(builder, operand, position, *at);
    return vector::LoadOp::create(builder, vectorType, access.memory,
                                  access.indices, /*nontemporal=*/false,
                                  access.alignment);
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < position.width; ++i)
    elements.push_back(
        emitLoad(builder, operand, getPoint(builder, position, i)));
  return vector::FromElementsOp::create(builder, vectorType, elements);
}

void simt::emitStore(ImplicitLocOpBuilder &builder, Value value,
                     const Operand &operand, const Position &position) {
  if (position.width == 1) {
    memref::StoreOp::create(builder, value, operand.memory,
                            emitIndices(builder, operand.map, position.index));
    return;
  }
  value = broadcast(builder, value, position.width);
  if (std::optional<unsigned> at =
          getContiguousIndex(operand, position.along)) {
    VectorAccess access = emitAccess(builder, operand, position, *at);
    vector::StoreOp::create(builder, value, access.memory, access.indices,
                            /*nontemporal=*/false, access.alignment);
    return;
  }
  for (int64_t i = 0; i < position.width; ++i)
    emitStore(builder, vector::ExtractOp::create(builder, value, i), operand,
              getPoint(builder, position, i));
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

bool simt::canVectorize(Block &body) {
  for (Type type : body.getArgumentTypes())
    if (!type.isIntOrIndexOrFloat())
      return false;
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    if (isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
      return true;
    return OpTrait::hasElementwiseMappableTraits(&op) && isPure(&op) &&
           op.getNumRegions() == 0 &&
           llvm::all_of(op.getResultTypes(),
                        [](Type type) { return type.isIntOrIndexOrFloat(); });
  });
}

Value simt::emitIndex(ImplicitLocOpBuilder &builder, const Position &position,
                      unsigned dim) {
  Value first = position.index[dim];
  if (position.width == 1 || dim != position.along)
    return first;
  auto type = VectorType::get(position.width, builder.getIndexType());
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < position.width; ++i)
    steps.push_back(builder.getIndexAttr(i));
  Value offsets =
      arith::ConstantOp::create(builder, DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(
      builder, vector::BroadcastOp::create(builder, type, first), offsets);
}

Operation *simt::cloneWide(ImplicitLocOpBuilder &builder, Operation &op,
                           ValueRange operands, int64_t width) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(VectorType::get(width, type));
  OperationState state(op.getLoc(), op.getName(), operands, types,
                       op.getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return builder.create(state);
}

void simt::cloneBody(ImplicitLocOpBuilder &builder, Block &body,
                     const Position &position, IRMapping &mapping,
                     Operation *except) {
  for (Operation &op : body.without_terminator()) {
    if (&op == except)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(),
                  emitIndex(builder, position, index.getDim()));
      continue;
    }
    bool wide = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    });
    if (!wide) {
      Operation *copy = builder.clone(op, mapping);
      SmallVector<linalg::IndexOp> inner;
      copy->walk([&](linalg::IndexOp index) { inner.push_back(index); });
      for (linalg::IndexOp index : inner) {
        index.replaceAllUsesWith(position.index[index.getDim()]);
        index.erase();
      }
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(
          broadcast(builder, mapping.lookupOrDefault(operand), position.width));
    mapping.map(op.getResults(),
                cloneWide(builder, op, operands, position.width)->getResults());
  }
}
