/*===- tessera-c/Runtime.h - Running compiled programs ------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What is here is in both libraries: libtessera, which compiles, and         *|
|* libtessera-runtime, which needs no LLVM.                                   *|
|*                                                                            *|
|*     TesseraDevice *device;                                                 *|
|*     TesseraProgram *program;                                               *|
|*     TesseraExecutable *executable;                                         *|
|*     tesseraDeviceOpen("cuda", 0, &device);                                 *|
|*     tesseraProgramLoad(bytes, size, &program);                             *|
|*     tesseraExecutableCreate(program, "main", device, &executable);         *|
|*     tesseraExecutableRun(executable, arguments, 3, NULL, 0, &run);         *|
|*                                                                            *|
|* Every function that can fail returns a code; `tesseraGetLastError` has the *|
|* text. Nothing prints, nothing exits, nothing throws.                       *|
|*                                                                            *|
|* Threads: all functions may be called by any thread at any time. Calls that *|
|* concern one device wait for each other, except for runs of different       *|
|* executables in queues of the caller (`tesseraExecutableRun`); separate     *|
|* devices, even of the same hardware, are independent. An object is not      *|
|* destroyed while another thread uses it.                                    *|
|*                                                                            *|
|* Stability: structures that may grow begin with their size, and grow behind *|
|* the last field; TesseraArgument and TesseraResult, of which there are      *|
|* arrays, stay as they are. TESSERA_ABI_VERSION changes when something       *|
|* breaks.                                                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TESSERA_C_RUNTIME_H
#define TESSERA_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_ABI_VERSION 1

#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

/*===----------------------------------------------------------------------===*\
|* Errors                                                                     *|
\*===----------------------------------------------------------------------===*/

typedef enum TesseraStatus {
  TESSERA_OK = 0,
  /* The device, or the driver that it requires, does not exist on this machine.
   */
  TESSERA_NO_DEVICE = 1,
  /* Not enough free memory; the text contains both sizes. */
  TESSERA_OUT_OF_MEMORY = 2,
  /* The driver rejected a kernel, or the system rejected the host code; the
     text contains its message. */
  TESSERA_REJECTED = 3,
  /* A launch was rejected, or a kernel failed while it ran. After the latter
     the device is unusable. */
  TESSERA_LAUNCH_FAILED = 4,
  /* An argument is invalid; the text names it and the fix. */
  TESSERA_INVALID_ARGUMENT = 5,
  /* Any other error. */
  TESSERA_INTERNAL = 6,
  /* The program does not compile; the text contains all diagnostics. */
  TESSERA_COMPILE_ERROR = 7
} TesseraStatus;

/* Returns the name of a status, such as "TESSERA_NO_DEVICE". */
TESSERA_API const char *tesseraStatusName(TesseraStatus status);

/* Returns the text of the calling thread's last failure: one line, followed by
   the messages of a driver or the compiler. It is valid until the thread's next
   failure; empty if there was none. */
TESSERA_API const char *tesseraGetLastError(void);

/* Returns the TESSERA_ABI_VERSION of the library. */
TESSERA_API int tesseraGetAbiVersion(void);
/* Returns the version of the library, such as "0.1.0". */
TESSERA_API const char *tesseraGetVersion(void);

/*===----------------------------------------------------------------------===*\
|* Devices                                                                    *|
\*===----------------------------------------------------------------------===*/

typedef struct TesseraDevice TesseraDevice;

/* Properties of a device. All strings are valid as long as the device; those
   from `tesseraDeviceList` until the list is freed. */
typedef struct TesseraDeviceInfo {
  size_t structSize;
  /* "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero". */
  const char *target;
  /* The chip that programs are compiled for: "sm_90a". */
  const char *chip;
  /* The vendor's name of the device. */
  const char *name;
  /* The driver, with its version. */
  const char *driver;
  /* Position among the devices of the target, from 0. */
  int ordinal;
  /* 1 for a software device. */
  int isSoftware;
  /* Memory size in bytes. */
  size_t memoryBytes;
  int computeUnits;
  int subgroupSize;
} TesseraDeviceInfo;

/* Lists the devices of this machine, best first; those of one target unless
   `target` is "auto". `*devices` is an array of `*count` elements that the
   caller must free with `tesseraDeviceListFree`. */
TESSERA_API TesseraStatus tesseraDeviceList(const char *target,
                                            TesseraDeviceInfo **devices,
                                            size_t *count);
TESSERA_API void tesseraDeviceListFree(TesseraDeviceInfo *devices);

