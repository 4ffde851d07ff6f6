//===- ExpandPackedMemory.cpp - Elements that share a byte ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements 2 i and 2 i + 1 of memory of i4 are the low and the high half of
// byte i. A vector that starts at a whole byte is unpacked from its bytes. One
// that may start in the middle of a byte is shifted first:
//
//   bytes       b0 b1 b2      each  high:low
//   even        b0 b1
//   odd         b0.high | b1.low << 4,  b1.high | b2.low << 4
//
// Byte b2 is read only if it contains the last element: bytes without an
// element of the vector are not accessed.
//
// An element that is written by itself shares its byte with one that another
// thread may write: its half is cleared and set by one atomic op each, which
// leave the other half as it is.
//
// Ops that use a vector in its packed form, as words of a matrix instruction or
// to store it again, use its bytes, without unpacking elements.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MemoryIndex.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDPACKEDMEMORY
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-packed-memory"

STATISTIC(numPackedReads, "Number of reads of i4 expanded");
STATISTIC(numPackedWrites, "Number of writes of i4 expanded");

using namespace mlir;
using namespace mlir::tessera;

static bool isPackedMemory(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  return memory && isPacked(memory.getElementType());
}

/// A vector of i4 as one of i8.
static Value widen(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return builder.createOrFold<arith::ExtUIOp>(
      loc, type.cloneWith(std::nullopt, builder.getI8Type()), vector);
}

/// The bytes of vectors of i4, if the program has them.
using BytesOf = llvm::DenseMap<Value, Value>;

static Value splat(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, b.getIntegerAttr(type.getElementType(), value)));
}

/// Every other element, from `from` on.
static Value takeHalf(ImplicitLocOpBuilder &b, Value vector, int64_t from) {
  SmallVector<int64_t> positions;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = from; i < size; i += 2)
    positions.push_back(i);
  return vector::ShuffleOp::create(b, vector, vector, positions);
}

/// Unpacks the two elements of each byte, into a byte each. The bits above an
/// element's are undefined.
static Value unpack(ImplicitLocOpBuilder &b, Value bytes) {
  auto bytesType = cast<VectorType>(bytes.getType());
  Value high = arith::ShRUIOp::create(b, bytes, splat(b, bytesType, 4));
  SmallVector<int64_t> positions;
  int64_t size = bytesType.getNumElements();
  for (int64_t i = 0; i < size; ++i)
    positions.append({i, size + i});
  return vector::ShuffleOp::create(b, bytes, high, positions);
}

/// The elements of `bytes` as a vector of i4, which `bytesOf` knows.
static Value emitElements(ImplicitLocOpBuilder &b, Value bytes, Type i4,
                          BytesOf &bytesOf) {
  int64_t size = cast<VectorType>(bytes.getType()).getNumElements();
  Value result = arith::TruncIOp::create(b, VectorType::get(2 * size, i4),
                                         unpack(b, bytes));
  bytesOf[result] = bytes;
  return result;
}

/// The bytes of an even number of elements.
static Value emitBytes(ImplicitLocOpBuilder &b, Value vector,
                       const BytesOf &bytesOf) {
  if (Value bytes = bytesOf.lookup(vector))
    return bytes;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements() / 2;
  // A concatenation of vectors.
  if (auto shuffle = vector.getDefiningOp<vector::ShuffleOp>()) {
    ArrayRef<int64_t> mask = shuffle.getMask();
    bool inOrder = llvm::equal(mask, llvm::seq<int64_t>(0, 2 * size));
    int64_t ofFirst = shuffle.getV1VectorType().getNumElements(),
            ofSecond = shuffle.getV2VectorType().getNumElements();
    if (inOrder && ofFirst + ofSecond == 2 * size && ofFirst % 2 == 0)
      return vector::ShuffleOp::create(
          b, emitBytes(b, shuffle.getV1(), bytesOf),
          emitBytes(b, shuffle.getV2(), bytesOf),
          llvm::to_vector(llvm::seq<int64_t>(0, size)));
  }
  auto bytesType = VectorType::get(size, b.getI8Type());
  if (matchPattern(vector, m_Zero()))
    return splat(b, bytesType, 0);
  Value wide = widen(b, b.getLoc(), vector);
  return arith::OrIOp::create(
      b, takeHalf(b, wide, 0),
      arith::ShLIOp::create(b, takeHalf(b, wide, 1), splat(b, bytesType, 4)));
}

