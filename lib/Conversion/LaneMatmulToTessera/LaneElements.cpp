//===- LaneElements.cpp - The contents of lanes' registers ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneElements.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/VendorOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

Value mlir::tessera::getStoredValue(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getValueToStore();
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getValueToStore();
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return write.getVector();
  return {};
}

/// The memory that a view is of.
static Value getBaseMemory(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

bool mlir::tessera::mayShareMemory(Value a, Value b, gpu::LaunchOp launch) {
  a = getBaseMemory(a);
  b = getBaseMemory(b);
  auto typeA = dyn_cast<MemRefType>(a.getType()),
       typeB = dyn_cast<MemRefType>(b.getType());
  if (!typeA || !typeB)
    return false;
  if (a == b)
    return true;
  if (isWorkgroupMemory(typeA) != isWorkgroupMemory(typeB))
    return false;
  if (isWorkgroupMemory(typeA))
    return !llvm::is_contained(launch.getWorkgroupAttributions(), a) ||
           !llvm::is_contained(launch.getWorkgroupAttributions(), b);
  auto globalA = a.getDefiningOp<memref::GetGlobalOp>(),
       globalB = b.getDefiningOp<memref::GetGlobalOp>();
  return globalA && globalB && globalA.getName() == globalB.getName();
}

bool mlir::tessera::isSameOp(const LaneElement &a, const LaneElement &b) {
  return a.kind == LaneElement::Computed && b.kind == a.kind &&
         a.type == b.type && a.op->getName() == b.op->getName() &&
         a.op->getAttrDictionary() == b.op->getAttrDictionary() &&
         a.operands.size() == b.operands.size();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// `ldmatrix` distributes tiles of eight rows of 16 bytes. Lane `8 t + r` has
/// the address of row r of tile t; lane l receives words of row l / 4, or,
/// transposed, of column l / 4.
FailureOr<LaneAccess> LaneElements::getLdMatrixAccess(Operation *op) {
  auto load = cast<nvgpu::LdMatrixOp>(op);
  constexpr int64_t numLanes = 32, rowLanes = 4, rowBits = 128;
  auto type = cast<VectorType>(load.getRes().getType());
  int64_t bits = type.getElementTypeBitWidth();
  int64_t words = rowBits / bits / rowLanes, tiles = type.getShape()[0];
  bool transposes = load.getTranspose();
  if (forms.getNumLanes() != numLanes || (transposes && words != 2))
    return obstacle.set(op, "is not for subgroups of 32 lanes, or transposes "
                            "elements that are not of 16 bits");
  SmallVector<LaneForm> addresses;
  for (Value index : load.getIndices()) {
    LaneForms::Form form = forms.get(index);
    if (!form)
      return obstacle.set(op, "has indices of an unknown form");
    addresses.push_back(*form);
  }
  LaneAccess access{op, load.getSrcMemref(), {}};
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t word = 0; word < words; ++word) {
      SmallVector<int64_t> sources;
      LaneForm::Factors columns;
      for (int64_t lane = 0; lane < numLanes; ++lane) {
        int64_t line = lane / rowLanes, inLine = lane % rowLanes * words + word;
        sources.push_back(8 * tile + (transposes ? inLine : line));
        columns.push_back(transposes ? line : inLine);
      }
      SmallVector<LaneForm> indices;
      for (const LaneForm &address : addresses)
        indices.push_back(address.permute(sources));
      LaneForms::Form last = forms.add(indices.back(), LaneForm(columns));
      if (!last)
        return obstacle.set(op, "has indices of an unknown form");
      indices.back() = *last;
      access.elements.push_back(std::move(indices));
    }
  return access;
}

FailureOr<LaneAccess> LaneElements::getAccess(Operation *op) {
  if (isa<nvgpu::LdMatrixOp>(op))
    return getLdMatrixAccess(op);
  LaneAccess access{op, {}, {}};
  ValueRange indices;
  // The dimension of memory of each dimension of the vector.
  SmallVector<int64_t> dims, shape;
  auto setVector = [&](VectorType type, int64_t rank) {
    shape.assign(type.getShape().begin(), type.getShape().end());
    for (int64_t d = 0; d < type.getRank(); ++d)
      dims.push_back(rank - type.getRank() + d);
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    access.memory = load.getMemRef();
    indices = load.getIndices();
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    access.memory = store.getMemRef();
    indices = store.getIndices();
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    access.memory = load.getBase();
    indices = load.getIndices();
    setVector(load.getVectorType(), load.getMemRefType().getRank());
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    access.memory = store.getBase();
    indices = store.getIndices();
    setVector(store.getVectorType(), store.getMemRefType().getRank());
  } else if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    access.memory = transfer.getBase();
    indices = transfer.getIndices();
    AffineMap map = transfer.getPermutationMap();
    if (!isa<MemRefType>(access.memory.getType()) || transfer.getMask() ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/false))
      return obstacle.set(op, "has a mask, or broadcasts elements");
    for (AffineExpr expr : map.getResults())
      dims.push_back(cast<AffineDimExpr>(expr).getPosition());
    shape.assign(transfer.getVectorType().getShape().begin(),
                 transfer.getVectorType().getShape().end());
    for (unsigned d = 0; d < dims.size(); ++d)
      access.inBounds &= transfer.isDimInBounds(d);
    if (auto read = dyn_cast<vector::TransferReadOp>(op);
        read && !access.inBounds &&
        !matchPattern(read.getPadding(), m_AnyZeroFloat()) &&
        !matchPattern(read.getPadding(), m_Zero()))
      return obstacle.set(op, "reads other values than zero out of bounds");
  } else {
    return obstacle.set(op, "is not an access of lanes to memory");
  }
  if (isa<VectorType>(getElementTypeOrSelf(access.memory.getType())))
    return obstacle.set(op, "accesses a memory of vectors");
  SmallVector<LaneForm> first;
  for (Value index : indices) {
    LaneForms::Form form = forms.get(index);
    if (!form)
      return obstacle.set(op, "has indices of an unknown form");
    first.push_back(*form);
  }
  int64_t count = computeProduct(shape);
  SmallVector<int64_t> strides = computeStrides(shape);
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<LaneForm> element = first;
    for (auto [dim, offset] : llvm::zip_equal(dims, delinearize(i, strides))) {
      LaneForm &index = element[static_cast<size_t>(dim)];
      LaneForms::Form sum = forms.add(index, forms.makeConstant(offset));
      if (!sum)
        return obstacle.set(op, "has indices of an unknown form");
      index = *sum;
    }
    access.elements.push_back(std::move(element));
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

