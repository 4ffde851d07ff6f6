//===- LaneMatrix.cpp - Matrix instructions on values of lanes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of nvgpu and amdgpu, each a matrix instruction of a subgroup. The
// elements of the lanes' vectors are gathered to matrices, multiplied, and
// distributed again. The layouts are written here as the vendors document them:
//
//   nvgpu.mma.sync   PTX ISA, "Matrix Fragments for mma.m16n8k16" and the
//                    sections of the other shapes
//   nvgpu.ldmatrix   PTX ISA, "Warp-level matrix load instruction: ldmatrix"
//   amdgpu.mfma      "AMD Instinct MI300" Instruction Set Architecture,
//                    chapter 7, "Matrix Arithmetic Instructions"
//   amdgpu.wmma      "RDNA3" and "RDNA4" Instruction Set Architecture, "Wave
//                    Matrix Multiply Accumulate (WMMA)"
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "SubgroupMatrix.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

/// The position of element `index` of lane `lane`: row and column.
using Layout =
    std::function<std::array<int64_t, 2>(int64_t lane, int64_t index)>;

/// A matrix instruction of `lanes` lanes.
struct Instruction {
  int64_t m, n, k, lanes;
  Layout a, b, acc;
  bool tf32 = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Subgroups
//===----------------------------------------------------------------------===//

/// The frames of each subgroup of `lanes` lanes, by lane. Empty, with an error,
/// if one is incomplete.
static std::vector<SmallVector<Frame *>>
getSubgroups(Operation *op, ArrayRef<Frame *> frames, int64_t lanes) {
  std::map<int64_t, SmallVector<Frame *>> groups;
  for (Frame *frame : frames) {
    SmallVector<Frame *> &group = groups[frame->linearThread / lanes];
    group.resize(lanes);
    group[frame->linearThread % lanes] = frame;
  }
  std::vector<SmallVector<Frame *>> all;
  for (auto &[number, group] : groups) {
    if (llvm::is_contained(group, nullptr)) {
      frames.front()->run->error(op, "'" + op->getName().getStringRef() +
                                         "' requires subgroups of " +
                                         Twine(lanes) + " threads");
      return {};
    }
    all.push_back(std::move(group));
  }
  return all;
}

/// Element `index` of a lane's value.
static Number getElement(const Frame &frame, Slot slot, int64_t index) {
  if (!slot.isView)
    return frame.number(slot);
  const View &view = *frame.view(slot);
  return view.load(view.addressOf(index));
}

static int64_t getNumElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static ViewRef gather(ArrayRef<Frame *> lanes, Slot slot, int64_t count,
                      const Format &format, int64_t rows, int64_t cols,
                      const Layout &layout) {
  ViewRef matrix = View::make(format, {rows, cols});
  for (auto [lane, frame] : llvm::enumerate(lanes))
    for (int64_t i = 0; i < count; ++i) {
      auto [row, col] = layout(lane, i);
      matrix->store(row * cols + col, getElement(*frame, slot, i));
    }
  return matrix;
}

/// An instruction for an op with these operands and one result.
static InstrPtr makeMatmul(Operation *op, Scope &scope,
                           const Instruction &instruction,
                           bool unsignedA = false, bool unsignedB = false) {
  Type aType = op->getOperand(0).getType(), bType = op->getOperand(1).getType();
  auto accType = dyn_cast<VectorType>(op->getResult(0).getType());
  const Format *formats[] = {getFormat(aType), getFormat(bType),
                             accType ? getFormat(accType) : nullptr};
  if (llvm::is_contained(formats, nullptr))
    return nullptr;
  int64_t aCount = getNumElements(aType), bCount = getNumElements(bType),
          accCount = getNumElements(accType);
  unsigned aWidth = unsignedA
                        ? getElementTypeOrSelf(aType).getIntOrFloatBitWidth()
                        : 0,
           bWidth = unsignedB
                        ? getElementTypeOrSelf(bType).getIntOrFloatBitWidth()
                        : 0;
  Slot a = scope.slot(op->getOperand(0)), b = scope.slot(op->getOperand(1)),
       acc = scope.slot(op->getOperand(2));
  Slot result = scope.define(op->getResult(0));
  SmallVector<int64_t> shape(accType.getShape());
  const Format *aFormat = formats[0], *bFormat = formats[1],
               *accFormat = formats[2];
  return makeCollective([=](ArrayRef<Frame *> frames) {
    std::vector<SmallVector<Frame *>> groups =
        getSubgroups(op, frames, instruction.lanes);
    for (ArrayRef<Frame *> lanes : groups) {
      ViewRef left = gather(lanes, a, aCount, *aFormat, instruction.m,
                            instruction.k, instruction.a),
              right = gather(lanes, b, bCount, *bFormat, instruction.k,
                             instruction.n, instruction.b),
              sum = gather(lanes, acc, accCount, *accFormat, instruction.m,
                           instruction.n, instruction.acc);
      MatrixMultiply matmul;
      matmul.a = left.get();
      matmul.b = right.get();
      matmul.accumulator = sum.get();
      matmul.convertA.unsignedWidth = aWidth;
      matmul.convertB.unsignedWidth = bWidth;
      matmul.arithmetic = accFormat;
      matmul.tf32 = instruction.tf32;
      ViewRef output = multiplyMatrices(*lanes.front()->run, op, matmul);
      if (!output)
        return false;
      for (auto [lane, frame] : llvm::enumerate(lanes)) {
        ViewRef own = View::make(*accFormat, shape);
        for (int64_t i = 0; i < accCount; ++i) {
          auto [row, col] = instruction.acc(lane, i);
          own->store(i, output->load(row * instruction.n + col));
        }
        frame->view(result) = std::move(own);
      }
    }
    return !groups.empty();
  });
}

//===----------------------------------------------------------------------===//
// nvgpu
//===----------------------------------------------------------------------===//

static InstrPtr compileMmaSync(nvgpu::MmaSyncOp op, Scope &scope) {
  auto [m, n, k] = op.getMmaShapeAsArray();
  Type element = getElementTypeOrSelf(op.getMatrixA().getType());
  int64_t bits = element.getIntOrFloatBitWidth(),
          perWord = std::max<int64_t>(1, 32 / bits);
  // The instruction of 16-bit operands with this shape has another layout.
  if (k == 4 && bits == 16)
    return nullptr;
  Instruction instruction{m, n, k, /*lanes=*/32, {}, {}, {}};
  instruction.tf32 = element.isF32();
  bool isTall = m == 16;
  instruction.a = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    int64_t group = lane / 4, thread = lane % 4, word = i / perWord;
    int64_t row = group + (isTall ? 8 * (word % 2) : 0);
    int64_t block = isTall ? word / 2 : word;
    return {row, thread * perWord + i % perWord + block * 4 * perWord};
  };
  instruction.b = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    int64_t group = lane / 4, thread = lane % 4;
    return {thread * perWord + i % perWord + i / perWord * 4 * perWord, group};
  };
  instruction.acc = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
  };
  return makeMatmul(op, scope, instruction);
}

