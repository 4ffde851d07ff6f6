//===- Bisect.cpp - The first op whose result differs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cut is the program up to one of the entry's ops, whose result it returns:
//
//   %1 = linalg.exp ...          %1 = linalg.exp ...
//   %2 = linalg.matmul ...   ->  %2 = linalg.matmul ...
//   %3 = linalg.add ...          return %2
//   return %3
//
// Whether a cut's outputs differ is found by running it on both targets. Binary
// search finds an op whose cut differs where that of the op before does not;
// ops that do not depend on each other are in no particular order, so that its
// operands are compared next, and theirs, until none differs.
//
//===----------------------------------------------------------------------===//

#include "Debugging/Bisect.h"
#include "Report/OutputStatistics.h"

#include "Runtime/OutputFile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tessera::execution;
using mlir::Operation;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Where to cut
//===----------------------------------------------------------------------===//

/// The buffer that a view is of.
static Value getBuffer(Value value) {
  while (auto view = value.getDefiningOp<mlir::ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Buffers that `op` may write.
static llvm::SmallVector<Value> getWritten(Operation *op) {
  llvm::SmallVector<Value> buffers;
  if (mlir::isMemoryEffectFree(op) ||
      mlir::isa<mlir::ViewLikeOpInterface, mlir::memref::DeallocOp>(op))
    return buffers;
  auto add = [&](Value value) {
    if (mlir::isa<mlir::MemRefType>(value.getType()) &&
        !llvm::is_contained(buffers, getBuffer(value)))
      buffers.push_back(getBuffer(value));
  };
  if (auto destination =
          mlir::dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    for (Value init : destination.getDpsInits())
      add(init);
    return buffers;
  }
  // Values that its regions write count as used.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        add(operand);
  });
  return buffers;
}

/// Whether something can have gone wrong in `op`.
static bool isCandidate(Operation &op) {
  if (op.hasTrait<mlir::OpTrait::ConstantLike>() ||
      op.hasTrait<mlir::OpTrait::IsTerminator>() ||
      mlir::isa<mlir::tensor::EmptyOp, mlir::memref::AllocOp>(op))
    return false;
  return llvm::any_of(op.getResultTypes(),
                      llvm::IsaPred<mlir::RankedTensorType>) ||
         !getWritten(&op).empty();
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

Bisection::Bisection(const ProgramOptions &options, DiffSide &base,
                     DiffSide &other, const DiffProgram &program,
                     RunGuard *guard)
    : options(options), base(base), other(other), program(program),
      guard(guard) {
  mlir::func::FuncOp function = program.entry.function;
  for (Operation &op : function.getBody().front())
    if (isCandidate(op))
      ops.push_back(&op);
  known.resize(ops.size());
}

/// The text of --arg for argument `index`, with its seed.
static std::string formatArgument(const ProgramOptions &options, size_t index) {
  std::string text =
      index < options.arguments.size() ? options.arguments[index] : "int";
  runtime::Expected<runtime::FillSpec> spec = runtime::parseFillSpec(text);
  bool isSeeded = spec.ok() && (spec->kind == runtime::FillSpec::Int ||
                                spec->kind == runtime::FillSpec::Random);
  if (!isSeeded || spec->seed)
    return text;
  StringRef kind = StringRef(text).split(':').first;
  std::string name = (kind + ":" + llvm::Twine(index)).str();
  if (!spec->shape)
    return name;
  name += ":";
  for (int64_t size : *spec->shape)
    name += std::to_string(size) + "x";
  if (spec->shape->size() > 1)
    name.pop_back();
  return name;
}

void tessera::execution::returnValues(mlir::func::FuncOp function,
                                      llvm::ArrayRef<Value> values) {
  mlir::OpBuilder builder =
      mlir::OpBuilder::atBlockEnd(&function.getBody().front());
  mlir::func::ReturnOp::create(builder, function.getLoc(), values);
  function.removeResAttrsAttr();
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), mlir::ValueRange(values).getTypes()));
}