LaneElements::Elements LaneElements::makeParts(Value value) {
  Elements parts;
  for (int64_t i = 0; i < getNumLaneElements(value.getType()); ++i) {
    LaneElement part{LaneElement::Part};
    part.value = value;
    part.number = i;
    part.type = getElementTypeOrSelf(value.getType());
    parts.push_back(make(part));
  }
  return parts;
}

FailureOr<ArrayRef<const LaneElement *>> LaneElements::get(Value value) {
  auto found = known.find(value);
  if (found == known.end()) {
    FailureOr<Elements> elements = evaluate(value);
    if (failed(elements))
      return failure();
    found = known.try_emplace(value, std::move(*elements)).first;
  }
  return ArrayRef<const LaneElement *>(found->second);
}

FailureOr<LaneElements::Elements> LaneElements::evaluate(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    Elements elements;
    SmallVector<TypedAttr> values;
    if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
      values = llvm::to_vector(
          llvm::map_range(dense.getValues<Attribute>(), [](Attribute element) {
            return cast<TypedAttr>(element);
          }));
    else if (auto typed = dyn_cast<TypedAttr>(attribute); typed && !vector)
      values.push_back(typed);
    for (TypedAttr constant : values) {
      LaneElement element{LaneElement::Constant};
      element.constant = constant;
      element.type = constant.getType();
      elements.push_back(make(element));
    }
    if (!elements.empty())
      return elements;
  }
  if (forms.isUniform(value) && !vector) {
    LaneElement element{LaneElement::Uniform};
    element.value = value;
    element.type = value.getType();
    return Elements{make(element)};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<scf::ForOp>(parent))
      return makeParts(value);
    return obstacle.set(parent, "has a vector that is not a matrix");
  }
  return evaluateOp(value);
}

/// The row-major numbers of the elements in a part of a vector.
static SmallVector<int64_t> getSlice(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> offsets,
                                     ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> whole = computeStrides(shape), numbers;
  SmallVector<int64_t> own = computeStrides(sizes);
  for (int64_t i = 0; i < computeProduct(sizes); ++i) {
    int64_t number = 0;
    for (auto [stride, offset, index] :
         llvm::zip_equal(whole, offsets, delinearize(i, own)))
      number += stride * (offset + index);
    numbers.push_back(number);
  }
  return numbers;
}

/// Offsets and sizes of all dimensions, of which leading ones may be missing.
static SmallVector<int64_t> getSlice(VectorType type,
                                     ArrayRef<int64_t> position) {
  SmallVector<int64_t> offsets(position), sizes(position.size(), 1);
  for (int64_t d = static_cast<int64_t>(position.size()); d < type.getRank();
       ++d) {
    offsets.push_back(0);
    sizes.push_back(type.getShape()[static_cast<size_t>(d)]);
  }
  return getSlice(type.getShape(), offsets, sizes);
}

