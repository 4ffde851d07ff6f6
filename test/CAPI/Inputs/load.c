/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs `multiply` of a bundle on whatever device it has code for. */
#include "tessera-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(void) {
  fprintf(stderr, "%s\n", tesseraGetLastError());
  return 1;
}

int main(int argc, char **argv) {
  static char bytes[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 2;
  size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  TesseraProgram *program;
  TesseraDevice *device;
  TesseraExecutable *executable;
  if (tesseraProgramLoad(bytes, size, &program) ||
      tesseraDeviceOpen("cpu", 0, &device) ||
      tesseraExecutableCreate(program, "multiply", device, &executable))
    return fail();
  printf("multiply(");
  for (size_t i = 0; i < 3; ++i) {
    TesseraSlotInfo info;
    info.structSize = sizeof(info);
    if (tesseraProgramGetArgument(program, "multiply", i, &info))
      return fail();
    printf("%s%s", i ? ", " : "", info.type);
  }
  printf(")\n");
  float a[12], b[6], c[8];
  for (int i = 0; i < 12; ++i)
    a[i] = (float)i;
  for (int i = 0; i < 6; ++i)
    b[i] = (float)(2 * (i / 2) - 1 + 1);
  for (int i = 0; i < 8; ++i)
    c[i] = 1;
  TesseraArgument arguments[] = {{TESSERA_MEMORY_HOST, a, NULL, NULL},
                                 {TESSERA_MEMORY_HOST, b, NULL, NULL},
                                 {TESSERA_MEMORY_HOST, c, NULL, NULL}};
  if (tesseraExecutableRun(executable, arguments, 3, NULL, 0, NULL))
    return fail();
  for (int i = 0; i < 4; ++i)
    printf("%g %g\n", c[2 * i], c[2 * i + 1]);
  tesseraExecutableDestroy(executable);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  return 0;
}
