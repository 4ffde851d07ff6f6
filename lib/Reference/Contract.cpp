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
    code->productFormats[side] = Format::get(op.getProductType(side));
    if (!op.getProducer(side).empty())
      code->producers[side] =
          scope.compileFunction(op.getProducer(side).front());
    if (!code->productFormats[side])
      return nullptr;
  }
  Type a = op.getProductType(0), b = op.getProductType(1);
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

/// What the producer of a side makes, an element for each point of the
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
  ViewRef result = View::make(*productFormats[side], sizes);
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
                              Contraction &product,
                              SmallVectorImpl<ViewRef> &owned) const {
  for (unsigned side : {0, 1}) {
    Access &access = side ? product.b : product.a;
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
      return frame.run->error(op, "a map is no sum of dimensions");
    for (auto [count, stride] : llvm::zip_equal(before, owned.back()->strides))
      access.base += count * stride;
  }
  product.convertA = convertA;
  product.convertB = convertB;
  product.arithmetic = accumulator;
  product.tf32 = usesTf32 || (mayUseTf32 && frame.run->options.allowTf32);
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
  ViewRef sums = View::make(*accumulator, output.sizes);
  int64_t count = sums->storage->size();
  for (int64_t i = 0; i < count; ++i) {
    Number start = init ? *init : output.load(output.addressOf(i));
    if (!init && output.format->isFloat != accumulator->isFloat)
      return run.error(op, "the output's old value cannot be accumulated to");
    sums->store(i, start);
  }
  Contraction contraction;
  contraction.extents.assign(extents.begin(), extents.end());
  SmallVector<ViewRef> owned;
  if (!getAccess(*sums, maps[2], contraction.output))
    return run.error(op, "a map is not a projected permutation");
  if (!llvm::is_contained(extents, 0) &&
      !setFactors(frame, views, extents, indexLists, contraction, owned))
    return false;
  if (!owned.empty() && !contract(run, op, contraction))
    return false;

  // The epilogue, for each point of the output.
  if (!run.spend(count * epilogue->code.cost(), op))
    return false;
  SmallVector<Access> accesses(numExtras + 1);
  for (size_t i = 2; i < 3 + numExtras; ++i)
    if (!getAccess(*views[i], maps[i], accesses[i - 2]))
      return run.error(op, "a map is not a projected permutation");
  int64_t rows = output.rank() ? output.sizes[0] : 1;
  int64_t rowSize = rows ? count / rows : 0;
  int64_t pieces =
      count < 10'000 ? 1 : std::min<int64_t>(rows, run.threads * 4);
  return run.parallel(pieces, [&](int64_t piece) {
    FrameOwner owner(*epilogue, frame);
    const Code &code = epilogue->code;
    SmallVector<int64_t> point(extents.size(), 0);
    int64_t begin = rows * piece / pieces * rowSize;
    int64_t end = rows * (piece + 1) / pieces * rowSize;
    for (int64_t i = begin; i < end; ++i) {
      // The indices of the iteration space, by those of the output.
      int64_t rest = i;
      for (int64_t dim = output.rank(); dim-- > 0; rest /= output.sizes[dim])
        point[cast<AffineDimExpr>(maps[2].getResult(dim)).getPosition()] =
            rest % output.sizes[dim];
      auto addressOf = [&](const Access &access) {
        int64_t address = access.base;
        for (size_t dim = 0; dim < point.size(); ++dim)
          address += point[dim] * access.strides[dim];
        return address;
      };
      owner.frame.number(code.arguments[0]) = sums->load(i);
      for (size_t extra = 1; extra < accesses.size(); ++extra)
        owner.frame.number(code.arguments[extra]) =
            accesses[extra].view->load(addressOf(accesses[extra]));
      if (!code.run(owner.frame))
        return false;
      output.store(addressOf(accesses[0]),
                   owner.frame.number(code.yields[0].slot));
    }
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
}
