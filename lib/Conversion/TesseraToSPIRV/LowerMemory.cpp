//===- LowerMemory.cpp - Memrefs to SPIR-V pointers -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a parameter        for Vulkan an address: PhysicalStorageBuffer, with the
//                      descriptor's fields read from the launch's block of
//                      parameters; for OpenCL a pointer to bytes:
//                      CrossWorkgroup, with the fields as parameters
//   workgroup memory   a variable for each buffer, of the widest units that all
//                      its accesses keep to
//   private memory     a variable of the function
//
// SPIR-V of Vulkan cannot look at one variable through two types, so that a
// buffer of f16 which is written 16 bytes at a time is one of vec4 of i32, and
// wide values pass through it without being taken apart.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_LOWERMEMORYTOSPIRV
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

Type mlir::tessera::getStorageType(Type element) {
  Builder builder(element.getContext());
  if (element.isIndex())
    return builder.getI64Type();
  if (element.isInteger(1) || isPacked(element))
    return builder.getI8Type();
  if (auto type = dyn_cast<FloatType>(element);
      type && (type.getWidth() == 8 || type.isBF16()))
    return builder.getIntegerType(type.getWidth());
  return element;
}

int64_t mlir::tessera::getStorageBytes(Type element) {
  Type type = getStorageType(element);
  return type.getIntOrFloatBitWidth() / 8;
}

namespace {

/// A sum of multiples of values, and a constant.
struct LinearSum {
  llvm::SmallMapVector<Value, int64_t, 8> terms;
  int64_t constant = 0;

  void add(Value value, int64_t factor);
  /// Removes the terms defined in regions deeper than the function's body from
  /// the sum and returns them: those that a loop may change.
  LinearSum takeVarying();
};

} // namespace

void LinearSum::add(Value value, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    constant += *known * factor;
    return;
  }
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    add(sum.getLhs(), factor);
    add(sum.getRhs(), factor);
    return;
  }
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> by = getConstantIntValue(product.getRhs())) {
      add(product.getLhs(), factor * *by);
      return;
    }
  terms[value] += factor;
}

LinearSum LinearSum::takeVarying() {
  LinearSum fixed, varying;
  for (auto [value, factor] : terms) {
    Operation *parent = value.getParentRegion()->getParentOp();
    LinearSum &side = isa<gpu::GPUFuncOp>(parent) ? fixed : varying;
    side.terms[value] = factor;
  }
  terms = std::move(fixed.terms);
  return varying;
}

namespace {

using spirv::StorageClass;

/// A memref as code knows it. Offset, sizes and strides count elements.
struct Memory {
  StorageClass storage;
  /// The start: an i64, a pointer to bytes, or one to the variable.
  Value base;
  Value offset;
  SmallVector<Value> sizes, strides;
  Type element;
  /// The element type of the variable's array.
  Type unit;
  int64_t unitBytes = 0;
};

class MemoryLowering {
public:
  MemoryLowering(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip), flavour(*getFlavour(chip.target)),
        b(kernel.getLoc(), kernel.getContext()) {}
  LogicalResult run();

private:
  LogicalResult lowerParameters();
  LogicalResult lowerVariables();
  LogicalResult lower(Operation *op);
  LogicalResult lowerAtomic(memref::AtomicRMWOp op);
  /// Adds `value`, a float, to memory by compare-and-swap; returns the old
  /// value.
  Value addByExchange(Value pointer, Value value, spirv::Scope scope);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value i64(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }

  /// The static sizes of `type`, or the results of `dynamic`.
  void setShape(Memory &memory, MemRefType type,
                function_ref<Value()> getOffset,
                function_ref<Value(unsigned)> getSize,
                function_ref<Value(unsigned)> getStride);
  /// The number of the element at `indices`, from the base.
  Value getElement(const Memory &memory, ValueRange indices);
  /// A pointer to `pointee` at an element; `bytes` of it make a unit.
  Value getPointer(const Memory &memory, Value element, Type pointee);
  /// The sum of the terms, without the constant; every factor is a multiple of
  /// `divisor`. Computed in `type`, an index or an integer.
  Value emitSum(const LinearSum &sum, int64_t divisor, Type type);
  Value loadScalar(const Memory &memory, Value element);
  void storeScalar(const Memory &memory, Value element, Value value);
  Value loadRaw(const Memory &memory, Value element, Type type, int64_t bytes);
  void storeRaw(const Memory &memory, Value element, Value value,
                int64_t bytes);
  Value loadVector(const Memory &memory, Value element, VectorType type,
                   int64_t alignment);
  void storeVector(const Memory &memory, Value element, Value value,
                   int64_t alignment);
  /// The width in bytes of accesses to `bytes` bytes; 0: element by element.
  int64_t getChunk(const Memory &memory, int64_t bytes,
                   int64_t alignment) const;
  /// Prevents loads of a copy from waiting for its stores: the stores to
  /// workgroup memory follow the loads from other memory, in groups.
  void groupCopies();
  /// The widest unit that all accesses to `root` keep to, in bytes.
  int64_t getUnitBytes(Value root, Type element);

