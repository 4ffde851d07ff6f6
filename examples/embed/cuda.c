/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A C program that has a CUDA stream and device memory of its own, and runs a
   matmul on them: without copies, and without waiting. It checks the result,
   and compares the time of a launch through Tessera with a bare cuLaunchKernel.

       cc cuda.c -I../../include -I/usr/local/cuda/include -L../../build/dev/lib
   \ -ltessera -lcuda -o cuda
       ./cuda
*/
#include "tessera-c/Compiler.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* C = A * B + C in f32, and one kernel that does almost nothing. */
static const char source[] =
    "func.func @multiply(%a: memref<256x128xf32, #gpu.address_space<global>>,\n"
    "                    %b: memref<128x192xf32, #gpu.address_space<global>>,\n"
    "                    %c: memref<256x192xf32, #gpu.address_space<global>>) "
    "{\n"
    "  linalg.matmul\n"
    "      ins(%a, %b : memref<256x128xf32, #gpu.address_space<global>>,\n"
    "                   memref<128x192xf32, #gpu.address_space<global>>)\n"
    "      outs(%c : memref<256x192xf32, #gpu.address_space<global>>)\n"
    "  return\n"
    "}\n"
    "func.func @small(%x: memref<32xf32, #gpu.address_space<global>>,\n"
    "                 %y: memref<32xf32, #gpu.address_space<global>>) {\n"
    "  linalg.add ins(%x, %x : memref<32xf32, #gpu.address_space<global>>,\n"
    "                          memref<32xf32, #gpu.address_space<global>>)\n"
    "      outs(%y : memref<32xf32, #gpu.address_space<global>>)\n"
    "  return\n"
    "}\n";

static const char bareKernel[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry bare(.param .u64 x, .param .u64 y) { ret; }\n";

enum { M = 256, N = 192, K = 128, RUNS = 2000, ROUNDS = 15 };
static float a[M * K], b[K * N], c[M * N], result[M * N];

static void check(TesseraStatus status, const char *what) {
  if (status == TESSERA_OK)
    return;
  fprintf(stderr, "%s: %s: %s\n", what, tesseraStatusName(status),
          tesseraGetLastError());
  exit(1);
}

static void checkCuda(CUresult code, const char *what) {
  const char *text = "unknown";
  if (code == CUDA_SUCCESS)
    return;
  cuGetErrorString(code, &text);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static CUdeviceptr upload(const float *data, size_t bytes) {
  CUdeviceptr memory;
  checkCuda(cuMemAlloc(&memory, bytes), "cuMemAlloc");
  checkCuda(cuMemcpyHtoD(memory, data, bytes), "cuMemcpyHtoD");
  return memory;
}

static TesseraArgument onDevice(CUdeviceptr memory) {
  TesseraArgument argument = {TESSERA_MEMORY_DEVICE, NULL, NULL, NULL};
  argument.data = (void *)(uintptr_t)memory;
  return argument;
}

static int byValue(const void *x, const void *y) {
  double first = *(const double *)x, second = *(const double *)y;
  return (first > second) - (first < second);
}

int main(void) {
  /* The objects of a CUDA program. */
  CUdevice gpu;
  CUcontext context;
  CUstream stream;
  CUmodule module;
  CUfunction bare;
  checkCuda(cuInit(0), "cuInit");
  checkCuda(cuDeviceGet(&gpu, 0), "cuDeviceGet");
  checkCuda(cuDevicePrimaryCtxRetain(&context, gpu),
            "cuDevicePrimaryCtxRetain");
  checkCuda(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  checkCuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  checkCuda(cuModuleLoadData(&module, bareKernel), "cuModuleLoadData");
  checkCuda(cuModuleGetFunction(&bare, module, "bare"), "cuModuleGetFunction");
  for (int i = 0; i < M * K; ++i)
    a[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < K * N; ++i)
    b[i] = (float)(i * 5 % 13 - 6);
  for (int i = 0; i < M * N; ++i)
    c[i] = (float)(i % 7);
  CUdeviceptr deviceA = upload(a, sizeof(a)), deviceB = upload(b, sizeof(b)),
              deviceC = upload(c, sizeof(c));

  TesseraCompileOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.target = "cuda";
  TesseraProgram *program;
  TesseraDevice *device;
  TesseraExecutable *multiply, *small;
  check(tesseraCompile(source, strlen(source), &options, &program), "compile");
  check(tesseraDeviceOpen("cuda", 0, &device), "open");
  check(tesseraExecutableCreate(program, "multiply", device, &multiply),
        "load multiply");
  check(tesseraExecutableCreate(program, "small", device, &small),
        "load small");
  printf("%s\n", tesseraProgramDescribe(program));

  /* The matmul, in the program's stream. */
  TesseraArgument arguments[3];
  arguments[0] = onDevice(deviceA);
  arguments[1] = onDevice(deviceB);
  arguments[2] = onDevice(deviceC);
  TesseraRun run = {sizeof(run), 1, NULL, NULL, NULL, 0, TESSERA_LAUNCH_AUTO};
  run.queue = stream;
  check(tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &run), "run");
  checkCuda(cuMemcpyDtoHAsync(result, deviceC, sizeof(result), stream),
            "cuMemcpyDtoHAsync");
  checkCuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
  int wrong = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = c[i * N + j];
      for (int k = 0; k < K; ++k)
        sum += a[i * K + k] * b[k * N + j];
      wrong += result[i * N + j] != sum;
    }
  printf("matmul: %d of %d elements wrong\n", wrong, M * N);

  /* The host's time for a launch, alternating. */
  static double bareTimes[ROUNDS], times[ROUNDS];
  arguments[0] = onDevice(deviceA);
  arguments[1] = onDevice(deviceB);
  void *bareArguments[] = {&deviceA, &deviceB};
  for (int round = -2; round < ROUNDS; ++round) {
    checkCuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
    double begin = now();
    for (int i = 0; i < RUNS; ++i)
      checkCuda(cuLaunchKernel(bare, 1, 1, 1, 32, 1, 1, 0, stream,
                               bareArguments, NULL),
                "cuLaunchKernel");
    double middle = now();
    checkCuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
    double second = now();
    for (int i = 0; i < RUNS; ++i)
      check(tesseraExecutableRun(small, arguments, 2, NULL, 0, &run), "small");
    double end = now();
    checkCuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (round < 0)
      continue;
    bareTimes[round] = (middle - begin) / RUNS;
    times[round] = (end - second) / RUNS;
  }
  qsort(bareTimes, ROUNDS, sizeof(double), byValue);
  qsort(times, ROUNDS, sizeof(double), byValue);
  printf("a launch: %.2f us bare, %.2f us by Tessera (medians of %d x %d)\n",
         bareTimes[ROUNDS / 2], times[ROUNDS / 2], ROUNDS, RUNS);

  tesseraExecutableDestroy(small);
  tesseraExecutableDestroy(multiply);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  return wrong != 0;
}
