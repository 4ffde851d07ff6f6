//===- VThreadOp.cpp - Assembly and verifier of tessera.vthread -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

int64_t VThreadOp::getNumVThreads() {
  int64_t n = 1;
  for (int64_t extent : getGrid())
    n *= extent;
  return n;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//
//
//   tessera.vthread (%v, %w) in (2, 2) private(%x = [%a, %b, %c, %d] : f32)
//       order depth_first -> (f32, f32, f32, f32) { ... }

ParseResult VThreadOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<int64_t> grid;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseInteger(grid.emplace_back());
      }))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = builder.getIndexType();

  if (succeeded(parser.parseOptionalKeyword("private"))) {
    auto parsePrivate = [&]() -> ParseResult {
      OpAsmParser::Argument argument;
      SmallVector<OpAsmParser::UnresolvedOperand> values;
      if (parser.parseArgument(argument) || parser.parseEqual() ||
          parser.parseOperandList(values, AsmParser::Delimiter::Square) ||
          parser.parseColonType(argument.type) ||
          parser.resolveOperands(values, argument.type, result.operands))
        return failure();
      arguments.push_back(argument);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                       parsePrivate))
      return failure();
  }

  Properties &properties = result.getOrAddProperties<Properties>();
  properties.grid = builder.getDenseI64ArrayAttr(grid);
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<Interleave> order = symbolizeInterleave(name);
    if (!order)
      return parser.emitError(loc, "unknown order '")
             << name << "': expected breadth_first or depth_first";
    properties.order = InterleaveAttr::get(builder.getContext(), *order);
  }
  if (parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void VThreadOp::print(OpAsmPrinter &printer) {
  Block &block = getBody().front();
  size_t rank = getGrid().size();
  printer << " (";
  printer.printOperands(block.getArguments().take_front(rank));
  printer << ") in (";
  llvm::interleaveComma(getGrid(), printer);
  printer << ')';
  if (getNumPrivates()) {
    printer << " private(";
    size_t n = getNumVThreads();
    for (auto [i, argument] :
         llvm::enumerate(block.getArguments().drop_front(rank))) {
      printer << (i ? ", " : "") << argument << " = [";
      printer.printOperands(getPrivates().slice(i * n, n));
      printer << "] : " << argument.getType();
    }
    printer << ')';
  }
  if (getOrder() != Interleave::BreadthFirst)
    printer << " order " << stringifyInterleave(getOrder());
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"grid", "order"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Adds to `found` the arguments of `body` that `value` depends on, following
/// definitions inside the region `body` belongs to.
static void collectDependences(Value value, Block *body,
                               llvm::SmallPtrSetImpl<Value> &visited,
                               llvm::SmallPtrSetImpl<Value> &found) {
  if (!body->getParent()->isAncestor(value.getParentRegion()) ||
      !visited.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == body) {
      found.insert(value);
      return;
    }
    // An argument of a nested region: a loop's induction variable or a carried
    // value. It depends on what the loop is given, at most.
    for (Value operand : argument.getOwner()->getParentOp()->getOperands())
      collectDependences(operand, body, visited, found);
    return;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    collectDependences(operand, body, visited, found);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        for (Value operand : block.getTerminator()->getOperands())
          collectDependences(operand, body, visited, found);
}

/// The memref that `value` is a view of.
static Value getViewedMemory(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// What decides which place `op` writes in `memory`, and `memory` itself.
static SmallVector<Value> getAddress(Operation *op, Value memory) {
  SmallVector<Value> address{memory};
  if (auto store = dyn_cast<StoreOp>(op))
    llvm::append_range(address, store.getIndices());
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    llvm::append_range(address, store.getIndices());
  else if (auto copy = dyn_cast<CopyOp>(op))
    llvm::append_range(address, copy.getTargetIndices());
  else if (auto copy = dyn_cast<AsyncCopyOp>(op))
    llvm::append_range(address, copy.getTargetIndices());
  else
    llvm::append_range(address, op->getOperands());
  return address;
}

/// vthread_c4 for one op of the region.
static LogicalResult verifyWrites(VThreadOp vthread, Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return success();
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  Block *body = &vthread.getBody().front();
  for (MemoryEffects::EffectInstance &effect : effects) {
    Value memory = effect.getValue();
    if (!isa<MemoryEffects::Write>(effect.getEffect()) || !memory ||
        !isa<BaseMemRefType>(memory.getType()))
      continue;
    Value root = getViewedMemory(memory);
    if (vthread.getBody().isAncestor(root.getParentRegion()) &&
        !isa<BlockArgument>(root))
      continue; // Allocated inside: private.
    llvm::SmallPtrSet<Value, 16> visited, found;
    for (Value value : getAddress(op, memory))
      collectDependences(value, body, visited, found);
    size_t rank = vthread.getGrid().size();
    if (llvm::any_of(body->getArguments().drop_front(rank),
                     [&](Value argument) { return found.contains(argument); }))
      continue;
    for (auto [d, extent] : llvm::enumerate(vthread.getGrid())) {
      if (extent == 1 || found.contains(body->getArgument(d)))
        continue;
      InFlightDiagnostic diag =
          op->emitOpError()
          << "vthread_c4: all " << extent << " vthreads along dimension " << d
          << " write the same place: it does not depend on that index; "
             "index it with the vthread, or allocate the memory inside";
      diag.attachNote(vthread.getLoc()) << "the vthreads are these";
      return diag;
    }
  }
  return success();
}

LogicalResult VThreadOp::verify() {
  Block &block = getBody().front();
  ArrayRef<int64_t> grid = getGrid();
  bool good = !grid.empty() &&
              llvm::all_of(grid, [](int64_t extent) { return extent > 0; }) &&
              block.getNumArguments() >= grid.size();
  for (size_t d = 0; good && d < grid.size(); ++d)
    good &= block.getArgument(d).getType().isIndex();
  if (!good)
    return emitOpError() << "vthread_c1: the grid has positive entries, and "
                            "the region an index argument for each";

  size_t n = getNumVThreads();
  good = getPrivates().size() == getNumPrivates() * n;
  for (size_t i = 0; good && i < getPrivates().size(); ++i)
    good &= getPrivates()[i].getType() ==
            block.getArgument(grid.size() + i / n).getType();
  if (!good)
    return emitOpError() << "vthread_c2: each private operand has a value for "
                            "each of the "
                         << n << " vthreads, of the argument's type";

  auto yield = dyn_cast<YieldOp>(block.back());
  good = yield && getNumResults() == yield.getValues().size() * n;
  for (size_t i = 0; good && i < getNumResults(); ++i)
    good &= getResult(i).getType() == yield.getValues()[i / n].getType();
  if (!good)
    return emitOpError() << "vthread_c3: the results are the yielded values' "
                            "types, each repeated for the "
                         << n << " vthreads";

  WalkResult result = getBody().walk([&](Operation *op) {
    return failed(verifyWrites(*this, op)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