  /// The storage type of an element; an integer for f16 if the chip lacks it.
  Type getStorage(Type element) const {
    if (element.isF16() && !chip.hasF16)
      return IntegerType::get(element.getContext(), 16);
    return getStorageType(element);
  }
  bool isGlobal(const Memory &memory) const {
    return memory.storage == flavour.global;
  }
  /// Reads argument `place` of the launch as a value of `type`; `from` is the
  /// kernel's parameter that it belongs to.
  using ReadField =
      llvm::function_ref<Value(int64_t place, Type type, Value from)>;
  LogicalResult lowerParameters(ReadField read);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  const Flavour &flavour;
  ImplicitLocOpBuilder b;
  llvm::DenseMap<Value, Memory> memories;
  SmallVector<Operation *> erased;
  int64_t workgroupBytes = 0;
  unsigned numVariables = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernel parameters
//===----------------------------------------------------------------------===//

void MemoryLowering::setShape(Memory &memory, MemRefType type,
                              function_ref<Value()> getOffset,
                              function_ref<Value(unsigned)> getSize,
                              function_ref<Value(unsigned)> getStride) {
  auto [strides, offset] = type.getStridesAndOffset();
  memory.element = type.getElementType();
  memory.offset = ShapedType::isDynamic(offset) ? getOffset() : index(offset);
  for (unsigned i = 0; i < type.getRank(); ++i) {
    memory.sizes.push_back(type.isDynamicDim(i) ? getSize(i)
                                                : index(type.getDimSize(i)));
    memory.strides.push_back(
        ShapedType::isDynamic(strides[i]) ? getStride(i) : index(strides[i]));
  }
}

LogicalResult MemoryLowering::lowerParameters() {
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  if (!kernel.getFunctionType().getNumInputs())
    return success();
  if (flavour.isKernel)
    return lowerParameters([&](int64_t place, Type type, Value from) -> Value {
      // Those that something reads become the function's.
      auto cast = UnrealizedConversionCastOp::create(b, type, from);
      cast->setAttr(TesseraDialect::FieldAttrHelper::getNameStr(),
                    b.getI64IntegerAttr(place));
      return cast.getResult(0);
    });
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto variable = module.lookupSymbol<spirv::GlobalVariableOp>(paramsName);
  if (!variable) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    variable = spirv::GlobalVariableOp::create(
        b,
        spirv::PointerType::get(spirv::StructType::get({b.getI64Type()}, {0}),
                                StorageClass::PushConstant),
        paramsName);
  }
  Value pointer = spirv::AddressOfOp::create(b, variable);
  Value zero = spirv::ConstantOp::getZero(b.getI32Type(), b.getLoc(), b);
  Value slot = spirv::AccessChainOp::create(b, pointer, ValueRange{zero});
  Value block = spirv::LoadOp::create(b, slot);
  return lowerParameters([&](int64_t place, Type type, Value) -> Value {
    Value address = add(block, i64(8 * place));
    Value pointer = spirv::ConvertUToPtrOp::create(
        b, spirv::PointerType::get(type, StorageClass::PhysicalStorageBuffer),
        address);
    return spirv::LoadOp::create(
        b, pointer,
        spirv::MemoryAccessAttr::get(b.getContext(),
                                     spirv::MemoryAccess::Aligned),
        b.getI32IntegerAttr(8));
  });
}

LogicalResult MemoryLowering::lowerParameters(ReadField read) {
  Block &entry = kernel.getBody().front();
  Type word = b.getI64Type();
  Type base = flavour.isKernel
                  ? Type(spirv::PointerType::get(b.getI8Type(), flavour.global))
                  : word;
  int64_t next = 0;
  for (unsigned i = 0; i < kernel.getFunctionType().getNumInputs(); ++i) {
    BlockArgument argument = entry.getArgument(i);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      Type storage = getStorage(argument.getType());
      if (!storage.isIntOrFloat() || storage.getIntOrFloatBitWidth() < 8 ||
          isPacked(argument.getType()))
        return kernel.emitError()
               << "target " << flavour.target
               << " does not support kernel parameters of type "
               << argument.getType();
      Value field = read(next++, storage, argument), value = field;
      if (argument.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getIndexType(), value);
      else if (argument.getType().isInteger(1))
        value = arith::TruncIOp::create(b, b.getI1Type(), value);
      else if (storage != argument.getType())
        value = arith::BitcastOp::create(b, argument.getType(), value);
      argument.replaceAllUsesExcept(value, field.getDefiningOp());
      continue;
    }
    if (isWorkgroupMemory(type))
      return kernel.emitError()
             << "workgroup memory cannot be a kernel parameter";
    auto field = [&](int64_t place) -> Value {
      return arith::IndexCastOp::create(b, b.getIndexType(),
                                        read(next + place, word, argument));
    };
    Memory memory;
    memory.storage = flavour.global;
    // Allocated pointer, aligned pointer, offset, sizes, strides.
    memory.base = read(next + 1, base, argument);
    setShape(
        memory, type, [&] { return field(2); },
        [&](unsigned d) { return field(3 + d); },
        [&](unsigned d) { return field(3 + type.getRank() + d); });
    next += 3 + 2 * type.getRank();
    memories[argument] = memory;
  }
  return success();
}

