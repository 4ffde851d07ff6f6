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
|* Every function that can fail gives a code; `tesseraGetLastError` has the   *|
|* text. Nothing prints, nothing exits, nothing throws.                       *|
|*                                                                            *|
|* Threads: all functions may be called by any thread at any time. Calls that *|
|* concern one device wait for each other; separate devices, even of the same *|
|* hardware, are independent. An object is not destroyed while another thread *|
|* uses it.                                                                   *|
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
  /* The device, or the driver that it needs, is not on this machine. */
  TESSERA_NO_DEVICE = 1,
  /* Too little free memory; the text has both sizes. */
  TESSERA_OUT_OF_MEMORY = 2,
  /* The driver refused a kernel, or the system the host's code; the text has
     what it said. */
  TESSERA_REJECTED = 3,
  /* A launch was refused, or a kernel failed while it ran. After the latter the
     device is of no more use. */
  TESSERA_LAUNCH_FAILED = 4,
  /* What was asked for cannot be right; the text says what and how to mend
     it. */
  TESSERA_INVALID_ARGUMENT = 5,
  /* Anything else. */
  TESSERA_INTERNAL = 6,
  /* The program does not compile; the text has all diagnostics. */
  TESSERA_COMPILE_ERROR = 7
} TesseraStatus;

/* "TESSERA_NO_DEVICE". */
TESSERA_API const char *tesseraStatusName(TesseraStatus status);

/* The text of the calling thread's last failure: one line, and below it what a
   driver or the compiler said. It is valid until the thread's next failure;
   empty if there was none. */
TESSERA_API const char *tesseraGetLastError(void);

/* TESSERA_ABI_VERSION of the library. */
TESSERA_API int tesseraGetAbiVersion(void);
/* "0.1.0". */
TESSERA_API const char *tesseraGetVersion(void);

/*===----------------------------------------------------------------------===*\
|* Devices                                                                    *|
\*===----------------------------------------------------------------------===*/

typedef struct TesseraDevice TesseraDevice;

/* All texts are valid as long as the device; of `tesseraDeviceList`, until the
   list is freed. */
typedef struct TesseraDeviceInfo {
  size_t structSize;
  /* "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero". */
  const char *target;
  /* What programs are compiled for: "sm_90a". */
  const char *chip;
  /* The vendor's name. */
  const char *name;
  /* With its version. */
  const char *driver;
  /* Among the devices of the target, from 0. */
  int ordinal;
  /* 1 for a program that stands for a device. */
  int isSoftware;
  /* In bytes. */
  size_t memoryBytes;
  int computeUnits;
  int subgroupSize;
} TesseraDeviceInfo;

/* All devices of this machine, the best one first; of one target, unless
   `target` is "auto". `*devices` is an array of `*count`, to be freed by
   `tesseraDeviceListFree`. */
TESSERA_API TesseraStatus tesseraDeviceList(const char *target,
                                            TesseraDeviceInfo **devices,
                                            size_t *count);
TESSERA_API void tesseraDeviceListFree(TesseraDeviceInfo *devices);

/* Opens a device: of a target, or with "auto" the best one. On CUDA it is the
   primary context of the device, which CUDA's runtime and PyTorch use too. */
TESSERA_API TesseraStatus tesseraDeviceOpen(const char *target, int ordinal,
                                            TesseraDevice **device);
/* What a device is opened on, where its context is to be the caller's. Which
   fields there are for a target:
     "opencl"      context: cl_context; device: cl_device_id of it.
     "level-zero"  context: ze_context_handle_t; device: ze_device_handle_t of
                   it, as zeDeviceGet lists it.
     "vulkan"      instance: VkInstance, for Vulkan 1.3; physicalDevice:
                   VkPhysicalDevice; device: VkDevice; createInfo: the
                   VkDeviceCreateInfo that it was made with, which need not live
                   on; queueFamily, queueIndex: the device's own queue, which
                   computes. While a call runs, nobody else uses that queue or
                   the one of the run. getInstanceProcAddr: the loader's
                   vkGetInstanceProcAddr, or null for libvulkan.so.1's.
   What a target does not name stays null. */
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

