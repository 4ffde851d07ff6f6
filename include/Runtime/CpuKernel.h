//===- CpuKernel.h - How compiled code runs on the CPU device ---*- C++ -*-===//
//
// The contract between kernels compiled for the CPU and the CPU device. It is
// plain C and stable: code generation relies on the order of the fields.
//
// A kernel is called once for each thread of each workgroup. Threads of one
// workgroup run one after the other on one thread of the host, each as far as
// its next barrier; workgroups run in parallel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CPUKERNEL_H
#define TESSERA_RUNTIME_CPUKERNEL_H

#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming)

#ifdef __cplusplus
extern "C" {
#endif

/// What a kernel is told about the thread that it runs as. All arrays are in
/// the order x, y, z.
struct tessera_workgroup {
  int64_t blockId[3];
  int64_t gridDim[3];
  int64_t blockDim[3];
  int64_t threadId[3];
  /// The workgroup's dynamic workgroup memory, aligned to 64 bytes; null when
  /// the launch asked for none. Its contents are undefined at the start.
  void *workgroupMemory;
  /// Used by the runtime; null in a workgroup of one thread.
  void *fiber;
};

/// A kernel. `args` holds for each argument the address of its value.
typedef void (*tessera_cpu_kernel)(void **args,
                                   const struct tessera_workgroup *workgroup);

/// Waits until every thread of the workgroup has come to a barrier. When some
/// thread ends its kernel without coming to it, the launch fails. Does nothing
/// in a workgroup of one thread.
void tessera_cpu_barrier(const struct tessera_workgroup *workgroup);

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming)

#endif // TESSERA_RUNTIME_CPUKERNEL_H