static InstrPtr compileLdMatrix(nvgpu::LdMatrixOp op, Scope &scope) {
  auto type = cast<VectorType>(op.getType());
  const Format *format = getFormat(type);
  if (!format || isa<VectorType>(getElementTypeOrSelf(op.getSrcMemref())))
    return nullptr;
  constexpr int64_t lanes = 32, rowsOfTile = 8;
  int64_t perWord = 32 / type.getElementTypeBitWidth();
  auto numTiles = static_cast<int64_t>(op.getNumTiles());
  bool transpose = op.getTranspose();
  SmallVector<int64_t> shape(type.getShape());
  Slot memory = scope.slot(op.getSrcMemref());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  Slot result = scope.define(op.getRes());
  Operation *operation = op;
  return makeCollective([=](ArrayRef<Frame *> frames) {
    std::vector<SmallVector<Frame *>> groups =
        getSubgroups(operation, frames, lanes);
    for (ArrayRef<Frame *> group : groups) {
      // Row r of tile t begins at the address of lane 8 t + r.
      SmallVector<int64_t> rows(numTiles * rowsOfTile);
      for (auto [lane, row] : llvm::enumerate(rows)) {
        const Frame &frame = *group[lane];
        const View &view = *frame.view(memory);
        row = view.offset;
        for (auto [i, slot] : llvm::enumerate(indices))
          row += frame.integer(slot) * view.strides[i];
        if (row < 0 || row + 4 * perWord > view.storage->size())
          return frame.run->error(operation, "a row of the matrix is out of "
                                             "bounds of the memory");
      }
      for (auto [lane, frame] : llvm::enumerate(group)) {
        ViewRef own = View::make(*format, shape);
        for (int64_t tile = 0; tile < numTiles; ++tile)
          for (int64_t i = 0; i < perWord; ++i) {
            int64_t row = static_cast<int64_t>(lane) / 4,
                    col = static_cast<int64_t>(lane) % 4 * perWord + i;
            if (transpose)
              std::swap(row, col);
            own->store(
                tile * perWord + i,
                frame->view(memory)->load(rows[tile * rowsOfTile + row] + col));
          }
        frame->view(result) = std::move(own);
      }
    }
    return !groups.empty();
  });
}

