//===- Tessera.cpp - The tessera dialect ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Control.h"
#include "Elementwise.h"
#include "SubgroupMatrix.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::reference;

static SmallVector<int64_t, 2> getShape(FragmentType type) {
  return {type.getRows(), type.getCols()};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// A tile at some indices of a view: its last two dimensions.
struct Tile {
  const View *view;
  int64_t row, column;
  /// The address of the element at row and column 0 of the last two dimensions.
  int64_t base;
  bool isSwizzled = false;

  int64_t numRows() const { return view->sizes[view->rank() - 2]; }
  int64_t numColumns() const { return view->sizes[view->rank() - 1]; }
  bool contains(int64_t r, int64_t c) const {
    return row + r >= 0 && row + r < numRows() && column + c >= 0 &&
           column + c < numColumns();
  }
  int64_t addressOf(int64_t r, int64_t c) const {
    int64_t atRow = row + r, atColumn = column + c;
    if (isSwizzled)
      return base + swizzle(atRow, atColumn);
    return base + atRow * view->strides[view->rank() - 2] +
           atColumn * view->strides[view->rank() - 1];
  }

private:
  /// Where a swizzled memory has an element, by chunks of 16 bytes in panels.
  int64_t swizzle(int64_t atRow, int64_t atColumn) const {
    int64_t bytes = std::max<int64_t>(1, view->format->width / 8);
    int64_t rowBytes = numColumns() * bytes, chunkSize = 16 / bytes;
    int64_t panelBytes =
        rowBytes % 128 == 0 ? 128 : std::min<int64_t>(rowBytes, 64);
    int64_t phases = panelBytes / 16, rowsPerPhase = 128 / panelBytes;
    int64_t width = panelBytes / bytes;
    int64_t line = atColumn / width * numRows() + atRow;
    int64_t chunk = atColumn % width / chunkSize;
    int64_t phase = atRow / rowsPerPhase % phases;
    if (bytes == 8)
      phase = phase * 2 % phases + phase * 2 / phases;
    chunk ^= phase;
    return line * width + chunk * chunkSize + atColumn % chunkSize;
  }
};
} // namespace

/// The tile of `rows` x `columns` at the indices. The leading indices must be
/// in bounds; the whole tile is in bounds where `inBounds` promises so.
static bool getTile(const Frame &frame, Operation *op, const View &view,
                    ArrayRef<Slot> indices, int64_t rows, int64_t columns,
                    bool inBounds, Tile &tile) {
  tile.view = &view;
  if (!getAddress(frame, op, view, indices.drop_back(2), tile.base))
    return false;
  tile.row = frame.integer(indices[indices.size() - 2]);
  tile.column = frame.integer(indices.back());
  if (inBounds &&
      !(tile.contains(0, 0) && tile.contains(rows - 1, columns - 1)))
    return frame.run->error(
        op, "in_bounds is set, but the tile of " + Twine(rows) + "x" +
                Twine(columns) + " at (" + Twine(tile.row) + ", " +
                Twine(tile.column) + ") exceeds " + Twine(tile.numRows()) +
                "x" + Twine(tile.numColumns()));
  return true;
}

static Number zeroOf(const Format &format) {
  return format.isFloat ? Number::ofFloat(0) : Number::ofInt(0);
}

static InstrPtr compileLoad(LoadOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getShape(op.getResult().getType());
  const Format *format = Format::get(op.getResult().getType().getElementType());
  Slot memory = scope.slot(op.getMemory());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  bool transpose = op.getTranspose(), inBounds = op.getInBounds();
  bool isSwizzled = op.getSwizzled();
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeShared({memory}, indices, result, [=](Frame &frame) {
    const View &view = *frame.view(memory);
    Tile tile;
    tile.isSwizzled = isSwizzled;
    if (!getTile(frame, operation, view, indices, shape[transpose ? 1 : 0],
                 shape[transpose ? 0 : 1], inBounds, tile) ||
        !frame.run->spend(shape[0] * shape[1] * 4, operation))
      return false;
    ViewRef fragment = View::make(*format, shape);
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        int64_t r = transpose ? j : i, c = transpose ? i : j;
        fragment->store(i * shape[1] + j, tile.contains(r, c)
                                              ? view.load(tile.addressOf(r, c))
                                              : zeroOf(*format));
      }
    frame.view(result) = std::move(fragment);
    return true;
  });
}

