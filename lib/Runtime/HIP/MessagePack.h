//===- MessagePack.h - Reading MessagePack ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HIP_MESSAGEPACK_H
#define TESSERA_LIB_RUNTIME_HIP_MESSAGEPACK_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::runtime {

/// A value of MessagePack, with text as a part of the bytes it was read from.
/// Floating-point numbers, binary data and extensions are read past.
struct MessagePackValue {
  enum Kind { Other, Integer, String, Array, Map };
  Kind kind = Other;
  int64_t integer = 0;
  std::string_view string;
  std::vector<MessagePackValue> array;
  std::vector<std::pair<std::string_view, MessagePackValue>> map;

  /// The value of a key in a map, or null.
  const MessagePackValue *find(std::string_view key) const;
  /// The number of a key in a map; 0 if there is none.
  int64_t getInteger(std::string_view key) const;
  /// The text of a key in a map; empty if there is none.
  std::string_view getString(std::string_view key) const;
};

/// The value that begins the bytes; absent if they are cut short, nested too
/// deep, or have a map with keys other than text.
std::optional<MessagePackValue> readMessagePack(std::string_view bytes);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HIP_MESSAGEPACK_H