/* Opens a device of a target, or the best one with "auto". On CUDA it uses the
   primary context of the device, as the CUDA runtime and PyTorch do. */
TESSERA_API TesseraStatus tesseraDeviceOpen(const char *target, int ordinal,
                                            TesseraDevice **device);
/* The caller's handles on which a device is opened. The fields for each target:
     "opencl"      context: cl_context; device: cl_device_id of it.
     "level-zero"  context: ze_context_handle_t; device: ze_device_handle_t of
                   it, as zeDeviceGet lists it.
     "vulkan"      instance: VkInstance, for Vulkan 1.3; physicalDevice:
                   VkPhysicalDevice; device: VkDevice; createInfo: the
                   VkDeviceCreateInfo that it was created with, which need not
                   outlive the call; queueFamily, queueIndex: the device's own
                   queue, which must support compute. While a call runs, no
                   other thread may use that queue or the queue of the run.
                   getInstanceProcAddr: the loader's vkGetInstanceProcAddr, or
                   null for the one of libvulkan.so.1.
   Fields that a target does not use must be null. */
typedef struct TesseraNativeDevice {
  size_t structSize;
  const char *target;
  void *context;
  void *device;
  void *instance;
  void *physicalDevice;
  const void *createInfo;
  uint32_t queueFamily;
  uint32_t queueIndex;
  void *getInstanceProcAddr;
} TesseraNativeDevice;

/* Opens a device on the caller's handles, which must outlive all uses of the
   device. Memory and queues of that context may then be passed to runs. The
   device creates its own queue in the context, except on Vulkan.
   TESSERA_INVALID_ARGUMENT for inconsistent handles, and for targets that do
   not support this; the text contains the fix. */
TESSERA_API TesseraStatus tesseraDeviceOpenNative(
    const TesseraNativeDevice *native, TesseraDevice **device);

/* Closes a device once no executable or buffer uses it any more. Null is
   ignored, as in all functions that release an object. */
TESSERA_API void tesseraDeviceClose(TesseraDevice *device);

/* Fills in `*info`, whose `structSize` the caller must set. */
TESSERA_API TesseraStatus tesseraDeviceGetInfo(TesseraDevice *device,
                                               TesseraDeviceInfo *info);

/* Waits for all work in the device's own queue, and reports errors of its
   kernels that were not reported before. */
TESSERA_API TesseraStatus tesseraDeviceSynchronize(TesseraDevice *device);

/*===----------------------------------------------------------------------===*\
|* Memory of the device                                                       *|
\*===----------------------------------------------------------------------===*/

typedef struct TesseraBuffer TesseraBuffer;

/* Allocates memory, aligned to 256 bytes, with undefined contents. */
TESSERA_API TesseraStatus tesseraBufferCreate(TesseraDevice *device,
                                              size_t bytes,
                                              TesseraBuffer **buffer);
/* Frees a buffer. Queued work in the device's own queue may still use it. */
TESSERA_API void tesseraBufferDestroy(TesseraBuffer *buffer);
/* Returns the device pointer of a buffer, for TESSERA_MEMORY_DEVICE. */
TESSERA_API void *tesseraBufferGetPointer(TesseraBuffer *buffer);
TESSERA_API size_t tesseraBufferGetSize(TesseraBuffer *buffer);

/* Copy to or from a buffer, in order with the work in the device's own queue;
   the copy is complete when the call returns. `offset` and `bytes` must be
   within the buffer. */
TESSERA_API TesseraStatus tesseraBufferWrite(TesseraBuffer *buffer,
                                             size_t offset, const void *from,
                                             size_t bytes);
TESSERA_API TesseraStatus tesseraBufferRead(TesseraBuffer *buffer,
                                            size_t offset, void *to,
                                            size_t bytes);

/*===----------------------------------------------------------------------===*\
|* Programs                                                                   *|
\*===----------------------------------------------------------------------===*/

/* A compiled program, for one or several chips: a bundle in memory. */
typedef struct TesseraProgram TesseraProgram;

/* Loads a program from the bytes of a bundle (`gpu-runner --emit=bundle`,
   `tesseraProgramSave`), which need not outlive the call. A bundle contains
   machine code for the host: only load bundles from a trusted source, as with
   shared libraries. */
TESSERA_API TesseraStatus tesseraProgramLoad(const void *bytes, size_t size,
                                             TesseraProgram **program);
TESSERA_API void tesseraProgramDestroy(TesseraProgram *program);

