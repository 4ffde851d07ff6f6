//===- Control.cpp - Functions and structured control flow ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Control.h"
#include "Shapes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera::reference;

void tessera::reference::assignAll(Frame &to, ArrayRef<Slot> targets,
                                   Frame &from, ArrayRef<Code::Use> sources) {
  if (targets.size() == 1) {
    Slot source = sources[0].slot;
    if (source.isView && sources[0].isLast)
      to.view(targets[0]) = std::move(from.view(source));
    else
      assign(to, targets[0], from, source);
    return;
  }
  SmallVector<Number, 8> numbers;
  SmallVector<ViewRef, 8> views;
  for (Code::Use use : sources) {
    if (!use.slot.isView)
      numbers.push_back(from.number(use.slot));
    else if (use.isLast)
      views.push_back(std::move(from.view(use.slot)));
    else
      views.push_back(from.view(use.slot));
  }
  auto number = numbers.begin();
  auto view = views.begin();
  for (Slot target : targets) {
    if (target.isView)
      to.view(target) = std::move(*view++);
    else
      to.number(target) = *number++;
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

InstrPtr tessera::reference::compileCall(Operation *op, Operation *callee,
                                         MutableArrayRef<OpOperand> operands,
                                         Scope &scope) {
  const Function *function =
      callee ? scope.program.getFunction(callee) : nullptr;
  if (!function)
    return nullptr;
  SmallVector<Code::Use> arguments;
  for (OpOperand &operand : operands)
    arguments.push_back(scope.use(operand));
  SmallVector<Slot> results = scope.define(op->getResults());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    constexpr unsigned maxDepth = 256;
    std::vector<FrameOwner> owners;
    SmallVector<Frame *> inner;
    owners.reserve(frames.size());
    for (Frame *frame : frames) {
      if (frame->depth >= maxDepth)
        return frame->run->error(op, "call nesting is too deep");
      owners.emplace_back(*function, *frame);
      Frame &callee = owners.back().frame;
      ++callee.depth;
      // The parameters come first among the callee's arguments.
      assignAll(callee,
                ArrayRef(function->code.arguments).take_front(arguments.size()),
                *frame, arguments);
      inner.push_back(&callee);
    }
    if (!frames.front()->run->spend(
            function->code.cost() * static_cast<int64_t>(frames.size()), op))
      return false;
    if (inner.size() == 1 ? !function->code.run(*inner[0])
                          : !function->code.runAll(inner))
      return false;
    for (auto [frame, callee] : llvm::zip_equal(frames, inner))
      assignAll(*frame, results, *callee, function->code.yields);
    return true;
  });
}

/// Functions of upstream's runners. The reference prints nothing.
static InstrPtr compileRunnerCall(func::CallOp op, Scope &scope) {
  StringRef name = op.getCallee();
  if ((name.starts_with("print") ||
       name == "mlirAsyncRuntimePrintCurrentThreadId") &&
      op.getNumResults() == 0)
    return makeInstr([](Frame &) { return true; });
  if (name.starts_with("mgpuMemGetDeviceMemRef") && op.getNumOperands() == 1 &&
      op.getNumResults() == 1) {
    Slot source = scope.slot(op.getOperand(0));
    return makeAlias(source, scope.define(op.getResult(0)));
  }
  bool isFill = name.starts_with("fillResource") ||
                name.starts_with("fillF32Buffer") ||
                name.starts_with("fillI32Buffer");
  if (isFill && op.getNumOperands() == 2 && op.getNumResults() == 0 &&
      isa<MemRefType>(op.getOperand(0).getType()))
    return makeFill(op, scope.slot(op.getOperand(0)),
                    scope.slot(op.getOperand(1)));
  return nullptr;
}

static InstrPtr compileFuncCall(func::CallOp op, Scope &scope) {
  Operation *callee = scope.program.getSymbols().lookupNearestSymbolFrom(
      op, op.getCalleeAttr());
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (function && function.isExternal())
    return compileRunnerCall(op, scope);
  return compileCall(op, callee, op->getOpOperands(), scope);
}

//===----------------------------------------------------------------------===//
// scf.for
//===----------------------------------------------------------------------===//

