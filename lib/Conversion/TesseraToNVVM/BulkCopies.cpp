//===- BulkCopies.cpp - Pipelined copies by the bulk copy engine ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline is the memories that a `tessera.wait steps` names, the copies to
// them, and the waits for them. Each slot has an mbarrier (PTX ISA, "Parallel
// Synchronization and Communication Instructions: mbarrier"). A step's copies
// arrive at the barrier of the step's slot, each once, with the bytes that it
// will have moved; the phase is over when these are there. Step s is the
// s / S-th to use its slot of S, so its phase has the parity of that number.
//
// What a slot held has been read when its next copies are issued. Where a
// subgroup of its own can issue them (see "A producer"), readers arrive at a
// second barrier of the slot; elsewhere the first thread issues copies behind
// the loop's barrier, before which readers have waited for their instructions.
//
// A row of more than 128 bytes lies in panels of 128 (see `tessera.copy`), and
// a bulk copy moves one panel, since the engine's swizzle spans that much.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEBULKCOPIES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// Extents of a box, and bytes of a swizzled row, that the engine takes at most
/// (CUDA driver API, cuTensorMapEncodeTiled).
static constexpr int64_t maxBox = 256, maxSpan = 128;
/// Where patterns of eight swizzled rows begin.
static constexpr int64_t patternBytes = 1024;

namespace {

/// The copies to some memories, and the waits for them.
struct Pipeline {
  SmallVector<Value> memories;
  SmallVector<AsyncCopyOp> copies;
  SmallVector<WaitOp> waits;
  /// Workgroup memory with one i64 for each slot: the mbarriers at which copies
  /// arrive, and with a producer those at which readers do.
  Value barriers, read;

  int64_t getNumSlots() const {
    return cast<MemRefType>(memories[0].getType()).getDimSize(0);
  }
};

/// What a subgroup of its own can take over of a pipeline: the copies before a
/// loop, and those of the loop, each for `slots - 1` steps later.
struct ProducerParts {
  SmallVector<AsyncCopyOp> before, within;
  scf::ForOp loop;
  /// The pipeline's barriers, which readers and the producer need no more.
  SmallVector<gpu::BarrierOp> barriers;
};

/// One kernel.
class Converter {
public:
  Converter(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip) {}

  void run();

private:
  bool collect();
  bool canConvert(const Pipeline &pipeline);
  bool canConvert(AsyncCopyOp op);
  void convert(Pipeline &pipeline);
  std::optional<ProducerParts> matchProducer(const Pipeline &pipeline);
  void specialize(Pipeline &pipeline, ProducerParts &parts);
  void emitCopy(OpBuilder &builder, Pipeline &pipeline, AsyncCopyOp op,
                const IRMapping &mapping);
  void emitWait(OpBuilder &builder, Location loc, Value barriers, int64_t slots,
                Value step, int64_t turnsBefore);
  Value addBarriers(Location loc, int64_t slots);
  void emitSetUp(OpBuilder &builder, Location loc, const Pipeline &pipeline);
  void convert(Pipeline &pipeline, AsyncCopyOp op);
  void convert(Pipeline &pipeline, WaitOp op);
  Value emitIsFirst(OpBuilder &builder);
  Value emitBarrier(OpBuilder &builder, Location loc, Value barriers,
                    Value slot);
  Value emitMap(OpBuilder &builder, AsyncCopyOp op);
  std::array<int64_t, 2> getBox(AsyncCopyOp op);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  SmallVector<Pipeline> pipelines;
  SmallVector<Attribute> maps;
};

} // namespace

//===----------------------------------------------------------------------===//
// What can be converted
//===----------------------------------------------------------------------===//

