/*===- tessera-c/Compiler.h - Compiling programs ------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The part of libtessera that needs LLVM. What it gives is run by the        *|
|* functions of tessera-c/Runtime.h.                                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TESSERA_C_COMPILER_H
#define TESSERA_C_COMPILER_H

#include "tessera-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How bad a diagnostic is. */
typedef enum TesseraSeverity {
  TESSERA_NOTE = 0,
  TESSERA_WARNING = 1,
  TESSERA_ERROR = 2,
  TESSERA_REMARK = 3
} TesseraSeverity;

/* Called for each diagnostic, in order, on any thread, while tesseraCompile
   runs: `text` is "FILE:LINE:COLUMN: message" with its notes on lines of their
   own, and valid during the call. */
typedef void (*TesseraDiagnosticHandler)(void *user, TesseraSeverity severity,
                                         const char *text);

typedef struct TesseraCompileOptions {
  size_t structSize;
  /* "cpu", "cuda:sm_90a", "hip:gfx942", ...: what gpu-runner's --target takes;
     several, separated by commas, go into one program. A target without a chip
     is compiled for the device of it on this machine. Null is "cpu". */
  const char *target;
  /* The function to be compiled; null for all public ones. */
  const char *entry;
  /* What diagnostics call the source; null is "<text>". */
  const char *fileName;
  /* Permit tf32 for products of f32; permit sums in few bits for products of
     8-bit floats; refuse products that no matrix unit computes. */
  int allowTf32;
  int allowFastF8;
  int requireMatrixUnit;
  /* Leave the program's text out of the bundle. */
  int omitSource;
  /* Gets warnings and remarks, and errors too; may be null. */
  TesseraDiagnosticHandler handler;
  void *handlerUser;
  /* A database of gpu-tune's, where products without a schedule are looked up;
     "off" for the compiler's choices alone. Null: the records that come with
     the compiler. */
  const char *scheduleDb;
} TesseraCompileOptions;

/* Compiles a module of MLIR, as text or as bytecode. `options` may be null.
   TESSERA_COMPILE_ERROR: the text of the error has all diagnostics. */
TESSERA_API TesseraStatus tesseraCompile(const char *source, size_t size,
                                         const TesseraCompileOptions *options,
                                         TesseraProgram **program);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_COMPILER_H */
