//===- JsonIndex.cpp - Where in a text a value stands ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonIndex.h"

#include "llvm/Support/JSON.h"

using namespace mlir::tessera::tuning;
using llvm::StringRef;

JsonIndex::JsonIndex(StringRef text) : rest(text) { readValue(""); }

unsigned JsonIndex::getLine(StringRef path) const {
  while (true) {
    auto found = lines.find(path);
    if (found != lines.end())
      return found->second;
    if (path.empty())
      return 1;
    size_t end = path.find_last_of(".[");
    path = path.take_front(end == StringRef::npos ? 0 : end);
  }
}

void JsonIndex::skipSpace() {
  while (!rest.empty() && StringRef(" \t\r\n").contains(rest.front())) {
    line += rest.front() == '\n';
    rest = rest.drop_front();
  }
}

std::string JsonIndex::readString() {
  size_t end = 1;
  while (end < rest.size() && rest[end] != '"')
    end += rest[end] == '\\' ? 2 : 1;
  StringRef quoted = rest.take_front(end + 1);
  rest = rest.drop_front(quoted.size());
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(quoted);
  if (!value) {
    llvm::consumeError(value.takeError());
    return quoted.str();
  }
  return value->getAsString().value_or(quoted).str();
}

void JsonIndex::readValue(const std::string &path) {
  skipSpace();
  lines.try_emplace(path, line);
  if (rest.consume_front("{")) {
    for (skipSpace(); !rest.empty() && !rest.consume_front("}"); skipSpace()) {
      rest.consume_front(",");
      skipSpace();
      if (!rest.starts_with("\""))
        return;
      unsigned where = line;
      std::string name = readString();
      std::string inner = path.empty() ? name : path + "." + name;
      if (!lines.try_emplace(inner, where).second && duplicate.empty())
        duplicate = inner;
      skipSpace();
      rest.consume_front(":");
      readValue(inner);
    }
  } else if (rest.consume_front("[")) {
    size_t index = 0;
    for (skipSpace(); !rest.empty() && !rest.consume_front("]"); skipSpace()) {
      rest.consume_front(",");
      readValue(path + "[" + std::to_string(index++) + "]");
    }
  } else if (rest.starts_with("\"")) {
    readString();
  } else {
    rest = rest.drop_until(
        [](char c) { return StringRef(",]} \t\r\n").contains(c); });
  }
}
