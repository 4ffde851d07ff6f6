//===- Contract.cpp - tessera.contract ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include "AffineEval.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Elementwise.h"
#include "Linalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::reference;

std::unique_ptr<ContractCode>
tessera::reference::makeContractCode(Operation *operation, Scope &scope) {
  auto op = cast<ContractOp>(operation);
  auto code = std::make_unique<ContractCode>();
  code->op = op;
  for (unsigned i = 0; i < op.getMaps().size(); ++i)
    code->maps.push_back(op.getMap(i));
  code->accumulator = Format::get(op.getAccumulatorType());
  if (!code->accumulator)
    return nullptr;
  code->numExtras = op.getExtras().size();
  code->firstInput[0] = 3 + code->numExtras;
  code->firstInput[1] = code->firstInput[0] + op.getLhsInputs().size();
  code->firstInput[2] = code->firstInput[1] + op.getRhsInputs().size();
  for (unsigned side : {0, 1}) {
    code->factorFormats[side] = Format::get(op.getFactorType(side));
    if (!op.getProducer(side).empty())
      code->producers[side] =
          scope.compileFunction(op.getProducer(side).front());
    if (!code->factorFormats[side])
      return nullptr;
  }
  Type a = op.getFactorType(0), b = op.getFactorType(1);
  if (op.getUnsignedA())
    code->convertA.unsignedWidth = Format::get(a)->width;
  if (op.getUnsignedB())
    code->convertB.unsignedWidth = Format::get(b)->width;
  bool bothF32 = a.isF32() && b.isF32();
  code->mayUseTf32 = bothF32;
  code->usesTf32 = bothF32 && op.getPrecision() == Precision::Tf32;
  code->epilogue = scope.compileFunction(op.getEpilogue().front());
  Value yielded = op.getEpilogue().front().getTerminator()->getOperand(0);
  if (auto truncate = yielded.getDefiningOp<arith::TruncFOp>())
    yielded = truncate.getIn();
  SmallVector<AffineExpr> sumDims(op.getMap(2).getResults());
  if (op.reducesRows()) {
    code->rowDims = op.getDims().n;
    for (unsigned dim : code->rowDims)
      if (!op.getMap(2).isFunctionOfDim(dim))
        sumDims.push_back(getAffineDimExpr(dim, op.getContext()));
  }
  code->sumMap =
      AffineMap::get(op.getMap(2).getNumDims(), 0, sumDims, op.getContext());
  code->isPlain = yielded == op.getEpilogue().front().getArgument(0);
  if (code->epilogue->code.yields.size() != 1 ||
      code->maps.size() != code->firstInput[2])
    return nullptr;
  return code;
}

bool ContractCode::getExtents(Run &run, ArrayRef<const View *> operands,
                              SmallVectorImpl<int64_t> &extents,
                              ArrayRef<ArrayRef<int64_t>> indexLists) const {
  return getIterationExtents(run, op, maps, operands, indexLists,
                             /*mayReachOutside=*/true, extents);
}

/// The indices of a dimension that a point stands for.
static int64_t getIndex(ArrayRef<ArrayRef<int64_t>> indexLists, unsigned dim,
                        int64_t i) {
  return indexLists.empty() || indexLists[dim].empty() ? i : indexLists[dim][i];
}

/// An operand with zeros around it, as far as its map reaches; the operand
/// itself where it reaches nowhere.
static ViewRef surroundWithZeros(const ViewRef &view, AffineMap map,
                                 ArrayRef<int64_t> extents,
                                 ArrayRef<ArrayRef<int64_t>> indexLists,
                                 SmallVectorImpl<int64_t> &before) {
  SmallVector<int64_t, 4> sizes(view->sizes);
  before.assign(sizes.size(), 0);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> coefficients(extents.size(), 0);
    int64_t low = 0;
    if (isa<AffineDimExpr>(expr) || !getLinear(expr, coefficients, low))
      continue;
    int64_t high = low;
    for (unsigned dim = 0; dim < extents.size(); ++dim) {
      int64_t first = getIndex(indexLists, dim, 0), last = first;
      for (int64_t at = 1; at < extents[dim]; ++at) {
        first = std::min(first, getIndex(indexLists, dim, at));
        last = std::max(last, getIndex(indexLists, dim, at));
      }
      low += coefficients[dim] * (coefficients[dim] < 0 ? last : first);
      high += coefficients[dim] * (coefficients[dim] < 0 ? first : last);
    }
    before[i] = std::max<int64_t>(0, -low);
    sizes[i] = before[i] + std::max(view->sizes[i], high + 1);
  }
  if (sizes == view->sizes)
    return view;
  ViewRef whole = View::make(*view->format, sizes);
  whole->fill(view->format->isFloat ? Number::ofFloat(0) : Number::ofInt(0));
  ViewRef inner = whole->alias();
  inner->sizes = view->sizes;
  inner->strides = whole->strides;
  for (size_t i = 0; i < before.size(); ++i)
    inner->offset += before[i] * whole->strides[i];
  copyElements(*view, *inner);
  return whole;
}