static InstrPtr compileStore(StoreOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getShape(op.getValue().getType());
  Slot value = scope.slot(op.getValue()), memory = scope.slot(op.getMemory());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  bool transpose = op.getTranspose(), inBounds = op.getInBounds(),
       isSwizzled = op.getSwizzled();
  Operation *operation = op;
  /// Calls `store` with the address and the value of each element.
  auto forEach = [=](Frame &frame, auto store) {
    const View &view = *frame.view(memory);
    const View &fragment = *frame.view(value);
    Tile tile;
    tile.isSwizzled = isSwizzled;
    if (!getTile(frame, operation, view, indices, shape[transpose ? 1 : 0],
                 shape[transpose ? 0 : 1], inBounds, tile) ||
        !frame.run->spend(shape[0] * shape[1] * 4, operation))
      return false;
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        int64_t r = transpose ? j : i, c = transpose ? i : j;
        if (tile.contains(r, c) &&
            !store(view, tile.addressOf(r, c), fragment.load(i * shape[1] + j)))
          return false;
      }
    return true;
  };
  if (!op.getAtomicAdd())
    return makeShared(
        {value, memory}, indices, std::nullopt, [=](Frame &frame) {
          return forEach(frame,
                         [](const View &view, int64_t address, Number in) {
                           view.store(address, in);
                           return true;
                         });
        });
  Elementwise element;
  element.op = op;
  element.result = Format::get(op.getValue().getType().getElementType());
  element.inputs = {element.result, element.result, nullptr};
  element.function = element.result->isFloat ? addFloats : addIntegers;
  return makeInstr([=](Frame &frame) {
    // One lane adds for the subgroup.
    if (frame.linearThread % frame.subgroupSize() != 0)
      return true;
    return forEach(frame, [&](const View &view, int64_t address, Number in) {
      return updateAtomically(element, view, address, in, *frame.run);
    });
  });
}

namespace {
/// The elements that a copy or a tile reads: those at some indices of the
/// source, or those that a region names.
struct TileSource {
  template <typename OpT> TileSource(OpT op, Scope &scope);

  Operation *op;
  Slot source;
  SmallVector<Slot> indices;
  bool inBounds, isSwizzled = false;
  std::shared_ptr<Function> gather;

  /// The slots of views and of numbers that the elements depend on.
  SmallVector<Slot> views, numbers;

  /// The elements, dense; null with an error.
  ViewRef read(const Frame &frame, int64_t rows, int64_t columns) const;

private:
  /// The element that the region names for a position of the tile.
  bool readGathered(const Frame &body, const View &from, int64_t i, int64_t j,
                    Number &element) const;
};
} // namespace

template <typename OpT>
TileSource::TileSource(OpT tile, Scope &scope)
    : op(tile), source(scope.slot(tile.getSource())),
      indices(scope.slots(tile.getSourceIndices())),
      inBounds(tile.getInBounds()), views({source}), numbers(indices) {
  if constexpr (!std::is_same_v<OpT, TileOp>)
    isSwizzled = tile.getFromSwizzled();
  if (!tile.isGather())
    return;
  gather = scope.compileFunction(tile.getGather().front());
  for (auto [outer, inner] : gather->captures)
    (outer.isView ? views : numbers).push_back(outer);
}

bool TileSource::readGathered(const Frame &body, const View &from, int64_t i,
                              int64_t j, Number &element) const {
  Frame frame = body;
  const Code &code = gather->code;
  frame.setInt(code.arguments[0], i);
  frame.setInt(code.arguments[1], j);
  if (!frame.run->spend(code.cost(), op) || !code.run(frame))
    return false;
  element = zeroOf(*from.format);
  if (!frame.integer(code.yields.back().slot))
    return true;
  SmallVector<Slot> at;
  for (const Code::Use &use : ArrayRef(code.yields).drop_back())
    at.push_back(use.slot);
  int64_t address;
  if (!getAddress(frame, op, from, at, address))
    return false;
  element = from.load(address);
  return true;
}

