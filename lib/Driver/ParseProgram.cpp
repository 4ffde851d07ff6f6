//===- ParseProgram.cpp - A module of a text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/ParseProgram.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Looks for lists of integers behind `permutation =` and `dimensions =` of
/// linalg.transpose, linalg.broadcast and linalg.reduce that are none: MLIR
/// 22's parser of these dereferences a null attribute then.
class ListCheck {
public:
  explicit ListCheck(StringRef text) : rest(text) {}

  /// Where something else stands in a list; null if nothing does.
  const char *find() {
    bool isOfInterest = false;
    while (!rest.empty()) {
      skipBlanks();
      StringRef word = rest.take_while(isPartOfName);
      if (word.empty()) {
        skipOther();
        continue;
      }
      rest = rest.drop_front(word.size());
      if (word.starts_with("linalg."))
        isOfInterest = word == "linalg.transpose" ||
                       word == "linalg.broadcast" || word == "linalg.reduce";
      else if (isOfInterest && (word == "permutation" || word == "dimensions"))
        if (const char *wrong = checkList())
          return wrong;
    }
    return nullptr;
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

  /// Behind the name: where it is no list of integers.
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
  if (const char *wrong = ListCheck(buffer.getBuffer()).find()) {
    auto [line, column] = sources.getLineAndColumn(
        llvm::SMLoc::getFromPointer(wrong), sources.getMainFileID());
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line,
                                  column))
        << "expected a list of integers, as in [1, 0]";
    return nullptr;
  }
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