/// The result of the producer of a side: an element for each point of the
/// dimensions that it depends on.
ViewRef ContractCode::produce(Frame &frame, unsigned side,
                              ArrayRef<ViewRef> views,
                              ArrayRef<int64_t> extents,
                              ArrayRef<ArrayRef<int64_t>> indexLists,
                              Access &access) const {
  Run &run = *frame.run;
  unsigned numDims = extents.size();
  SmallVector<unsigned> operands = {side};
  for (unsigned i = firstInput[side]; i < firstInput[side + 1]; ++i)
    operands.push_back(i);
  SmallVector<unsigned> dims;
  SmallVector<int64_t> sizes;
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (llvm::any_of(operands, [&](unsigned operand) {
          return maps[operand].isFunctionOfDim(dim);
        })) {
      dims.push_back(dim);
      sizes.push_back(extents[dim]);
    }
  if (!checkSizes(run, op, sizes))
    return nullptr;
  ViewRef result = View::make(*factorFormats[side], sizes);
  access.view = result.get();
  access.strides.assign(numDims, 0);
  access.uses.resize(numDims);
  for (auto [dim, stride] : llvm::zip_equal(dims, result->strides)) {
    access.strides[dim] = stride;
    access.uses.set(dim);
  }

  FrameOwner owner(*producers[side], frame);
  const Code &code = producers[side]->code;
  SmallVector<llvm::SmallBitVector> summed;
  for (unsigned operand : operands)
    summed.push_back(getSummedDims(maps[operand]));
  SmallVector<int64_t> point(numDims, 0), shown(numDims, 0);
  int64_t at = 0;
  bool good = forEachIndex(sizes, [&](ArrayRef<int64_t> indices) {
    if (!run.spend(code.cost(), op))
      return false;
    for (auto [dim, i] : llvm::zip_equal(dims, indices)) {
      point[dim] = i;
      shown[dim] = getIndex(indexLists, dim, i);
    }
    for (auto [i, operand] : llvm::enumerate(operands)) {
      const View &view = *views[operand];
      int64_t address;
      if (!getPointAddress(run, op, view, maps[operand], summed[i], point,
                           shown, address))
        return false;
      owner.frame.number(code.arguments[i]) = view.load(address);
    }
    if (!code.run(owner.frame))
      return false;
    result->store(at++, owner.frame.number(code.yields[0].slot));
    return true;
  });
  return good ? result : nullptr;
}

bool ContractCode::setFactors(Frame &frame, ArrayRef<ViewRef> views,
                              ArrayRef<int64_t> extents,
                              ArrayRef<ArrayRef<int64_t>> indexLists,
                              Contraction &contraction,
                              SmallVectorImpl<ViewRef> &owned) const {
  for (unsigned side : {0, 1}) {
    Access &access = side ? contraction.b : contraction.a;
    if (producers[side]) {
      owned.push_back(produce(frame, side, views, extents, indexLists, access));
      if (!owned.back())
        return false;
      continue;
    }
    SmallVector<int64_t> before;
    owned.push_back(surroundWithZeros(views[side], maps[side], extents,
                                      indexLists, before));
    if (!getAccess(*owned.back(), maps[side], access, indexLists))
      return frame.run->error(op, "an indexing map is not a sum of dimensions");
    for (auto [count, stride] : llvm::zip_equal(before, owned.back()->strides))
      access.base += count * stride;
  }
  contraction.convertA = convertA;
  contraction.convertB = convertB;
  contraction.arithmetic = accumulator;
  contraction.tf32 =
      usesTf32 || (mayUseTf32 && frame.run->options.permitsTf32());
  return true;
}