ViewRef TileSource::read(const Frame &frame, int64_t rows,
                         int64_t columns) const {
  const View &from = *frame.view(source);
  Tile tile;
  tile.isSwizzled = isSwizzled;
  if (!gather &&
      !getTile(frame, op, from, indices, rows, columns, inBounds, tile))
    return nullptr;
  if (!frame.run->spend(rows * columns * 4, op))
    return nullptr;
  std::optional<FrameOwner> body;
  if (gather)
    body.emplace(*gather, frame);
  ViewRef result = View::make(*from.format, {rows, columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Number element = zeroOf(*from.format);
      if (gather) {
        if (!readGathered(body->frame, from, i, j, element))
          return nullptr;
      } else if (tile.contains(i, j)) {
        element = from.load(tile.addressOf(i, j));
      }
      result->store(i * columns + j, element);
    }
  return result;
}

/// copy and async_copy: done at once, and in full by each thread.
template <typename OpT> static InstrPtr compileCopy(OpT op, Scope &scope) {
  TileSource source(op, scope);
  Slot target = scope.slot(op.getTarget());
  SmallVector<Slot> targetIndices = scope.slots(op.getTargetIndices());
  SmallVector<Slot> views(source.views), numbers(source.numbers);
  views.push_back(target);
  llvm::append_range(numbers, targetIndices);
  scope.define(op->getResults());
  int64_t rows = op.getShape()[0], columns = op.getShape()[1];
  bool inBounds = op.getInBounds(), isSwizzled = op.getSwizzled();
  Operation *operation = op;
  return makeShared(views, numbers, std::nullopt, [=](Frame &frame) {
    const View &to = *frame.view(target);
    Tile write;
    write.isSwizzled = isSwizzled;
    if (!getTile(frame, operation, to, targetIndices, rows, columns, inBounds,
                 write))
      return false;
    ViewRef elements = source.read(frame, rows, columns);
    if (!elements)
      return false;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (write.contains(i, j))
          to.store(write.addressOf(i, j), elements->load(i * columns + j));
    return true;
  });
}

static InstrPtr compileTile(TileOp op, Scope &scope) {
  TileSource source(op, scope);
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  int64_t rows = shape[0], columns = shape[1];
  Slot result = scope.define(op.getResult());
  return makeShared(source.views, source.numbers, result, [=](Frame &frame) {
    frame.view(result) = source.read(frame, rows, columns);
    return frame.view(result) != nullptr;
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static InstrPtr compileFill(FillOp op, Scope &scope) {
  FragmentType type = op.getResult().getType();
  Slot value = scope.slot(op.getValue());
  return makeFilled(*Format::get(type.getElementType()), getShape(type), value,
                    scope.define(op.getResult()));
}

static InstrPtr compileMma(MmaOp op, Scope &scope) {
  Slot a = scope.slot(op.getA()), b = scope.slot(op.getB());
  Slot c = scope.slot(op.getAcc());
  Slot result = scope.define(op.getResult());
  const Format *format = Format::get(op.getResult().getType().getElementType());
  bool isF32 = op.getA().getType().getElementType().isF32();
  bool precise = op.getPrecision() == Precision::Ieee;
  Conversion convertA, convertB;
  // i8 or i4.
  auto getWidth = [](FragmentType type) {
    return type.getElementType().getIntOrFloatBitWidth();
  };
  if (op.getUnsignedA())
    convertA.unsignedWidth = getWidth(op.getA().getType());
  if (op.getUnsignedB())
    convertB.unsignedWidth = getWidth(op.getB().getType());
  Operation *operation = op;
  return makeShared({a, b, c}, {}, result, [=](Frame &frame) {
    MatrixMultiply matmul;
    matmul.a = frame.view(a).get();
    matmul.b = frame.view(b).get();
    matmul.accumulator = frame.view(c).get();
    matmul.convertA = convertA;
    matmul.convertB = convertB;
    matmul.arithmetic = format;
    matmul.tf32 = isF32 && (!precise || frame.run->options.permitsTf32());
    ViewRef output = multiplyMatrices(*frame.run, operation, matmul);
    if (!output)
      return false;
    frame.view(result) = std::move(output);
    return true;
  });
}

static InstrPtr compileMap(MapOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getShape(op.getResult().getType());
  const Format *format = Format::get(op.getResult().getType().getElementType());
  SmallVector<Slot> inputs = scope.slots(op.getInputs());
  bool takesCoordinates = op.takesCoordinates();
  auto body = std::make_shared<Code>(scope.compile(op.getBody().front()));
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    if (!frame.run->spend(shape[0] * shape[1] * body->cost(), operation))
      return false;
    ViewRef fragment = View::make(*format, shape);
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        int64_t at = i * shape[1] + j;
        for (size_t input = 0; input < inputs.size(); ++input)
          frame.number(body->arguments[input]) =
              frame.view(inputs[input])->load(at);
        if (takesCoordinates) {
          frame.setInt(body->arguments[inputs.size()], i);
          frame.setInt(body->arguments[inputs.size() + 1], j);
        }
        if (!body->run(frame))
          return false;
        fragment->store(at, frame.number(body->yields[0].slot));
      }
    frame.view(result) = std::move(fragment);
    return true;
  });
}

static InstrPtr compileBroadcast(BroadcastOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getShape(op.getResult().getType());
  const Format *format = Format::get(op.getResult().getType().getElementType());
  bool fromMemory = isa<MemRefType>(op.getSource().getType());
  bool alongRows = op.getDimension() == 0, inBounds = op.getInBounds();
  if (fromMemory && !op.getIndex())
    return nullptr;
  Slot source = scope.slot(op.getSource());
  Slot index = fromMemory ? scope.slot(op.getIndex()) : Slot();
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &vector = *frame.view(source);
    int64_t extent = shape[alongRows ? 1 : 0];
    int64_t start = fromMemory ? frame.integer(index) : 0;
    int64_t size = fromMemory ? vector.sizes[0] : extent;
    int64_t stride = fromMemory ? vector.strides[0] : 1;
    if (inBounds && (start < 0 || start + extent > size))
      return frame.run->error(operation, "in_bounds is set, but " +
                                             Twine(extent) + " elements at " +
                                             Twine(start) + " exceed " +
                                             Twine(size));
    if (!frame.run->spend(shape[0] * shape[1], operation))
      return false;
    ViewRef fragment = View::make(*format, shape);
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        int64_t at = start + (alongRows ? j : i);
        fragment->store(i * shape[1] + j,
                        at >= 0 && at < size
                            ? vector.load(vector.offset + at * stride)
                            : zeroOf(*format));
      }
    frame.view(result) = std::move(fragment);
    return true;
  });
}