namespace {
/// Reads and writes elements of one memref.
class Packed {
public:
  Packed(ImplicitLocOpBuilder &builder, Value memory, ValueRange indices,
         BytesOf &bytesOf)
      : b(builder), memory(memory), indices(indices), bytesOf(bytesOf) {}

  /// Loads the element at `distance` from the first.
  Value loadElement(int64_t distance = 0);
  /// Loads vector `type` from the first element on, which is at a whole byte if
  /// `alignment` is given. Under `mask`, if given, with `passThrough`
  /// elsewhere.
  Value loadVector(VectorType type, llvm::MaybeAlign alignment, Value mask = {},
                   Value passThrough = {});
  /// Stores the element at `distance` from the first.
  void storeElement(Value element, int64_t distance = 0);
  /// The first element is at a byte.
  void storeVector(Value vector, llvm::MaybeAlign alignment);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value splat(VectorType type, int64_t value) {
    return ::splat(b, type, value);
  }
  /// The number of an element in its buffer.
  Value at(int64_t distance) {
    if (!first)
      first = emitLinearIndex(b, b.getLoc(), memory, indices);
    return b.createOrFold<arith::AddIOp>(first, constant(distance));
  }
  /// Bytes from the first element on, which is at one.
  Value viewAligned(int64_t bytes) {
    Value byte = emitByteIndex(b, b.getLoc(), memory, indices);
    return emitByteView(b, b.getLoc(), memory, byte, bytes);
  }
  Value view(Value linear, int64_t bytes) {
    Value byte = b.createOrFold<arith::ShRUIOp>(linear, constant(1));
    return emitByteView(b, b.getLoc(), memory, byte, bytes);
  }
  /// The byte that holds an element.
  Value loadByte(Value linear) {
    return memref::LoadOp::create(b, view(linear, 1), constant(0));
  }
  Value isOdd(Value linear) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                 arith::AndIOp::create(b, linear, constant(1)),
                                 constant(0));
  }

  ImplicitLocOpBuilder &b;
  Value memory;
  ValueRange indices;
  Value first;
  BytesOf &bytesOf;
};
} // namespace

Value Packed::loadElement(int64_t distance) {
  Value linear = at(distance);
  Value bits = arith::MulIOp::create(
      b, arith::AndIOp::create(b, linear, constant(1)), constant(4));
  Value byte = loadByte(linear);
  Value shift = arith::IndexCastOp::create(b, byte.getType(), bits);
  return arith::TruncIOp::create(
      b, cast<MemRefType>(memory.getType()).getElementType(),
      arith::ShRUIOp::create(b, byte, shift));
}

Value Packed::loadVector(VectorType type, llvm::MaybeAlign alignment,
                         Value mask, Value passThrough) {
  int64_t size = type.getNumElements() / 2;
  auto bytesType = VectorType::get(size, b.getI8Type());
  Value zero = constant(0);
  if (alignment && !mask)
    return emitElements(
        b,
        vector::LoadOp::create(b, bytesType, viewAligned(size), zero,
                               /*nontemporal=*/false, alignment),
        type.getElementType(), bytesOf);

  Value from = view(at(0), size), odd = isOdd(at(0)), bytes, after;
  if (!mask) {
    bytes = vector::LoadOp::create(b, bytesType, from, zero);
    after = loadByte(at(2 * size - 1));
  } else {
    // A byte is read for either of its elements.
    Value evens = takeHalf(b, mask, 0), odds = takeHalf(b, mask, 1);
    auto maskType = cast<VectorType>(evens.getType());
    SmallVector<int64_t> moved{0};
    for (int64_t i = 0; i + 1 < size; ++i)
      moved.push_back(size + i);
    Value others = arith::SelectOp::create(
        b, odd, vector::ShuffleOp::create(b, splat(maskType, 0), odds, moved),
        odds);
    bytes = vector::MaskedLoadOp::create(b, bytesType, from, zero,
                                         arith::OrIOp::create(b, evens, others),
                                         splat(bytesType, 0));
    Value isRead = arith::AndIOp::create(
        b, odd, vector::ExtractOp::create(b, odds, size - 1));
    auto branch = scf::IfOp::create(b, TypeRange(b.getI8Type()), isRead,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loadByte(at(2 * size - 1)));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(
        b, arith::ConstantOp::create(b, b.getI8IntegerAttr(0)).getResult());
    after = branch.getResult(0);
  }
  Value next = vector::ShuffleOp::create(
      b, bytes, vector::BroadcastOp::create(b, bytesType, after),
      llvm::to_vector(llvm::seq<int64_t>(1, size + 1)));
  Value four = splat(bytesType, 4);
  Value moved = arith::OrIOp::create(b, arith::ShRUIOp::create(b, bytes, four),
                                     arith::ShLIOp::create(b, next, four));
  bytes = arith::SelectOp::create(b, odd, moved, bytes);
  if (!mask)
    return emitElements(b, bytes, type.getElementType(), bytesOf);
  // Selects between bytes: some back ends have no registers for vectors of i4.
  Value result = arith::SelectOp::create(b, mask, unpack(b, bytes),
                                         widen(b, b.getLoc(), passThrough));
  return arith::TruncIOp::create(b, type, result);
}