bool ContractCode::evaluate(Frame &frame, ArrayRef<ViewRef> views,
                            std::optional<Number> init,
                            ArrayRef<ArrayRef<int64_t>> indexLists) const {
  Run &run = *frame.run;
  SmallVector<int64_t> extents;
  if (!getExtents(run, shapesOf(views), extents, indexLists))
    return false;

  // The sums, in the accumulator's type.
  const View &output = *views[2];
  SmallVector<int64_t> sizes;
  for (AffineExpr dim : sumMap.getResults())
    sizes.push_back(extents[cast<AffineDimExpr>(dim).getPosition()]);
  ViewRef sums = View::make(*accumulator, sizes);
  int64_t count = sums->storage->size();
  for (int64_t i = 0; i < count; ++i) {
    Number start = init ? *init : output.load(output.addressOf(i));
    if (!init && output.format->isFloat != accumulator->isFloat)
      return run.error(
          op, "cannot accumulate into the initial value of the output");
    sums->store(i, start);
  }
  Contraction contraction;
  contraction.extents.assign(extents.begin(), extents.end());
  SmallVector<ViewRef> owned;
  if (!getAccess(*sums, sumMap, contraction.output))
    return run.error(op, "a map is not a projected permutation");
  if (!llvm::is_contained(extents, 0) &&
      !setFactors(frame, views, extents, indexLists, contraction, owned))
    return false;
  if (!owned.empty() && !contract(run, op, contraction))
    return false;

  if (!run.spend(count * epilogue->code.cost(), op))
    return false;
  SmallVector<Access> accesses(numExtras + 2);
  if (!getAccess(*sums, sumMap, accesses[0]))
    return false;
  for (size_t i = 2; i < 3 + numExtras; ++i)
    if (!getAccess(*views[i], maps[i], accesses[i - 1]))
      return run.error(op, "a map is not a projected permutation");
  return rowDims.empty() ? runEpilogue(frame, accesses, extents)
                         : runRowEpilogue(frame, accesses, extents);
}

/// The address that an access names at a point.
static int64_t addressAt(const Access &access, ArrayRef<int64_t> point) {
  int64_t address = access.base;
  for (size_t dim = 0; dim < point.size(); ++dim)
    address += point[dim] * access.strides[dim];
  return address;
}

/// Passes the elements of the sums, the output and the extras that are read at
/// a point to the epilogue's arguments.
static void readPoint(const Code &code, Frame &frame, ArrayRef<Access> accesses,
                      ArrayRef<int64_t> point) {
  unsigned argument = 0;
  for (auto [i, access] : llvm::enumerate(accesses))
    if (i != 1)
      frame.number(code.arguments[argument++]) =
          access.view->load(addressAt(access, point));
}

/// The points of the dimensions `dims` that are numbered `begin` to `end`: the
/// last dimension runs fastest.
static bool forEachPoint(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents,
                         int64_t begin, int64_t end,
                         MutableArrayRef<int64_t> point,
                         function_ref<bool()> body) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t rest = i;
    for (unsigned dim : llvm::reverse(dims)) {
      point[dim] = rest % extents[dim];
      rest /= extents[dim];
    }
    if (!body())
      return false;
  }
  return true;
}

static int64_t countPoints(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (unsigned dim : dims)
    count *= extents[dim];
  return count;
}

/// The dimensions of a projected permutation, in its order.
static SmallVector<unsigned> getDims(AffineMap map) {
  SmallVector<unsigned> dims;
  for (AffineExpr expr : map.getResults())
    dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  return dims;
}

/// Points in several pieces, one for each task.
static bool inPieces(Run &run, int64_t count, int64_t work,
                     function_ref<bool(int64_t begin, int64_t end)> body) {
  int64_t pieces =
      work < 10'000 ? 1 : std::min<int64_t>(count, run.threads * 4);
  return run.parallel(pieces, [&](int64_t piece) {
    return body(count * piece / pieces, count * (piece + 1) / pieces);
  });
}

