//===- MessagePack.cpp - Reading MessagePack ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the MessagePack specification (msgpack.org): a byte that names the format,
// then the data of that format, numbers big-endian.
//
//===----------------------------------------------------------------------===//

#include "MessagePack.h"

using namespace tessera::runtime;

const MessagePackValue *MessagePackValue::find(std::string_view key) const {
  for (const auto &entry : map)
    if (entry.first == key)
      return &entry.second;
  return nullptr;
}

int64_t MessagePackValue::getInteger(std::string_view key) const {
  const MessagePackValue *value = find(key);
  return value && value->kind == Integer ? value->integer : 0;
}

std::string_view MessagePackValue::getString(std::string_view key) const {
  const MessagePackValue *value = find(key);
  return value && value->kind == String ? value->string : std::string_view();
}

namespace {
class MessagePackReader {
public:
  explicit MessagePackReader(std::string_view bytes) : rest(bytes) {}

  bool read(MessagePackValue &value, int depth);

private:
  bool takeNumber(unsigned bytes, uint64_t &number);
  bool takeText(uint64_t count, std::string_view &text);
  bool readInteger(unsigned bytes, bool isSigned, MessagePackValue &value);
  bool readString(uint64_t count, MessagePackValue &value);
  bool readArray(uint64_t count, MessagePackValue &value, int depth);
  bool readMap(uint64_t count, MessagePackValue &value, int depth);

  std::string_view rest;
};
} // namespace

bool MessagePackReader::takeNumber(unsigned bytes, uint64_t &number) {
  if (rest.size() < bytes)
    return false;
  number = 0;
  for (unsigned index = 0; index < bytes; ++index)
    number = number << 8 | static_cast<uint8_t>(rest[index]);
  rest.remove_prefix(bytes);
  return true;
}

bool MessagePackReader::takeText(uint64_t count, std::string_view &text) {
  if (rest.size() < count)
    return false;
  text = rest.substr(0, count);
  rest.remove_prefix(count);
  return true;
}

bool MessagePackReader::readInteger(unsigned bytes, bool isSigned,
                                    MessagePackValue &value) {
  uint64_t number = 0;
  if (!takeNumber(bytes, number))
    return false;
  value.kind = MessagePackValue::Integer;
  unsigned shift = 64 - 8 * bytes;
  value.integer = isSigned ? static_cast<int64_t>(number << shift) >> shift
                           : static_cast<int64_t>(number);
  return true;
}

bool MessagePackReader::readString(uint64_t count, MessagePackValue &value) {
  value.kind = MessagePackValue::String;
  return takeText(count, value.string);
}

bool MessagePackReader::readArray(uint64_t count, MessagePackValue &value,
                                  int depth) {
  value.kind = MessagePackValue::Array;
  for (uint64_t index = 0; index < count; ++index)
    if (!read(value.array.emplace_back(), depth))
      return false;
  return true;
}

bool MessagePackReader::readMap(uint64_t count, MessagePackValue &value,
                                int depth) {
  value.kind = MessagePackValue::Map;
  for (uint64_t index = 0; index < count; ++index) {
    MessagePackValue key;
    if (!read(key, depth) || key.kind != MessagePackValue::String)
      return false;
    value.map.emplace_back(key.string, MessagePackValue());
    if (!read(value.map.back().second, depth))
      return false;
  }
  return true;
}

bool MessagePackReader::read(MessagePackValue &value, int depth) {
  uint64_t format = 0, count = 0;
  if (depth == 0 || !takeNumber(1, format))
    return false;
  --depth;
  if (format <= 0x7F || format >= 0xE0) {
    value.kind = MessagePackValue::Integer;
    // A byte with a sign.
    value.integer = static_cast<int64_t>(format) - (format <= 0x7F ? 0 : 0x100);
    return true;
  }
  if (format <= 0x8F)
    return readMap(format & 0xF, value, depth);
  if (format <= 0x9F)
    return readArray(format & 0xF, value, depth);
  if (format <= 0xBF)
    return readString(format & 0x1F, value);
  std::string_view skipped;
  // Formats of one kind follow each other, each twice as wide as the last.
  auto width = [&](uint64_t first) { return 1u << (format - first); };
  switch (format) {
  case 0xC0: // nil, false, true
  case 0xC2:
  case 0xC3:
    return true;
  case 0xC4: // binary
  case 0xC5:
  case 0xC6:
    return takeNumber(width(0xC4), count) && takeText(count, skipped);
  case 0xC7: // extension: its length, its type, itself
  case 0xC8:
  case 0xC9:
    return takeNumber(width(0xC7), count) && takeText(1, skipped) &&
           takeText(count, skipped);
  case 0xCA: // floating-point numbers
    return takeText(4, skipped);
  case 0xCB:
    return takeText(8, skipped);
  case 0xCC:
  case 0xCD:
  case 0xCE:
  case 0xCF:
    return readInteger(width(0xCC), /*isSigned=*/false, value);
  case 0xD0:
  case 0xD1:
  case 0xD2:
  case 0xD3:
    return readInteger(width(0xD0), /*isSigned=*/true, value);
  case 0xD4: // extension of fixed length, with its type
  case 0xD5:
  case 0xD6:
  case 0xD7:
  case 0xD8:
    return takeText(1 + width(0xD4), skipped);
  case 0xD9:
  case 0xDA:
  case 0xDB:
    return takeNumber(width(0xD9), count) && readString(count, value);
  case 0xDC:
  case 0xDD:
    return takeNumber(2 * width(0xDC), count) && readArray(count, value, depth);
  case 0xDE:
  case 0xDF:
    return takeNumber(2 * width(0xDE), count) && readMap(count, value, depth);
  default:
    return false;
  }
}

std::optional<MessagePackValue>
tessera::runtime::readMessagePack(std::string_view bytes) {
  constexpr int maxDepth = 16;
  MessagePackValue value;
  if (!MessagePackReader(bytes).read(value, maxDepth))
    return std::nullopt;
  return value;
}
