//===- Results.h - The results of a call ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_RESULTS_H
#define TESSERA_PYTHON_RESULTS_H

#include "Arrays.h"
#include "Objects.h"

#include <exception>
#include <memory>
#include <vector>

namespace tessera_python {

/// A list of fixed length; a short one needs no allocation.
template <typename T> class List {
public:
  explicit List(size_t count) : count(count) {
    if (count > kFew)
      many = std::make_unique<T[]>(count);
  }
  T *data() { return many ? many.get() : few; }
  size_t size() const { return count; }
  const T *data() const { return many ? many.get() : few; }
  T &operator[](size_t index) { return data()[index]; }
  const T &operator[](size_t index) const { return data()[index]; }
  T *begin() { return data(); }
  T *end() { return data() + count; }

private:
  static constexpr size_t kFew = 6;
  size_t count;
  T few[kFew];
  std::unique_ptr<T[]> many;
};

/// A scalar's value.
struct Scalar {
  alignas(8) char bytes[8] = {};
};

/// Returns the product of sizes.
int64_t countElements(const int64_t *sizes, size_t rank);

/// The device that a call runs on, and the caller's stream.
struct CallPlace {
  /// DLPack's CPU if results are returned on the host.
  dlpack::DeviceKind device;
  int ordinal;
  /// A stream that is not the current one of the arguments' package, or null.
  nb::handle stream;
};

/// The shapes of the results of a call, as far as they are known before it.
struct KnownShape {
  Shape shape;
  std::vector<int64_t> sizes;
};
using KnownShapes = std::shared_ptr<const std::vector<KnownShape>>;

/// The results of one call. On a device, they are memory of the allocator of
/// the package `kind`: PyTorch's caching allocator or CuPy's pool. A result
/// whose shape is known is allocated before the run, others when the program
/// asks for them. Without a package they are Tessera's memory, and exchanged by
/// DLPack.
class Results {
public:
  Results(const std::vector<Slot> &slots, KnownShapes shapes, ArrayKind kind,
          const CallPlace &position);
  ~Results();
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  TesseraResult *data() { return wanted.data(); }
  size_t size() const { return slots.size(); }
  /// The allocator to run with, or null.
  const TesseraAllocator *getAllocator() const {
    return usesAllocator ? &allocator : nullptr;
  }
  /// Throws the exception of the package's allocator, if it failed.
  void rethrow() const;

  /// The sizes of a result after the run.
  const Dims &getSizes(size_t index) { return results[index].sizes; }
  /// Returns the results as Python's: None, one, or a tuple of them.
  nb::object finish();

private:
  struct Result {
    /// The array that the program writes, and its first element.
    nb::object array;
    void *data = nullptr;
    /// Set by the run.
    Dims sizes;
    Scalar scalar;
  };

  static void *allocate(void *context, const TesseraAllocation *request);
  static void release(void *context, void *memory,
                      const TesseraAllocation *request);
  void make(size_t index, const Shape &shape);
  bool hasArrayOfSizes(size_t index, const int64_t *sizes) const;
  nb::object finish(size_t index);

  const std::vector<Slot> &slots;
  KnownShapes shapes;
  ArrayKind kind;
  CallPlace position;
  List<Result> results;
  List<TesseraResult> wanted;
  bool usesAllocator = false;
  TesseraAllocator allocator;
  std::exception_ptr failure;
};

} // namespace tessera_python

#endif // TESSERA_PYTHON_RESULTS_H
