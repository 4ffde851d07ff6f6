// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* What the programs with a queue of their own share beside program.h: the
   numbers that come out. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, BYTES = N * N * 4 };

/* Small integers, so that all sums are exact in f32. */
static float element(int matrix, int i, int j) {
  return (float)((i * 3 + j * 5 + matrix) % 5) - 2;
}
static void fillMatrix(int matrix, float *to) {
  for (int i = 0; i < N * N; ++i)
    to[i] = element(matrix, i / N, i % N);
}
static void multiplyOnHost(const float *a, const float *b, float *c) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      c[i * N + j] = 0;
      for (int k = 0; k < N; ++k)
        c[i * N + j] += a[i * N + k] * b[k * N + j];
    }
}
/* How many elements differ. */
static int compare(const char *what, const float *found,
                   const float *expected) {
  int wrong = 0;
  for (int i = 0; i < N * N; ++i)
    wrong += found[i] != expected[i];
  printf("%s: %d of %d elements wrong\n", what, wrong, N * N);
  return wrong;
}
