// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* What the programs of these tests begin with: a bundle is loaded, and its
   entry points are prepared on a device. */
#include "tessera-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int failed, const char *what) {
  if (!failed)
    return;
  fprintf(stderr, "%s: %d: %s\n", what, failed, tesseraGetLastError());
  exit(1);
}

static TesseraProgram *load(const char *path) {
  FILE *file = fopen(path, "rb");
  check(!file, path);
  static char bytes[4 << 20];
  size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  TesseraProgram *program;
  check(tesseraProgramLoad(bytes, size, &program), "tesseraProgramLoad");
  return program;
}

static TesseraExecutable *prepare(TesseraProgram *program, const char *entry,
                                  TesseraDevice *device) {
  TesseraExecutable *executable;
  check(tesseraExecutableCreate(program, entry, device, &executable), entry);
  return executable;
}
