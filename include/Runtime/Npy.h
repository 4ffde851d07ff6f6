//===- Npy.h - Reading and writing .npy files -------------------*- C++ -*-===//
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

/// An array as a .npy file holds it.
struct NpyArray {
  /// The element type in NumPy's notation, one of
  ///   "<f2" "<f4" "<f8"  "|i1" "|u1" "<i2" "<i4" "<i8"  "|b1"
  ///   "|V2" "|V1"        raw elements of 2 and 1 bytes
  /// The ml_dtypes package writes bf16 as raw elements of 2 bytes and the fp8
  /// types as ones of 1 byte, spelled "<V2", "|V2", "<V1", "|V1" or "<f1". The
  /// file does not say which type they are: the reader has to know.
  std::string descr;
  /// Empty for a scalar.
  std::vector<int64_t> shape;
  /// The elements, without padding.
  std::vector<std::byte> data;
  /// Something to tell the user about the file ("raw 2-byte elements ..."), or
  /// empty.
  std::string note;
};

/// Bytes of an element of type `descr`; 0 for one not listed above.
size_t npyElementBytes(const std::string &descr);

/// Reads a file. `InvalidArgument` names the file and what is wrong: not there,
/// no .npy, a type or byte order that is not supported, Fortran order, a shape
/// that overflows, or more or less data than the shape needs. `OutOfMemory`
/// when there is no memory for the data.
Expected<NpyArray> readNpy(const std::string &path);

/// Writes a file (version 1.0); an existing one is replaced. `data` holds the
/// elements of the array in C order. `InvalidArgument` for an unknown `descr`
/// or a negative dimension, `Internal` when the file cannot be written.
Status writeNpy(const std::string &path, const std::string &descr,
                const std::vector<int64_t> &shape, const void *data);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NPY_H