/// The alignment in bytes that an access has by its attribute.
static int64_t getAlignment(Operation *op, int64_t elementBytes) {
  if (auto given = op->getAttrOfType<IntegerAttr>("alignment"))
    return std::max(given.getInt(), elementBytes);
  return elementBytes;
}

int64_t MemoryLowering::getUnitBytes(Value root, Type element) {
  int64_t elementBytes = getStorageBytes(element), unit = 16;
  SmallVector<Value> values{root};
  auto narrow = [&](int64_t bytes) {
    while (unit > bytes)
      unit /= 2;
  };
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : value.getUsers()) {
      VectorType vector;
      if (auto load = dyn_cast<vector::LoadOp>(user))
        vector = load.getVectorType();
      else if (auto store = dyn_cast<vector::StoreOp>(user))
        vector = store.getVectorType();
      if (vector) {
        int64_t bytes = vector.getNumElements() * elementBytes;
        narrow(std::min(getAlignment(user, elementBytes), bytes & -bytes));
      } else if (isa<UnrealizedConversionCastOp>(user) &&
                 isa<MemRefType>(user->getResult(0).getType())) {
        values.push_back(user->getResult(0));
      } else if (isa<UnrealizedConversionCastOp>(user)) {
        narrow(getAlignment(user, elementBytes));
      } else if (isa<memref::ReinterpretCastOp,
                     memref::ExtractStridedMetadataOp, memref::CastOp,
                     memref::TransposeOp, memref::MemorySpaceCastOp>(user)) {
        values.push_back(user->getResult(0));
      } else if (!isa<memref::DimOp, memref::DeallocOp>(user)) {
        narrow(elementBytes);
      }
    }
  }
  return unit >= 4 ? std::max(unit, elementBytes) : elementBytes;
}

LogicalResult MemoryLowering::lowerVariables() {
  Block &entry = kernel.getBody().front();
  SmallVector<Value> roots;
  for (BlockArgument argument :
       entry.getArguments().drop_front(kernel.getFunctionType().getNumInputs()))
    roots.push_back(argument);
  kernel.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
      roots.push_back(op->getResult(0));
      erased.push_back(op);
    }
  });
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  for (Value root : roots) {
    auto type = cast<MemRefType>(root.getType());
    b.setLoc(root.getLoc());
    b.setInsertionPointToStart(&entry);
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return emitError(root.getLoc())
             << "memory allocated in a kernel must have a static shape and the "
                "identity layout, not "
             << type;
    Memory memory;
    memory.storage = isWorkgroupMemory(type) ? StorageClass::Workgroup
                                             : StorageClass::Function;
    if (root.getDefiningOp<memref::AllocOp>() &&
        memory.storage != StorageClass::Workgroup)
      return emitError(root.getLoc())
             << "a kernel can only allocate workgroup or private memory";
    setShape(
        memory, type, [] { return Value(); }, [](unsigned) { return Value(); },
        [](unsigned) { return Value(); });
    int64_t elementBytes = getStorageBytes(memory.element);
    int64_t bytes = llvm::divideCeil(type.getNumElements() * elementBytes,
                                     isPacked(memory.element) ? 2 : 1);
    memory.unitBytes = memory.storage == StorageClass::Workgroup
                           ? getUnitBytes(root, memory.element)
                           : elementBytes;
    memory.unit = memory.unitBytes == elementBytes
                      ? getStorage(memory.element)
                      : getRawType(b.getContext(), memory.unitBytes);
    auto pointerType = spirv::PointerType::get(
        spirv::ArrayType::get(memory.unit,
                              llvm::divideCeil(bytes, memory.unitBytes)),
        memory.storage);
    if (memory.storage == StorageClass::Workgroup) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      std::string name;
      do
        name = ("__workgroup" + Twine(numVariables++)).str();
      while (module.lookupSymbol(name));
      auto variable = spirv::GlobalVariableOp::create(b, pointerType, name);
      b.setInsertionPointToStart(&entry);
      memory.base = spirv::AddressOfOp::create(b, variable);
      workgroupBytes += llvm::alignTo(bytes, memory.unitBytes);
    } else {
      memory.base =
          spirv::VariableOp::create(b, pointerType, StorageClass::Function,
                                    /*initializer=*/Value());
    }
    memories[root] = memory;
  }
  kernel->setAttr(TesseraDialect::WorkgroupBytesAttrHelper::getNameStr(),
                  b.getI64IntegerAttr(workgroupBytes));
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Type mlir::tessera::getRawType(MLIRContext *context, int64_t bytes) {
  Type word = IntegerType::get(context, 32);
  return bytes == 4 ? word : VectorType::get(bytes / 4, word);
}