/// False where some copy or wait is not a pipeline's.
bool Converter::collect() {
  llvm::DenseMap<Value, unsigned> pipelineOf;
  bool all = true;
  kernel.walk([&](WaitOp op) {
    all &= op.getFrom() && op.getTokens().empty();
    if (!op.getFrom())
      return;
    auto [it, isNew] =
        pipelineOf.try_emplace(op.getMemories()[0], pipelines.size());
    if (isNew) {
      pipelines.emplace_back();
      llvm::append_range(pipelines.back().memories, op.getMemories());
      for (Value memory : op.getMemories().drop_front())
        all &= pipelineOf.try_emplace(memory, it->second).second;
    }
    Pipeline &pipeline = pipelines[it->second];
    all &= llvm::equal(pipeline.memories, op.getMemories());
    pipeline.waits.push_back(op);
  });
  kernel.walk([&](AsyncCopyOp op) {
    auto it = pipelineOf.find(op.getTarget());
    all &= it != pipelineOf.end();
    if (it != pipelineOf.end())
      pipelines[it->second].copies.push_back(op);
  });
  return all;
}

/// Rows and columns of one bulk copy.
std::array<int64_t, 2> Converter::getBox(AsyncCopyOp op) {
  int64_t bytes = getElementBytes(op.getSourceType().getElementType());
  ArrayRef<int64_t> shape = op.getShape();
  return {shape[0], std::min(shape[1], maxSpan / bytes)};
}

bool Converter::canConvert(AsyncCopyOp op) {
  MemRefType source = op.getSourceType(), target = op.getTargetType();
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= kernel.getNumArguments())
    return false;
  int64_t rank = target.getRank(),
          bits = getElementBits(source.getElementType());
  if (op.isGather() || !op.getSwizzled() || !op.getToken().use_empty() ||
      rank != 3 || source.getRank() < 2 || source.getRank() > 5 || bits < 8 ||
      source.getElementType() != target.getElementType())
    return false;
  // All of a slot.
  ArrayRef<int64_t> shape = op.getShape();
  for (int d : {1, 2})
    if (getConstantIntValue(op.getTargetIndices()[d]) != int64_t(0) ||
        target.getDimSize(d) != shape[d - 1])
      return false;
  int64_t slotBytes = shape[0] * shape[1] * bits / 8;
  if (shape[0] > maxBox || slotBytes % patternBytes ||
      getSwizzlePhases(target) < 2)
    return false;
  // Rows of the source begin at multiples of 16 bytes, as the engine asks.
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || ShapedType::isDynamic(offset) ||
      offset * bits % 128)
    return false;
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return ShapedType::isStatic(stride) && stride > 0 &&
           stride * bits % 128 == 0;
  });
}

bool Converter::canConvert(const Pipeline &pipeline) {
  if (pipeline.copies.empty() ||
      !llvm::all_of(pipeline.copies, [&](auto op) { return canConvert(op); }))
    return false;
  // Phases are counted from the beginning of the kernel.
  return !pipeline.copies.front()->getParentOfType<LoopLikeOpInterface>() &&
         llvm::all_of(pipeline.memories,
                      [](Value memory) { return isa<BlockArgument>(memory); });
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

Value Converter::emitIsFirst(OpBuilder &builder) {
  Location loc = kernel.getLoc();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               emitLinearThread(builder, kernel),
                               IndexMath(builder, loc).constant(0));
}

/// An index as a pointer to workgroup memory.
static Value emitPointer(OpBuilder &builder, Location loc, Value address) {
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  Value bits =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space),
      bits);
}

Value Converter::emitBarrier(OpBuilder &builder, Location loc, Value barriers,
                             Value slot) {
  IndexMath math(builder, loc);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, barriers);
  return emitPointer(builder, loc, math.add(base, math.mul(slot, 8)));
}

static void emitAssembly(OpBuilder &builder, Location loc, StringRef text,
                         StringRef constraints, ValueRange operands) {
  LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), operands, text,
      (constraints + ",~{memory}").str(), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