/* Returns the bytes of the bundle, which are valid as long as the program. */
TESSERA_API TesseraStatus tesseraProgramSave(TesseraProgram *program,
                                             const void **bytes, size_t *size);

typedef enum TesseraElementType {
  TESSERA_F16 = 0,
  TESSERA_BF16 = 1,
  TESSERA_F32 = 2,
  TESSERA_F64 = 3,
  /* One byte per element, 0 or 1. */
  TESSERA_I1 = 4,
  /* Two elements per byte, the first one in the low half. */
  TESSERA_I4 = 5,
  TESSERA_I8 = 6,
  TESSERA_U8 = 7,
  TESSERA_I16 = 8,
  TESSERA_I32 = 9,
  TESSERA_I64 = 10,
  TESSERA_F8E4M3FN = 11,
  TESSERA_F8E5M2 = 12,
  TESSERA_F8E4M3FNUZ = 13,
  TESSERA_F8E5M2FNUZ = 14,
  /* A signed 64-bit integer. */
  TESSERA_INDEX = 15,
  /* Unsigned integers, in the signatures of models only: MLIR's types of their
     programs have no sign. */
  TESSERA_U16 = 16,
  TESSERA_U32 = 17,
  TESSERA_U64 = 18
} TesseraElementType;

typedef enum TesseraSlotKind {
  TESSERA_SCALAR = 0,
  /* An array that the program only reads, or returns. */
  TESSERA_TENSOR = 1,
  /* An array in memory that the program may write. */
  TESSERA_MEMREF = 2
} TesseraSlotKind;

#define TESSERA_DYNAMIC (-1)

/* An argument or a result of an entry point. */
typedef struct TesseraSlotInfo {
  size_t structSize;
  TesseraSlotKind kind;
  TesseraElementType element;
  /* Rank and sizes of an array; a dynamic size is TESSERA_DYNAMIC. */
  size_t rank;
  const int64_t *sizes;
  /* 1 for a memref that the program may write. */
  int mayWrite;
  /* The type as the program prints it: "tensor<?x64xf16>". */
  const char *type;
  /* The name of an input or output of a model; empty for other programs. */
  const char *name;
  /* The model's names of dynamic dimensions, one per dimension and empty where
     there is none; null if there are none at all. */
  const char *const *symbols;
} TesseraSlotInfo;

/* The entry points of a program. Strings and sizes are valid as long as the
   program. Each function returns TESSERA_INVALID_ARGUMENT for a name or an
   index that does not exist. */
TESSERA_API TesseraStatus tesseraProgramGetEntryCount(TesseraProgram *program,
                                                      size_t *count);
TESSERA_API TesseraStatus tesseraProgramGetEntryName(TesseraProgram *program,
                                                     size_t index,
                                                     const char **name);
TESSERA_API TesseraStatus tesseraProgramGetSlotCounts(TesseraProgram *program,
                                                      const char *entry,
                                                      size_t *arguments,
                                                      size_t *results);
TESSERA_API TesseraStatus tesseraProgramGetArgument(TesseraProgram *program,
                                                    const char *entry,
                                                    size_t index,
                                                    TesseraSlotInfo *info);
TESSERA_API TesseraStatus tesseraProgramGetResult(TesseraProgram *program,
                                                  const char *entry,
                                                  size_t index,
                                                  TesseraSlotInfo *info);

/* Returns the targets of the program, "cuda:sm_90a, cpu:x86-64-avx2", followed
   by a line for each kernel with its schedule and its matrix instructions. */
TESSERA_API const char *tesseraProgramDescribe(TesseraProgram *program);

/*===----------------------------------------------------------------------===*\
|* Execution                                                                  *|
\*===----------------------------------------------------------------------===*/

/* An entry point of a program, loaded onto a device. */
typedef struct TesseraExecutable TesseraExecutable;

/* Loads an entry point onto a device. `program` need not outlive the
   executable. TESSERA_INVALID_ARGUMENT if the program does not contain code for
   the device; the text lists the targets it contains. */
TESSERA_API TesseraStatus
tesseraExecutableCreate(TesseraProgram *program, const char *entry,
                        TesseraDevice *device, TesseraExecutable **executable);
/* Waits for the work of the device's own queue and frees the executable. Work
   in the caller's queues must be complete. */
TESSERA_API void tesseraExecutableDestroy(TesseraExecutable *executable);

