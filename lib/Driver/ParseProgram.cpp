//===- ParseProgram.cpp - A module of a text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/ParseProgram.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// A mistake of a text.
struct Mistake {
  const char *place;
  const char *message;
};

/// Looks for what MLIR 22's parser does not survive: it dereferences null or
/// asks for memory without end. All else is left to it.
class TextCheck {
public:
  explicit TextCheck(StringRef text) : rest(text) {}

  std::optional<Mistake> find() {
    bool hasList = false;
    while (!rest.empty()) {
      skipBlanks();
      if (rest.consume_front("%")) {
        if (const char *wrong = checkValue())
          return Mistake{wrong, "no op has so many results"};
        continue;
      }
      StringRef word = rest.take_while(isPartOfName);
      if (word.empty()) {
        skipOther();
        continue;
      }
      rest = rest.drop_front(word.size());
      const char *wrong = nullptr;
      if (word == "array")
        wrong = checkArray();
      if (wrong)
        return Mistake{wrong, "an array's elements are integers or floats of a "
                              "fixed width, as in array<i64: 1, 2>"};
      if (word.starts_with("linalg."))
        hasList = word == "linalg.transpose" || word == "linalg.broadcast" ||
                  word == "linalg.reduce";
      else if (hasList && (word == "permutation" || word == "dimensions"))
        wrong = checkList();
      if (wrong)
        return Mistake{wrong, "expected a list of integers, as in [1, 0]"};
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

  /// A string, or one character.
  void skipOther() {
    if (rest.empty())
      return;
    bool isString = rest.front() == '"';
    rest = rest.drop_front();
    while (isString && !rest.empty() && rest.front() != '\n') {
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
    // No number is an error that the parser tells of.
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

  /// Behind the name: where it is no list of integers, of which these ops' own
  /// parsers make null.
  const char *checkList() {
    // It is a name only, or an error that the parser tells of.
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

  StringRef rest;
};

} // namespace

OwningOpRef<ModuleOp> mlir::tessera::parseProgram(llvm::SourceMgr &sources,
                                                  MLIRContext &context) {
  const llvm::MemoryBuffer &buffer =
      *sources.getMemoryBuffer(sources.getMainFileID());
  if (std::optional<Mistake> found = TextCheck(buffer.getBuffer()).find()) {
    auto [line, column] = sources.getLineAndColumn(
        llvm::SMLoc::getFromPointer(found->place), sources.getMainFileID());
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line,
                                  column))
        << found->message;
    return nullptr;
  }
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