/// The address of the tensor map of a copy's source, which launches make.
Value Converter::emitMap(OpBuilder &builder, AsyncCopyOp op) {
  MemRefType source = op.getSourceType();
  int64_t bytes = getElementBytes(source.getElementType());
  SmallVector<int64_t> box(source.getRank() - 2, 1);
  llvm::append_range(box, getBox(op));
  int64_t span = box.back() * bytes;
  int64_t number = cast<BlockArgument>(op.getSource()).getArgNumber();
  auto attribute = [&](const std::string &symbol) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("argument", builder.getI64IntegerAttr(number)),
         builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(box)),
         builder.getNamedAttr("swizzle", builder.getI64IntegerAttr(span)),
         builder.getNamedAttr(
             "symbol", FlatSymbolRefAttr::get(builder.getContext(), symbol))});
  };
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto getName = [&](size_t i) {
    return (kernel.getName() + "_map_" + Twine(i)).str();
  };
  for (auto [i, known] : llvm::enumerate(maps))
    if (known == attribute(getName(i)))
      return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer,
                                       getName(i));
  std::string name = getName(maps.size());
  maps.push_back(attribute(name));
  OpBuilder outside(kernel);
  LLVM::GlobalOp::create(
      outside, op.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), 128),
      /*isConstant=*/true, LLVM::Linkage::External, name, Attribute());
  return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer, name);
}

void Converter::emitCopy(OpBuilder &builder, Pipeline &pipeline, AsyncCopyOp op,
                         const IRMapping &mapping) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  int64_t bytes = getElementBytes(op.getSourceType().getElementType());
  ArrayRef<int64_t> shape = op.getShape();
  auto [rows, columns] = getBox(op);
  int64_t slotBytes = shape[0] * shape[1] * bytes;

  Value slot = mapping.lookupOrDefault(op.getTargetIndices()[0]);
  Value barrier = emitBarrier(builder, loc, pipeline.barriers, slot);
  Type i32 = builder.getI32Type();
  Value size = arith::ConstantOp::create(builder, loc, i32,
                                         builder.getI32IntegerAttr(slotBytes));
  emitAssembly(builder, loc,
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "l,r",
               {barrier, size});
  Value map = emitMap(builder, op);
  Value base = math.add(memref::ExtractAlignedPointerAsIndexOp::create(
                            builder, loc, op.getTarget()),
                        math.mul(slot, slotBytes));
  auto cluster = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  for (int64_t first = 0; first < shape[1]; first += columns) {
    // Innermost dimension first.
    SmallVector<Value> place;
    for (Value index : llvm::reverse(op.getSourceIndices()))
      place.push_back(mapping.lookupOrDefault(index));
    place[0] = math.add(place[0], first);
    for (Value &index : place)
      index = arith::IndexCastOp::create(builder, loc, i32, index);
    Value to = emitPointer(builder, loc, math.add(base, first * rows * bytes));
    to = LLVM::AddrSpaceCastOp::create(builder, loc, cluster, to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, to, map, place, barrier, /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
        /*predicate=*/Value());
  }
}

void Converter::convert(Pipeline &pipeline, AsyncCopyOp op) {
  OpBuilder builder(op);
  auto issue = scf::IfOp::create(builder, op.getLoc(), emitIsFirst(builder),
                                 /*withElseRegion=*/false);
  builder.setInsertionPointToStart(issue.thenBlock());
  emitCopy(builder, pipeline, op, IRMapping());
  op.erase();
}

/// Waits until the slot of `step` has been through as many phases as there are
/// steps in it up to this one, less `turnsBefore`.
void Converter::emitWait(OpBuilder &builder, Location loc, Value barriers,
                         int64_t slots, Value step, int64_t turnsBefore) {
  IndexMath math(builder, loc);
  Value slot = math.rem(step, math.constant(slots));
  Value turn = math.add(math.div(step, math.constant(slots)), turnsBefore);
  Value parity = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            math.rem(turn, math.constant(2)));
  emitAssembly(builder, loc,
               "{\n.reg .pred p;\nWAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
               "@p bra DONE;\nbra WAIT;\nDONE:\n}",
               "l,r", {emitBarrier(builder, loc, barriers, slot), parity});
}