namespace {
struct ForLoop final : Instr {
  Operation *op;
  Slot lower, upper, step, induction;
  SmallVector<Code::Use> inits;
  SmallVector<Slot> carried, results;
  /// The carried values as operands, to hand them to the results.
  SmallVector<Code::Use> carriedUses;
  Code body;
  const Format *format;
  bool isUnsigned;

  bool isBelow(int64_t a, int64_t b) const {
    return isUnsigned ? format->unsignedValue(a) < format->unsignedValue(b)
                      : a < b;
  }

  bool start(Frame &frame) const {
    if (frame.integer(step) <= 0)
      return frame.run->error(op, "the step is not positive: " +
                                      Twine(frame.integer(step)));
    assignAll(frame, carried, frame, inits);
    frame.number(induction) = frame.number(lower);
    return true;
  }

  bool run(Frame &frame) const override {
    if (!start(frame))
      return false;
    int64_t end = frame.integer(upper), stride = frame.integer(step);
    int64_t cost = body.cost();
    for (int64_t at = frame.integer(lower); isBelow(at, end);) {
      if (!frame.run->spend(cost, op))
        return false;
      frame.setInt(induction, at);
      if (!body.run(frame))
        return false;
      assignAll(frame, carried, frame, body.yields);
      if (__builtin_add_overflow(at, stride, &at))
        break;
    }
    assignAll(frame, results, frame, carriedUses);
    return true;
  }

  bool runAll(ArrayRef<Frame *> frames) const override {
    for (Frame *frame : frames)
      if (!start(*frame))
        return false;
    // The bounds may be slots that the body changes; they are not, in SSA.
    SmallVector<int64_t> at;
    for (Frame *frame : frames)
      at.push_back(frame->integer(lower));
    SmallVector<Frame *> active;
    while (true) {
      active.clear();
      for (auto [frame, index] : llvm::zip_equal(frames, at)) {
        if (!isBelow(index, frame->integer(upper)))
          continue;
        frame->setInt(induction, index);
        active.push_back(frame);
        if (__builtin_add_overflow(index, frame->integer(step), &index))
          index = frame->integer(upper);
      }
      if (active.empty())
        break;
      if (!frames.front()->run->spend(
              body.cost() * static_cast<int64_t>(active.size()), op) ||
          !body.runAll(active))
        return false;
      for (Frame *frame : active)
        assignAll(*frame, carried, *frame, body.yields);
    }
    for (Frame *frame : frames)
      assignAll(*frame, results, *frame, carriedUses);
    return true;
  }
};
} // namespace

/// The loop-carried values stay in their slots until the loop ends.
static SmallVector<Code::Use> asUses(ArrayRef<Slot> slots) {
  SmallVector<Code::Use> uses;
  for (Slot slot : slots)
    uses.push_back({slot, /*isLast=*/true});
  return uses;
}

static InstrPtr compileFor(scf::ForOp op, Scope &scope) {
  auto loop = std::make_unique<ForLoop>();
  loop->op = op;
  loop->lower = scope.slot(op.getLowerBound());
  loop->upper = scope.slot(op.getUpperBound());
  loop->step = scope.slot(op.getStep());
  loop->isUnsigned = op.getUnsignedCmp();
  loop->format = Format::get(op.getInductionVar().getType());
  for (OpOperand &init : op.getInitArgsMutable())
    loop->inits.push_back(scope.use(init));
  loop->body = scope.compile(*op.getBody());
  loop->induction = loop->body.arguments.front();
  loop->carried.assign(loop->body.arguments.begin() + 1,
                       loop->body.arguments.end());
  loop->carriedUses = asUses(loop->carried);
  loop->results = scope.define(op.getResults());
  return loop;
}

//===----------------------------------------------------------------------===//
// scf.if, scf.while, scf.execute_region
//===----------------------------------------------------------------------===//