std::optional<Cut> Bisection::cut(size_t number, bool isAlone) {
  Cut cut;
  mlir::IRMapping mapping;
  cut.module = mlir::cast<mlir::ModuleOp>(program.module->clone(mapping));
  auto function = cut.module->lookupSymbol<mlir::func::FuncOp>(options.entry);
  mlir::Block &block = function.getBody().front();
  Operation *op = mapping.lookup(ops[number]);
  while (&block.back() != op)
    block.back().erase();

  for (size_t i = 0; i < function.getNumArguments(); ++i)
    cut.arguments.push_back(formatArgument(options, i));
  cut.program.arguments = program.arguments;

  // Values computed by other candidates become arguments.
  if (isAlone)
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      auto type =
          mlir::dyn_cast<mlir::RankedTensorType>(operand.get().getType());
      Operation *producer = operand.get().getDefiningOp();
      if (!type || !producer || !type.hasStaticShape() ||
          !isCandidate(*producer) || mlir::isa<mlir::linalg::FillOp>(producer))
        continue;
      size_t position = function.getNumArguments();
      if (failed(function.insertArgument(position, type, /*argAttrs=*/{},
                                         operand.get().getLoc())))
        return std::nullopt;
      operand.set(function.getArgument(position));
      cut.arguments.push_back((mlir::isa<mlir::FloatType>(type.getElementType())
                                   ? "random:"
                                   : "int:") +
                              std::to_string(position));
      cut.program.arguments.emplace_back();
    }

  llvm::SmallVector<Value> values;
  for (Value result : op->getResults())
    if (mlir::isa<mlir::RankedTensorType>(result.getType()))
      values.push_back(result);
  for (Value buffer : getWritten(op))
    if (!mlir::isa<mlir::BlockArgument>(buffer))
      values.push_back(buffer);
  returnValues(function, values);

  if (!finish(cut))
    return std::nullopt;
  return cut;
}

Cut Bisection::copy(const Cut &cut) const {
  Cut made;
  made.module = mlir::cast<mlir::ModuleOp>(cut.module.get()->clone());
  made.program.arguments = cut.program.arguments;
  made.arguments = cut.arguments;
  return made;
}

/// Erases ops without effects whose results nothing uses.
static void eraseUnused(mlir::func::FuncOp function) {
  // Users come after, or contain, the ops they use: erase them first.
  llvm::SmallVector<Operation *> rest;
  function.walk<mlir::WalkOrder::PreOrder>(
      [&](Operation *op) { rest.push_back(op); });
  for (Operation *op : llvm::reverse(rest))
    if (mlir::isOpTriviallyDead(op))
      op->erase();
}