/// The elements are copied at once: a program may read them only after a wait.
static InstrPtr compileAsyncCopy(nvgpu::DeviceAsyncCopyOp op, Scope &scope) {
  if (isa<VectorType>(getElementTypeOrSelf(op.getSrc())) ||
      isa<VectorType>(getElementTypeOrSelf(op.getDst())))
    return nullptr;
  Slot source = scope.slot(op.getSrc()), target = scope.slot(op.getDst());
  SmallVector<Slot> from = scope.slots(op.getSrcIndices()),
                    to = scope.slots(op.getDstIndices());
  int64_t all = op.getDstElements().getSExtValue();
  std::optional<Slot> some;
  if (op.getSrcElements())
    some = scope.slot(op.getSrcElements());
  scope.define(op.getAsyncToken());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    int64_t count =
        some ? std::clamp<int64_t>(frame.integer(*some), 0, all) : all;
    auto getAddress = [&](const View &view, ArrayRef<Slot> slots,
                          int64_t length) -> std::optional<int64_t> {
      int64_t address = view.offset;
      for (auto [i, slot] : llvm::enumerate(slots))
        address += frame.integer(slot) * view.strides[i];
      if (length > 0 &&
          (address < 0 || address + length > view.storage->size())) {
        frame.run->error(operation, "the copy is out of bounds of the memory");
        return std::nullopt;
      }
      return address;
    };
    const View &in = *frame.view(source), &out = *frame.view(target);
    std::optional<int64_t> first = getAddress(in, from, count),
                           second = getAddress(out, to, all);
    if (!first || !second)
      return false;
    for (int64_t i = 0; i < all; ++i)
      out.store(*second + i, i < count ? in.load(*first + i) : Number());
    return true;
  });
}

static InstrPtr compileGroup(nvgpu::DeviceAsyncCreateGroupOp op, Scope &scope) {
  scope.define(op.getAsyncToken());
  return makeInstr([](Frame &) { return true; });
}

static InstrPtr compileWait(nvgpu::DeviceAsyncWaitOp, Scope &) {
  return makeInstr([](Frame &) { return true; });
}

//===----------------------------------------------------------------------===//
// amdgpu
//===----------------------------------------------------------------------===//

static InstrPtr compileMfma(amdgpu::MFMAOp op, Scope &scope) {
  constexpr int64_t lanes = 64;
  int64_t m = op.getM(), n = op.getN(), k = op.getK();
  Type aType = op.getSourceA().getType(), bType = op.getSourceB().getType();
  int64_t run = getNumElements(aType);
  if (op.getBlocks() != 1 || op.getCbsz() || op.getAbid() ||
      op.getBlgp() != amdgpu::MFMAPermB::none || op.getNegateA() ||
      op.getNegateB() || op.getNegateC() || run * lanes != m * k ||
      getNumElements(bType) * lanes != k * n ||
      getNumElements(op.getDestC().getType()) * lanes != m * n)
    return nullptr;
  Instruction instruction{m, n, k, lanes, {}, {}, {}};
  instruction.tf32 = op.getReducePrecision();
  instruction.a = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {lane % m, lane / m * run + i};
  };
  instruction.b = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {lane / n * run + i, lane % n};
  };
  bool isDouble = getElementTypeOrSelf(op.getDestC().getType()).isF64();
  int64_t groups = lanes / n;
  instruction.acc = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    if (isDouble)
      return {lane / n + groups * i, lane % n};
    return {i / 4 * 4 * groups + lane / n * 4 + i % 4, lane % n};
  };
  return makeMatmul(op, scope, instruction);
}

static InstrPtr compileWmma(amdgpu::WMMAOp op, Scope &scope) {
  constexpr int64_t lanes = 32;
  int64_t m = op.getM(), n = op.getN(), k = op.getK();
  int64_t count = getNumElements(op.getSourceA().getType());
  // With twice as many elements, both halves of the lanes hold the same ones.
  bool isReplicated = count * lanes == 2 * m * k;
  if (op.getClamp() || (!isReplicated && count * lanes != m * k) ||
      getNumElements(op.getSourceB().getType()) != count ||
      getNumElements(op.getDestC().getType()) * lanes != m * n)
    return nullptr;
  Instruction instruction{m, n, k, lanes, {}, {}, {}};
  instruction.a = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {lane % 16, isReplicated ? i : lane / 16 * count + i};
  };
  instruction.b = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {isReplicated ? i : lane / 16 * count + i, lane % 16};
  };
  instruction.acc = [=](int64_t lane, int64_t i) -> std::array<int64_t, 2> {
    return {isReplicated ? 2 * i + lane / 16 : lane / 16 * 8 + i, lane % 16};
  };
  return makeMatmul(op, scope, instruction, op.getUnsignedA(),
                    op.getUnsignedB());
}