Value MemoryLowering::getElement(const Memory &memory, ValueRange indices) {
  Value sum = memory.offset;
  for (auto [position, stride] : llvm::zip(indices, memory.strides))
    sum = add(sum, mul(position, stride));
  return sum;
}

Value MemoryLowering::emitSum(const LinearSum &sum, int64_t divisor,
                              Type type) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value result = constant(0);
  for (auto [value, factor] : sum.terms) {
    if (type != value.getType())
      value = b.createOrFold<arith::IndexCastOp>(type, value);
    result = add(result, mul(value, constant(factor / divisor)));
  }
  return result;
}

/// Addresses that differ by a constant share the rest of the computation, and
/// loop-invariant terms are separate from the others.
Value MemoryLowering::getPointer(const Memory &memory, Value element,
                                 Type pointee) {
  int64_t bytes = getStorageBytes(memory.element);
  auto type = spirv::PointerType::get(pointee, memory.storage);
  LinearSum sum;
  sum.add(element, 1);
  if (isGlobal(memory)) {
    LinearSum varying = sum.takeVarying();
    Value address = flavour.isKernel ? i64(0) : memory.base;
    for (const LinearSum *part : {&sum, &varying}) {
      Value distance = b.createOrFold<arith::IndexCastOp>(
          b.getI64Type(), emitSum(*part, 1, b.getIndexType()));
      address = add(address, mul(distance, i64(bytes)));
    }
    address = add(address, i64(sum.constant * bytes));
    if (!flavour.isKernel)
      return spirv::ConvertUToPtrOp::create(b, type, address);
    // Bytes from a pointer, rather than an address: it stays known which
    // buffer this is.
    Value place =
        spirv::PtrAccessChainOp::create(b, memory.base, address, ValueRange());
    return type == place.getType()
               ? place
               : spirv::BitcastOp::create(b, type, place).getResult();
  }
  // Memory of a workgroup or of a thread is small: 32 bits. A multiple of the
  // unit is divided term by term.
  int64_t ratio = memory.unitBytes / bytes;
  Type word = b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  LinearSum rest, whole;
  for (auto [value, factor] : sum.terms)
    (factor % ratio ? rest : whole).terms[value] = factor;
  rest.constant = (sum.constant % ratio + ratio) % ratio;
  Value place = emitSum(whole, ratio, word);
  if (!rest.terms.empty())
    place = add(place, b.createOrFold<arith::ShRSIOp>(
                           add(emitSum(rest, 1, word), constant(rest.constant)),
                           constant(llvm::Log2_64(uint64_t(ratio)))));
  place = add(place, constant((sum.constant - rest.constant) / ratio));
  return spirv::AccessChainOp::create(b, memory.base, ValueRange{place});
}

/// The memory operands of an access of `bytes` bytes to `memory`.
static std::pair<spirv::MemoryAccessAttr, IntegerAttr>
getAccess(ImplicitLocOpBuilder &b, const Flavour &flavour, StorageClass storage,
          int64_t bytes) {
  if (storage == flavour.global)
    return {spirv::MemoryAccessAttr::get(b.getContext(),
                                         spirv::MemoryAccess::Aligned),
            b.getI32IntegerAttr(bytes)};
  // Other threads of the workgroup see the write after a barrier.
  if (storage == StorageClass::Workgroup && flavour.saysVisible)
    return {spirv::MemoryAccessAttr::get(
                b.getContext(), spirv::MemoryAccess::NonPrivatePointer),
            IntegerAttr()};
  return {};
}

