//===- Serialize.h - Structures as bytes ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are 8 bytes in host order; strings and lists follow their length.
// Input is not trusted: a length beyond the remaining bytes ends the reading.
//
// A structure is described once, by a function template that visits its fields:
//
//   template <typename Archive> void visit(Archive &archive, Point &point) {
//     auto &[x, y] = point;   // a field that is forgotten does not compile
//     visitAll(archive, x, y);
//   }
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_SERIALIZE_H
#define TESSERA_RUNTIME_SERIALIZE_H

#include "Runtime/Constants.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// The next offset that contents which are not copied may have: host code reads
/// constants in place where they are aligned so.
constexpr size_t alignContents(size_t offset) {
  constexpr size_t alignment = 256;
  return (offset + alignment - 1) / alignment * alignment;
}

/// Appends to `bytes`.
class Writer {
public:
  std::string bytes;

  void number(int64_t &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void text(std::string &value) {
    auto size = static_cast<int64_t>(value.size());
    number(size);
    bytes += value;
  }
  /// Contents that the reader does not copy.
  void contents(std::string_view &value) {
    auto size = static_cast<int64_t>(value.size());
    number(size);
    bytes.resize(alignContents(bytes.size()));
    bytes += value;
  }
  template <typename T, typename Visit>
  void list(std::vector<T> &values, Visit visit) {
    auto size = static_cast<int64_t>(values.size());
    number(size);
    for (T &value : values)
      visit(value);
  }
};

/// Reads what a `Writer` wrote. After a failure everything reads as 0 or empty.
class Reader {
public:
  explicit Reader(std::string_view bytes)
      : bytes(bytes), wholeSize(bytes.size()) {}

  /// Whether reading succeeded and no bytes remain.
  bool isDone() const { return !hasFailed && bytes.empty(); }

  void number(int64_t &value) {
    value = 0;
    if (bytes.size() < sizeof(value)) {
      fail();
      return;
    }
    std::memcpy(&value, bytes.data(), sizeof(value));
    bytes.remove_prefix(sizeof(value));
  }
  void text(std::string &value) {
    size_t size = length();
    value.assign(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  /// Refers to the bytes that are read.
  void contents(std::string_view &value) {
    size_t size = length(), offset = wholeSize - bytes.size();
    size_t padding = alignContents(offset) - offset;
    value = std::string_view();
    if (hasFailed || padding > bytes.size() || size > bytes.size() - padding) {
      fail();
      return;
    }
    value = bytes.substr(padding, size);
    bytes.remove_prefix(padding + size);
  }
  template <typename T, typename Visit>
  void list(std::vector<T> &values, Visit visit) {
    size_t size = length();
    values.clear();
    for (size_t i = 0; i < size && !hasFailed; ++i)
      visit(values.emplace_back());
  }

private:
  void fail() {
    hasFailed = true;
    bytes = std::string_view();
  }
  /// No length may exceed the number of remaining bytes.
  size_t length() {
    int64_t size = 0;
    number(size);
    if (size >= 0 && static_cast<uint64_t>(size) <= bytes.size())
      return static_cast<size_t>(size);
    fail();
    return 0;
  }

  std::string_view bytes;
  size_t wholeSize;
  bool hasFailed = false;
};

template <typename Archive> void visit(Archive &archive, std::string &text) {
  archive.text(text);
}

template <typename Archive>
void visit(Archive &archive, std::string_view &contents) {
  archive.contents(contents);
}

template <typename Archive> void visit(Archive &archive, int64_t &value) {
  archive.number(value);
}

template <typename Archive> void visit(Archive &archive, bool &value) {
  int64_t number = value;
  archive.number(number);
  value = number != 0;
}

template <typename Archive> void visit(Archive &archive, int &value) {
  int64_t number = value;
  archive.number(number);
  value = static_cast<int>(number);
}

template <typename Archive, typename... Fields>
void visitAll(Archive &archive, Fields &...fields);

/// A constant without its contents.
template <typename Archive> void visit(Archive &archive, Constant &constant) {
  auto &[hash, size, bytes, owner, transposition] = constant;
  visitAll(archive, hash, size);
}

/// The visits of the elements are found where they are declared, by their type.
template <typename Archive, typename T>
void visit(Archive &archive, std::vector<T> &values) {
  archive.list(values, [&](T &value) { visit(archive, value); });
}

template <typename Archive, typename... Fields>
void visitAll(Archive &archive, Fields &...fields) {
  (visit(archive, fields), ...);
}

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_SERIALIZE_H