bool Bisection::finish(Cut &cut) const {
  auto function = cut.module->lookupSymbol<mlir::func::FuncOp>(options.entry);
  eraseUnused(function);
  for (size_t i = function.getNumArguments(); i-- > 0;) {
    if (!function.getArgument(i).use_empty())
      continue;
    if (failed(function.eraseArgument(i)))
      return false;
    cut.arguments.erase(cut.arguments.begin() + i);
    cut.program.arguments.erase(cut.program.arguments.begin() + i);
  }
  for (auto other : cut.module->getOps<mlir::func::FuncOp>())
    if (other != function)
      other.setPrivate();
  mlir::PassManager pm(cut.module->getContext());
  pm.addPass(mlir::createSymbolDCEPass());
  if (failed(pm.run(*cut.module)))
    return false;

  Report quiet = Report::makeQuiet(guard);
  cut.program.module = *cut.module;
  if (failed(findEntry(*cut.module, options.entry, cut.program.entry, quiet)))
    return false;
  for (auto [array, slot, text] : llvm::zip_equal(
           cut.program.arguments, cut.program.entry.arguments, cut.arguments)) {
    // Those that were there before have their contents.
    if (!array.data.empty() || !array.shape.empty())
      continue;
    runtime::Expected<runtime::FillSpec> spec = runtime::parseFillSpec(text);
    if (!spec.ok())
      return false;
    runtime::Expected<runtime::HostArray> made =
        runtime::makeArray(slot.element, slot.shape, *spec);
    if (!made.ok())
      return false;
    array = made.take();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

std::optional<Difference> Bisection::compare(const Cut &cut) {
  ++runs;
  Report quiet = Report::makeQuiet(guard);
  std::vector<Output> first, second;
  if (failed(runOn(options, base, cut.program, first, quiet)) ||
      failed(runOn(options, other, cut.program, second, quiet)))
    return std::nullopt;
  std::string unbounded;
  FailureOr<Difference> difference =
      compareSides(options, cut.program, mergeSums(base, other), first, second,
                   unbounded, quiet);
  if (failed(difference))
    return std::nullopt;
  Difference found = std::move(*difference);
  return found;
}

std::optional<bool> Bisection::differs(const Cut &cut) {
  std::optional<Difference> difference = compare(cut);
  if (!difference)
    return std::nullopt;
  return !difference->ok();
}

std::optional<bool> Bisection::differsAt(size_t number) {
  if (!known[number]) {
    std::optional<Cut> made = cut(number, /*isAlone=*/false);
    known[number] = made ? differs(*made) : std::nullopt;
    uncut += !known[number]->has_value();
  }
  return *known[number];
}

std::vector<size_t> Bisection::getProducers(size_t number) const {
  // Operands, and what the op's regions use from outside.
  llvm::SmallPtrSet<Operation *, 8> producers;
  llvm::SmallPtrSet<Value, 8> buffers;
  llvm::SmallVector<Operation *> pending{ops[number]};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty()) {
    Operation *consumer = pending.pop_back_val();
    if (!seen.insert(consumer).second)
      continue;
    consumer->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (mlir::isa<mlir::MemRefType>(operand.getType()))
          buffers.insert(getBuffer(operand));
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != ops[number]->getBlock())
          continue;
        // Through what cannot be wrong.
        if (isCandidate(*producer))
          producers.insert(producer);
        else
          pending.push_back(producer);
      }
    });
  }
  std::vector<size_t> numbers;
  for (size_t i = 0; i < number; ++i)
    if (producers.contains(ops[i]) ||
        llvm::any_of(getWritten(ops[i]),
                     [&](Value buffer) { return buffers.contains(buffer); }))
      numbers.push_back(i);
  return numbers;
}

std::optional<size_t> Bisection::find() {
  llvm::SmallVector<size_t> order = llvm::to_vector(llvm::seq(ops.size()));
  // Ops before `low` do not differ; `high` differs, or is the end.
  size_t low = 0, high = order.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    std::optional<bool> verdict = differsAt(order[middle]);
    if (!verdict) {
      order.erase(order.begin() + middle);
      --high;
    } else if (*verdict) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  std::optional<size_t> found;
  if (high < order.size())
    found = order[high];
  // The last op need not be what differs: one after the other then.
  for (size_t i = 0; i < ops.size() && !found; ++i)
    if (differsAt(i).value_or(false))
      found = i;
  for (bool isDone = !found; !isDone;) {
    isDone = true;
    for (size_t producer : getProducers(*found))
      if (std::optional<bool> verdict = differsAt(producer);
          verdict && *verdict) {
        found = producer;
        isDone = false;
        break;
      }
  }
  return found;
}

