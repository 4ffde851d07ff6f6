//===- HostMemory.h - Buffers that host code accesses -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer that both host code and kernels access, where the device has memory
// of its own. Host code has the address in host memory. The block gets memory
// on the device when the first kernel receives it, and whole blocks are copied
// when the other side needs what one side may have written:
//
//   host code writes      the next launch copies the block to the device
//   a kernel receives it  the next access of host code copies it back
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HOSTMEMORY_H
#define TESSERA_LIB_RUNTIME_HOSTMEMORY_H

#include "Runtime/Device.h"

#include <cstddef>
#include <functional>
#include <map>

namespace tessera::runtime {

class HostMemory {
public:
  /// `flush` submits the work that has been recorded and not queued; it is
  /// called before each copy.
  HostMemory(Device &device, std::function<Status()> flush)
      : device(device), flush(std::move(flush)) {}
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  /// The owner of the two sides of a block.
  enum class Kind {
    /// Both are allocated here.
    Allocated,
    /// The host side is a variable of the program.
    Variable,
    /// The host side is a constant of the program, which kernels must not
    /// write.
    Constant,
    /// The device side is the caller's, and has the contents.
    OnDevice,
  };

  /// Host memory of that size, aligned to `alignment`, which is a power of two.
  /// Its contents are undefined.
  Expected<void *> allocate(size_t bytes, size_t alignment);
  /// Adds a variable or a constant of the program, unless it is known.
  void addVariable(void *host, size_t bytes, bool isConstant);
  /// Returns the host side of memory of the device, whose contents are copied
  /// when host code first accesses them.
  Expected<void *> addDevice(void *memory, size_t bytes);
  /// False if no block begins at that address in host memory, or the block is
  /// not one of `allocate`.
  bool free(void *host);

  /// The address on the device, with the contents of the host; the same address
  /// if it is not in a block.
  Expected<void *> toDevice(void *host);
  /// Makes the block at that address current in host memory; nothing if there
  /// is no block.
  Status access(const void *host, bool isWrite);
  /// Copies to the device what host code has written to blocks whose device
  /// side is not owned here, and forgets these blocks.
  Status endEntry();
  /// The block of `allocate` that has this address becomes memory of the
  /// device, which the caller frees by `base`. `base` is null for other blocks.
  struct Exported {
    void *base = nullptr, *address = nullptr;
    size_t bytes = 0;
  };
  Expected<Exported> exportBlock(void *host);

  /// The bounds of the block at an address; false if there is none.
  bool findBounds(const void *host, const char *&begin, size_t &bytes) const;
  /// Frees everything.
  void clear();

private:
  struct Block {
    size_t bytes;
    Kind kind;
    void *device = nullptr;
    /// Which side has contents that the other lacks.
    bool isHostNewer = false, isDeviceNewer = false;
  };
  using Blocks = std::map<const char *, Block>;

  Blocks::iterator find(const void *host);
  Status upload(char *host, Block &block);
  Status download(char *host, Block &block);
  void release(Blocks::iterator block);

  Device &device;
  std::function<Status()> flush;
  Blocks blocks;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HOSTMEMORY_H
