/*===- tessera-c/Compiler.h - Compiling programs ------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The part of libtessera that needs LLVM. Programs are run by the functions  *|
|* of tessera-c/Runtime.h.                                                    *|
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

/* What a program is given as. */
typedef enum TesseraSourceKind {
  /* An ONNX model if the file's name ends with ".onnx" or the first bytes are
     those of one; else MLIR. */
  TESSERA_SOURCE_AUTO = 0,
  /* A module, as text or as bytecode. */
  TESSERA_SOURCE_MLIR = 1,
  /* An ONNX model (docs/Models.md). Its only entry point is "main". */
  TESSERA_SOURCE_ONNX = 2
} TesseraSourceKind;

typedef struct TesseraCompileOptions {
  size_t structSize;
  /* "cpu", "cuda:sm_90a", "hip:gfx942", ..., as for gpu-runner's --target;
     several targets, separated by commas, are compiled into one program. A
     target without a chip is compiled for its device on this machine. Null
     means "cpu". */
  const char *target;
  /* The function to compile; null for all public ones. */
  const char *entry;
  /* The name of the source in diagnostics; null means "<text>", or "<model>".
     External data of a model must be below its folder; a model without a file
     name must not have any. */
  const char *fileName;
  /* Permit tf32 for matmuls of f32; permit reduced-precision accumulation for
     matmuls of 8-bit floats; reject matmuls that no matrix unit computes. */
  int allowTf32;
  int allowFastF8;
  int requireMatrixUnit;
  /* Leave the program's text out of the bundle; for a model, this is its module
     with all weights. */
  int omitSource;
  /* Receives warnings, remarks and errors; may be null. */
  TesseraDiagnosticHandler handler;
  void *handlerUser;
  /* A gpu-tune database in which schedules of matmuls are looked up; "off" uses
     only the compiler's choices. Null uses the records that ship with the
     compiler. */
  const char *scheduleDb;
  /* Compile flags, separated by commas, as gpu-runner takes them without the
     dashes: "no-fuse-attention,ptxas". Null: none. They are
     added to the flags above. */
  const char *flags;
  /* TesseraSourceKind. */
  int sourceKind;
  /* The size of the first dimension of each input of a model that leaves it
     open; 0 keeps it dynamic. An error for MLIR. */
  int64_t batch;
} TesseraCompileOptions;

/* Compiles an MLIR module, as text or as bytecode, or an ONNX model; `source`
   need not outlive the call. `options` may be null. With TESSERA_COMPILE_ERROR,
   the error text contains all diagnostics. */
TESSERA_API TesseraStatus tesseraCompile(const char *source, size_t size,
                                         const TesseraCompileOptions *options,
                                         TesseraProgram **program);

/* The same for a file. Files of models, with their external data, are mapped
   into memory and must not shrink during the call. `options->fileName` is
   ignored: `path` is the name in diagnostics. TESSERA_INVALID_ARGUMENT if the
   file cannot be read. */
TESSERA_API TesseraStatus
tesseraCompileFile(const char *path, const TesseraCompileOptions *options,
                   TesseraProgram **program);

/* Frees a text that tesseraExplain or tesseraVerify returned. Null is ignored.
 */
TESSERA_API void tesseraStringFree(char *text);

/* Compiles a program for one target and reports how: `*json` is the JSON object
   that docs/Explain.md describes, which the caller must free with
   tesseraStringFree. It has an element for each matmul, with its instruction
   and the reasons why better ones were rejected, and for each kernel, with its
   schedule. No device is required if the target has a chip. Without
   `options->entry`, sizes of matmuls are those of the function "main". */
TESSERA_API TesseraStatus tesseraExplain(const char *source, size_t size,
                                         const TesseraCompileOptions *options,
                                         char **json);

typedef struct TesseraVerifyOptions {
  size_t structSize;
  /* The contents of the arguments, each as for gpu-runner's --arg ("int:7",
     "random:7:64x32", "zeros", "@file.npy"); the others are small integers. */
  const char *const *arguments;
  size_t numArguments;
  /* Pass although some elements differ that have no error bound. */
  int acceptUnverified;
} TesseraVerifyOptions;

/* Compiles a program, runs it twice on the device that `options->target` names,
   and compares each output with the reference interpreter, within the error
   bound of each element, and with the other run. `*passed` is 1 if the outputs
   are right; the function then, and if they are wrong, returns TESSERA_OK.
   `options->entry` defaults to "main". `json`, which may be null, receives an
   object with the fields "target", "chip", "device", "arguments" and "verify"
   of `gpu-runner --verify --json`, which the caller must free with
   tesseraStringFree. The program runs in this process: an invalid access of a
   CPU program ends it. */
TESSERA_API TesseraStatus tesseraVerify(const char *source, size_t size,
                                        const TesseraCompileOptions *options,
                                        const TesseraVerifyOptions *verify,
                                        int *passed, char **json);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_COMPILER_H */