void Converter::convert(Pipeline &pipeline, WaitOp op) {
  Location loc = op.getLoc();
  OpBuilder builder(op);
  auto waitFor = [&](OpBuilder &builder, Value step) {
    emitWait(builder, loc, pipeline.barriers, pipeline.getNumSlots(), step,
             /*turnsBefore=*/0);
  };
  auto next = op.getTo().getDefiningOp<arith::AddIOp>();
  if (next && next.getLhs() == op.getFrom() &&
      getConstantIntValue(next.getRhs()) == int64_t(1)) {
    waitFor(builder, op.getFrom());
  } else {
    auto loop = scf::ForOp::create(builder, loc, op.getFrom(), op.getTo(),
                                   IndexMath(builder, loc).constant(1));
    OpBuilder body(loop.getBody()->getTerminator());
    waitFor(body, loop.getInductionVar());
  }
  op.erase();
}

Value Converter::addBarriers(Location loc, int64_t slots) {
  Builder builder(kernel.getContext());
  return kernel.addWorkgroupAttribution(
      MemRefType::get({slots}, builder.getI64Type(),
                      MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Workgroup)),
      loc);
}

/// The barriers, by the first thread; all others wait.
void Converter::emitSetUp(OpBuilder &builder, Location loc,
                          const Pipeline &pipeline) {
  auto setUp = scf::IfOp::create(builder, loc, emitIsFirst(builder),
                                 /*withElseRegion=*/false);
  OpBuilder one = setUp.getThenBodyBuilder();
  auto init = [&](Value barriers, int64_t arrivals) {
    Value count =
        arith::ConstantOp::create(one, loc, one.getI32IntegerAttr(arrivals));
    for (int64_t slot = 0; slot < pipeline.getNumSlots(); ++slot)
      NVVM::MBarrierInitOp::create(
          one, loc,
          emitBarrier(one, loc, barriers, IndexMath(one, loc).constant(slot)),
          count, /*predicate=*/Value());
  };
  init(pipeline.barriers, pipeline.memories.size());
  if (pipeline.read)
    init(pipeline.read,
         kernel.getKnownBlockSize()->front() / chip.subgroupSize);
  NVVM::FenceMbarrierInitOp::create(one, loc);
  gpu::BarrierOp::create(builder, loc);
}

void Converter::convert(Pipeline &pipeline) {
  AsyncCopyOp first = pipeline.copies.front();
  OpBuilder builder(first);
  pipeline.barriers = addBarriers(first.getLoc(), pipeline.getNumSlots());
  emitSetUp(builder, first.getLoc(), pipeline);
  for (AsyncCopyOp op : pipeline.copies)
    convert(pipeline, op);
  for (WaitOp op : pipeline.waits)
    convert(pipeline, op);
}

//===----------------------------------------------------------------------===//
// A producer
//===----------------------------------------------------------------------===//
//
// With a subgroup that does nothing but copy, those that compute wait for data
// alone, each for itself:
//
//   producer:  copies of the first steps
//              for each later step:  wait until its slot has been read;  copy
//   others:    for each step:  wait for its copies;  products;  arrive as
//   readers
//

/// Whether `op` goes to the others: it stands behind the first copy, or in the
/// loop.
static bool isOthers(Operation *op, scf::ForOp loop, Operation *first) {
  return (loop && op->getBlock() == loop.getBody()) ||
         (op->getBlock() == first->getBlock() && !op->isBeforeInBlock(first));
}

/// Whether the producer can compute `value` for itself, given the loop's step.
static bool canRepeat(Value value, scf::ForOp loop, Operation *first) {
  if (loop && value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !loop || cast<BlockArgument>(value).getOwner() != loop.getBody();
  if (!isOthers(op, loop, first))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canRepeat(operand, loop, first);
         });
}

/// Clones what `value` is computed from, for the producer.
static void repeat(OpBuilder &builder, Value value, scf::ForOp loop,
                   Operation *first, IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || mapping.contains(value) || !isOthers(op, loop, first))
    return;
  for (Value operand : op->getOperands())
    repeat(builder, operand, loop, first, mapping);
  builder.clone(*op, mapping);
}