void Packed::storeElement(Value element, int64_t distance) {
  Value linear = at(distance);
  Type i8 = b.getI8Type();
  Value bits = arith::MulIOp::create(
      b, arith::AndIOp::create(b, linear, constant(1)), constant(4));
  Value shift = arith::IndexCastOp::create(b, i8, bits);
  Value low = arith::ConstantOp::create(b, b.getI8IntegerAttr(0x0f));
  Value all = arith::ConstantOp::create(b, b.getI8IntegerAttr(-1));
  Value others =
      arith::XOrIOp::create(b, arith::ShLIOp::create(b, low, shift), all);
  Value value =
      arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i8, element), shift);
  Value byte = view(linear, 1), zero = constant(0);
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::andi, others, byte,
                              zero);
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::ori, value, byte, zero);
}

void Packed::storeVector(Value vector, llvm::MaybeAlign alignment) {
  int64_t size = cast<VectorType>(vector.getType()).getNumElements() / 2;
  vector::StoreOp::create(b, emitBytes(b, vector, bytesOf), viewAligned(size),
                          constant(0), /*nontemporal=*/false, alignment);
}

/// Whether vectors of the type are made of bytes.
static bool isOfBytes(VectorType type) {
  return type.getRank() == 1 && !type.isScalable() &&
         type.getNumElements() % 2 == 0;
}

/// Elements one by one, where `type` is not made of bytes.
static Value loadElements(ImplicitLocOpBuilder &b, Packed &packed,
                          VectorType type) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(packed.loadElement(i));
  return vector::FromElementsOp::create(b, type, elements);
}

/// Stores elements one by one, those that `mask` selects, where a vector is not
/// made of bytes or may begin within one.
static void storeElements(ImplicitLocOpBuilder &b, Packed &packed, Value vector,
                          Value mask = {}) {
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i < size; ++i) {
    OpBuilder::InsertionGuard guard(b);
    Value element = vector::ExtractOp::create(b, vector, i);
    if (mask) {
      auto branch = scf::IfOp::create(b, vector::ExtractOp::create(b, mask, i));
      b.setInsertionPointToStart(branch.thenBlock());
    }
    // Addresses are computed where they are used.
    Packed(packed).storeElement(element, i);
  }
}

/// Whether values of the type are vectors of elements that share bytes.
static bool isPackedVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && isPacked(vector.getElementType());
}