/// The position of the first element that an op of amdgpu accesses in a
/// contiguous buffer.
template <typename OpT>
static std::function<int64_t(const Frame &, const View &)>
getBufferAddress(OpT op, Scope &scope) {
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  std::optional<Slot> more;
  if (op.getSgprOffset())
    more = scope.slot(op.getSgprOffset());
  int64_t constant = op.getIndexOffset().value_or(0);
  return [=](const Frame &frame, const View &view) {
    int64_t first = constant + (more ? frame.integer(*more) : 0);
    for (auto [i, slot] : llvm::enumerate(indices))
      first += frame.integer(slot) * view.strides[i];
    return first;
  };
}

/// Elements outside of the buffer are zero.
static InstrPtr compileBufferLoad(amdgpu::RawBufferLoadOp op, Scope &scope) {
  if (!cast<MemRefType>(op.getMemref().getType()).getLayout().isIdentity())
    return nullptr;
  auto type = dyn_cast<VectorType>(op.getType());
  const Format *format = type ? getFormat(type) : nullptr;
  if (type && !format)
    return nullptr;
  int64_t count = getNumElements(op.getType());
  SmallVector<int64_t> shape;
  if (type)
    shape.assign(type.getShape().begin(), type.getShape().end());
  Slot memory = scope.slot(op.getMemref());
  auto address = getBufferAddress(op, scope);
  Slot result = scope.define(op.getValue());
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t first = address(frame, view), length = view.getNumElements();
    auto load = [&](int64_t at) {
      return at >= 0 && at < length ? view.load(view.offset + at) : Number();
    };
    if (!format) {
      frame.number(result) = load(first);
      return true;
    }
    ViewRef own = View::make(*format, shape);
    for (int64_t i = 0; i < count; ++i)
      own->store(i, load(first + i));
    frame.view(result) = std::move(own);
    return true;
  });
}

/// Elements outside of the buffer are not stored.
static InstrPtr compileBufferStore(amdgpu::RawBufferStoreOp op, Scope &scope) {
  if (!cast<MemRefType>(op.getMemref().getType()).getLayout().isIdentity())
    return nullptr;
  int64_t count = getNumElements(op.getValue().getType());
  Slot memory = scope.slot(op.getMemref()), value = scope.slot(op.getValue());
  auto address = getBufferAddress(op, scope);
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t first = address(frame, view), length = view.getNumElements();
    for (int64_t i = 0; i < count; ++i)
      if (first + i >= 0 && first + i < length)
        view.store(view.offset + first + i, getElement(frame, value, i));
    return true;
  });
}

void tessera::reference::addLaneMatrixHandlers(Registry &registry) {
  registry.add<nvgpu::MmaSyncOp>(compileMmaSync);
  registry.add<nvgpu::LdMatrixOp>(compileLdMatrix);
  registry.add<nvgpu::DeviceAsyncCopyOp>(compileAsyncCopy);
  registry.add<nvgpu::DeviceAsyncCreateGroupOp>(compileGroup);
  registry.add<nvgpu::DeviceAsyncWaitOp>(compileWait);
  registry.add<amdgpu::MFMAOp>(compileMfma);
  registry.add<amdgpu::WMMAOp>(compileWmma);
  registry.add<amdgpu::RawBufferLoadOp>(compileBufferLoad);
  registry.add<amdgpu::RawBufferStoreOp>(compileBufferStore);
  registry.add<amdgpu::SchedBarrierOp>([](amdgpu::SchedBarrierOp, Scope &) {
    return makeInstr([](Frame &) { return true; });
  });
}

bool tessera::reference::isVendorLaneOp(Operation *op) {
  return isa<nvgpu::MmaSyncOp, nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp,
             amdgpu::MFMAOp, amdgpu::WMMAOp, xegpu::LoadNdOp, xegpu::StoreNdOp,
             xegpu::DpasOp>(op);
}

int64_t tessera::reference::getVendorSubgroupSize(Operation *kernel) {
  int64_t size = 0;
  kernel->walk([&](Operation *op) {
    if (!isVendorLaneOp(op))
      return WalkResult::advance();
    size = isa<amdgpu::MFMAOp>(op)                      ? 64
           : isa<xegpu::XeGPUDialect>(op->getDialect()) ? 16
                                                        : 32;
    return WalkResult::interrupt();
  });
  return size;
}
