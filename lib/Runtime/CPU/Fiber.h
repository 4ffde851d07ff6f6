//===- Fiber.h - Cooperative threads of one workgroup -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a workgroup on the CPU. A set of fibers belongs to one thread
// of the host; a fiber runs until it yields or its body returns. Fibers and
// their stacks stay for the next workgroup, so that starting one costs no more
// than a switch.
//
// A stack has a guard page below it: running over it is a segmentation fault,
// not a silent overwrite.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_FIBER_H
#define TESSERA_LIB_RUNTIME_CPU_FIBER_H

#include <cstddef>
#include <memory>
#include <vector>

namespace tessera::runtime {

struct Fiber;

class FiberSet {
public:
  using Body = void (*)(void *argument);

  /// Stack of each fiber in bytes, guard page not counted.
  static constexpr size_t stackBytes = 256 * 1024;

  FiberSet();
  ~FiberSet();
  FiberSet(const FiberSet &) = delete;
  FiberSet &operator=(const FiberSet &) = delete;

  /// Makes fibers until there are `count`. False when the system gives no more
  /// memory mappings (two for each fiber).
  bool reserve(size_t count);
  size_t size() const { return fibers.size(); }
  /// Drops all fibers.
  void clear();

  /// The fiber at `index`, to be handed to `yield`.
  Fiber *get(size_t index) { return fibers[index].get(); }

  /// Prepares fiber `index` to run `body(argument)` at its next `resume`. A
  /// body that it has not finished is abandoned: nothing on its stack is
  /// destroyed.
  void start(size_t index, Body body, void *argument);

  /// Runs fiber `index` until it yields (false) or its body returns (true).
  bool resume(size_t index);

  /// Called on a fiber: returns control to the code that resumed it.
  static void yield(Fiber *fiber);

private:
  std::vector<std::unique_ptr<Fiber>> fibers;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_FIBER_H