/// Rewrites a supported access; returns false for others.
static bool expand(Operation *op, BytesOf &bytesOf) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto align = [](std::optional<uint64_t> bytes) {
    return bytes ? llvm::MaybeAlign(*bytes) : llvm::MaybeAlign();
  };
  Value result;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    result =
        Packed(b, load.getMemRef(), load.getIndices(), bytesOf).loadElement();
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    VectorType type = load.getVectorType();
    if (type.getRank() != 1 || type.isScalable())
      return false;
    Packed packed(b, load.getBase(), load.getIndices(), bytesOf);
    result = isOfBytes(type)
                 ? packed.loadVector(type, align(load.getAlignment()))
                 : loadElements(b, packed, type);
  } else if (auto load = dyn_cast<vector::MaskedLoadOp>(op)) {
    if (!isOfBytes(load.getVectorType()))
      return false;
    result = Packed(b, load.getBase(), load.getIndices(), bytesOf)
                 .loadVector(load.getVectorType(), llvm::MaybeAlign(),
                             load.getMask(), load.getPassThru());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    Packed(b, store.getMemRef(), store.getIndices(), bytesOf)
        .storeElement(store.getValue());
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    VectorType type = store.getVectorType();
    if (type.getRank() != 1 || type.isScalable())
      return false;
    Packed packed(b, store.getBase(), store.getIndices(), bytesOf);
    if (isOfBytes(type) && store.getAlignment())
      packed.storeVector(store.getValueToStore(), align(store.getAlignment()));
    else
      storeElements(b, packed, store.getValueToStore());
  } else if (auto store = dyn_cast<vector::MaskedStoreOp>(op)) {
    VectorType type = store.getVectorType();
    if (type.getRank() != 1 || type.isScalable())
      return false;
    Packed packed(b, store.getBase(), store.getIndices(), bytesOf);
    storeElements(b, packed, store.getValueToStore(), store.getMask());
  } else {
    return false;
  }
  if (result)
    op->replaceAllUsesWith(ValueRange(result));
  op->erase();
  return true;
}

/// Makes the branches of `op` yield vectors of i4 as their bytes, or as a byte
/// for each element if these are not whole bytes. AMD's back end has no
/// registers that hold the former across blocks, and spills them to memory.
static void packResults(scf::IfOp op, BytesOf &bytesOf) {
  if (llvm::none_of(op.getResultTypes(), isPackedVector))
    return;
  auto isWhole = [](Type type) { return isOfBytes(cast<VectorType>(type)); };
  for (Region &region : op->getRegions()) {
    auto yield = cast<scf::YieldOp>(region.front().getTerminator());
    ImplicitLocOpBuilder b(yield.getLoc(), yield);
    for (OpOperand &operand : yield->getOpOperands()) {
      Value value = operand.get();
      if (isPackedVector(value.getType()))
        operand.set(isWhole(value.getType()) ? emitBytes(b, value, bytesOf)
                                             : widen(b, yield.getLoc(), value));
    }
  }
  auto yield = cast<scf::YieldOp>(op.getThenRegion().front().getTerminator());
  // Where they are used, which may be in another block too.
  for (auto [result, yielded] :
       llvm::zip(op->getResults(), yield.getResults())) {
    Type type = result.getType();
    if (!isPackedVector(type))
      continue;
    result.setType(yielded.getType());
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      ImplicitLocOpBuilder b(use.getOwner()->getLoc(), use.getOwner());
      use.set(isWhole(type)
                  ? emitElements(b, result, getElementTypeOrSelf(type), bytesOf)
                  : arith::TruncIOp::create(b, type, result).getResult());
    }
  }
}

/// Makes a vector of i4 that is other bits, or other bits that are one, of its
/// bytes.
static void expandBitCast(vector::BitCastOp op, BytesOf &bytesOf) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  VectorType from = op.getSourceVectorType(), to = op.getResultVectorType();
  bool fromPacked = isPackedVector(from);
  if (from.getRank() != 1 || fromPacked == isPackedVector(to) ||
      !isOfBytes(fromPacked ? from : to))
    return;
  Value result;
  if (fromPacked) {
    result =
        vector::BitCastOp::create(b, to, emitBytes(b, op.getSource(), bytesOf));
  } else {
    auto bytesType = VectorType::get(to.getNumElements() / 2, b.getI8Type());
    result =
        emitElements(b, vector::BitCastOp::create(b, bytesType, op.getSource()),
                     to.getElementType(), bytesOf);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// Two elements of a constant to a byte.
static DenseElementsAttr packConstant(DenseElementsAttr elements) {
  SmallVector<int8_t> bytes(llvm::divideCeil(elements.getNumElements(), 2));
  for (auto [i, value] : llvm::enumerate(elements.getValues<APInt>()))
    bytes[i / 2] |= static_cast<int8_t>(value.getZExtValue() << (4 * (i % 2)));
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                    IntegerType::get(elements.getContext(), 8));
  return DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
}