Value MemoryLowering::loadRaw(const Memory &memory, Value element, Type type,
                              int64_t bytes) {
  auto [access, alignment] = getAccess(b, flavour, memory.storage, bytes);
  return spirv::LoadOp::create(b, getPointer(memory, element, type), access,
                               alignment);
}

void MemoryLowering::storeRaw(const Memory &memory, Value element, Value value,
                              int64_t bytes) {
  auto [access, alignment] = getAccess(b, flavour, memory.storage, bytes);
  spirv::StoreOp::create(b, getPointer(memory, element, value.getType()), value,
                         access, alignment);
}

Value MemoryLowering::loadScalar(const Memory &memory, Value element) {
  Type storage = getStorage(memory.element);
  Value value =
      loadRaw(memory, element, storage, getStorageBytes(memory.element));
  if (memory.element.isIndex())
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  if (memory.element.isInteger(1))
    return arith::TruncIOp::create(b, b.getI1Type(), value);
  if (storage != memory.element)
    return arith::BitcastOp::create(b, memory.element, value);
  return value;
}

void MemoryLowering::storeScalar(const Memory &memory, Value element,
                                 Value value) {
  Type storage = getStorage(memory.element);
  if (memory.element.isIndex())
    value = arith::IndexCastOp::create(b, storage, value);
  else if (memory.element.isInteger(1))
    value = arith::ExtUIOp::create(b, storage, value);
  else if (storage != memory.element)
    value = arith::BitcastOp::create(b, storage, value);
  storeRaw(memory, element, value, getStorageBytes(memory.element));
}

int64_t MemoryLowering::getChunk(const Memory &memory, int64_t bytes,
                                 int64_t alignment) const {
  int64_t elementBytes = getStorageBytes(memory.element);
  if (memory.element.isInteger(1) || memory.element.isIndex())
    return 0;
  if (!isGlobal(memory))
    return memory.unitBytes > elementBytes ? memory.unitBytes : 0;
  int64_t chunk = std::min<int64_t>(16, std::min(alignment, bytes & -bytes));
  return chunk >= 4 && chunk > elementBytes ? chunk : 0;
}

Value MemoryLowering::loadVector(const Memory &memory, Value element,
                                 VectorType type, int64_t alignment) {
  int64_t elementBytes = getStorageBytes(memory.element);
  int64_t bytes = type.getNumElements() * elementBytes;
  int64_t chunk = getChunk(memory, bytes, alignment);
  SmallVector<Value> parts;
  if (!chunk) {
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      parts.push_back(loadScalar(memory, add(element, index(i))));
    return vector::FromElementsOp::create(b, type, parts);
  }
  Type raw = getRawType(b.getContext(), chunk);
  auto words = VectorType::get(bytes / 4, b.getI32Type());
  Value all;
  for (int64_t i = 0; i < bytes / chunk; ++i) {
    Value part = loadRaw(memory, add(element, index(i * chunk / elementBytes)),
                         raw, chunk);
    if (bytes == chunk && chunk > 4) {
      all = part;
      break;
    }
    for (int64_t j = 0; j < chunk / 4; ++j)
      parts.push_back(chunk == 4
                          ? part
                          : vector::ExtractOp::create(b, part, j).getResult());
  }
  if (!all)
    all = vector::FromElementsOp::create(b, words, parts);
  return words == type ? all : vector::BitCastOp::create(b, type, all);
}

void MemoryLowering::storeVector(const Memory &memory, Value element,
                                 Value value, int64_t alignment) {
  auto type = cast<VectorType>(value.getType());
  int64_t elementBytes = getStorageBytes(memory.element);
  int64_t bytes = type.getNumElements() * elementBytes;
  int64_t chunk = getChunk(memory, bytes, alignment);
  if (!chunk) {
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      storeScalar(memory, add(element, index(i)),
                  vector::ExtractOp::create(b, value, i));
    return;
  }
  auto words = VectorType::get(bytes / 4, b.getI32Type());
  if (words != type)
    value = b.createOrFold<vector::BitCastOp>(words, value);
  for (int64_t i = 0; i < bytes / chunk; ++i) {
    Value part = value;
    if (chunk == 4) {
      part = vector::ExtractOp::create(b, value, i);
    } else if (bytes != chunk) {
      SmallVector<Value> lanes;
      for (int64_t j = 0; j < chunk / 4; ++j)
        lanes.push_back(vector::ExtractOp::create(b, value, i * chunk / 4 + j));
      part = vector::FromElementsOp::create(
          b, cast<VectorType>(getRawType(b.getContext(), chunk)), lanes);
    }
    storeRaw(memory, add(element, index(i * chunk / elementBytes)), part,
             chunk);
  }
}