static SmallVector<Value> getCopyIndices(AsyncCopyOp op) {
  SmallVector<Value> values(op.getSourceIndices());
  values.push_back(op.getTargetIndices()[0]);
  return values;
}

std::optional<ProducerParts>
Converter::matchProducer(const Pipeline &pipeline) {
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (pipelines.size() != 1 || !size || (*size)[1] != 1 || (*size)[2] != 1 ||
      (*size)[0] % chip.subgroupSize ||
      (*size)[0] + chip.subgroupSize > chip.maxThreads)
    return {};
  AsyncCopyOp first = pipeline.copies.front();
  Block *block = first->getBlock();
  if (block != &kernel.getBody().front())
    return {};
  ProducerParts parts;
  for (AsyncCopyOp op : pipeline.copies) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (op->getBlock() == block && !parts.loop)
      parts.before.push_back(op);
    else if (loop && loop->getBlock() == block &&
             (!parts.loop || parts.loop == loop))
      (parts.loop = loop, parts.within.push_back(op));
    else
      return {};
  }
  int64_t memories = pipeline.memories.size();
  if (!parts.loop || getConstantIntValue(parts.loop.getLowerBound()) != 0 ||
      getConstantIntValue(parts.loop.getStep()) != 1 ||
      static_cast<int64_t>(parts.within.size()) != memories ||
      static_cast<int64_t>(parts.before.size()) !=
          memories * (pipeline.getNumSlots() - 1))
    return {};
  for (AsyncCopyOp op : pipeline.copies)
    for (Value value : getCopyIndices(op))
      if (!canRepeat(value, op->getBlock() == block ? scf::ForOp() : parts.loop,
                     first))
        return {};
  if (!canRepeat(parts.loop.getUpperBound(), {}, first))
    return {};
  // Each wait but perhaps the last has its barrier; there are no others.
  for (WaitOp op : pipeline.waits)
    if (auto barrier = dyn_cast_or_null<gpu::BarrierOp>(op->getNextNode()))
      parts.barriers.push_back(barrier);
  bool onlyThese = true;
  for (Operation *op = first; op; op = op->getNextNode())
    op->walk([&](Operation *inner) {
      if (isa<gpu::BarrierOp>(inner))
        onlyThese &= llvm::is_contained(parts.barriers, inner);
      onlyThese &= !isa<CopyOp, gpu::ShuffleOp>(inner);
    });
  return onlyThese ? std::make_optional(std::move(parts)) : std::nullopt;
}

