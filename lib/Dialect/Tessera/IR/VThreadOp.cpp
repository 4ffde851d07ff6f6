//===- VThreadOp.cpp - Assembly and verifier of tessera.vthread -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/OpImplementation.h"
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
// InterleaveAttr
//===----------------------------------------------------------------------===//

InterleaveAttr InterleaveAttr::parseOrder(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  int64_t size = 0;
  if (parser.parseKeyword(&name))
    return {};
  if (name == "groups") {
    if (parser.parseLParen() || parser.parseInteger(size) ||
        parser.parseRParen())
      return {};
    if (size < 1) {
      parser.emitError(loc,
                       "interleave_c1: a group must have 1 or more vthreads, "
                       "not ")
          << size;
      return {};
    }
  } else if (name == "depth_first") {
    size = 1;
  } else if (name != "breadth_first") {
    parser.emitError(loc, "unknown order '")
        << name << "': expected breadth_first, depth_first or groups(N)";
    return {};
  }
  return parser.getChecked<InterleaveAttr>(loc, parser.getContext(), size);
}

void InterleaveAttr::printOrder(llvm::raw_ostream &os) const {
  if (getSize() == 0)
    os << "breadth_first";
  else if (getSize() == 1)
    os << "depth_first";
  else
    os << "groups(" << getSize() << ')';
}

Attribute InterleaveAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  InterleaveAttr order = parseOrder(parser);
  if (!order || parser.parseGreater())
    return {};
  return order;
}

void InterleaveAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printOrder(printer.getStream());
  printer << '>';
}

LogicalResult
InterleaveAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t size) {
  if (size < 0)
    return emitError()
           << "interleave_c1: a group must have 1 or more vthreads (0 "
              "for all), not "
           << size;
  return success();
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
    properties.order = InterleaveAttr::parseOrder(parser);
    if (!properties.order)
      return failure();
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
  if (getOrder()) {
    printer << " order ";
    getOrder()->printOrder(printer.getStream());
  }
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"grid", "order"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Whether `op` makes memory of its own each time that it runs.
static bool allocates(Operation *op, Value memory) {
  auto interface = dyn_cast_or_null<MemoryEffectOpInterface>(op);
  if (!interface)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffectsOnValue(memory, effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Allocate>(effect.getEffect());
  });
}

namespace {
/// Which arguments of a vthread's region a value depends on, by any way through
/// the definitions inside.
class Dependences {
public:
  explicit Dependences(VThreadOp op)
      : body(&op.getBody().front()), rank(op.getGrid().size()) {}

  void add(Value value);
  /// Whether something is different in each vthread: an argument other than the
  /// indices, or memory allocated inside.
  bool areOnPrivate() const { return onPrivate; }
  bool areOnIndex(unsigned dimension) const {
    return found.contains(body->getArgument(dimension));
  }

private:
  Block *body;
  unsigned rank;
  bool onPrivate = false;
  llvm::SmallPtrSet<Value, 16> visited, found;
};
} // namespace

void Dependences::add(Value value) {
  if (!body->getParent()->isAncestor(value.getParentRegion()) ||
      !visited.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == body) {
      found.insert(value);
      onPrivate |= argument.getArgNumber() >= rank;
      return;
    }
    // An argument of a nested region is a loop's induction variable or a
    // carried value. It depends at most on the loop's operands and yielded
    // values.
    op = argument.getOwner()->getParentOp();
  } else if (allocates(op, value)) {
    onPrivate = true;
    return;
  }
  for (Value operand : op->getOperands())
    add(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        for (Value operand : block.getTerminator()->getOperands())
          add(operand);
}

/// The values that determine the address in `memory` to which `op` writes, and
/// `memory` itself.
static SmallVector<Value> getAddress(Operation *op, Value memory) {
  SmallVector<Value> address{memory};
  if (auto store = dyn_cast<StoreOp>(op))
    llvm::append_range(address, store.getIndices());
  else if (auto copy = dyn_cast<CopyOp>(op))
    llvm::append_range(address, copy.getTargetIndices());
  else if (auto copy = dyn_cast<AsyncCopyOp>(op))
    llvm::append_range(address, copy.getTargetIndices());
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    llvm::append_range(address, store.getIndices());
  else if (!isa<DestinationStyleOpInterface>(op))
    // A linalg op or a copy writes all of the memory; an unknown op may use any
    // operand as an index.
    for (Value operand : op->getOperands())
      if (!isa<BaseMemRefType>(operand.getType()))
        address.push_back(operand);
  return address;
}

/// vthread_c4 for one op of the region.
static LogicalResult verifyWrites(VThreadOp vthread, Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  // Each vthread's update of shared memory by an atomic op counts.
  auto store = dyn_cast<StoreOp>(op);
  if (!interface || isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op) ||
      (store && store.getAtomicAdd()))
    return success();
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (MemoryEffects::EffectInstance &effect : effects) {
    Value memory = effect.getValue();
    if (!isa<MemoryEffects::Write>(effect.getEffect()) || !memory ||
        !isa<BaseMemRefType>(memory.getType()))
      continue;
    Dependences dependences(vthread);
    for (Value value : getAddress(op, memory))
      dependences.add(value);
    if (dependences.areOnPrivate())
      continue;
    for (auto [d, extent] : llvm::enumerate(vthread.getGrid())) {
      if (extent == 1 || dependences.areOnIndex(d))
        continue;
      InFlightDiagnostic diag =
          op->emitOpError()
          << "vthread_c4: all " << extent << " vthreads along dimension " << d
          << " write the same address, which does not depend on that index; "
             "index it with the vthread, or allocate the memory in the region";
      diag.attachNote(vthread.getLoc()) << "the vthreads are defined here";
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
    return emitOpError() << "vthread_c1: the grid must have positive entries, "
                            "and the region one index argument for each";

  size_t n = getNumVThreads();
  good = getPrivates().size() == getNumPrivates() * n;
  for (size_t i = 0; good && i < getPrivates().size(); ++i)
    good &= getPrivates()[i].getType() ==
            block.getArgument(grid.size() + i / n).getType();
  if (!good)
    return emitOpError()
           << "vthread_c2: each private operand must have a value for "
              "each of the "
           << n << " vthreads, of the argument's type";

  auto yield = dyn_cast<YieldOp>(block.back());
  good = yield && getNumResults() == yield.getValues().size() * n;
  for (size_t i = 0; good && i < getNumResults(); ++i)
    good &= getResult(i).getType() == yield.getValues()[i / n].getType();
  if (!good)
    return emitOpError()
           << "vthread_c3: the results must have the yielded values' "
              "types, each repeated for the "
           << n << " vthreads";

  WalkResult result = getBody().walk([&](Operation *op) {
    return failed(verifyWrites(*this, op)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
