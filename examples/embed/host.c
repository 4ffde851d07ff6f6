/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A C program that compiles a matmul and runs it on memory of its own, on the
   device that is named on the command line, by default "cpu".

       cc host.c -I../../include -L../../build/dev/lib -ltessera -o host
       ./host cpu        # or cuda, vulkan, ...
*/
#include "tessera-c/Compiler.h"

#include <stdio.h>
#include <string.h>

/* C = A * B, to memory of the caller. The sizes are dynamic. */
static const char source[] =
    "func.func @multiply(%a: memref<?x?xf32>, %b: memref<?x?xf32>,\n"
    "                    %c: memref<?x?xf32>) {\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)\n"
    "  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>)\n"
    "                outs(%c : memref<?x?xf32>)\n"
    "  return\n"
    "}\n";

enum { M = 33, N = 50, K = 70 };
static float a[M][K], b[K][N], c[M][N];

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tesseraGetLastError());
  return 1;
}

int main(int argc, char **argv) {
  const char *target = argc > 1 ? argv[1] : "cpu";
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      a[i][k] = (float)((i * 7 + k * 3) % 11 - 5);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j)
      b[k][j] = (float)((k * 5 + j) % 13 - 6);

  TesseraCompileOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.target = target;
  options.fileName = "multiply.mlir";
  TesseraProgram *program;
  if (tesseraCompile(source, strlen(source), &options, &program))
    return fail("compiling");
  TesseraDevice *device;
  if (tesseraDeviceOpen(target, 0, &device))
    return fail("opening the device");
  TesseraExecutable *executable;
  if (tesseraExecutableCreate(program, "multiply", device, &executable))
    return fail("loading");
  /* The executable needs neither of them. */
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);

  int64_t sizesOfA[] = {M, K}, sizesOfB[] = {K, N}, sizesOfC[] = {M, N};
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, a, sizesOfA, NULL},
      {TESSERA_MEMORY_HOST, b, sizesOfB, NULL},
      {TESSERA_MEMORY_HOST, c, sizesOfC, NULL},
  };
  if (tesseraExecutableRun(executable, arguments, 3, NULL, 0, NULL))
    return fail("running");
  tesseraExecutableDestroy(executable);

  int wrong = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += a[i][k] * b[k][j];
      wrong += c[i][j] != sum;
    }
  printf("%s: %d of %d elements wrong\n", target, wrong, M * N);
  return wrong != 0;
}
