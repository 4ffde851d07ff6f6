// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Compiles an empty program, by the C API. */

#include "tessera-c/Compiler.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  const char *source = "func.func @main() {\n  return\n}";
  TesseraProgram *program = NULL;
  TesseraStatus status =
      tesseraCompile(source, strlen(source), NULL, &program);
  printf("%s\n", tesseraStatusName(status));
  tesseraProgramDestroy(program);
  return status;
}