Value MemoryLowering::addByExchange(Value pointer, Value value,
                                    spirv::Scope scope) {
  Type type = value.getType(),
       bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  auto storage = cast<spirv::PointerType>(pointer.getType()).getStorageClass();
  pointer = spirv::BitcastOp::create(b, spirv::PointerType::get(bits, storage),
                                     pointer);
  auto none = spirv::MemorySemantics::None;
  Value first = spirv::LoadOp::create(b, pointer);
  auto loop = scf::WhileOp::create(
      b, TypeRange{bits}, ValueRange{first},
      [&](OpBuilder &, Location, ValueRange seen) {
        Value sum = arith::AddFOp::create(
            b, arith::BitcastOp::create(b, type, seen[0]), value);
        Value found = spirv::AtomicCompareExchangeOp::create(
            b, bits, pointer, scope, none, none,
            arith::BitcastOp::create(b, bits, sum), seen[0]);
        Value another =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, found, seen[0]);
        scf::ConditionOp::create(b, another, found);
      },
      [&](OpBuilder &, Location, ValueRange found) {
        scf::YieldOp::create(b, found);
      });
  b.setInsertionPointAfter(loop);
  return arith::BitcastOp::create(b, type, loop.getResult(0));
}

LogicalResult MemoryLowering::lowerAtomic(memref::AtomicRMWOp op) {
  const Memory &memory = memories[op.getMemref()];
  Type type = memory.element;
  Value pointer =
      getPointer(memory, getElement(memory, op.getIndices()), getStorage(type));
  auto semantics = spirv::MemorySemantics::None;
  auto scope = memory.storage == StorageClass::Workgroup
                   ? spirv::Scope::Workgroup
                   : spirv::Scope::Device;
  Value value = op.getValue(), result;
  switch (op.getKind()) {
  case arith::AtomicRMWKind::addf:
    if ((type.isF32() && !chip.hasAtomicF32) ||
        (type.isF64() && !chip.hasAtomicF64))
      result = addByExchange(pointer, value, scope);
    else if (type.isF32() || type.isF64())
      result = spirv::EXTAtomicFAddOp::create(b, type, pointer, scope,
                                              semantics, value);
    break;
  case arith::AtomicRMWKind::addi:
    if (type.isInteger(32) || type.isInteger(64))
      result = spirv::AtomicIAddOp::create(b, type, pointer, scope, semantics,
                                           value);
    break;
  default:
    break;
  }
  if (!result)
    return op.emitError() << "target " << flavour.target
                          << " does not support atomic "
                          << arith::stringifyAtomicRMWKind(op.getKind())
                          << " of " << type;
  op.getResult().replaceAllUsesWith(result);
  return success();
}