/* Opens a device on objects of the caller's, which live as long as anything
   uses it. Memory and queues of that context may then be passed to runs. The
   device's own queue is one that is made there, but on Vulkan.
   TESSERA_INVALID_ARGUMENT for what does not belong together, and for targets
   that need none of this: the text has the mend. */
TESSERA_API TesseraStatus tesseraDeviceOpenNative(
    const TesseraNativeDevice *native, TesseraDevice **device);

/* It is closed when nothing uses it any more: executables and buffers do. Null
   is ignored, here and in all functions that give something back. */
TESSERA_API void tesseraDeviceClose(TesseraDevice *device);

/* Fills in `*info`, whose `structSize` the caller has set. */
TESSERA_API TesseraStatus tesseraDeviceGetInfo(TesseraDevice *device,
                                               TesseraDeviceInfo *info);

/* Waits for all work in the device's own queue. An error of a kernel that ran
   there is given here at the latest. */
TESSERA_API TesseraStatus tesseraDeviceSynchronize(TesseraDevice *device);

/*===----------------------------------------------------------------------===*\
|* Memory of the device                                                       *|
\*===----------------------------------------------------------------------===*/

typedef struct TesseraBuffer TesseraBuffer;

/* Memory, aligned to 256 bytes, with undefined contents. */
TESSERA_API TesseraStatus tesseraBufferCreate(TesseraDevice *device,
                                              size_t bytes,
                                              TesseraBuffer **buffer);
/* Work in the device's own queue may still use it. */
TESSERA_API void tesseraBufferDestroy(TesseraBuffer *buffer);
/* The pointer by which kernels know it; for TESSERA_MEMORY_DEVICE. */
TESSERA_API void *tesseraBufferGetPointer(TesseraBuffer *buffer);
TESSERA_API size_t tesseraBufferGetSize(TesseraBuffer *buffer);

/* Copies, in order with the work in the device's own queue; done when the call
   returns. `offset` and `bytes` are within the buffer. */
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

/* A program of the bytes of a bundle (`gpu-runner --emit=bundle`,
   `tesseraProgramSave`), which need not live on. A bundle has machine code for
   the host: load what you trust, as with a shared library. */
TESSERA_API TesseraStatus tesseraProgramLoad(const void *bytes, size_t size,
                                             TesseraProgram **program);
TESSERA_API void tesseraProgramDestroy(TesseraProgram *program);

/* The bytes of the bundle, valid as long as the program. */
TESSERA_API TesseraStatus tesseraProgramSave(TesseraProgram *program,
                                             const void **bytes, size_t *size);

typedef enum TesseraElementType {
  TESSERA_F16 = 0,
  TESSERA_BF16 = 1,
  TESSERA_F32 = 2,
  TESSERA_F64 = 3,
  /* A byte, 0 or 1. */
  TESSERA_I1 = 4,
  /* Two to a byte, the first one in the low half. */
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
  /* A signed number of 64 bits. */
  TESSERA_INDEX = 15
} TesseraElementType;

typedef enum TesseraSlotKind {
  TESSERA_SCALAR = 0,
  /* An array that the program only reads, or gives. */
  TESSERA_TENSOR = 1,
  /* An array in memory, which it may write. */
  TESSERA_MEMREF = 2
} TesseraSlotKind;

#define TESSERA_DYNAMIC (-1)

/* An argument or a result of an entry. */
typedef struct TesseraSlotInfo {
  size_t structSize;
  TesseraSlotKind kind;
  TesseraElementType element;
  /* Of an array; each size is TESSERA_DYNAMIC where it is open. */
  size_t rank;
  const int64_t *sizes;
  /* 1 for a memref that the program may write. */
  int mayWrite;
  /* As the program spells it: "tensor<?x64xf16>". */
  const char *type;
} TesseraSlotInfo;

/* Texts and sizes are valid as long as the program. Each function gives
   TESSERA_INVALID_ARGUMENT for what is not there. */
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