/// A constant of bytes, and its uses as views of it.
static LogicalResult packGlobal(memref::GlobalOp op) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(op.getInitialValueAttr());
  MemRefType type = op.getType();
  if (!elements || !type.getLayout().isIdentity())
    return op.emitError() << "a global of " << type
                          << " requires a dense elements initial value";
  DenseElementsAttr packed = packConstant(elements);
  auto bytes =
      MemRefType::get(packed.getType().getShape(), packed.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  op.setType(bytes);
  op.setInitialValueAttr(packed);
  auto uses = SymbolTable::getSymbolUses(op, op->getParentOp());
  for (SymbolTable::SymbolUse use :
       uses ? *uses
            : SymbolTable::UseRange(std::vector<SymbolTable::SymbolUse>())) {
    auto get = dyn_cast<memref::GetGlobalOp>(use.getUser());
    if (!get)
      continue;
    ImplicitLocOpBuilder b(get.getLoc(), get);
    auto whole = memref::GetGlobalOp::create(b, bytes, get.getName());
    SmallVector<OpFoldResult> sizes, strides;
    auto [step, offset] = type.getStridesAndOffset();
    for (auto [size, stride] : llvm::zip(type.getShape(), step)) {
      sizes.push_back(b.getIndexAttr(size));
      strides.push_back(b.getIndexAttr(stride));
    }
    auto shaped =
        MemRefType::get(type.getShape(), bytes.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value cast = memref::ReinterpretCastOp::create(
        b, shaped, whole, OpFoldResult(b.getIndexAttr(0)), sizes, strides);
    get.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, type, cast).getResult(0));
    get.erase();
  }
  return success();
}

/// Whether `op` reads or writes packed memory.
template <typename Effect> static bool accesses(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffectsOnResource(SideEffects::DefaultResource::get(), effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<Effect>(effect.getEffect()) && effect.getValue() &&
           isPackedMemory(effect.getValue().getType());
  });
}

namespace {
struct ExpandPackedMemoryPass
    : public tessera::impl::TesseraExpandPackedMemoryBase<
          ExpandPackedMemoryPass> {
  void runOnOperation() override {
    // Ops that create vectors of i4 are rewritten before ops that use them.
    SmallVector<Operation *> reads, writes;
    SmallVector<vector::BitCastOp> makers, takers;
    SmallVector<memref::GlobalOp> globals;
    getOperation()->walk([&](Operation *op) {
      if (auto global = dyn_cast<memref::GlobalOp>(op)) {
        if (isPackedMemory(global.getType()))
          globals.push_back(global);
      } else if (auto cast = dyn_cast<vector::BitCastOp>(op)) {
        if (isPackedVector(cast.getResultVectorType()))
          makers.push_back(cast);
        else if (isPackedVector(cast.getSourceVectorType()))
          takers.push_back(cast);
      } else if (accesses<MemoryEffects::Write>(op)) {
        writes.push_back(op);
      } else if (accesses<MemoryEffects::Read>(op)) {
        reads.push_back(op);
      }
    });
    LDBG() << getOperation()->getLoc() << ": " << reads.size() << " reads, "
           << writes.size() << " writes, " << globals.size() << " globals";
    numPackedReads += reads.size();
    numPackedWrites += writes.size();
    BytesOf bytesOf;
    for (vector::BitCastOp cast : makers)
      expandBitCast(cast, bytesOf);
    for (Operation *op : reads)
      if (!expand(op, bytesOf)) {
        op->emitError()
            << "this op cannot read i4 elements, two of which share "
               "a byte: read them by memref.load or "
               "vector.load";
        return signalPassFailure();
      }
    getOperation()->walk([&](scf::IfOp op) { packResults(op, bytesOf); });
    for (Operation *op : writes)
      if (!expand(op, bytesOf)) {
        op->emitError() << "this op cannot write i4 elements, two of which "
                           "share a byte: write them by memref.store or "
                           "vector.store";
        return signalPassFailure();
      }
    for (vector::BitCastOp cast : takers)
      expandBitCast(cast, bytesOf);
    for (memref::GlobalOp global : globals)
      if (failed(packGlobal(global)))
        return signalPassFailure();
  }
};
} // namespace
