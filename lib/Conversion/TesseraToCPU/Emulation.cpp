//===- Emulation.cpp - A chip's lanes on the CPU --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tessera.mma               registers to the stack, tessera_cpu_mma, and the
//                             accumulators from there
//   exchanges between lanes   tessera_cpu_shuffle
//   tessera.async_copy, wait  tessera_cpu_async_copy, commit, wait
//   accesses to memory        tessera_cpu_access before them
//
// The instruction is passed as a constant: its shape, its types and the lane
// maps of its row. A call also has a constant text with its purpose and
// location: lanes meet if they reach the same call.
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/MemoryIndex.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Runtime/CpuKernel.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/Emulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Bytes of a lane's registers of `role`, for the instruction that has most.
static int64_t getMostBytes(const Chip &chip, Role role) {
  int64_t most = 8;
  for (const MatrixInstruction &row : chip.instructions)
    // No element is wider than 8 bytes.
    most = std::max(most, row.getMap(role).getNumRegisters() * 8);
  return most;
}

EmulatedTarget::EmulatedTarget(const Chip &chip, gpu::GPUFuncOp kernel,
                               EmulationSymbols &symbols)
    : FragmentTarget(chip), kernel(kernel), symbols(symbols) {
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  auto cast =
      UnrealizedConversionCastOp::create(builder, loc, pointer, ValueRange());
  cast->setAttr(TesseraDialect::ContextAttrHelper::getNameStr(),
                builder.getUnitAttr());
  context = cast.getResult(0);
  WalkResult multiplies =
      kernel.walk([](MmaOp) { return WalkResult::interrupt(); });
  if (!multiplies.wasInterrupted())
    return;
  auto allocate = [&](Role role) -> Value {
    Value bytes = LLVM::ConstantOp::create(
        builder, loc, builder.getI64Type(),
        builder.getI64IntegerAttr(getMostBytes(chip, role)));
    return LLVM::AllocaOp::create(builder, loc, pointer, builder.getI8Type(),
                                  bytes, /*alignment=*/64);
  };
  aMemory = allocate(Role::A);
  bMemory = allocate(Role::B);
  accMemory = allocate(Role::Acc);
}

void EmulatedTarget::setContext(Operation *kernel, Value context) {
  kernel->walk([&](UnrealizedConversionCastOp op) {
    if (!op->hasAttr(TesseraDialect::ContextAttrHelper::getNameStr()))
      return;
    op.getResult(0).replaceAllUsesWith(context);
    op.erase();
  });
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Value EmulationSymbols::emitCall(OpBuilder &builder, Location loc,
                                 StringRef name, ArrayRef<Value> operands,
                                 Type result) {
  SmallVector<Type, 1> results;
  if (result)
    results.push_back(result);
  functions.insert({name.str(), builder.getFunctionType(
                                    ValueRange(operands).getTypes(), results)});
  auto call = func::CallOp::create(builder, loc, name, results, operands);
  return result ? call.getResult(0) : Value();
}

/// "file:line:column", or nothing.
static std::string describe(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  return file ? (" at " + file.getFilename().getValue() + ":" +
                 Twine(file.getLine()) + ":" + Twine(file.getColumn()))
                    .str()
              : "";
}

Value EmulationSymbols::emitLocation(OpBuilder &builder, Location loc,
                                     StringRef what) {
  std::string text = what.str() + describe(loc);
  text.push_back('\0');
  // Kernels of several modules are merged: globals of one name must be equal.
  std::string name =
      "tessera_place_" + llvm::utohexstr(llvm::xxh3_64bits(text));
  texts.insert({name, text});
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), name);
}

Value EmulationSymbols::emitInstruction(OpBuilder &builder, Location loc,
                                        const MatrixInstruction &row,
                                        bool unsignedA, bool unsignedB) {
  std::vector<int32_t> words = describeInstruction(row, unsignedA, unsignedB);
  if (words.empty())
    return {};
  std::string name = "tessera_instruction_" + row.name;
  if (unsignedA)
    name += ".unsigned_a";
  if (unsignedB)
    name += ".unsigned_b";
  instructions.insert({name, std::move(words)});
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), name);
}