std::optional<Cut> Bisection::reduce(size_t number) {
  for (bool isAlone : {true, false}) {
    std::optional<Cut> made = cut(number, isAlone);
    if (made && differs(*made).value_or(false))
      return made;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// --bisect
//===----------------------------------------------------------------------===//

/// A word of a command line, for a shell.
static std::string quote(const std::string &text) {
  if (StringRef(text).find_first_of(" '\"$()*?;&|<>`\\") == StringRef::npos)
    return text;
  std::string quoted = "'";
  for (char letter : text)
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// The command that reproduces the difference.
static std::string formatCommand(const ProgramOptions &options,
                                 const DiffSide &base, const DiffSide &other,
                                 const Cut &cut) {
  std::string text = "gpu-runner " + quote(options.bisectFile) +
                     " --diff=" + quote(base.name + "," + other.name);
  if (options.entry != "main")
    text += " --entry=" + quote(options.entry);
  for (const std::string &argument : cut.arguments)
    text += " --arg=" + quote(argument);
  if (options.tolerance)
    text += " --tolerance=" + options.toleranceText;
  for (const std::string &option : compiler::listOptions(options.flags)) {
    auto [name, value] = StringRef(option).split('=');
    text += " --" + name.str();
    if (!value.empty())
      text += "=" + quote(value.str());
  }
  return text;
}

std::string tessera::execution::describe(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto location = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>())
    text += " (" + location.getFilename().str() + ":" +
            std::to_string(location.getLine()) + ":" +
            std::to_string(location.getColumn()) + ")";
  return text;
}

LogicalResult tessera::execution::bisect(const ProgramOptions &options,
                                         DiffSide &base, DiffSide &other,
                                         const DiffProgram &program,
                                         Report &report) {
  mlir::func::FuncOp function = program.entry.function;
  if (!function.getBody().hasOneBlock()) {
    report.note("--bisect: the entry point has branches, and cannot be cut");
    return success();
  }
  llvm::raw_ostream &os = report.text();
  Bisection bisection(options, base, other, program, report.guard);
  std::optional<size_t> found;
  std::optional<Cut> cut;
  std::optional<FragmentDifference> fragment;
  std::string notFiner;
  {
    // Cuts that a target does not take are passed over.
    mlir::ScopedDiagnosticHandler silence(function.getContext(),
                                          [](mlir::Diagnostic &) {});
    found = bisection.find();
    if (found)
      cut = bisection.reduce(*found);
    if (cut)
      fragment = bisection.findFragment(*found, notFiner);
  }
  auto tally = [&] {
    std::string text = std::to_string(bisection.runs) + " programs run";
    if (bisection.uncut)
      text += ", " + std::to_string(bisection.uncut) +
              " ops after which it could not be truncated";
    return text;
  };
  llvm::json::Object object{{"runs", bisection.runs},
                            {"uncut", bisection.uncut}};
  if (!cut) {
    report.note("--bisect: no single op's result differs (" + tally() +
                "): outputs differ only through several ops, or where the "
                "program cannot be truncated; no file is written");
    report.root["bisect"] = std::move(object);
    return success();
  }
  Operation *op = bisection.ops[*found];
  std::string name = op->getName().getStringRef().str(),
              location = describe(op);
  if (fragment) {
    object["kernel"] = llvm::json::fixUTF8(location);
    object["element"] = llvm::json::fixUTF8(fragment->element);
    name = StringRef(fragment->op).split(' ').first.str();
    location = fragment->op;
    cut = std::move(fragment->cut);
  }
  std::string command = formatCommand(options, base, other, *cut);
  std::string text;
  llvm::raw_string_ostream(text)
      << "// The result of " << location << " differs between " << base.name
      << " and " << other.name << "; the values of its operands do not.\n// "
      << command << "\n"
      << *cut->module << "\n";
  if (runtime::Status status = runtime::writeFile(options.bisectFile, {text});
      !status.ok())
    return report.fail(status);
  os << "bisect: " << location << " is the first op whose result differs ("
     << tally() << ")\n";
  if (fragment)
    os << "bisect: in " << describe(op) << ", first at " << fragment->element
       << ": " << compiler::reference::formatNumber(fragment->other) << " with "
       << other.name << ", "
       << compiler::reference::formatNumber(fragment->base) << " with "
       << base.name << "\n";
  if (!notFiner.empty())
    report.note("--bisect: found nothing within the kernel: " + notFiner);
  os << "bisect: " << command << "\n";
  object["op"] = llvm::json::fixUTF8(name);
  object["place"] = llvm::json::fixUTF8(location);
  object["file"] = llvm::json::fixUTF8(options.bisectFile);
  object["command"] = llvm::json::fixUTF8(command);
  report.root["bisect"] = std::move(object);
  return success();
}
