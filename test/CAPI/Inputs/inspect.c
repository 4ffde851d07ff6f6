/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Explains a program for a chip, and verifies it on the CPU. */
#include "tessera-c/Compiler.h"

#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "%s\n", tesseraGetLastError());
  return 1;
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 2;
  size_t size = fread(text, 1, sizeof(text), file);
  fclose(file);
  TesseraCompileOptions options = {0};
  options.structSize = sizeof(options);
  options.entry = "multiply";
  options.fileName = "multiply.mlir";
  options.target = argv[2];
  char *json;
  if (tesseraExplain(text, size, &options, &json))
    return fail();
  printf("%s\n", json);
  tesseraStringFree(json);

  const char *arguments[] = {"iota", "fill:2"};
  TesseraVerifyOptions verify = {0};
  verify.structSize = sizeof(verify);
  verify.arguments = arguments;
  verify.numArguments = 2;
  int passed;
  options.target = "cpu";
  if (tesseraVerify(text, size, &options, &verify, &passed, &json))
    return fail();
  printf("%s\npassed: %d\n", json, passed);
  tesseraStringFree(json);
  return 0;
}