LogicalResult MemoryLowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  auto find = [&](Value value) -> Memory * {
    auto found = memories.find(value);
    return found == memories.end() ? nullptr : &found->second;
  };
  bool handled = true;
  // Copies: inserting into the table may move its entries.
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (Memory *memory = find(load.getMemref()))
      load.getResult().replaceAllUsesWith(
          loadScalar(*memory, getElement(*memory, load.getIndices())));
    else
      handled = false;
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    if (Memory *memory = find(store.getMemref()))
      storeScalar(*memory, getElement(*memory, store.getIndices()),
                  store.getValueToStore());
    else
      handled = false;
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    if (Memory *memory = find(load.getBase()))
      load.getResult().replaceAllUsesWith(loadVector(
          *memory, getElement(*memory, load.getIndices()), load.getVectorType(),
          getAlignment(op, getStorageBytes(memory->element))));
    else
      handled = false;
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    if (Memory *memory = find(store.getBase()))
      storeVector(*memory, getElement(*memory, store.getIndices()),
                  store.getValueToStore(),
                  getAlignment(op, getStorageBytes(memory->element)));
    else
      handled = false;
  } else if (auto load = dyn_cast<vector::MaskedLoadOp>(op)) {
    Memory *memory = find(load.getBase());
    if (!memory)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Value first = getElement(*memory, load.getIndices());
    SmallVector<Value> elements;
    for (int64_t i = 0; i < load.getVectorType().getNumElements(); ++i) {
      Value mask = vector::ExtractOp::create(b, load.getMask(), i);
      Value other = vector::ExtractOp::create(b, load.getPassThru(), i);
      auto branch = scf::IfOp::create(b, TypeRange{memory->element}, mask,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      scf::YieldOp::create(b, loadScalar(*memory, add(first, index(i))));
      b.setInsertionPointToStart(&branch.getElseRegion().front());
      scf::YieldOp::create(b, other);
      elements.push_back(branch.getResult(0));
    }
    b.setInsertionPoint(op);
    load.getResult().replaceAllUsesWith(
        vector::FromElementsOp::create(b, load.getVectorType(), elements));
  } else if (auto store = dyn_cast<vector::MaskedStoreOp>(op)) {
    Memory *memory = find(store.getBase());
    if (!memory)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Value first = getElement(*memory, store.getIndices());
    for (int64_t i = 0; i < store.getVectorType().getNumElements(); ++i) {
      Value mask = vector::ExtractOp::create(b, store.getMask(), i);
      Value value = vector::ExtractOp::create(b, store.getValueToStore(), i);
      auto branch = scf::IfOp::create(b, mask, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      storeScalar(*memory, add(first, index(i)), value);
    }
  } else if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op)) {
    if (!find(atomic.getMemref()))
      handled = false;
    else if (failed(lowerAtomic(atomic)))
      return failure();
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    Memory *memory = find(dim.getSource());
    std::optional<int64_t> d = dim.getConstantIndex();
    if (memory && d)
      dim.getResult().replaceAllUsesWith(memory->sizes[*d]);
    else
      handled = false;
  } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    Memory *source = find(cast.getSource());
    if (!source)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Memory memory = *source;
    memory.sizes.clear();
    memory.strides.clear();
    auto get = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(b, op->getLoc(), value);
    };
    memory.offset = get(cast.getMixedOffsets().front());
    for (OpFoldResult size : cast.getMixedSizes())
      memory.sizes.push_back(get(size));
    for (OpFoldResult stride : cast.getMixedStrides())
      memory.strides.push_back(get(stride));
    memories[cast.getResult()] = memory;
  } else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    Memory *source = find(metadata.getSource());
    if (!source)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Memory memory = *source;
    metadata.getOffset().replaceAllUsesWith(memory.offset);
    for (auto [result, value] : llvm::zip(metadata.getSizes(), memory.sizes))
      result.replaceAllUsesWith(value);
    for (auto [result, value] :
         llvm::zip(metadata.getStrides(), memory.strides))
      result.replaceAllUsesWith(value);
    memory.sizes.clear();
    memory.strides.clear();
    memory.offset = index(0);
    memories[metadata.getBaseBuffer()] = memory;
  } else if (isa<memref::CastOp, memref::MemorySpaceCastOp>(op)) {
    Memory *source = find(op->getOperand(0));
    if (!source)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Memory memory = *source;
    memories[op->getResult(0)] = memory;
  } else if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    Memory *source = find(transpose.getIn());
    if (!source)
      return op->emitError()
             << "cannot determine the underlying memory of this access";
    Memory memory = *source;
    for (auto [i, from] :
         llvm::enumerate(transpose.getPermutation().getResults())) {
      unsigned dimension = llvm::cast<AffineDimExpr>(from).getPosition();
      memory.sizes[i] = source->sizes[dimension];
      memory.strides[i] = source->strides[dimension];
    }
    memories[transpose.getResult()] = memory;
  } else if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
    if (cast->hasAttr(TesseraDialect::FieldAttrHelper::getNameStr()))
      return success();
    // The bytes of memory of i4 (tessera-expand-packed-memory).
    if (cast.getNumResults() == 1)
      if (auto type = dyn_cast<MemRefType>(cast.getType(0))) {
        Memory *source = find(cast.getInputs().front());
        if (!source || !isPacked(source->element) ||
            !type.getElementType().isInteger(8))
          return op->emitError()
                 << "cannot determine the underlying memory of this access";
        Memory memory = *source;
        memory.element = type.getElementType();
        memories[cast.getResult(0)] = memory;
        erased.push_back(op);
        return success();
      }
    // The memory of a cooperative matrix.
    Memory *memory =
        cast.getInputs().empty() ? nullptr : find(cast.getInputs().front());
    if (!memory)
      return success();
    Value element = getElement(*memory, cast.getInputs().drop_front());
    Value pointer;
    if (flavour.isKernel && isGlobal(*memory)) {
      pointer = getPointer(*memory, element, getStorage(memory->element));
    } else if (isGlobal(*memory)) {
      // It must point into an array.
      Type type = getStorage(memory->element);
      Type array =
          spirv::RuntimeArrayType::get(type, getStorageBytes(memory->element));
      Value whole =
          getPointer(*memory, element, spirv::StructType::get({array}, {0}));
      Value zero = spirv::ConstantOp::getZero(b.getI32Type(), b.getLoc(), b);
      pointer = spirv::AccessChainOp::create(b, whole, ValueRange{zero, zero});
    } else {
      pointer = getPointer(*memory, element, memory->unit);
    }
    int64_t ratio = isGlobal(*memory)
                        ? 1
                        : memory->unitBytes / getStorageBytes(memory->element);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *user = use.getOwner();
      unsigned place = isa<spirv::KHRCooperativeMatrixLoadOp>(user) ? 1 : 2;
      if (ratio > 1) {
        b.setInsertionPoint(user);
        Value stride = user->getOperand(place);
        Value units = arith::DivUIOp::create(
            b, stride, arith::ConstantIntOp::create(b, ratio, 32));
        user->setOperand(place, units);
      }
      use.set(pointer);
    }
  } else if (isa<memref::DeallocOp, memref::AssumeAlignmentOp>(op)) {
    if (op->getNumResults()) {
      if (Memory *source = find(op->getOperand(0))) {
        Memory memory = *source;
        memories[op->getResult(0)] = memory;
      }
    }
  } else {
    return success();
  }
  if (!handled)
    return op->emitError()
           << "cannot determine the underlying memory of this access";
  erased.push_back(op);
  return success();
}

