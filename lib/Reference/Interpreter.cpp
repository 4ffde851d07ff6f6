//===- Interpreter.cpp - The reference interpreter ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Interpreter.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Entry.h"
#include "Kernels/RoundedSums.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tessera::reference;

ViewRef tessera::reference::makeView(const Array &array) {
  auto view = llvm::makeIntrusiveRefCnt<View>();
  view->storage = array.storage;
  view->format = Format::get(array.elementType);
  view->sizes.assign(array.shape.begin(), array.shape.end());
  view->strides = denseStrides(view->sizes);
  return view;
}

Array tessera::reference::makeArray(const View &view, Type elementType) {
  Array array;
  array.elementType = elementType;
  array.shape.assign(view.sizes.begin(), view.sizes.end());
  bool isWhole = view.isDense() && view.offset == 0 &&
                 view.storage->size() == view.getNumElements();
  array.storage = isWhole ? view.storage : cloneView(view)->storage;
  return array;
}

/// Why these arrays cannot be the arguments; empty if they can.
static std::string findMismatch(func::FuncOp entry, ArrayRef<Array> arguments) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TypeRange types = entry.getArgumentTypes();
  if (types.size() != arguments.size()) {
    os << "'" << entry.getName() << "' takes " << types.size()
       << " arguments, not " << arguments.size();
    return text;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const Array &array = arguments[i];
    auto shaped = dyn_cast<ShapedType>(types[i]);
    Type element = shaped ? shaped.getElementType() : types[i];
    bool fits = array.storage && array.elementType == element &&
                Array::isSupported(element);
    if (fits && shaped) {
      fits = shaped.hasRank() &&
             array.shape.size() == static_cast<size_t>(shaped.getRank());
      for (size_t dim = 0; fits && dim < array.shape.size(); ++dim)
        fits = shaped.isDynamicDim(dim) ||
               shaped.getDimSize(dim) == array.shape[dim];
    } else if (fits) {
      fits = array.shape.empty();
    }
    if (!fits) {
      os << "argument " << i << " of '" << entry.getName()
         << "' cannot be of type " << types[i]
         << " here: the reference does not support this element type, or the "
            "array passed has another type";
      return text;
    }
  }
  for (Type type : entry.getResultTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    Type element = shaped ? shaped.getElementType() : type;
    if (!Array::isSupported(element) || (shaped && !shaped.hasRank())) {
      os << "'" << entry.getName() << "' returns a " << type
         << ", which the reference does not support";
      return text;
    }
  }
  return {};
}

/// The outermost op around.
static Operation *getRoot(Operation *op) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  return op;
}

bool tessera::reference::assumesLanes(Operation *code) {
  bool hasLane = false, hasFragment = false, hasSize = false;
  code->walk([&](Operation *op) {
    hasLane |= isa<gpu::LaneIdOp>(op);
    hasFragment |=
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<FragmentType>);
  });
  if (!hasLane || hasFragment)
    return false;
  getRoot(code)->walk([&](gpu::SubgroupSizeOp) { hasSize = true; });
  return !hasSize;
}

bool tessera::reference::hasLaneOps(Operation *root) {
  if (assumesLanes(root))
    return true;
  return root
      ->walk([](Operation *op) {
        bool isLaneOp =
            isa<gpu::ShuffleOp, gpu::RotateOp, gpu::SubgroupReduceOp,
                gpu::SubgroupBroadcastOp>(op) ||
            op->getName().getStringRef().starts_with("gpu.subgroup_mma_") ||
            isVendorLaneOp(op);
        return isLaneOp ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Outcome tessera::reference::failAt(Operation *op, std::string message) {
  op->emitError() << message;
  Outcome outcome;
  outcome.status = Status::Failed;
  outcome.message = std::move(message);
  return outcome;
}

std::optional<Outcome>
tessera::reference::checkEntry(func::FuncOp entry, ArrayRef<Array> arguments) {
  if (entry.isExternal() || !entry.getBody().hasOneBlock())
    return failAt(entry, "the reference requires a function with one block");
  if (std::string text = findMismatch(entry, arguments); !text.empty())
    return failAt(entry, text);
  return std::nullopt;
}

void tessera::reference::prepareRun(Run &run, func::FuncOp entry) {
  if (hasLaneOps(getRoot(entry)))
    run.subgroupSize = std::max<int64_t>(run.options.subgroupSize, 1);
  run.unplacedSums.clear();
  if (run.options.sums.empty())
    return;
  llvm::StringSet<> locations;
  getRoot(entry)->walk(
      [&](Operation *op) { locations.insert(getSourceLocation(op)); });
  for (const CompiledSum &sum : run.options.sums)
    if (sum.location.empty() || !locations.contains(sum.location))
      run.unplacedSums.push_back(sum);
}

Outcome tessera::reference::finishRun(const Run &run) {
  Outcome outcome;
  outcome.work = run.work;
  outcome.workgroups = run.workgroups;
  outcome.allWorkgroups = run.allWorkgroups;
  outcome.coarseBits = run.coarseBits;
  outcome.leftOutStep = run.leftOutStep;
  outcome.unspecified = run.listUnspecified();
  if (!run.failed())
    return outcome;
  outcome.message = run.message;
  outcome.status = run.tooLarge ? Status::TooLarge : Status::Failed;
  if (!run.tooLarge)
    run.failedOp->emitError() << run.message;
  return outcome;
}

void tessera::reference::enterArguments(Frame &frame, const Function &function,
                                        ArrayRef<Array> arguments) {
  for (auto [slot, array] :
       llvm::zip_equal(function.code.arguments, arguments)) {
    ViewRef view = makeView(array);
    if (slot.isView)
      frame.view(slot) = std::move(view);
    else
      frame.number(slot) = view->load(0);
  }
}

Outcome tessera::reference::run(func::FuncOp original,
                                MutableArrayRef<Array> arguments,
                                const Options &options) {
  Source source(original);
  if (!source.entry)
    return failAt(original, "the program cannot be lowered from TOSA");
  Outcome outcome = runLowered(source.entry, arguments, options);
  // Ops of a copy do not live longer.
  if (source.copy)
    outcome.unspecified.clear();
  return outcome;
}

Outcome tessera::reference::runLowered(func::FuncOp entry,
                                       MutableArrayRef<Array> arguments,
                                       const Options &options) {
  if (std::optional<Outcome> bad = checkEntry(entry, arguments))
    return *std::move(bad);
  Run run(options);
  prepareRun(run, entry);
  Program program;
  const Function *function = program.getFunction(entry);
  Frame host;
  host.run = &run;
  FrameOwner owner(*function, host);
  enterArguments(owner.frame, *function, arguments);
  function->code.run(owner.frame);
  Outcome outcome = finishRun(run);
  if (!outcome.succeeded())
    return outcome;
  for (auto [use, type] :
       llvm::zip_equal(function->code.yields, entry.getResultTypes())) {
    if (use.slot.isView) {
      const View &view = *owner.frame.view(use.slot);
      outcome.results.push_back(
          makeArray(view, cast<ShapedType>(type).getElementType()));
    } else {
      const Format &format = *Format::get(type);
      ViewRef scalar = View::make(format, {});
      scalar->store(0, owner.frame.number(use.slot));
      outcome.results.push_back(makeArray(*scalar, type));
    }
  }
  return outcome;
}
