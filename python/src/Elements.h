//===- Elements.h - Element types and their names ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_ELEMENTS_H
#define TESSERA_PYTHON_ELEMENTS_H

#include "tessera-c/Runtime.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace tessera_python {

/// An element type as DLPack has it.
struct ElementCode {
  uint8_t code, bits;

  bool operator==(const ElementCode &other) const {
    return code == other.code && bits == other.bits;
  }
  bool operator!=(const ElementCode &other) const { return !(*this == other); }
};

struct Element {
  /// The name in MLIR, and NumPy's (ml_dtypes' where NumPy has none).
  const char *mlir, *numpy;
  ElementCode code;
};

constexpr ElementCode kInt4Code = {0, 4}, kUint8Code = {1, 8};

/// By the numbers of TesseraElementType.
inline constexpr std::array<Element, TESSERA_U64 + 1> kElements = {{
    {"f16", "float16", {2, 16}},
    {"bf16", "bfloat16", {4, 16}},
    {"f32", "float32", {2, 32}},
    {"f64", "float64", {2, 64}},
    {"i1", "bool", {6, 8}},
    {"i4", "int4", kInt4Code},
    {"i8", "int8", {0, 8}},
    {"ui8", "uint8", kUint8Code},
    {"i16", "int16", {0, 16}},
    {"i32", "int32", {0, 32}},
    {"i64", "int64", {0, 64}},
    {"f8E4M3FN", "float8_e4m3fn", {10, 8}},
    {"f8E5M2", "float8_e5m2", {12, 8}},
    {"f8E4M3FNUZ", "float8_e4m3fnuz", {11, 8}},
    {"f8E5M2FNUZ", "float8_e5m2fnuz", {13, 8}},
    {"index", "int64", {0, 64}},
    {"ui16", "uint16", {1, 16}},
    {"ui32", "uint32", {1, 32}},
    {"ui64", "uint64", {1, 64}},
}};

/// The element type of a NumPy name; no element's code if there is none.
inline ElementCode findElement(std::string_view numpyName) {
  for (const Element &element : kElements)
    if (numpyName == element.numpy)
      return element.code;
  return {255, 0};
}

} // namespace tessera_python

#endif // TESSERA_PYTHON_ELEMENTS_H