void Converter::specialize(Pipeline &pipeline, ProducerParts &parts) {
  AsyncCopyOp first = pipeline.copies.front();
  Location loc = first.getLoc();
  int64_t slots = pipeline.getNumSlots();
  int32_t readers = kernel.getKnownBlockSize()->front();
  pipeline.barriers = addBarriers(loc, slots);
  pipeline.read = addBarriers(loc, slots);

  OpBuilder builder(first);
  emitSetUp(builder, loc, pipeline);
  IndexMath math(builder, loc);
  Value thread = emitLinearThread(builder, kernel);
  Value limit = math.constant(readers);
  Value isProducer = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge, thread, limit);
  Value isIssuer = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         thread, limit);
  auto roles = scf::IfOp::create(builder, loc, isProducer,
                                 /*withElseRegion=*/true);

  // The producer.
  OpBuilder producer = roles.getThenBodyBuilder();
  auto issuer = scf::IfOp::create(producer, loc, isIssuer,
                                  /*withElseRegion=*/false);
  OpBuilder issue = issuer.getThenBodyBuilder();
  IRMapping mapping;
  for (AsyncCopyOp op : parts.before) {
    for (Value value : getCopyIndices(op))
      repeat(issue, value, {}, first, mapping);
    emitCopy(issue, pipeline, op, mapping);
  }
  repeat(issue, parts.loop.getUpperBound(), {}, first, mapping);
  IndexMath issueMath(issue, loc);
  auto steps =
      scf::ForOp::create(issue, loc, issueMath.constant(0),
                         mapping.lookupOrDefault(parts.loop.getUpperBound()),
                         issueMath.constant(1));
  OpBuilder body(steps.getBody()->getTerminator());
  mapping.map(parts.loop.getInductionVar(), steps.getInductionVar());
  Value step = IndexMath(body, loc).add(steps.getInductionVar(), slots - 1);
  // The phase before the first is over: what a slot never held is read.
  emitWait(body, loc, pipeline.read, slots, step, /*turnsBefore=*/1);
  for (AsyncCopyOp op : parts.within) {
    for (Value value : getCopyIndices(op))
      repeat(body, value, parts.loop, first, mapping);
    emitCopy(body, pipeline, op, mapping);
  }

  // The others.
  OpBuilder end(parts.loop.getBody()->getTerminator());
  Value lane = arith::IndexCastOp::create(
      end, loc, end.getI32Type(),
      gpu::LaneIdOp::create(end, loc, /*upper_bound=*/nullptr));
  Value slot = IndexMath(end, loc).rem(parts.loop.getInductionVar(),
                                       IndexMath(end, loc).constant(slots));
  emitAssembly(end, loc,
               "{\n.reg .pred p;\nsetp.eq.u32 p, $1, 0;\n"
               "@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
               "l,r", {emitBarrier(end, loc, pipeline.read, slot), lane});
  for (gpu::BarrierOp barrier : parts.barriers)
    barrier.erase();
  for (WaitOp op : pipeline.waits)
    convert(pipeline, op);
  Block &rest = roles.getElseRegion().front();
  Operation *terminator = kernel.getBody().front().getTerminator();
  while (roles->getNextNode() != terminator)
    roles->getNextNode()->moveBefore(rest.getTerminator());
  for (AsyncCopyOp op : pipeline.copies)
    op.erase();

  Builder attributes(kernel.getContext());
  int32_t all = readers + static_cast<int32_t>(chip.subgroupSize);
  kernel.setKnownBlockSizeAttr(attributes.getDenseI32ArrayAttr({all, 1, 1}));
  kernel->setAttr(getProducerThreadsAttrName(),
                  attributes.getI64IntegerAttr(chip.subgroupSize));
}

void Converter::run() {
  if (!collect() || pipelines.empty() ||
      !llvm::all_of(pipelines,
                    [&](const Pipeline &p) { return canConvert(p); }))
    return;
  // The barriers, each pipeline's in a buffer of its own, are to fit as well.
  int64_t bytes = static_cast<int64_t>(pipelines.size()) * 2 * patternBytes;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.hasStaticShape())
      return;
    bytes += llvm::alignTo(
        llvm::divideCeil(
            type.getNumElements() * getElementBits(type.getElementType()), 8),
        patternBytes);
  }
  if (bytes > chip.workgroupMemoryBytes)
    return;
  if (std::optional<ProducerParts> parts = matchProducer(pipelines.front()))
    specialize(pipelines.front(), *parts);
  else
    for (Pipeline &pipeline : pipelines)
      convert(pipeline);
  kernel->setAttr(getTensorMapsAttrName(),
                  ArrayAttr::get(kernel.getContext(), maps));
}

namespace {
struct UseBulkCopiesPass
    : public tessera::impl::UseBulkCopiesBase<UseBulkCopiesPass> {
  using UseBulkCopiesBase::UseBulkCopiesBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda", chip);
    if (failed(found))
      return signalPassFailure();
    int64_t level = 0;
    StringRef digits = StringRef((*found)->name).drop_front(3);
    digits.consumeInteger(10, level);
    if (level < 90)
      return;
    // Only there do buffers begin at patterns of swizzled rows.
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (getFragmentGroup(kernel) > 1)
        Converter(kernel, **found).run();
  }
};
} // namespace
