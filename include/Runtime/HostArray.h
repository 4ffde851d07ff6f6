//===- HostArray.h - Arrays of any element type on the host -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dense row-major host arrays that a runner passes to a compiled program and
// checks afterwards. They support every element type of kernels, exact
// conversions and reproducible contents.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HOSTARRAY_H
#define TESSERA_RUNTIME_HOSTARRAY_H

#include "Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Element types. `I1` takes a byte, 0 or 1; `Index` is a signed 64-bit number.
/// Two elements of `I4` share a byte: element i in row-major order is in byte
/// i / 2, at bit 4 * (i mod 2). An odd number of them is rounded up to a byte,
/// whose other half is zero.
enum class ElementType {
  F16,
  BF16,
  F32,
  F64,
  I1,
  I4,
  I8,
  U8,
  I16,
  I32,
  I64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  Index,
};

/// Size of a single element in bytes.
size_t elementBytes(ElementType type);
/// Size of an element within an array in bits: 4 for `I4`, else `8 *
/// elementBytes`.
size_t elementBits(ElementType type);
/// The type's name in MLIR: "f16", "i8", "ui8", "f8E4M3FN", "index".
const char *elementTypeName(ElementType type);
/// The type of that name; `InvalidArgument` lists the known ones.
Expected<ElementType> parseElementType(const std::string &name);
bool isFloat(ElementType type);

/// The value of a floating-point number given by its bits (the low
/// `8 * elementBytes` ones). Exact; NaNs keep sign and payload, and f32's
/// signalling ones become quiet.
double decodeFloat(ElementType type, uint64_t bits);

/// Returns the bits of the number of type `type` nearest to `value`, ties to
/// even. Values that are too large become infinity, or NaN in types without
/// infinity (0x7F in f8E4M3FN, 0x80 in the FNUZ types); infinities likewise. A
/// NaN stays one, with the upper bits of its payload. Zeros of the FNUZ types
/// are unsigned.
uint64_t encodeFloat(ElementType type, double value);

/// A dense array in row-major order.
struct HostArray {
  ElementType type = ElementType::F32;
  /// Empty for a scalar.
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  /// Creates an array of zeros. `InvalidArgument` for a negative dimension or a
  /// size in bytes that overflows, `OutOfMemory` if the allocation fails.
  static Expected<HostArray> create(ElementType type,
                                    std::vector<int64_t> shape);

  /// Number of elements.
  int64_t size() const;

  // Elements by their position in row-major order, which is below size().

  /// The element as a double; 64-bit integers are rounded to the nearest.
  double getDouble(int64_t index) const;
  /// The element as an integer: floating-point values are truncated towards
  /// zero and clamped to the range of int64_t; NaN becomes 0.
  int64_t getInt(int64_t index) const;
  /// Stores a value rounded to the nearest of the type, ties to even (see
  /// `encodeFloat`). Integers are clamped to the type's range, NaN becomes 0,
  /// and in `I1` any nonzero value becomes 1.
  void setDouble(int64_t index, double value);
  /// Stores an integer, rounded once for floating-point types; integer types
  /// keep the low bits, and in `I1` any nonzero value becomes 1.
  void setInt(int64_t index, int64_t value);

  /// Writes `count` elements from `first` on to `values`, as `getDouble` does.
  void toDoubles(int64_t first, int64_t count, double *values) const;
};

/// The contents of an array, as given on a command line:
///
///   int[:SEED]     small integers, in any order of summation exact
///   random[:SEED]  uniform numbers
///   iota           0, 1, 2, ...
///   zeros
///   fill:X         X everywhere
///   @FILE.npy      from a file
///   X              a number, for scalars
///
/// All but the last two may end in a shape for arrays with dynamic dimensions:
/// `int:128x64`, `int:7:128x64`, `zeros:16`, `int:128x` (one dimension, where
/// `int:128` would be a seed).
struct FillSpec {
  enum Kind { Int, Random, Iota, Zeros, Constant, Number, File };
  Kind kind = Int;
  std::optional<uint64_t> seed;
  /// The value X, and X as an integer if it is one.
  double value = 0;
  std::optional<int64_t> integer;
  std::string path;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the notation above. `InvalidArgument` lists the allowed forms.
Expected<FillSpec> parseFillSpec(const std::string &text);

/// Sets all elements of an array. `File` is only supported by `makeArray`.
/// `defaultSeed` is used if the spec has no seed; arguments of one program
/// should have different ones. The contents only depend on type, seed and
/// position: element i of `Int` and `Random` comes from output i of splitmix64.
///
///             | f16 bf16 f32 f64 f8*  | i8 i16 i32 i64 | i4      | ui8 index |
///             i1
///   Int       | -3 .. 3               | -8 .. 8        | -8 .. 7 | 0 .. 8    |
///   0, 1 Random    | [-1, 1), rounded      | -128 .. 127    | -8 .. 7 | 0 ..
///   255  | 0, 1
///
/// `Int`: two such floats multiplied are at most 9, so a sum of k such terms is
/// exact in any order as long as 9 k <= 2^24 for a sum in f32, and 9 k <= 2^11
/// for one in f16.
///
/// `Iota` restarts at 0 before the type can no longer represent consecutive
/// integers. The period is the largest prime up to that limit (f16 2039, bf16
/// 251, f8E4M3FN and f8E4M3FNUZ 13, f8E5M2 and f8E5M2FNUZ 7, f32 2^24 - 3, i4
/// 7, i8 127, ui8 251, i16 32749), so that rows of a matrix differ.
///
/// `InvalidArgument` if a constant does not fit the type, or a number is given
/// for more than one element.
Status fillArray(HostArray &array, const FillSpec &spec,
                 uint64_t defaultSeed = 0);

/// Creates and fills an array of the type and shape; a dimension of -1 is
/// dynamic and is taken from the spec or the file. `InvalidArgument` if a
/// dimension remains unknown, or shapes or types do not match.
Expected<HostArray> makeArray(ElementType type,
                              const std::vector<int64_t> &shape,
                              const FillSpec &spec, uint64_t defaultSeed = 0);

/// Loads a .npy file as an array of a type. The file must have the same type,
/// except that
///   - raw elements of 2 bytes are bf16 and raw ones of 1 byte are the fp8 type
///     asked for (see NpyArray);
///   - bf16 and fp8, which NumPy itself lacks, may come from f2, f4 or f8 and
///     are rounded;
///   - `Index` comes from i8, NumPy's name for 64-bit integers;
///   - `I4`, which NumPy lacks, comes from bytes, an element in each: signed
///   (i1) of -8 to 7, or unsigned ones (u1) of 0 to 15, and is packed. A value
///   out of range is an error that names its index.
Expected<HostArray> loadNpy(const std::string &path, ElementType type);

/// Saves an array as a .npy file; bf16 and fp8 as ml_dtypes does, `I4` as
/// signed bytes, an element in each.
Status saveNpy(const std::string &path, const HostArray &array);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_HOSTARRAY_H
