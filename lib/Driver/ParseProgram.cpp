//===- ParseProgram.cpp - A module of a text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/ParseProgram.h"

#include "Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <optional>
#include <string>
#include <vector>

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// How deep a program may nest: brackets of a text, regions, and attributes and
/// types. MLIR's parser and passes call themselves for each level.
constexpr unsigned mostNesting = 256;
/// The operators of one affine expression, for the same reason.
constexpr unsigned mostOperators = 4096;

/// A mistake of a text.
struct Mistake {
  const char *position;
  std::string message;
};

/// Looks for what MLIR 22's parser does not survive: it dereferences null, asks
/// for memory without end, or runs out of stack. All else is left to it.
class TextCheck {
public:
  explicit TextCheck(StringRef text) : rest(text) {}

  std::optional<Mistake> find() {
    bool hasList = false;
    while (!rest.empty()) {
      skipBlanks();
      if (rest.consume_front("%")) {
        if (const char *wrong = checkValue())
          return Mistake{wrong, "result number out of range"};
        continue;
      }
      StringRef word = rest.take_while(isPartOfName);
      if (word.empty()) {
        if (std::optional<Mistake> wrong = takeOther())
          return wrong;
        continue;
      }
      rest = rest.drop_front(word.size());
      if (word == "floordiv" || word == "ceildiv" || word == "mod")
        if (std::optional<Mistake> wrong = countOperator(word))
          return wrong;
      // The following text is scanned twice: its brackets count too.
      llvm::SaveAndRestore keep(rest);
      const char *wrong = nullptr;
      if (word == "array")
        wrong = checkArray();
      if (wrong)
        return Mistake{wrong, "array elements must be integers or floats of a "
                              "fixed width, for example array<i64: 1, 2>"};
      if (word.starts_with("linalg."))
        hasList = word == "linalg.transpose" || word == "linalg.broadcast" ||
                  word == "linalg.reduce";
      else if (hasList && (word == "permutation" || word == "dimensions"))
        wrong = checkList();
      if (wrong)
        return Mistake{wrong,
                       "expected a list of integers, for example [1, 0]"};
    }
    return std::nullopt;
  }

private:
  static bool isPartOfName(char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
  }

  /// White space and comments.
  void skipBlanks() {
    while (true) {
      rest = rest.ltrim();
      if (!rest.starts_with("//"))
        return;
      rest = rest.drop_until([](char c) { return c == '\n'; });
    }
  }

  /// A string, or a character that is part of no name.
  std::optional<Mistake> takeOther() {
    if (rest.empty())
      return std::nullopt;
    const char *position = rest.data();
    // Arrows and comparisons have no brackets.
    for (StringRef word : {"->", ">=", "<="})
      if (rest.consume_front(word))
        return std::nullopt;
    char first = rest.front();
    rest = rest.drop_front();
    switch (first) {
    case '"':
      skipString();
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      open.push_back({first, 0});
      if (open.size() > mostNesting)
        return Mistake{position, "the program nests more than " +
                                     std::to_string(mostNesting) +
                                     " brackets deep; split it into functions"};
      break;
    case ')':
      close('(');
      break;
    case ']':
      close('[');
      break;
    case '}':
      close('{');
      break;
    case '>':
      // By itself it may be part of something else.
      if (!open.empty() && open.back().kind == '<')
        open.pop_back();
      break;
    case ',':
      if (!open.empty())
        open.back().operators = 0;
      break;
    case '+':
    case '-':
    case '*':
      return countOperator(StringRef(position, 1));
    default:
      break;
    }
    return std::nullopt;
  }

  /// Closes brackets up to the last one of that kind. Where there is none, the
  /// parser reports it.
  void close(char kind) {
    size_t last = open.size();
    while (last > 0 && open[last - 1].kind != kind)
      --last;
    if (last == 0)
      return;
    unsigned operators = open[last - 1].operators;
    open.resize(last - 1);
    // Parentheses are part of the enclosing expression.
    if (kind != '{' && !open.empty())
      open.back().operators += operators;
  }

  /// An operator of an affine expression, which is enclosed in parentheses or
  /// square brackets.
  std::optional<Mistake> countOperator(StringRef word) {
    if (open.empty() || (open.back().kind != '(' && open.back().kind != '['))
      return std::nullopt;
    if (++open.back().operators <= mostOperators)
      return std::nullopt;
    return Mistake{word.begin(), "an expression has more than " +
                                     std::to_string(mostOperators) +
                                     " operators"};
  }

  /// The rest of a string.
  void skipString() {
    while (!rest.empty() && rest.front() != '\n') {
      bool ends = rest.front() == '"';
      rest = rest.drop_front(
          std::min<size_t>(rest.size(), rest.front() == '\\' ? 2 : 1));
      if (ends)
        return;
    }
  }

