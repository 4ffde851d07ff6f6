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

/* Severity of a diagnostic. */
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
  /* "cpu", "cuda:sm_90a", "hip:gfx942", ..., as for gpu-runner's --target;
     several targets, separated by commas, are compiled into one program. A
     target without a chip is compiled for its device on this machine. Null
     means "cpu". */
  const char *target;
  /* The function to compile; null for all public ones. */
  const char *entry;
  /* The name of the source in diagnostics; null means "<text>". */
  const char *fileName;
  /* Permit tf32 for matmuls of f32; permit reduced-precision accumulation for
     matmuls of 8-bit floats; reject matmuls that no matrix unit computes. */
  int allowTf32;
  int allowFastF8;
  int requireMatrixUnit;
  /* Leave the program's text out of the bundle. */
  int omitSource;
  /* Receives warnings, remarks and errors; may be null. */
  TesseraDiagnosticHandler handler;
  void *handlerUser;
  /* A gpu-tune database in which schedules of matmuls are looked up; "off" uses
     only the compiler's choices. Null uses the records that ship with the
     compiler. */
  const char *scheduleDb;
  /* Compile flags, separated by commas, as gpu-runner takes them without the
     dashes: "allow-tf32,direct-copies=never". Null: none. They are added to
     the flags above. */
  const char *flags;
} TesseraCompileOptions;

/* Compiles an MLIR module, as text or as bytecode. `options` may be null. With
   TESSERA_COMPILE_ERROR, the error text contains all diagnostics. */
TESSERA_API TesseraStatus tesseraCompile(const char *source, size_t size,
                                         const TesseraCompileOptions *options,
                                         TesseraProgram **program);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_COMPILER_H */
