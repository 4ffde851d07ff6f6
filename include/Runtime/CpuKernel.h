//===- CpuKernel.h - ABI of kernels on the CPU device ------*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between kernels compiled for the CPU and the CPU device. It is
// plain C and stable: code generation relies on the order of the fields.
//
// A kernel is called once for each thread of each workgroup. The threads of one
// workgroup run in turn on one host thread, each up to its next barrier;
// workgroups run in parallel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CPUKERNEL_H
#define TESSERA_RUNTIME_CPUKERNEL_H

#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming)

#ifdef __cplusplus
extern "C" {
#endif

/// The execution context that a kernel receives for its thread. All arrays are
/// in the order x, y, z.
struct tessera_workgroup {
  int64_t blockId[3];
  int64_t gridDim[3];
  int64_t blockDim[3];
  int64_t threadId[3];
  /// The workgroup's dynamic workgroup memory, aligned to 64 bytes; null if the
  /// launch requested none. Its initial contents are undefined.
  void *workgroupMemory;
  /// Used by the runtime.
  void *thread;
};

/// A kernel. `args` contains the address of each argument's value.
typedef void (*tessera_cpu_kernel)(void **args,
                                   const struct tessera_workgroup *workgroup);

/// Waits until every thread of the workgroup has reached a barrier. If a thread
/// ends its kernel without reaching it, the launch fails. Does nothing in a
/// workgroup of one thread.
void tessera_cpu_barrier(const struct tessera_workgroup *workgroup);

/// Ends the launch with the error that the assertion `text` failed. The thread
/// does not continue (except in a workgroup of one thread).
void tessera_cpu_assert(const struct tessera_workgroup *workgroup,
                        const char *text);

/// Prints by a format of C, unless the thread has failed. `types` has a letter
/// for each of the `values`: i for an integer, f for the bits of an f64. A
/// conversion without a value of its kind is printed unchanged.
void tessera_cpu_print(const struct tessera_workgroup *workgroup,
                       const char *text, const char *types,
                       const int64_t *values);

//===----------------------------------------------------------------------===//
// Kernels that emulate a chip with lanes
//===----------------------------------------------------------------------===//
//
// Threads with consecutive linear numbers (x fastest) are the lanes of a
// subgroup. A collective operation is a meeting: each lane waits until all
// lanes have reached it. If a lane cannot reach it, because it ended or waits
// at a barrier or at another meeting, the launch fails. `location` names the
// operation and its location in messages ("the matmul mma.m16n8k16.f32.f16 at
// matmul.mlir:5:3"); lanes meet if they pass the same `location`.

/// The element types of a matrix instruction. Signless integer operands are
/// signed, unless the name begins with U. TF32 is f32 with the last 13 bits
/// rounded off (to nearest, ties away from zero).
enum tessera_number_type {
  TESSERA_F16,
  TESSERA_BF16,
  TESSERA_F32,
  TESSERA_TF32,
  TESSERA_F64,
  TESSERA_F8E4M3FN,
  TESSERA_F8E5M2,
  TESSERA_F8E4M3FNUZ,
  TESSERA_F8E5M2FNUZ,
  TESSERA_I4,
  TESSERA_U4,
  TESSERA_I8,
  TESSERA_U8,
  TESSERA_I32,
};

/// acc[m, n] += a[m, k] * b[k, n] on the registers of `lanes` lanes, followed
/// by the lane maps of a, b and acc: for each the steps (row, column) of the
/// lane's bits, then those of the register's.
struct tessera_matrix_instruction {
  int32_t m, n, k;
  /// Values of `tessera_number_type`.
  int32_t aType, bType, accType;
  /// The number of bits of a lane number, and of a register number in each
  /// operand.
  int32_t laneBits, aRegisterBits, bRegisterBits, accRegisterBits;
  int32_t steps[][2];
};

/// Executes one matrix instruction: each lane passes its registers, contiguous
/// in memory, and receives its accumulators in `acc`. Multiplications and
/// additions are performed in f32 (f64 if the accumulator is f64; wrapping
/// 32-bit integers for integers), in the order of k starting with the
/// accumulator, and rounded to the accumulator's type at the end. Lanes that
/// hold the same element of a, b or acc must hold the same value.
void tessera_cpu_mma(const struct tessera_workgroup *workgroup,
                     const struct tessera_matrix_instruction *instruction,
                     const char *location, const void *a, const void *b,
                     void *acc);

/// Returns the `value` of lane `lane` of this subgroup of `lanes`; all bits set
/// if the workgroup does not have that lane.
int64_t tessera_cpu_shuffle(const struct tessera_workgroup *workgroup,
                            const char *location, int64_t value, int32_t lane,
                            int32_t lanes);

/// Starts an asynchronous copy of `bytes` bytes, of which the first `count` are
/// read and the rest set to zero. The copy is performed by the wait; until then
/// all bits of the destination are set.
void tessera_cpu_async_copy(const struct tessera_workgroup *workgroup,
                            void *target, const void *source, int64_t bytes,
                            int64_t count);
/// Commits this thread's asynchronous copies since the previous group as a
/// group.
void tessera_cpu_async_commit(const struct tessera_workgroup *workgroup);
/// Waits until at most the last `pending` groups of this thread are in flight.
void tessera_cpu_async_wait(const struct tessera_workgroup *workgroup,
                            int64_t pending);

/// Checks an access to memory of `bytes` bytes: that it is aligned to
/// `alignment`, and, where `inWorkgroup` is not 0, that it is within the
/// workgroup's memory. Otherwise the launch fails, and the thread does not
/// continue (except in a workgroup of one thread).
void tessera_cpu_access(const struct tessera_workgroup *workgroup,
                        const char *location, const void *address,
                        int64_t bytes, int64_t alignment, int64_t inWorkgroup);

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming)

#endif // TESSERA_RUNTIME_CPUKERNEL_H