void EmulationSymbols::declare(gpu::GPUModuleOp module) const {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location loc = module.getLoc();
  for (const auto &[name, type] : functions)
    func::FuncOp::create(builder, loc, name, type).setPrivate();
  auto define = [&](StringRef name, Type element, size_t count,
                    Attribute value) {
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(element, count),
        /*isConstant=*/true, LLVM::Linkage::Internal, name, value);
  };
  for (const auto &[name, text] : texts)
    define(name, builder.getI8Type(), text.size(), builder.getStringAttr(text));
  for (const auto &[name, words] : instructions) {
    auto type = RankedTensorType::get(static_cast<int64_t>(words.size()),
                                      builder.getI32Type());
    define(name, builder.getI32Type(), words.size(),
           DenseElementsAttr::get(type, ArrayRef(words)));
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Value emitInteger(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value EmulatedTarget::emitCall(OpBuilder &builder, Location loc, StringRef name,
                               ArrayRef<Value> arguments, Type result) const {
  SmallVector<Value> operands{context};
  llvm::append_range(operands, arguments);
  return symbols.emitCall(builder, loc, name, operands, result);
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// The value of `tessera_number_type` for an operand; -1: none.
static int32_t getNumberType(StringRef type, bool isUnsigned, bool tf32) {
  return llvm::StringSwitch<int32_t>(type)
      .Case("f16", TESSERA_F16)
      .Case("bf16", TESSERA_BF16)
      .Case("f32", tf32 ? TESSERA_TF32 : TESSERA_F32)
      .Case("f64", TESSERA_F64)
      .Case("f8E4M3FN", TESSERA_F8E4M3FN)
      .Case("f8E5M2", TESSERA_F8E5M2)
      .Case("f8E4M3FNUZ", TESSERA_F8E4M3FNUZ)
      .Case("f8E5M2FNUZ", TESSERA_F8E5M2FNUZ)
      .Case("i4", isUnsigned ? TESSERA_U4 : TESSERA_I4)
      .Case("i8", isUnsigned ? TESSERA_U8 : TESSERA_I8)
      .Case("i32", TESSERA_I32)
      .Default(-1);
}

std::vector<int32_t>
mlir::tessera::describeInstruction(const MatrixInstruction &row, bool unsignedA,
                                   bool unsignedB) {
  int32_t types[] = {getNumberType(row.aType, unsignedA, row.tf32),
                     getNumberType(row.bType, unsignedB, row.tf32),
                     getNumberType(row.accType, false, false)};
  if (llvm::is_contained(types, -1))
    return {};
  auto count = [](auto steps) { return static_cast<int32_t>(steps.size()); };
  std::vector<int32_t> words{static_cast<int32_t>(row.m),
                             static_cast<int32_t>(row.n),
                             static_cast<int32_t>(row.k),
                             types[0],
                             types[1],
                             types[2],
                             count(row.accMap.getLanes()),
                             count(row.aMap.getRegisters()),
                             count(row.bMap.getRegisters()),
                             count(row.accMap.getRegisters())};
  for (const LaneMap *map : {&row.aMap, &row.bMap, &row.accMap})
    for (auto steps : {map->getLanes(), map->getRegisters()})
      for (LaneMap::Step step : steps)
        words.insert(words.end(), {step[0], step[1]});
  return words;
}

/// The integer vector of the same bits.
static VectorType getBitsType(VectorType type) {
  return VectorType::get(
      type.getShape(),
      IntegerType::get(type.getContext(), type.getElementTypeBitWidth()));
}

Value EmulatedTarget::emitMma(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) const {
  Value instruction = symbols.emitInstruction(
      builder, loc, row, op.getUnsignedA(), op.getUnsignedB());
  if (!instruction)
    return {};
  auto store = [&](Value vector, Value memory) {
    auto type = getBitsType(cast<VectorType>(vector.getType()));
    if (vector.getType() != type)
      vector = vector::BitCastOp::create(builder, loc, type, vector);
    LLVM::StoreOp::create(builder, loc, vector, memory, /*alignment=*/8);
  };
  store(a, aMemory);
  store(b, bMemory);
  store(acc, accMemory);
  emitCall(
      builder, loc, "tessera_cpu_mma",
      {instruction,
       symbols.emitLocation(builder, loc, "the matrix instruction " + row.name),
       aMemory, bMemory, accMemory});
  auto type = cast<VectorType>(acc.getType());
  Value result = LLVM::LoadOp::create(builder, loc, getBitsType(type),
                                      accMemory, /*alignment=*/8);
  return result.getType() == type
             ? result
             : vector::BitCastOp::create(builder, loc, type, result);
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

int64_t EmulatedTarget::getLanes() const {
  return isEmulated(chip) ? chip.subgroupSize : exchangeLanes;
}

void EmulatedTarget::emitSubgroupBarrier(OpBuilder &builder,
                                         Location loc) const {
  // An exchange without data: lanes wait for each other, and then run in turn.
  Type i64 = builder.getI64Type();
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64),
        lane = arith::ConstantIntOp::create(builder, loc, 0, 32),
        lanes = arith::ConstantIntOp::create(builder, loc, getLanes(), 32);
  emitCall(builder, loc, "tessera_cpu_shuffle",
           {symbols.emitLocation(builder, loc, "the barrier of the subgroup"),
            zero, lane, lanes},
           i64);
}

Value EmulatedTarget::emitShuffle(OpBuilder &builder, Location loc, Value value,
                                  Value lane) const {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value wide = value.getType() == i64
                   ? value
                   : arith::ExtUIOp::create(builder, loc, i64, value);
  Value from = lane.getType().isIndex()
                   ? arith::IndexCastOp::create(builder, loc, i32, lane)
                   : lane;
  Value lanes = arith::ConstantIntOp::create(builder, loc, getLanes(), 32);
  Value result = emitCall(
      builder, loc, "tessera_cpu_shuffle",
      {symbols.emitLocation(builder, loc, "the exchange between lanes"), wide,
       from, lanes},
      i64);
  return value.getType() == i64
             ? result
             : arith::TruncIOp::create(builder, loc, value.getType(), result);
}

LogicalResult EmulatedTarget::convertLaneOps() const {
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) {
    if (isa<gpu::ShuffleOp, gpu::LaneIdOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value lane = arith::RemUIOp::create(
        builder, loc, emitLinearThread(builder, op),
        arith::ConstantIndexOp::create(builder, loc, getLanes()));
    if (isa<gpu::LaneIdOp>(op)) {
      op->getResult(0).replaceAllUsesWith(lane);
      op->erase();
      continue;
    }
    auto shuffle = cast<gpu::ShuffleOp>(op);
    Type type = shuffle.getValue().getType(), i32 = builder.getI32Type();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return op->emitOpError() << "cannot emulate values of " << type
                               << ": use an integer or float of at most 64 "
                                  "bits";
    Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
    Value value = shuffle.getValue();
    if (value.getType() != bits)
      value = arith::BitcastOp::create(builder, loc, bits, value);
    auto [from, valid] = emitShuffleSource(
        builder, shuffle, arith::IndexCastOp::create(builder, loc, i32, lane));
    Value result = emitShuffle(builder, loc, value, from);
    if (type != bits)
      result = arith::BitcastOp::create(builder, loc, type, result);
    shuffle.getShuffleResult().replaceAllUsesWith(result);
    shuffle.getValid().replaceAllUsesWith(valid);
    op->erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// How many bytes `count` elements are.
static Value emitBytes(OpBuilder &builder, Location loc, Value count,
                       Type element) {
  if (isPacked(element))
    return arith::ShRUIOp::create(
        builder, loc, count, arith::ConstantIndexOp::create(builder, loc, 1));
  return arith::MulIOp::create(
      builder, loc, count,
      arith::ConstantIndexOp::create(builder, loc, getElementBytes(element)));
}

Value EmulatedTarget::emitAddress(OpBuilder &builder, Location loc,
                                  Value memory, ValueRange indices) const {
  Type i64 = builder.getI64Type();
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
  Value linear = emitLinearIndex(builder, loc, memory, indices);
  Value bytes = emitBytes(builder, loc, linear, element);
  Value address = arith::AddIOp::create(builder, loc, base, bytes);
  address = arith::IndexCastOp::create(builder, loc, i64, address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

bool EmulatedTarget::emitAsyncCopy(OpBuilder &builder, Location loc,
                                   Value source, ValueRange sourceIndices,
                                   Value target, ValueRange targetIndices,
                                   int64_t width, Value count) const {
  auto type = cast<MemRefType>(source.getType());
  Type element = type.getElementType();
  int64_t bytes = width * getElementBits(element) / 8;
  if (!chip.asyncCopy || bytes < chip.asyncCopyBytes ||
      bytes > chip.accessBytes || isWorkgroupMemory(type) ||
      type.getRank() == 0 || !type.isLastDimUnitStride())
    return false;
  Value all = emitInteger(builder, loc, bytes), some = all;
  if (count)
    some = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      emitBytes(builder, loc, count, element));
  emitCall(builder, loc, "tessera_cpu_async_copy",
           {emitAddress(builder, loc, target, targetIndices),
            emitAddress(builder, loc, source, sourceIndices), all, some});
  return true;
}

bool EmulatedTarget::emitLdsLoad(OpBuilder &builder, Location loc,
                                 const LdsCopy &copy,
                                 std::array<Value, 2> position, int64_t rows,
                                 Value begin, int64_t number) const {
  IndexMath math(builder, loc);
  Value lanes = math.constant(chip.subgroupSize);
  int64_t ofLoad = chip.subgroupSize * copy.width;
  Value to = math.add(
      math.add(math.mul(math.div(copy.thread, lanes), copy.loads * ofLoad),
               math.mul(math.rem(copy.thread, lanes), copy.width)),
      math.add(begin, number * ofLoad));
  position[0] = math.add(position[0], rows);
  Type element = cast<MemRefType>(copy.to.getType()).getElementType();
  Value bytes =
      emitInteger(builder, loc, copy.width * getElementBytes(element));
  emitCall(builder, loc, "tessera_cpu_async_copy",
           {emitAddress(builder, loc, copy.to, to),
            emitAddress(builder, loc, copy.source,
                        copy.emitSourceIndices(builder, loc, position)),
            bytes, bytes});
  return true;
}

/// Whether copies that `chip` makes may be under way until they are waited for.
static bool copiesAsynchronously(const Chip &chip) {
  return chip.asyncCopy || !chip.ldsCopyBytes.empty();
}

void EmulatedTarget::emitAsyncCommit(OpBuilder &builder, Location loc) const {
  if (copiesAsynchronously(chip))
    emitCall(builder, loc, "tessera_cpu_async_commit", {});
}

void EmulatedTarget::emitAsyncWait(OpBuilder &builder, Location loc,
                                   int64_t pending,
                                   std::optional<int64_t>) const {
  if (copiesAsynchronously(chip))
    emitCall(builder, loc, "tessera_cpu_async_wait",
             {emitInteger(builder, loc, pending)});
}

void EmulatedTarget::checkAccesses() const {
  struct Access {
    Operation *op;
    Value memory;
    ValueRange indices;
    Type type;
    /// The alignment that the code relies on, in bytes; 0: that of its
    /// elements.
    uint64_t alignment;
    StringRef what;
  };
  SmallVector<Access> accesses;
  kernel->walk([&](Operation *op) {
    if (auto load = dyn_cast<vector::LoadOp>(op))
      accesses.push_back({op, load.getBase(), load.getIndices(),
                          load.getVectorType(), load.getAlignment().value_or(0),
                          "the load"});
    else if (auto store = dyn_cast<vector::StoreOp>(op))
      accesses.push_back({op, store.getBase(), store.getIndices(),
                          store.getVectorType(),
                          store.getAlignment().value_or(0), "the store"});
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({op, load.getMemRef(), load.getIndices(),
                          load.getType(), 0, "the load"});
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({op, store.getMemRef(), store.getIndices(),
                          store.getValue().getType(), 0, "the store"});
  });
  for (const Access &access : accesses) {
    auto memory = cast<MemRefType>(access.memory.getType());
    Type element = getElementTypeOrSelf(access.type);
    bool inWorkgroup = isWorkgroupMemory(memory);
    if (!element.isIntOrFloat() || isPacked(element) || memory.getRank() == 0 ||
        (access.alignment == 0 && !inWorkgroup))
      continue;
    int64_t bytes = getElementBytes(element);
    if (auto vector = dyn_cast<VectorType>(access.type))
      bytes *= vector.getNumElements();
    OpBuilder builder(access.op);
    Location loc = access.op->getLoc();
    emitCall(builder, loc, "tessera_cpu_access",
             {symbols.emitLocation(builder, loc, access.what),
              emitAddress(builder, loc, access.memory, access.indices),
              emitInteger(builder, loc, bytes),
              emitInteger(builder, loc, static_cast<int64_t>(access.alignment)),
              emitInteger(builder, loc, inWorkgroup)});
  }
}
