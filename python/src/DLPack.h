//===- DLPack.h - The C structures of DLPack --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of DLPack 1's structures, and of the table of functions that a
// package attaches to its array type as `__dlpack_c_exchange_api__` (DLPack
// 1.2, PyTorch 2.10): with it an array is read without a call of Python.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_DLPACK_H
#define TESSERA_PYTHON_DLPACK_H

#include <cstdint>

namespace tessera_python::dlpack {

/// DLPack's kinds of devices.
enum DeviceKind : int32_t {
  CPU = 1,
  CUDA = 2,
  CUDAHost = 3,
  ROCm = 10,
  ROCmHost = 11,
};

struct Device {
  int32_t kind;
  int32_t ordinal;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t *shape;
  /// In elements; null before DLPack 1.2 if the array is dense.
  int64_t *strides;
  uint64_t byteOffset;
};

struct Version {
  uint32_t major, minor;
};

struct ManagedTensor;

struct ExchangeHeader {
  Version version;
  /// The table of an older version, or null.
  const ExchangeHeader *previous;
};

/// The functions return 0, or -1 with a Python exception set.
struct ExchangeTable {
  ExchangeHeader header;
  int (*allocate)(Tensor *prototype, ManagedTensor **out, void *context,
                  void (*setError)(void *context, const char *kind,
                                   const char *text));
  int (*managedFromObject)(void *object, ManagedTensor **out);
  int (*managedToObject)(ManagedTensor *tensor, void **object);
  /// Describes an array that the caller keeps alive, without a reference. May
  /// be null.
  int (*tensorFromObject)(void *object, Tensor *out);
  int (*currentStream)(DeviceKind kind, int32_t ordinal, void **stream);
};

} // namespace tessera_python::dlpack

#endif // TESSERA_PYTHON_DLPACK_H