/* What the program has been compiled for, "cuda:sm_90a, cpu:x86-64-avx2", and
   below it a line for each kernel: its schedule and its matrix instructions. */
TESSERA_API const char *tesseraProgramDescribe(TesseraProgram *program);

/*===----------------------------------------------------------------------===*\
|* Execution                                                                  *|
\*===----------------------------------------------------------------------===*/

/* An entry of a program, loaded onto a device. */
typedef struct TesseraExecutable TesseraExecutable;

/* `program` need not live on. TESSERA_INVALID_ARGUMENT where the program has no
   code for the device; the text lists what it has. */
TESSERA_API TesseraStatus
tesseraExecutableCreate(TesseraProgram *program, const char *entry,
                        TesseraDevice *device, TesseraExecutable **executable);
/* Waits for the work of the device's own queue. Work of the caller's queues has
   to be done. */
TESSERA_API void tesseraExecutableDestroy(TesseraExecutable *executable);

typedef enum TesseraMemory {
  /* Memory of the host. It is copied to the device before the run and, where
     the program may write it, back after it; the call waits for that. */
  TESSERA_MEMORY_HOST = 0,
  /* A pointer that kernels of the device can use: of cuMemAlloc, hipMalloc, USM
     or SVM of the very context, a Vulkan device address, a `TesseraBuffer`'s.
     It is used in place. */
  TESSERA_MEMORY_DEVICE = 1,
  /* A buffer object of OpenCL's, of the device's context, from its beginning;
     `data` is the cl_mem itself. It is used in place. A part of one is a
     sub-buffer (clCreateSubBuffer). */
  TESSERA_MEMORY_CL_MEM = 2,
  /* A buffer of Vulkan's, of the device's VkDevice, from its beginning; `data`
     is the VkBuffer itself. Its usage has
     VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and STORAGE_BUFFER_BIT, and
     TRANSFER_SRC_BIT where the program gives it back as a result; its memory
     was allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT. It is used in
     place. */
  TESSERA_MEMORY_VK_BUFFER = 3
} TesseraMemory;

typedef struct TesseraArgument {
  /* Of an array; a scalar's value is always the host's. */
  TesseraMemory memory;
  /* The first element, the object that the array lies in, or the scalar's
     value. */
  void *data;
  /* Of an array, as many as its rank. Null: those of its type, which then are
     all given there. */
  const int64_t *sizes;
  /* In elements; null for a dense array in row-major order, which is the only
     kind there is so far. */
  const int64_t *strides;
} TesseraArgument;

/* What becomes of a result. */
typedef struct TesseraResult {
  /* In: 1 to have the array left on the device, as `buffer`. */
  int keepOnDevice;
  /* In: else memory of the host for the array or the scalar, and how many bytes
     it has. The call waits, and copies. */
  void *data;
  size_t bytes;
  /* In: room for the array's sizes, as many as its rank, or null. */
  int64_t *sizes;
  /* Out: to be destroyed by the caller, while the queue of the run is still
     there: the memory is used again when that queue has done what it has by
     then. Null if it was not asked for. */
  TesseraBuffer *buffer;
} TesseraResult;

typedef struct TesseraRun {
  size_t structSize;
  /* 1: work goes to `queue`. 0: to the device's own. */
  int hasQueue;
  /* A CUstream or cudaStream_t, null being the default stream; a hipStream_t;
     a cl_command_queue, which is in order; an immediate
     ze_command_list_handle_t; a VkQueue of the family that the device was
     opened with. It is of the device's context. */
  void *queue;
} TesseraRun;

/* Runs the entry. Without memory of the host nothing waits: all is queued when
   the call returns. `run` may be null. On a failure no result is given. */
TESSERA_API TesseraStatus tesseraExecutableRun(TesseraExecutable *executable,
                                               const TesseraArgument *arguments,
                                               size_t numArguments,
                                               TesseraResult *results,
                                               size_t numResults,
                                               const TesseraRun *run);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_RUNTIME_H */
