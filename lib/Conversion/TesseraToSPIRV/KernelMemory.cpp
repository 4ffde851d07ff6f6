//===- KernelMemory.cpp - Parameters and variables of a kernel ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "MemoryLowering.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"

using namespace mlir;
using namespace mlir::tessera;
using mlir::spirv::StorageClass;

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

//===----------------------------------------------------------------------===//
// Parameters
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

Value MemoryLowering::readField(int64_t position, Type type, Value from) {
  // The fields that something reads become the parameters of the function, or
  // those of its launch.
  auto cast = UnrealizedConversionCastOp::create(b, type, from);
  cast->setAttr(TesseraDialect::FieldAttrHelper::getNameStr(),
                b.getI64IntegerAttr(position));
  return cast.getResult(0);
}

LogicalResult MemoryLowering::lowerParameters() {
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  Type word = b.getI64Type();
  Type base =
      environment.isKernel
          ? Type(spirv::PointerType::get(b.getI8Type(), environment.global))
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
               << "target " << environment.target
               << " does not support kernel parameters of type "
               << argument.getType();
      Value field = readField(next++, storage, argument), value = field;
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
    auto field = [&](int64_t position) -> Value {
      return arith::IndexCastOp::create(
          b, b.getIndexType(), readField(next + position, word, argument));
    };
    Memory memory;
    memory.storage = environment.global;
    // Allocated pointer, aligned pointer, offset, sizes, strides.
    memory.base = readField(next + 1, base, argument);
    setShape(
        memory, type, [&] { return field(2); },
        [&](unsigned d) { return field(3 + d); },
        [&](unsigned d) { return field(3 + type.getRank() + d); });
    next += 3 + 2 * type.getRank();
    memories[argument] = memory;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Workgroup and private memory
//===----------------------------------------------------------------------===//

int64_t mlir::tessera::getAccessAlignment(Operation *op, int64_t elementBytes) {
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
        narrow(
            std::min(getAccessAlignment(user, elementBytes), bytes & -bytes));
      } else if (isa<UnrealizedConversionCastOp>(user) &&
                 isa<MemRefType>(user->getResult(0).getType())) {
        values.push_back(user->getResult(0));
      } else if (isa<UnrealizedConversionCastOp>(user)) {
        narrow(getAccessAlignment(user, elementBytes));
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
  auto addVariable = [&](spirv::PointerType type) -> Value {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    std::string name;
    do
      name = ("__workgroup" + Twine(numVariables++)).str();
    while (module.lookupSymbol(name));
    auto variable = spirv::GlobalVariableOp::create(b, type, name);
    b.setInsertionPointToStart(&entry);
    return spirv::AddressOfOp::create(b, variable);
  };
  // One variable for all memories, if all are accessed by units of one size.
  size_t numTiles = 0;
  for (unsigned i = 0; i < kernel.getNumWorkgroupAttributions(); ++i)
    numTiles += !kernel.getWorkgroupAttributionAttr(i, sharesTilesName);
  constexpr int64_t sharedUnit = 16;
  auto getBytes = [](Value root) {
    auto type = cast<MemRefType>(root.getType());
    return llvm::alignTo(type.getNumElements() *
                             getStorageBytes(type.getElementType()),
                         sharedUnit);
  };
  bool isShared =
      numTiles < kernel.getNumWorkgroupAttributions() &&
      roots.size() == kernel.getNumWorkgroupAttributions() &&
      llvm::all_of(
          roots,
          [&](Value root) {
            auto type = cast<MemRefType>(root.getType());
            return isa<BlockArgument>(root) && type.hasStaticShape() &&
                   !isPacked(type.getElementType()) &&
                   getUnitBytes(root, type.getElementType()) == sharedUnit;
          });
  // Where the next tile is, and the next scratch.
  std::array<int64_t, 2> ends{0, 0};
  Value shared;
  if (isShared) {
    for (auto [i, root] : llvm::enumerate(roots))
      ends[i >= numTiles] += getBytes(root);
    workgroupBytes = std::max(ends[0], ends[1]);
    b.setInsertionPointToStart(&entry);
    shared = addVariable(spirv::PointerType::get(
        spirv::ArrayType::get(getRawType(b.getContext(), sharedUnit),
                              workgroupBytes / sharedUnit),
        StorageClass::Workgroup));
    ends = {0, 0};
  }
  for (auto [i, root] : llvm::enumerate(roots)) {
    auto type = cast<MemRefType>(root.getType());
    b.setLoc(root.getLoc());
    if (shared)
      b.setInsertionPointAfterValue(shared);
    else
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
    if (isShared) {
      int64_t &end = ends[i >= numTiles];
      memory.base = shared;
      memory.offset = index(end / elementBytes);
      end += getBytes(root);
    } else if (memory.storage == StorageClass::Workgroup) {
      memory.base = addVariable(pointerType);
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