  bool consume(char c) {
    skipBlanks();
    return rest.consume_front(StringRef(&c, 1));
  }

  /// Behind the %: where the number of an op's result is one that no op has.
  /// The parser makes room for as many when it comes first.
  const char *checkValue() {
    constexpr uint64_t most = 1 << 20;
    rest = rest.drop_while([](char c) { return isPartOfName(c) || c == '-'; });
    if (!rest.consume_front("#"))
      return nullptr;
    StringRef digits = rest.take_while(llvm::isDigit);
    uint64_t number = 0;
    // The parser reports text that is not a number.
    if (!digits.empty() && (digits.getAsInteger(10, number) || number > most))
      return digits.data();
    return nullptr;
  }

  /// Behind `array`: the element type, where it is `index`.
  const char *checkArray() {
    if (!consume('<'))
      return nullptr;
    skipBlanks();
    return rest.take_while(isPartOfName) == "index" ? rest.data() : nullptr;
  }

  /// After the name: the error if no list of integers follows, for which these
  /// ops' own parsers return null.
  const char *checkList() {
    // It is only a name, or an error that the parser reports.
    if (!consume('='))
      return nullptr;
    if (!consume('['))
      return rest.data();
    if (consume(']'))
      return nullptr;
    do {
      skipBlanks();
      const char *begin = rest.data();
      bool isNegative = consume('-');
      skipBlanks();
      StringRef digits = rest.take_while(isPartOfName);
      rest = rest.drop_front(digits.size());
      std::string number = (isNegative ? "-" : "") + digits.str();
      int64_t value;
      // 0x begins a hexadecimal number; 010 is ten.
      bool isHexadecimal = digits.starts_with("0x");
      if (digits.empty() ||
          StringRef(number).getAsInteger(isHexadecimal ? 0 : 10, value))
        return begin;
    } while (consume(','));
    return consume(']') ? nullptr : rest.data();
  }

  /// A bracket that is not closed yet.
  struct Bracket {
    char kind;
    /// Those of the list's current entry.
    unsigned operators;
  };

  StringRef rest;
  std::vector<Bracket> open;
};

/// Looks for what passes would not survive in a module that is parsed:
/// bytecode, and aliases of a text, nest without brackets.
class NestingCheck {
public:
  LogicalResult check(Operation *top) {
    // Not by a walk, which calls itself for each region.
    std::vector<std::pair<Operation *, unsigned>> ops = {{top, 0}};
    while (!ops.empty()) {
      auto [op, depth] = ops.back();
      ops.pop_back();
      // The module's region has no brackets of its own.
      if (depth > mostNesting + 1)
        return op->emitError() << "the program nests more than " << mostNesting
                               << " regions deep; split it into functions";
      if (!isShallow(op))
        // A location may be what nests.
        return emitError(isa<FileLineColLoc>(op->getLoc())
                             ? op->getLoc()
                             : UnknownLoc::get(op->getContext()))
               << "an attribute, a type or a location of the program nests "
                  "more than "
               << mostNesting << " others";
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            ops.emplace_back(&inner, depth + 1);
    }
    return success();
  }

private:
  bool isShallow(Operation *op) {
    if (!isShallow(LocationAttr(op->getLoc())) ||
        !isShallow(op->getAttrDictionary()) ||
        !llvm::all_of(op->getResultTypes(),
                      [&](Type type) { return isShallow(type); }))
      return false;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (!isShallow(argument.getType()) ||
              !isShallow(LocationAttr(argument.getLoc())))
            return false;
    return true;
  }

  bool isShallow(Attribute element) {
    return getHeight(element, 0) <= mostNesting;
  }
  bool isShallow(Type element) { return getHeight(element, 0) <= mostNesting; }

  /// How deep attributes and types nest in `element`; at least more than is
  /// permitted where `depth` already exceeds the limit.
  template <typename T> unsigned getHeight(T element, unsigned depth) {
    if (depth > mostNesting)
      return mostNesting + 1;
    if (auto found = heights.find(element.getAsOpaquePointer());
        found != heights.end())
      return found->second;
    unsigned height = 0;
    auto visit = [&](auto inner) {
      if (inner)
        height = std::max(height, getHeight(inner, depth + 1) + 1);
    };
    element.walkImmediateSubElements([&](Attribute inner) { visit(inner); },
                                     [&](Type inner) { visit(inner); });
    heights[element.getAsOpaquePointer()] = height;
    return height;
  }

  llvm::DenseMap<const void *, unsigned> heights;
};

} // namespace