static InstrPtr compileIf(scf::IfOp op, Scope &scope) {
  auto yes = std::make_shared<Code>(scope.compile(*op.thenBlock()));
  auto no = op.elseBlock()
                ? std::make_shared<Code>(scope.compile(*op.elseBlock()))
                : std::make_shared<Code>();
  Slot condition = scope.slot(op.getCondition());
  SmallVector<Slot> results = scope.define(op.getResults());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    if (frames.size() == 1) {
      Frame &frame = *frames.front();
      const Code &code = frame.integer(condition) ? *yes : *no;
      if (!code.run(frame))
        return false;
      assignAll(frame, results, frame, code.yields);
      return true;
    }
    for (const Code *code : {yes.get(), no.get()}) {
      SmallVector<Frame *> active;
      for (Frame *frame : frames)
        if ((frame->integer(condition) != 0) == (code == yes.get()))
          active.push_back(frame);
      if (active.empty())
        continue;
      if (!code->runAll(active))
        return false;
      for (Frame *frame : active)
        assignAll(*frame, results, *frame, code->yields);
    }
    return true;
  });
}

static InstrPtr compileWhile(scf::WhileOp op, Scope &scope) {
  SmallVector<Code::Use> inits;
  for (OpOperand &init : op.getInitsMutable())
    inits.push_back(scope.use(init));
  auto before = std::make_shared<Code>(scope.compile(*op.getBeforeBody()));
  auto after = std::make_shared<Code>(scope.compile(*op.getAfterBody()));
  SmallVector<Slot> results = scope.define(op.getResults());
  // scf.condition: whether to go on, and the values.
  if (before->yields.empty())
    return nullptr;
  Slot condition = before->yields.front().slot;
  SmallVector<Code::Use> passed(before->yields.begin() + 1,
                                before->yields.end());
  Operation *operation = op;
  return makeCollective([=](ArrayRef<Frame *> frames) {
    SmallVector<Frame *> active(frames.begin(), frames.end());
    for (Frame *frame : frames)
      assignAll(*frame, before->arguments, *frame, inits);
    while (!active.empty()) {
      if (!frames.front()->run->spend((before->cost() + after->cost()) *
                                          static_cast<int64_t>(active.size()),
                                      operation) ||
          !before->runAll(active))
        return false;
      SmallVector<Frame *> next;
      for (Frame *frame : active) {
        bool goOn = frame->integer(condition) != 0;
        assignAll(*frame, goOn ? ArrayRef<Slot>(after->arguments) : results,
                  *frame, passed);
        if (goOn)
          next.push_back(frame);
      }
      active = std::move(next);
      if (active.empty())
        break;
      if (!after->runAll(active))
        return false;
      for (Frame *frame : active)
        assignAll(*frame, before->arguments, *frame, after->yields);
    }
    return true;
  });
}

/// An op whose only region is run once.
static InstrPtr compileRegion(Operation *op, Scope &scope) {
  auto code = std::make_shared<Code>(scope.compile(op->getRegion(0).front()));
  SmallVector<Slot> results = scope.define(op->getResults());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    if (!code->runAll(frames))
      return false;
    for (Frame *frame : frames)
      assignAll(*frame, results, *frame, code->yields);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// scf.parallel
//===----------------------------------------------------------------------===//

static InstrPtr compileParallel(scf::ParallelOp op, Scope &scope) {
  if (scope.program.isCollective(op))
    return nullptr;
  SmallVector<Slot> lower = scope.slots(op.getLowerBound());
  SmallVector<Slot> upper = scope.slots(op.getUpperBound());
  SmallVector<Slot> steps = scope.slots(op.getStep());
  SmallVector<Slot> inits = scope.slots(op.getInitVals());
  auto body = std::make_shared<Code>(scope.compile(*op.getBody()));
  SmallVector<Code> reductions;
  for (Region &region : op.getBody()->getTerminator()->getRegions())
    reductions.push_back(scope.compile(region.front()));
  auto combine = std::make_shared<SmallVector<Code>>(std::move(reductions));
  SmallVector<Slot> results = scope.define(op.getResults());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    for (auto [result, init] : llvm::zip_equal(results, inits))
      assign(frame, result, frame, init);
    SmallVector<int64_t> counts;
    for (auto [low, high, step] : llvm::zip_equal(lower, upper, steps)) {
      int64_t stride = frame.integer(step);
      if (stride <= 0)
        return frame.run->error(operation,
                                "the step is not positive: " + Twine(stride));
      int64_t extent = frame.integer(high) - frame.integer(low);
      counts.push_back(extent <= 0 ? 0 : (extent + stride - 1) / stride);
    }
    return forEachIndex(counts, [&](ArrayRef<int64_t> point) {
      if (!frame.run->spend(body->cost(), operation))
        return false;
      for (size_t i = 0; i < point.size(); ++i)
        frame.setInt(body->arguments[i],
                     frame.integer(lower[i]) +
                         point[i] * frame.integer(steps[i]));
      if (!body->run(frame))
        return false;
      for (size_t i = 0; i < results.size(); ++i) {
        const Code &code = (*combine)[i];
        assign(frame, code.arguments[0], frame, results[i]);
        assign(frame, code.arguments[1], frame, body->yields[i].slot);
        if (!code.run(frame))
          return false;
        assign(frame, results[i], frame, code.yields[0].slot);
      }
      return true;
    });
  });
}