typedef enum TesseraMemory {
  /* Host memory. It is copied to the device before the run and, if the program
     may write it, back afterwards; the call is then synchronous. On the CPU it
     is used in place, unless it is not aligned to 16 bytes, or overlaps another
     array and the program may write one of the two: it must not be written
     elsewhere meanwhile, and what a run that failed has written is undefined.
     */
  TESSERA_MEMORY_HOST = 0,
  /* A pointer that kernels of the device can use: from cuMemAlloc, hipMalloc,
     USM or SVM of the same context, a Vulkan device address, or a
     `TesseraBuffer`. It is used in place. */
  TESSERA_MEMORY_DEVICE = 1,
  /* An OpenCL buffer object of the device's context, from offset 0; `data` is
     the cl_mem itself. It is used in place. To pass a part, create a sub-buffer
     (clCreateSubBuffer). */
  TESSERA_MEMORY_CL_MEM = 2,
  /* A Vulkan buffer of the device's VkDevice, from offset 0; `data` is the
     VkBuffer itself. Its usage must include
     VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and STORAGE_BUFFER_BIT, and
     TRANSFER_SRC_BIT if the program returns it as a result; its memory must be
     allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT. It is used in place.
     */
  TESSERA_MEMORY_VK_BUFFER = 3
} TesseraMemory;

typedef struct TesseraArgument {
  /* The memory of an array; a scalar's value is always in host memory. */
  TesseraMemory memory;
  /* The first element of an array, the object that contains it, or the scalar's
     value. */
  void *data;
  /* The sizes of an array, one per dimension. Null means the sizes of its type,
     which must then be static. */
  const int64_t *sizes;
  /* Strides in elements; null for a dense row-major array, which is the only
     supported layout. */
  const int64_t *strides;
} TesseraArgument;

/* Where to store a result. */
typedef struct TesseraResult {
  /* In: 1 to leave the array on the device: as `buffer`, or with an allocator
     (`TesseraRun.allocator`) as `data`. */
  int keepOnDevice;
  /* In: otherwise host memory for the array or the scalar, and its size in
     bytes. The call then waits and copies.
     Out, with an allocator and `keepOnDevice`: the pointer that `allocate`
     returned for this result, which then belongs to the caller, and the size of
     the array in bytes. Null and 0 for an array without elements, for which
     `allocate` is not called. */
  void *data;
  size_t bytes;
  /* In: storage for the array's sizes, one per dimension, or null. */
  int64_t *sizes;
  /* Out: the result, which the caller must destroy while the queue of the run
     still exists: the memory is reused when that queue finishes the work queued
     by then. Null if it was not requested, and with an allocator. */
  TesseraBuffer *buffer;
} TesseraResult;

/* What a run asks an allocator for. Pointers are valid during the call. */
typedef struct TesseraAllocation {
  size_t structSize;
  /* Size in bytes, at least 1, and the alignment of the first byte, a power of
     two of at least 256. */
  size_t bytes;
  size_t alignment;
  /* The queue in which the memory is written: `TesseraRun.queue`. `hasQueue` is
     0 for the device's own queue. */
  int hasQueue;
  void *queue;
  /* The result for which the memory is, and its sizes, one per dimension. */
  size_t result;
  size_t rank;
  const int64_t *sizes;
} TesseraAllocation;

/* The caller's allocator of device memory, for the results of runs.

   The thread that called `tesseraExecutableRun` calls both functions, before
   that call returns and before it queues work that uses the memory. The
   executable is locked meanwhile, and its device may be: the two functions must
   not use either. If they take a lock of the caller's (Python's global lock is
   one), no thread may hold that lock while it waits for the same executable or
   device.

   The memory must be accessible to kernels of the device from the point in the
   queue that the run has reached. Its contents are undefined, also after a run
   that failed.

   Failures: `allocate` returns null where it has no memory; the run then fails
   with TESSERA_OUT_OF_MEMORY. It must not throw or leave by longjmp. A run that
   fails for any reason calls `release` once for each memory that it was given,
   with the request for which it was given; kernels that are queued may still
   write to the memory, so it may be reused only in the order of that queue. A
   run that succeeds never calls `release`. */
typedef struct TesseraAllocator {
  size_t structSize;
  void *(*allocate)(void *context, const TesseraAllocation *request);
  void (*release)(void *context, void *memory,
                  const TesseraAllocation *request);
  void *context;
} TesseraAllocator;

/* How the kernels of a run are submitted to the driver. */
typedef enum TesseraLaunchMode {
  /* As one graph for several kernels, from the second run with the same sizes
     in a queue on; otherwise one by one. */
  TESSERA_LAUNCH_AUTO = 0,
  /* One by one. */
  TESSERA_LAUNCH_DIRECT = 1,
  /* As one graph, from the first run on. One by one only where a graph is
     impossible, which `TesseraLaunchStatistics` reports. */
  TESSERA_LAUNCH_GRAPH = 2
} TesseraLaunchMode;