/// Parses a module. Upstream's error for a type or an attribute of an unknown
/// dialect repeats all of it, and names options of upstream's tools.
static OwningOpRef<ModuleOp> parseModule(llvm::SourceMgr &sources,
                                         MLIRContext &context) {
  struct Unknown {
    Location loc;
    std::string dialect;
    bool isType;
  };
  std::optional<Unknown> unknown;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      std::string text = diagnostic.str();
      StringRef message(text);
      if (!message.contains("created with unregistered dialect"))
        return failure();
      // The dialect is quoted first.
      StringRef dialect = message.split('"').second.split('"').first;
      unknown = Unknown{diagnostic.getLocation(), dialect.str(),
                        message.contains("type created with")};
      return success();
    });
    module = parseSourceFile<ModuleOp>(
        sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  }
  if (unknown)
    emitError(unknown->loc)
        << "the dialect '" << unknown->dialect << "' of this "
        << (unknown->isType ? "type" : "attribute") << " is not supported";
  return module;
}

/// Whether one of the ops is among those of a module, by their types.
template <typename... Ops>
static bool contains(const llvm::DenseSet<TypeID> &ops) {
  return (ops.contains(TypeID::get<Ops>()) || ...);
}

/// Whether a value or an attribute of the program has a memory space that is an
/// integer.
static bool hasIntegerSpaces(ModuleOp module) {
  auto hasInteger = [](Type type) {
    auto memref = dyn_cast<BaseMemRefType>(type);
    return memref && isa_and_present<IntegerAttr>(memref.getMemorySpace());
  };
  return module
      .walk([&](Operation *op) {
        bool hasOne = llvm::any_of(op->getResultTypes(), hasInteger) ||
                      op->getAttrOfType<IntegerAttr>("memory_space");
        for (Region &region : op->getRegions())
          for (Block &block : region)
            hasOne |= llvm::any_of(block.getArgumentTypes(), hasInteger);
        return hasOne ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

OwningOpRef<ModuleOp> mlir::tessera::parseProgram(llvm::SourceMgr &sources,
                                                  MLIRContext &context) {
  const llvm::MemoryBuffer &buffer =
      *sources.getMemoryBuffer(sources.getMainFileID());
  std::optional<Mistake> found;
  if (!isBytecode(buffer))
    found = TextCheck(buffer.getBuffer()).find();
  if (found) {
    auto [line, column] = sources.getLineAndColumn(
        llvm::SMLoc::getFromPointer(found->position), sources.getMainFileID());
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line,
                                  column))
        << found->message;
    return nullptr;
  }
  OwningOpRef<ModuleOp> module = parseModule(sources, context);
  if (!module || failed(NestingCheck().check(*module)) ||
      failed(verify(*module)))
    return nullptr;
  // Forms that all that follows, the reference included, does not see. The
  // parser loads the dialects of the program's ops.
  PassManager pm(&context);
  llvm::DenseSet<TypeID> ops;
  module->walk([&](Operation *op) { ops.insert(op->getName().getTypeID()); });
  if (context.getLoadedDialect("llvm"))
    pm.addPass(createTesseraWrapLLVMFunctions());
  if (context.getLoadedDialect("async"))
    pm.addPass(createTesseraInlineAsync());
  if (context.getLoadedDialect("cf") || contains<scf::IndexSwitchOp>(ops))
    pm.addPass(createTesseraLiftBranches());
  if (contains<affine::AffineDelinearizeIndexOp, affine::AffineLinearizeIndexOp,
               affine::AffineVectorLoadOp, affine::AffineVectorStoreOp>(ops) ||
      context.getLoadedDialect("index"))
    pm.addPass(createTesseraLowerIndexOps());
  if (contains<func::CallIndirectOp>(ops))
    pm.addPass(createTesseraInlineIndirectCalls());
  if (contains<gpu::WarpExecuteOnLane0Op>(ops))
    pm.addPass(createTesseraLowerWarpRegions());
  if (hasIntegerSpaces(*module))
    pm.addPass(createTesseraDropGlobalSpace());
  if (context.getLoadedDialect("tosa"))
    pm.addPass(createTesseraNormalizeTosa());
  if (contains<memref::AllocOp, memref::AllocaOp, memref::GlobalOp,
               func::FuncOp>(ops))
    pm.addPass(createTesseraFlattenAllocations());
  if (contains<memref::ReallocOp>(ops))
    pm.addPass(memref::createExpandReallocPass());
  if (contains<bufferization::DeallocOp>(ops))
    pm.addNestedPass<func::FuncOp>(createTesseraLowerDeallocations());
  if (!pm.empty() && failed(pm.run(*module)))
    return nullptr;
  return module;
}
