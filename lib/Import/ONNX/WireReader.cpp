//===- WireReader.cpp - The protobuf wire format --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WireReader.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"

using namespace mlir::tessera::onnx;
using llvm::StringRef;

bool WireReader::takeVarint(StringRef &bytes, uint64_t &value) {
  const uint8_t *begin = bytes.bytes_begin();
  unsigned length = 0;
  const char *error = nullptr;
  value = llvm::decodeULEB128(
      begin, &length, begin + std::min<size_t>(bytes.size(), 10), &error);
  if (error)
    return false;
  bytes = bytes.drop_front(length);
  return true;
}

bool WireReader::next(WireField &field) {
  if (rest.empty() || error)
    return false;
  uint64_t tag;
  if (!takeVarint(rest, tag) || tag >> 32 || tag >> 3 == 0)
    return fail("invalid field tag");
  field.number = static_cast<uint32_t>(tag >> 3);
  field.bytes = StringRef();
  field.value = 0;
  switch (tag & 7) {
  case WireField::Varint:
    field.kind = WireField::Varint;
    return takeVarint(rest, field.value) || fail("truncated integer");
  case WireField::Fixed64:
    field.kind = WireField::Fixed64;
    if (rest.size() < 8)
      return fail("truncated 64-bit number");
    field.value = llvm::support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    return true;
  case WireField::Fixed32:
    field.kind = WireField::Fixed32;
    if (rest.size() < 4)
      return fail("truncated 32-bit number");
    field.value = llvm::support::endian::read32le(rest.data());
    rest = rest.drop_front(4);
    return true;
  case WireField::Bytes: {
    field.kind = WireField::Bytes;
    uint64_t length;
    if (!takeVarint(rest, length))
      return fail("truncated length");
    if (length > rest.size())
      return fail("a length exceeds its message: the file is truncated or "
                  "corrupt");
    field.bytes = rest.take_front(length);
    rest = rest.drop_front(length);
    return true;
  }
  default:
    return fail("unknown wire type");
  }
}

bool WireField::appendTo(std::vector<int64_t> &values) const {
  if (kind == Varint) {
    values.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (kind != Bytes)
    return false;
  StringRef rest = bytes;
  uint64_t number;
  while (!rest.empty()) {
    if (!WireReader::takeVarint(rest, number))
      return false;
    values.push_back(static_cast<int64_t>(number));
  }
  return true;
}

bool WireField::appendTo(std::vector<float> &values) const {
  if (kind == Fixed32) {
    values.push_back(getFloat());
    return true;
  }
  if (kind != Bytes || bytes.size() % sizeof(float))
    return false;
  size_t old = values.size();
  values.resize(old + bytes.size() / sizeof(float));
  // `data` of an empty vector may be null.
  if (!bytes.empty())
    std::memcpy(values.data() + old, bytes.data(), bytes.size());
  return true;
}
