//===- LibraryPeer.h - The vendor's library on a task -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries are slow in some layouts, or have none for some types: cuBLASLt
// takes 8-bit floats only where both operands are stored along K. The library
// is therefore measured in the layout of the operands that it is fastest in,
// with operands that are stored so before.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TUNING_WORKER_LIBRARYPEER_H
#define TESSERA_TUNING_WORKER_LIBRARYPEER_H

#include "Runtime/VendorLibrary.h"
#include "Tuning/Worker/Workbench.h"

#include <functional>

namespace tessera::tuning {

class LibraryPeer {
public:
  using Prepare =
      std::function<runtime::Expected<std::unique_ptr<runtime::VendorLibrary>>(
          const runtime::LibraryMatmul &)>;
  /// The milliseconds of what `queue` queues, with cold caches.
  using Measure = std::function<runtime::Expected<double>(
      const std::function<runtime::Status()> &queue)>;

  /// `data` is that of the task, whose first two arguments are the operands and
  /// whose last one is the result.
  LibraryPeer(runtime::Device &device, TaskData &data, Prepare prepare,
              Measure measure)
      : device(device), data(data), prepare(std::move(prepare)),
        measure(std::move(measure)) {}
  ~LibraryPeer();
  LibraryPeer(const LibraryPeer &) = delete;
  LibraryPeer &operator=(const LibraryPeer &) = delete;

  /// Tries the task's own layout and the three others, compares the results
  /// with `expected`, and keeps the fastest layout whose results are equal.
  /// Returns why there is none: the reason of the task's own layout.
  std::string choose(const runtime::LibraryMatmul &matmul,
                     const std::vector<runtime::HostArray> &expected);
  /// Whether `choose` found a layout.
  explicit operator bool() const { return library != nullptr; }
  /// "cuBLASLt 13.0.2", and the operands that are not stored as the task's:
  /// "cuBLASLt 13.0.2 (B transposed)".
  const std::string &getName() const { return name; }
  /// The milliseconds of one run.
  runtime::Expected<double> time();

private:
  /// Times a layout in `rounds` runs after a first one whose results are
  /// compared. The least time; an error if it is not possible.
  runtime::Expected<double>
  tryLayout(const runtime::LibraryMatmul &matmul,
            const std::vector<runtime::HostArray> &expected);
  /// An operand of the task stored the other way round, or null for one that is
  /// not dense.
  void *transpose(size_t index, int64_t rows, int64_t columns);

  runtime::Device &device;
  TaskData &data;
  Prepare prepare;
  Measure measure;
  std::unique_ptr<runtime::VendorLibrary> library;
  std::string name;
  /// The operands of the layout in use, and those that are transposed.
  void *operands[2] = {nullptr, nullptr};
  void *transposed[2] = {nullptr, nullptr};
};

} // namespace tessera::tuning

#endif // TESSERA_TUNING_WORKER_LIBRARYPEER_H