bool ContractCode::runEpilogue(Frame &frame, ArrayRef<Access> accesses,
                               ArrayRef<int64_t> extents) const {
  SmallVector<unsigned> dims = getDims(maps[2]);
  int64_t count = countPoints(dims, extents);
  return inPieces(*frame.run, count, count, [&](int64_t begin, int64_t end) {
    FrameOwner owner(*epilogue, frame);
    const Code &code = epilogue->code;
    SmallVector<int64_t> point(extents.size(), 0);
    return forEachPoint(dims, extents, begin, end, point, [&] {
      readPoint(code, owner.frame, accesses, point);
      if (!code.run(owner.frame))
        return false;
      accesses[1].view->store(addressAt(accesses[1], point),
                              owner.frame.number(code.yields[0].slot));
      return true;
    });
  });
}

/// The elements of a row run in step: a row_reduce is an instruction of all of
/// them at once.
bool ContractCode::runRowEpilogue(Frame &frame, ArrayRef<Access> accesses,
                                  ArrayRef<int64_t> extents) const {
  SmallVector<unsigned> dims = getDims(maps[2]);
  llvm::erase_if(dims,
                 [&](unsigned d) { return llvm::is_contained(rowDims, d); });
  int64_t count = countPoints(dims, extents),
          length = countPoints(rowDims, extents);
  return inPieces(
      *frame.run, count, count * length, [&](int64_t begin, int64_t end) {
        std::vector<FrameOwner> owners;
        SmallVector<Frame *> frames;
        for (int64_t i = 0; i < length; ++i)
          owners.emplace_back(*epilogue, frame);
        for (FrameOwner &owner : owners)
          frames.push_back(&owner.frame);
        const Code &code = epilogue->code;
        SmallVector<int64_t> point(extents.size(), 0);
        return forEachPoint(dims, extents, begin, end, point, [&] {
          size_t column = 0;
          forEachPoint(rowDims, extents, 0, length, point, [&] {
            readPoint(code, *frames[column++], accesses, point);
            return true;
          });
          if (!code.runAll(frames))
            return false;
          column = 0;
          return forEachPoint(rowDims, extents, 0, length, point, [&] {
            accesses[1].view->store(
                addressAt(accesses[1], point),
                frames[column++]->number(code.yields[0].slot));
            return true;
          });
        });
      });
}

static InstrPtr compileRowReduce(RowReduceOp op, Scope &scope) {
  Elementwise element;
  element.op = op;
  element.result = Format::get(op.getResult().getType());
  element.inputs = {element.result, element.result, nullptr};
  element.function =
      element.result
          ? getReductionFunction(op.getKind(), element.result->isFloat)
          : nullptr;
  if (!element.function)
    return nullptr;
  Slot source = scope.slot(op.getSource());
  Slot result = scope.define(op.getResult());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    if (frames.empty())
      return true;
    Number total = frames[0]->number(source);
    for (Frame *frame : frames.drop_front()) {
      Number in[2] = {total, frame->number(source)};
      if (!element.function(element, in, total, *frame->run))
        return false;
    }
    for (Frame *frame : frames)
      frame->number(result) = total;
    return true;
  });
}

static InstrPtr compileContract(ContractOp op, Scope &scope) {
  std::shared_ptr<ContractCode> code = makeContractCode(op, scope);
  if (!code)
    return nullptr;
  SmallVector<Slot> operands = scope.slots(op.getMappedOperands());
  Code::Use output = scope.use(op.getOutputMutable());
  std::optional<Slot> init;
  if (op.getInit())
    init = scope.slot(op.getInit());
  std::optional<Slot> result;
  if (op.getResult())
    result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    SmallVector<ViewRef> views;
    for (size_t i = 0; i < operands.size(); ++i)
      views.push_back(i == 2 && result ? takeForUpdate(frame, output)
                                       : frame.view(operands[i]));
    std::optional<Number> start;
    if (init)
      start = frame.number(*init);
    if (!code->evaluate(frame, views, start))
      return false;
    if (result)
      frame.view(*result) = views[2];
    return true;
  });
}

void tessera::reference::addContractHandlers(Registry &registry) {
  registry.add<ContractOp>(compileContract);
  registry.add<RowReduceOp>(compileRowReduce);
}
