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
  /// Used by the runtime.
  void *thread;
};

/// A kernel. `args` holds for each argument the address of its value.
typedef void (*tessera_cpu_kernel)(void **args,
                                   const struct tessera_workgroup *workgroup);

/// Waits until every thread of the workgroup has come to a barrier. When some
/// thread ends its kernel without coming to it, the launch fails. Does nothing
/// in a workgroup of one thread.
void tessera_cpu_barrier(const struct tessera_workgroup *workgroup);

//===----------------------------------------------------------------------===//
// Kernels that emulate a chip with lanes
//===----------------------------------------------------------------------===//
//
// Threads with consecutive linear numbers (x fastest) are the lanes of a
// subgroup. What lanes do together is a meeting: each lane waits until all have
// come to it. When one cannot come, because it ended, waits at a barrier or at
// another meeting, the launch fails. `place` says in messages what is met for
// and where ("the product mma.m16n8k16.f32.f16 at matmul.mlir:5:3"); lanes meet
// if theirs is the same.

/// The element types of a matrix instruction. Signless integers have a sign
/// where they are operands, unless the name begins with U. TF32: f32 of which
/// the last 13 bits are rounded off (to nearest, ties away from zero).
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
  /// Of `tessera_number_type`.
  int32_t aType, bType, accType;
  /// Of a lane's number, and of a register's in each operand.
  int32_t laneBits, aRegisterBits, bRegisterBits, accRegisterBits;
  int32_t steps[][2];
};

/// One matrix instruction: each lane hands over its registers, side by side as
/// in memory, and finds its accumulators in `acc`. Products and sums are in f32
/// (f64 where the accumulator is; 32-bit integers that wrap), in the order of
/// k from the accumulator on, rounded to the accumulator's type at the end.
/// Lanes that hold the same element of a, b or acc must agree about it.
void tessera_cpu_mma(const struct tessera_workgroup *workgroup,
                     const struct tessera_matrix_instruction *instruction,
                     const char *place, const void *a, const void *b,
                     void *acc);

/// `value` of lane `lane` of this subgroup of `lanes`. From a lane that the
/// workgroup has not: all bits set.
int64_t tessera_cpu_shuffle(const struct tessera_workgroup *workgroup,
                            const char *place, int64_t value, int32_t lane,
                            int32_t lanes);

/// An asynchronous copy of `bytes` bytes, of which the first `count` are read
/// and the rest set to zero. It takes place when it is waited for: until then
/// all bits of the target are set.
void tessera_cpu_async_copy(const struct tessera_workgroup *workgroup,
                            void *target, const void *source, int64_t bytes,
                            int64_t count);
/// Makes a group of this thread's asynchronous copies since the group before.
void tessera_cpu_async_commit(const struct tessera_workgroup *workgroup);
/// Waits until at most the last `pending` groups of this thread's are in
/// flight.
void tessera_cpu_async_wait(const struct tessera_workgroup *workgroup,
                            int64_t pending);

/// Checks an access to memory of `bytes` bytes: that it is aligned to
/// `alignment`, and, where `inWorkgroup` is not 0, that it is within the
/// workgroup's memory. Where it is not, the launch fails, and the thread does
/// not go on (but in a workgroup of one thread).
void tessera_cpu_access(const struct tessera_workgroup *workgroup,
                        const char *place, const void *address, int64_t bytes,
                        int64_t alignment, int64_t inWorkgroup);

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming)

#endif // TESSERA_RUNTIME_CPUKERNEL_H