static InstrPtr compileReduce(ReduceOp op, Scope &scope) {
  SmallVector<int64_t, 2> from = getShape(op.getSource().getType());
  SmallVector<int64_t, 2> to = getShape(op.getResult().getType());
  bool alongRows = op.getDimension() == 1;
  Elementwise element;
  element.op = op;
  element.result = Format::get(op.getResult().getType().getElementType());
  element.inputs = {element.result, element.result, nullptr};
  element.function =
      getReductionFunction(op.getKind(), element.result->isFloat);
  if (!element.function)
    return nullptr;
  Slot source = scope.slot(op.getSource());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    const View &fragment = *frame.view(source);
    if (!frame.run->spend(from[0] * from[1] * 4, element.op))
      return false;
    ViewRef vector = View::make(*element.result, to);
    int64_t outer = from[alongRows ? 0 : 1], inner = from[alongRows ? 1 : 0];
    for (int64_t o = 0; o < outer; ++o) {
      Number total = zeroOf(*element.result);
      for (int64_t i = 0; i < inner; ++i) {
        Number next =
            fragment.load(alongRows ? o * from[1] + i : i * from[1] + o);
        Number in[2] = {total, next};
        if (i == 0)
          total = next;
        else if (!element.function(element, in, total, *frame.run))
          return false;
      }
      vector->store(o, total);
    }
    frame.view(result) = std::move(vector);
    return true;
  });
}

static Number convert(const Format &from, const Format &to, const Number &in,
                      bool isUnsigned) {
  if (from.isFloat && to.isFloat)
    return from.precision <= to.precision && from.largest <= to.largest
               ? in
               : truncateFloat(to, in);
  if (from.isFloat)
    return floatToInteger(to, in, isUnsigned);
  if (to.isFloat)
    return integerToFloat(from, to, in, isUnsigned);
  return castInteger(from, to, in, isUnsigned);
}

static InstrPtr compileConvert(ConvertOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getShape(op.getResult().getType());
  const Format *from = Format::get(op.getSource().getType().getElementType());
  const Format *to = Format::get(op.getResult().getType().getElementType());
  bool isUnsigned = op.getIsUnsigned();
  Slot source = scope.slot(op.getSource());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    if (!frame.run->spend(shape[0] * shape[1] * 4, operation))
      return false;
    const View &input = *frame.view(source);
    ViewRef fragment = View::make(*to, shape);
    for (int64_t i = 0, e = fragment->storage->size(); i < e; ++i)
      fragment->store(i, convert(*from, *to, input.load(i), isUnsigned));
    frame.view(result) = std::move(fragment);
    return true;
  });
}