typedef struct TesseraRun {
  size_t structSize;
  /* 1: use `queue`. 0: use the device's own queue. */
  int hasQueue;
  /* A CUstream or cudaStream_t (null is the default stream), a hipStream_t, an
     in-order cl_command_queue, an immediate ze_command_list_handle_t, or a
     VkQueue of the family that the device was opened with. It must belong to
     the device's context. */
  void *queue;
  /* The allocator for the array results with `keepOnDevice`. Null: results are
     allocated from the device's pool, as buffers. */
  const TesseraAllocator *allocator;
  /* Device memory for the temporaries of the run and its size in bytes, at
     least `tesseraExecutableWorkspaceSize`; aligned to 256 bytes. The caller
     must not use it before the queue has finished the run. Null: the executable
     uses memory of its own, one block for each queue in which it has run, which
     it keeps until it is destroyed. */
  void *workspace;
  size_t workspaceBytes;
  /* How the kernels of the run are submitted: a `TesseraLaunchMode`. */
  int launchMode;
} TesseraRun;

/* Writes the bytes that a run with these arguments needs as `workspace` to
   `*bytes`; 0 for a run without temporaries. Only sizes and the values of
   scalars are read: `data` of an array may be null. For a program whose
   arguments are all arrays of static shapes, `arguments` may be null and
   `numArguments` 0. Does not run anything.

   The size depends on the sizes of the arrays and on integer scalars. If a
   program allocates differently for other reasons, its run fails with
   TESSERA_INVALID_ARGUMENT where the workspace is too small, and the text
   contains the size that it takes. */
TESSERA_API TesseraStatus tesseraExecutableWorkspaceSize(
    TesseraExecutable *executable, const TesseraArgument *arguments,
    size_t numArguments, size_t *bytes);

/* Runs the entry point. Without host memory the call is asynchronous: it
   returns once all work is queued. `run` may be null. On failure no result is
   returned, and memory that was taken for results has been given back.

   Runs of one executable wait for each other. Runs of different executables do
   not, also on one device, where each of them uses a queue of the caller's, no
   host memory, and an allocator if it has array results ("cuda" and "hip";
   other targets run one at a time). Such a run neither allocates from the
   driver nor waits, once the executable has run in that queue with these sizes,
   or has been given a workspace; the run that makes a graph may allocate.

   `run->launchMode` chooses how the kernels of a run are submitted ("cuda",
   "hip" and "vulkan"; others have no graphs). The graph is the executable's
   own: it is kept, and changed where a later run has other addresses. The
   driver may allocate memory when it is made. A run in a queue that is being
   captured launches its kernels into the capture.

   Graphs: a run without host memory can be captured into a CUDA or HIP graph,
   also as the first run of the executable. A graph uses the arguments, results
   and workspace of the captured run at each replay. Without `workspace` it uses
   the executable's memory for the queue that was captured: the executable must
   outlive the graph, and replays must not overlap with each other or with runs
   in that queue. Results without an allocator are taken from the driver during
   the capture, and their buffers must outlive the graph. */
TESSERA_API TesseraStatus tesseraExecutableRun(TesseraExecutable *executable,
                                               const TesseraArgument *arguments,
                                               size_t numArguments,
                                               TesseraResult *results,
                                               size_t numResults,
                                               const TesseraRun *run);

/* How the runs of an executable were submitted so far. */
typedef struct TesseraLaunchStatistics {
  size_t structSize;
  /* Runs that were submitted as one graph, and runs whose kernels were launched
     one by one. */
  uint64_t graphRuns;
  uint64_t directRuns;
  /* Graphs that were made, and nodes of them that were changed for a later
     run. */
  uint64_t graphs;
  uint64_t updates;
  /* Why the kernels of the last run were launched one by one; empty if they
     were not. Valid until the next call with the executable. */
  const char *whyDirect;
  /* Launches of the last run that may begin before the kernel before them has
     ended (programmatic dependent launch), because their threads wait for
     it. */
  uint64_t overlaps;
  /* Runs with the operands, results and workspace of an earlier one, whose
     launches were repeated without executing host code. */
  uint64_t repeatedRuns;
} TesseraLaunchStatistics;

TESSERA_API TesseraStatus tesseraExecutableGetLaunchStatistics(
    TesseraExecutable *executable, TesseraLaunchStatistics *statistics);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_RUNTIME_H */
