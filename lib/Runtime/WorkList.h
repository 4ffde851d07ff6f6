//===- WorkList.h - The work of a run ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launches and copies of a run, recorded in order instead of being queued,
// and a graph of the driver's that was made of such a list.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_WORKLIST_H
#define TESSERA_LIB_RUNTIME_WORKLIST_H

#include "Runtime/Device.h"

#include <vector>

namespace tessera::runtime {

class WorkList {
public:
  /// A launch, or without a kernel a copy on the device.
  struct Step {
    LoadedKernel *kernel = nullptr;
    int64_t grid[3] = {}, block[3] = {};
    int64_t workgroupBytes = 0;
    /// The first one of a run: it begins when all earlier work has ended.
    bool isFirst = false;
    /// Its arguments, among those of all steps.
    size_t firstArgument = 0, numArguments = 0;
    void *to = nullptr;
    const void *from = nullptr;
    size_t bytes = 0;
  };

  void clear();
  /// The steps that are added from now on belong to another run.
  void beginRun() { isNewRun = true; }
  /// Copies the values of the arguments, whose sizes in bytes these are.
  void addLaunch(LoadedKernel &kernel, const LaunchRequest &request,
                 const int64_t *sizes);
  void addCopy(void *to, const void *from, size_t bytes);

  size_t size() const { return steps.size(); }
  const Step &getStep(size_t index) const { return steps[index]; }
  /// The launch of a step, on a device with so many compute units. Its pointers
  /// are valid until the list changes.
  LaunchRequest getLaunch(size_t index, int64_t units);

  /// Whether another list has the same kernels and copies in the same order,
  /// with arguments of the same sizes.
  bool hasStructureOf(const WorkList &other) const;
  /// Whether a step equals that of a list with the same structure.
  bool isSameStep(const WorkList &other, size_t index) const;
  /// Takes over a step of a list with the same structure.
  void copyStep(const WorkList &other, size_t index);

private:
  struct Argument {
    size_t offset, bytes;
    bool operator==(const Argument &other) const {
      return offset == other.offset && bytes == other.bytes;
    }
  };
  /// Arguments are aligned as tensor maps have to be.
  struct alignas(tensorMapAlignment) Line {
    char bytes[tensorMapAlignment];
  };

  char *getValue(const Argument &argument) {
    return reinterpret_cast<char *>(values.data()) + argument.offset;
  }
  const char *getValue(const Argument &argument) const {
    return reinterpret_cast<const char *>(values.data()) + argument.offset;
  }

  std::vector<Step> steps;
  std::vector<Argument> arguments;
  std::vector<Line> values;
  size_t usedBytes = 0;
  bool isNewRun = true;
  /// The addresses of the arguments of the step that was asked for last.
  std::vector<void *> addresses;
};

/// A graph that submits the steps of a list as one.
struct WorkGraph {
  /// The driver's objects: the graph, what it was instantiated to, and the node
  /// of each step.
  void *graph = nullptr, *instance = nullptr;
  std::vector<void *> nodes;
  /// Launches that need not wait for the end of the kernel before.
  uint64_t overlaps = 0;
  /// The steps that the instance has at present.
  WorkList work;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_WORKLIST_H