//===----------------------------------------------------------------------===//
// scf.forall
//===----------------------------------------------------------------------===//

/// The iterations run one after the other. A loop on memrefs that is mapped to
/// threads is not supported.
static InstrPtr compileForall(scf::ForallOp op, Scope &scope) {
  if (scope.program.isCollective(op) ||
      (op.getOutputs().empty() && op.getMapping()))
    return nullptr;
  MixedList lower(scope, op.getStaticLowerBound(), op.getDynamicLowerBound());
  MixedList upper(scope, op.getStaticUpperBound(), op.getDynamicUpperBound());
  MixedList steps(scope, op.getStaticStep(), op.getDynamicStep());
  SmallVector<Code::Use> outputs;
  for (OpOperand &output : op.getOutputsMutable())
    outputs.push_back(scope.use(output));
  auto body = std::make_shared<Code>(scope.compile(*op.getBody()));
  // The slices that the iterations insert are in the terminator's region.
  Block &inParallel = op.getTerminator().getRegion().front();
  auto inserts = std::make_shared<Code>(scope.compile(inParallel));
  SmallVector<Slot> results = scope.define(op.getResults());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t, 4> low = lower.get(frame), high = upper.get(frame),
                            step = steps.get(frame);
    SmallVector<int64_t> counts;
    for (auto [from, to, stride] : llvm::zip_equal(low, high, step)) {
      if (stride <= 0)
        return frame.run->error(operation,
                                "the step is not positive: " + Twine(stride));
      counts.push_back(to <= from ? 0 : (to - from + stride - 1) / stride);
    }
    // Insertions change the outputs in place, which nothing else sees. An
    // iteration that reads them sees those of earlier ones, as on a device.
    ArrayRef<Slot> shared = ArrayRef(body->arguments).drop_front(counts.size());
    for (auto [slot, output] : llvm::zip_equal(shared, outputs))
      frame.view(slot) = takeForUpdate(frame, output);
    bool good = forEachIndex(counts, [&](ArrayRef<int64_t> point) {
      if (!frame.run->spend(body->cost() + inserts->cost(), operation))
        return false;
      for (size_t i = 0; i < point.size(); ++i)
        frame.setInt(body->arguments[i], low[i] + point[i] * step[i]);
      return body->run(frame) && inserts->run(frame);
    });
    for (auto [slot, result] : llvm::zip_equal(shared, results))
      frame.view(result) = std::move(frame.view(slot));
    return good;
  });
}

static InstrPtr compileAssert(cf::AssertOp op, Scope &scope) {
  Slot condition = scope.slot(op.getArg());
  return makeInstr([operation = op.getOperation(), message = op.getMsg(),
                    condition](Frame &frame) {
    return frame.integer(condition) != 0 ||
           frame.run->error(operation, "an assertion fails: " + message);
  });
}

void tessera::reference::addControlHandlers(Registry &registry) {
  registry.add<cf::AssertOp>(compileAssert);
  registry.add<func::CallOp>(compileFuncCall);
  registry.add<scf::ForOp>(compileFor);
  registry.add<scf::IfOp>(compileIf);
  registry.add<scf::WhileOp>(compileWhile);
  registry.add<scf::ForallOp>(compileForall);
  registry.add<scf::ParallelOp>(compileParallel);
  registry.addNamed("scf.execute_region", compileRegion);
  registry.addNamed("memref.alloca_scope", compileRegion);
}