FailureOr<LaneElements::Elements>
LaneElements::evaluateComputed(Operation *op) {
  // An operand of each element: each op's operands have the same shape.
  int64_t count = getNumLaneElements(op->getResult(0).getType());
  SmallVector<ArrayRef<const LaneElement *>> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<ArrayRef<const LaneElement *>> elements = get(operand);
    if (failed(elements))
      return failure();
    if (static_cast<int64_t>(elements->size()) != count)
      return obstacle.set(op, "combines vectors with scalars");
    operands.push_back(*elements);
  }
  Elements elements;
  for (int64_t i = 0; i < count; ++i) {
    LaneElement element{LaneElement::Computed};
    element.op = op;
    element.type = getElementTypeOrSelf(op->getResult(0).getType());
    for (ArrayRef<const LaneElement *> operand : operands)
      element.operands.push_back(operand[static_cast<size_t>(i)]);
    elements.push_back(make(element));
  }
  return elements;
}

FailureOr<LaneElements::Elements> LaneElements::evaluateOp(Value value) {
  Operation *op = value.getDefiningOp();
  if (getLaneMatmul(op) || isa<scf::ForOp>(op))
    return makeParts(value);
  if (isa<memref::LoadOp, vector::LoadOp, vector::TransferReadOp,
          nvgpu::LdMatrixOp>(op)) {
    FailureOr<LaneAccess> access = getAccess(op);
    if (failed(access))
      return failure();
    Elements elements;
    for (SmallVector<LaneForm> &indices : access->elements) {
      LaneElement element{LaneElement::Loaded};
      element.op = op;
      element.value = access->memory;
      element.indices = std::move(indices);
      element.inBounds = access->inBounds;
      element.type = getElementTypeOrSelf(value.getType());
      elements.push_back(make(element));
    }
    return elements;
  }
  if (isa<ub::PoisonOp>(op)) {
    // Any value will do.
    Type type = getElementTypeOrSelf(value.getType());
    if (!type.isIntOrIndexOrFloat())
      return obstacle.set(op, "has an unknown type");
    LaneElement element{LaneElement::Constant};
    element.constant = OpBuilder(op).getZeroAttr(type);
    element.type = type;
    return Elements(static_cast<size_t>(getNumLaneElements(value.getType())),
                    make(element));
  }
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) &&
      OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    return evaluateComputed(op);
  if (!isa<vector::VectorDialect>(op->getDialect()))
    return obstacle.set(op, "computes a value of each lane");

  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<ArrayRef<const LaneElement *>> elements = get(operand);
    if (failed(elements))
      return failure();
    operands.emplace_back(*elements);
  }
  auto select = [](const Elements &source, ArrayRef<int64_t> numbers) {
    Elements selected;
    for (int64_t number : numbers)
      selected.push_back(source[static_cast<size_t>(number)]);
    return selected;
  };
  auto overwrite = [](Elements target, const Elements &source,
                      ArrayRef<int64_t> numbers) {
    for (auto [element, number] : llvm::zip_equal(source, numbers))
      target[static_cast<size_t>(number)] = element;
    return target;
  };
  auto getIntegers = [](ArrayAttr values) {
    return llvm::to_vector(
        llvm::map_range(values.getAsValueRange<IntegerAttr>(),
                        [](const APInt &i) { return i.getSExtValue(); }));
  };
  if (auto extract = dyn_cast<vector::ExtractOp>(op);
      extract && !extract.hasDynamicPosition())
    return select(operands[0], getSlice(extract.getSourceVectorType(),
                                        extract.getStaticPosition()));
  if (auto insert = dyn_cast<vector::InsertOp>(op);
      insert && !insert.hasDynamicPosition())
    return overwrite(
        operands[1], operands[0],
        getSlice(insert.getDestVectorType(), insert.getStaticPosition()));
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    auto type = cast<VectorType>(slice.getType());
    SmallVector<int64_t> offsets = getIntegers(slice.getOffsets());
    offsets.resize(static_cast<size_t>(type.getRank()), 0);
    return select(operands[0], getSlice(slice.getSourceVectorType().getShape(),
                                        offsets, type.getShape()));
  }
  if (auto slice = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    VectorType source = slice.getSourceVectorType(),
               target = slice.getDestVectorType();
    SmallVector<int64_t> sizes(source.getShape());
    sizes.insert(sizes.begin(),
                 static_cast<size_t>(target.getRank() - source.getRank()), 1);
    return overwrite(
        operands[1], operands[0],
        getSlice(target.getShape(), getIntegers(slice.getOffsets()), sizes));
  }
  if (isa<vector::ShapeCastOp>(op))
    return operands[0];
  if (isa<vector::FromElementsOp>(op)) {
    Elements elements;
    for (const Elements &operand : operands)
      llvm::append_range(elements, operand);
    return elements;
  }
  if (isa<vector::ToElementsOp>(op))
    return Elements{operands[0][cast<OpResult>(value).getResultNumber()]};
  if (isa<vector::BroadcastOp>(op) && operands[0].size() == 1)
    return Elements(static_cast<size_t>(getNumLaneElements(value.getType())),
                    operands[0].front());
  return obstacle.set(op, "has no form for a whole matrix");
}