void MemoryLowering::groupCopies() {
  // Each waits with its value, of up to 4 registers.
  constexpr size_t maxWaiting = 16;
  kernel.walk([&](Block *block) {
    SmallVector<spirv::StoreOp> waiting;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      auto storage = [](Value pointer) {
        return cast<spirv::PointerType>(pointer.getType()).getStorageClass();
      };
      auto store = dyn_cast<spirv::StoreOp>(op);
      if (store && storage(store.getPtr()) == StorageClass::Workgroup &&
          waiting.size() < maxWaiting) {
        waiting.push_back(store);
        continue;
      }
      auto load = dyn_cast<spirv::LoadOp>(op);
      if ((load && storage(load.getPtr()) == flavour.global) ||
          isa<spirv::ConvertUToPtrOp>(op) ||
          (isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>()))
        continue;
      for (spirv::StoreOp earlier : waiting)
        earlier->moveBefore(&op);
      waiting.clear();
      if (store && storage(store.getPtr()) == StorageClass::Workgroup)
        waiting.push_back(store);
    }
  });
}

LogicalResult MemoryLowering::run() {
  WalkResult packed = kernel.walk([&](Operation *op) {
    // Accesses are of bytes by now.
    if (!isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
             vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp>(op))
      return WalkResult::advance();
    for (Value value : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && isPacked(type.getElementType())) {
        op->emitError() << "elements of " << type.getElementType()
                        << " share a byte: run tessera-expand-packed-memory "
                           "first";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (packed.wasInterrupted())
    return failure();
  WalkResult composite = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && !type.getElementType().isIntOrIndexOrFloat()) {
        op->emitError() << "target " << flavour.target
                        << " does not support memory of "
                        << type.getElementType() << ": use memory of scalars";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (composite.wasInterrupted())
    return failure();
  if (failed(lowerParameters()) || failed(lowerVariables()))
    return failure();
  SmallVector<Operation *> operations;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel && !is_contained(erased, op))
      operations.push_back(op);
  });
  for (Operation *op : operations)
    if (failed(lower(op)))
      return failure();
  for (Operation *op : llvm::reverse(erased)) {
    op->dropAllUses();
    op->erase();
  }
  groupCopies();
  // The remaining ops use memory that was not found.
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<BaseMemRefType>(type)) {
        op->emitError() << "target " << flavour.target << " does not support "
                        << op->getName();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  Block &entry = kernel.getBody().front();
  // The parameters stay, unused: launches are checked against them.
  unsigned count = kernel.getFunctionType().getNumInputs();
  entry.eraseArguments(count, entry.getNumArguments() - count);
  kernel->setAttr(kernel.getNumWorkgroupAttributionsAttrName(),
                  b.getI64IntegerAttr(0));
  kernel->removeAttr("workgroup_attrib_attrs");
  kernel->removeAttr("private_attrib_attrs");
  return success();
}

namespace {

struct LowerMemoryToSPIRVPass
    : public tessera::impl::LowerMemoryToSPIRVBase<LowerMemoryToSPIRVPass> {
  using LowerMemoryToSPIRVBase::LowerMemoryToSPIRVBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getSpirvChip(getOperation(), target, chip);
    if (failed(found))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      if (failed(MemoryLowering(kernel, **found).run()))
        return signalPassFailure();
      prefetchCopies(kernel);
      orderLoads(kernel);
    }
  }
};

} // namespace
