//===- Contract.cpp - tessera.contract ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

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
  Type a = getElementTypeOrSelf(op.getLhs()),
       b = getElementTypeOrSelf(op.getRhs());
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
  if (code->epilogue->code.yields.size() != 1 || code->maps.size() < 3)
    return nullptr;
  return code;
}

bool ContractCode::getExtents(Run &run, ArrayRef<const View *> operands,
                              SmallVectorImpl<int64_t> &extents) const {
  return getIterationExtents(run, op, maps, operands, {},
                             /*mayReachOutside=*/false, extents);
}

bool ContractCode::evaluate(Frame &frame, ArrayRef<ViewRef> views,
                            std::optional<Number> init) const {
  Run &run = *frame.run;
  SmallVector<const View *> shapes;
  for (const ViewRef &view : views)
    shapes.push_back(view.get());
  SmallVector<int64_t> extents;
  if (!getExtents(run, shapes, extents))
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
  if (!getAccess(*views[0], maps[0], contraction.a) ||
      !getAccess(*views[1], maps[1], contraction.b) ||
      !getAccess(*sums, maps[2], contraction.output))
    return run.error(op, "a map is not a projected permutation");
  contraction.convertA = convertA;
  contraction.convertB = convertB;
  contraction.arithmetic = accumulator;
  contraction.tf32 = usesTf32 || (mayUseTf32 && run.options.allowTf32);
  if (!contract(run, op, contraction))
    return false;

  // The epilogue, for each point of the output.
  if (!run.spend(count * epilogue->code.cost(), op))
    return false;
  SmallVector<Access> accesses(views.size() - 2);
  for (size_t i = 2; i < views.size(); ++i)
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
  // In the order of the maps: lhs, rhs, output, extras.
  SmallVector<Slot> operands = {scope.slot(op.getLhs()),
                                scope.slot(op.getRhs())};
  Code::Use output = scope.use(op.getOutputMutable());
  operands.push_back(output.slot);
  llvm::append_range(operands, scope.slots(op.getExtras()));
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