static InstrPtr compileAwait(AwaitOp op, Scope &scope) {
  Slot matmul = scope.slot(op.getAcc());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    frame.view(result) = frame.view(matmul);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Virtual threads
//===----------------------------------------------------------------------===//

namespace {
struct VThreads final : Instr {
  Operation *op;
  /// The surrounding function, for copies of its frame.
  const Function *function;
  SmallVector<int64_t> grid;
  int64_t count;
  /// Per private argument, its value in each vthread.
  SmallVector<SmallVector<Slot>> privates;
  SmallVector<Slot> results;
  Code body;
  /// The vthreads run in step, since there is a barrier in the region.
  bool inStep;

  void enter(Frame &frame, int64_t linear) const {
    int64_t rest = linear;
    for (size_t i = grid.size(); i-- > 0; rest /= grid[i])
      frame.setInt(body.arguments[i], rest % grid[i]);
    for (size_t i = 0; i < privates.size(); ++i)
      assign(frame, body.arguments[grid.size() + i], frame,
             privates[i][linear]);
  }
  void leave(Frame &frame, Frame &inner, int64_t linear) const {
    for (size_t i = 0; i < body.yields.size(); ++i)
      assign(frame, results[i * count + linear], inner, body.yields[i].slot);
  }

  bool run(Frame &frame) const override {
    if (inStep) {
      Frame *one = &frame;
      return runAll(one);
    }
    for (int64_t linear = 0; linear < count; ++linear) {
      if (!frame.run->spend(body.cost(), op))
        return false;
      enter(frame, linear);
      if (!body.run(frame))
        return false;
      leave(frame, frame, linear);
    }
    return true;
  }

  bool runAll(ArrayRef<Frame *> frames) const override {
    if (!inStep)
      return Instr::runAll(frames);
    std::vector<FrameOwner> owners;
    SmallVector<Frame *> inner;
    owners.reserve(frames.size() * count);
    for (Frame *frame : frames)
      for (int64_t linear = 0; linear < count; ++linear) {
        owners.emplace_back(*frame, function->numNumbers, function->numViews);
        inner.push_back(&owners.back().frame);
        inner.back()->replicas *= count;
        enter(*inner.back(), linear);
      }
    if (!frames.front()->run->spend(
            body.cost() * static_cast<int64_t>(inner.size()), op) ||
        !body.runAll(inner))
      return false;
    for (size_t i = 0; i < inner.size(); ++i)
      leave(*frames[i / count], *inner[i], static_cast<int64_t>(i) % count);
    return true;
  }
};
} // namespace

static InstrPtr compileVThread(VThreadOp op, Scope &scope) {
  auto threads = std::make_unique<VThreads>();
  threads->op = op;
  threads->function = &scope.getFunction();
  threads->grid.assign(op.getGrid().begin(), op.getGrid().end());
  threads->count = op.getNumVThreads();
  for (unsigned i = 0; i < op.getNumPrivates(); ++i) {
    threads->privates.emplace_back();
    for (int64_t linear = 0; linear < threads->count; ++linear)
      threads->privates.back().push_back(scope.slot(op.getPrivate(i, linear)));
  }
  threads->inStep = scope.program.isCollective(op);
  threads->body = scope.compile(op.getBody().front());
  threads->results = scope.define(op.getResults());
  return threads;
}

void tessera::reference::addFragmentHandlers(Registry &registry) {
  registry.add<LoadOp>(compileLoad);
  registry.add<StoreOp>(compileStore);
  registry.add<CopyOp>(compileCopy<CopyOp>);
  registry.add<AsyncCopyOp>(compileCopy<AsyncCopyOp>);
  registry.add<TileOp>(compileTile);
  registry.addNamed("tessera.wait", [](Operation *, Scope &) {
    return makeInstr([](Frame &) { return true; });
  });
  registry.add<FillOp>(compileFill);
  registry.add<MmaOp>(compileMma);
  registry.add<AwaitOp>(compileAwait);
  registry.add<MapOp>(compileMap);
  registry.add<BroadcastOp>(compileBroadcast);
  registry.add<ReduceOp>(compileReduce);
  registry.add<ConvertOp>(compileConvert);
  registry.add<VThreadOp>(compileVThread);
}
