//===- Npy.h - Reading and writing .npy files -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy's file format for one array, versions 1.0 and 2.0, little-endian and in
// C order (the last dimension runs fastest).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_NPY_H
#define TESSERA_RUNTIME_NPY_H

#include "Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

/// The array stored in a .npy file.
struct NpyArray {
  /// The element type in NumPy's notation, one of
  ///   "<f2" "<f4" "<f8"  "|i1" "|u1" "<i2" "<i4" "<i8"  "|b1"
  ///   "|V2" "|V1"        raw elements of 2 and 1 bytes
  /// The ml_dtypes package writes bf16 as raw elements of 2 bytes and the fp8
  /// types as ones of 1 byte, written as "<V2", "|V2", "<V1", "|V1" or "<f1".
  /// The file does not identify the type; the reader must know it.
  std::string descr;
  /// Empty for a scalar.
  std::vector<int64_t> shape;
  /// The elements, without padding.
  std::vector<std::byte> data;
  /// A note about the file for the user ("raw 2-byte elements ..."), or empty.
  std::string note;
};

/// Size of an element of type `descr` in bytes; 0 for types not listed above.
size_t npyElementBytes(const std::string &descr);

/// Reads a file. `InvalidArgument` names the file and the reason: missing, not
/// .npy, a type or byte order that is not supported, Fortran order, a shape
/// that overflows, or a data size that does not match the shape. `OutOfMemory`
/// if the data cannot be allocated.
Expected<NpyArray> readNpy(const std::string &path);

/// Writes a file (version 1.0); an existing one is replaced. `data` holds the
/// elements of the array in C order. `InvalidArgument` for an unknown `descr`
/// or a negative dimension, `Internal` when the file cannot be written.
Status writeNpy(const std::string &path, const std::string &descr,
                const std::vector<int64_t> &shape, const void *data);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NPY_H
