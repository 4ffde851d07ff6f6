/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs queue.mlir's entries on cl_mem objects, in a cl_command_queue. It
   declares the used parts of OpenCL, for lack of headers. */
#include "queue.h"

#include <dlfcn.h>

typedef struct _cl *Handle;
static void *library;
static void *find(const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    fprintf(stderr, "no %s\n", name), exit(1);
  return symbol;
}

int main(int argc, char **argv) {
  check(argc != 2, "usage: opencl BUNDLE");
  library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library)
    fprintf(stderr, "%s\n", dlerror()), exit(1);
  int (*getPlatforms)(unsigned, Handle *, unsigned *);
  int (*getDevices)(Handle, uint64_t, unsigned, Handle *, unsigned *);
  Handle (*createContext)(const intptr_t *, unsigned, const Handle *, void *,
                          void *, int *);
  Handle (*createQueue)(Handle, Handle, const uint64_t *, int *);
  Handle (*createBuffer)(Handle, uint64_t, size_t, void *, int *);
  int (*write)(Handle, Handle, unsigned, size_t, size_t, const void *, unsigned,
               const Handle *, Handle *);
  int (*read)(Handle, Handle, unsigned, size_t, size_t, void *, unsigned,
              const Handle *, Handle *);
  int (*finish)(Handle), (*releaseBuffer)(Handle), (*releaseQueue)(Handle),
      (*releaseContext)(Handle);
  *(void **)&getPlatforms = find("clGetPlatformIDs");
  *(void **)&getDevices = find("clGetDeviceIDs");
  *(void **)&createContext = find("clCreateContext");
  *(void **)&createQueue = find("clCreateCommandQueueWithProperties");
  *(void **)&createBuffer = find("clCreateBuffer");
  *(void **)&write = find("clEnqueueWriteBuffer");
  *(void **)&read = find("clEnqueueReadBuffer");
  *(void **)&finish = find("clFinish");
  *(void **)&releaseBuffer = find("clReleaseMemObject");
  *(void **)&releaseQueue = find("clReleaseCommandQueue");
  *(void **)&releaseContext = find("clReleaseContext");

  Handle platform, id, context, queue, foreign, buffers[3];
  int error;
  check(getPlatforms(1, &platform, NULL), "clGetPlatformIDs");
  check(getDevices(platform, 0xFFFFFFFF, 1, &id, NULL), "clGetDeviceIDs");
  context = createContext(NULL, 1, &id, NULL, NULL, &error);
  check(error, "clCreateContext");
  queue = createQueue(context, id, NULL, &error);
  check(error, "clCreateCommandQueueWithProperties");
  for (int i = 0; i < 3; ++i) {
    buffers[i] = createBuffer(context, 1, BYTES, NULL, &error);
    check(error, "clCreateBuffer");
  }

  TesseraNativeDevice native = {0};
  native.structSize = sizeof(native);
  native.target = "opencl";
  native.context = context;
  native.device = id;
  TesseraDevice *device;
  check(tesseraDeviceOpenNative(&native, &device), "tesseraDeviceOpenNative");
  TesseraProgram *program = load(argv[1]);
  TesseraExecutable *multiply = prepare(program, "multiply", device),
                    *cube = prepare(program, "cube", device),
                    *same = prepare(program, "same", device);

  /* Nothing waits between the first command and the last one. */
  static float a[N * N], b[N * N], c[N * N], matmul[N * N], expected[N * N];
  fillMatrix(0, a);
  fillMatrix(1, b);
  int64_t sizes[] = {N, N};
  TesseraArgument arguments[3];
  for (int i = 0; i < 3; ++i)
    arguments[i] =
        (TesseraArgument){TESSERA_MEMORY_CL_MEM, buffers[i], sizes, NULL};
  TesseraRun run = {sizeof(run), 1, queue, NULL, NULL, 0, TESSERA_LAUNCH_AUTO};
  check(write(queue, buffers[0], 0, 0, BYTES, a, 0, NULL, NULL), "write");
  check(write(queue, buffers[1], 0, 0, BYTES, b, 0, NULL, NULL), "write");
  check(tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &run), "run");
  check(read(queue, buffers[2], 0, 0, BYTES, matmul, 0, NULL, NULL), "read");
  /* A cube of what is there by then, with temporary memory; then a cube of
     that. */
  TesseraResult first = {0}, second = {0};
  first.keepOnDevice = 1;
  second.data = c;
  second.bytes = BYTES;
  check(tesseraExecutableRun(cube, &arguments[1], 1, &first, 1, &run), "cube");
  TesseraArgument kept = {TESSERA_MEMORY_DEVICE,
                          tesseraBufferGetPointer(first.buffer), NULL, NULL};
  check(tesseraExecutableRun(same, &kept, 1, &second, 1, &run), "same");
  check(finish(queue), "clFinish");
  multiplyOnHost(a, b, expected);
  int wrong = compare("product", matmul, expected);
  static float square[N * N];
  multiplyOnHost(b, b, square);
  multiplyOnHost(square, b, expected);
  wrong += compare("cube", c, expected);
  /* An argument that is given back lies in a cl_mem, its copy does not. */
  check(tesseraExecutableRun(same, &arguments[0], 1, &second, 1, NULL), "same");
  wrong += compare("copy", c, a);

  /* What cannot be. */
  foreign = createContext(NULL, 1, &id, NULL, NULL, &error);
  TesseraRun other = {sizeof(other),
                      1,
                      createQueue(foreign, id, NULL, &error),
                      NULL,
                      NULL,
                      0,
                      TESSERA_LAUNCH_AUTO};
  if (tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &other) !=
      TESSERA_INVALID_ARGUMENT)
    ++wrong;
  printf("%s\n", tesseraGetLastError());
  uint64_t outOfOrder[] = {0x1093, 1, 0};
  other.queue = createQueue(context, id, outOfOrder, &error);
  if (tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &other) !=
      TESSERA_INVALID_ARGUMENT)
    ++wrong;
  printf("%s\n", tesseraGetLastError());
  int64_t large[] = {N, N + 1}, tall[] = {N + 1, N};
  arguments[0].sizes = large;
  arguments[1].sizes = tall;
  if (tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &run) !=
      TESSERA_INVALID_ARGUMENT)
    ++wrong;
  printf("%s\n", tesseraGetLastError());

  tesseraBufferDestroy(first.buffer);
  tesseraExecutableDestroy(multiply);
  tesseraExecutableDestroy(cube);
  tesseraExecutableDestroy(same);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  for (int i = 0; i < 3; ++i)
    check(releaseBuffer(buffers[i]), "clReleaseMemObject");
  check(releaseQueue(queue), "clReleaseCommandQueue");
  check(releaseContext(context), "clReleaseContext");
  return wrong != 0;
}
