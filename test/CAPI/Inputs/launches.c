// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Runs an entry point on arrays of the host, and prints how its kernels were
   launched. The contents of results are not read: on the fake driver, kernels
   do nothing.

       launches BUNDLE ENTRY */
#include "program.h"

#include <stddef.h>
#include <stdlib.h>

enum { MOST = 8 };

static size_t countBytes(const TesseraSlotInfo *slot) {
  size_t bytes = slot->element == TESSERA_F32 ? 4 : 2;
  for (size_t dim = 0; dim < slot->rank; ++dim)
    bytes *= (size_t)slot->sizes[dim];
  return bytes;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: launches BUNDLE ENTRY\n"), 2;
  TesseraProgram *program = load(argv[1]);
  const char *entry = argv[2];
  TesseraDevice *device;
  check(tesseraDeviceOpen("cuda", 0, &device), "tesseraDeviceOpen");
  TesseraExecutable *executable = prepare(program, entry, device);

  TesseraArgument arguments[MOST] = {{0}};
  size_t numArguments, numResults;
  check(tesseraProgramGetSlotCounts(program, entry, &numArguments, &numResults),
        entry);
  check(numArguments > MOST || numResults != 1, "one result is expected");
  TesseraSlotInfo slot = {0};
  slot.structSize = sizeof(slot);
  for (size_t index = 0; index < numArguments; ++index) {
    check(tesseraProgramGetArgument(program, entry, index, &slot), entry);
    arguments[index].memory = TESSERA_MEMORY_HOST;
    arguments[index].data = calloc(1, countBytes(&slot));
  }
  check(tesseraProgramGetResult(program, entry, 0, &slot), entry);
  TesseraResult result = {0};
  result.bytes = countBytes(&slot);
  result.data = calloc(1, result.bytes);

  static const struct {
    const char *name;
    TesseraLaunchMode mode;
  } runs[] = {{"direct", TESSERA_LAUNCH_DIRECT},
              {"graph", TESSERA_LAUNCH_GRAPH},
              {"the same graph", TESSERA_LAUNCH_GRAPH}};
  TesseraLaunchStatistics statistics = {0};
  statistics.structSize = sizeof(statistics);
  for (size_t number = 0; number < sizeof(runs) / sizeof(*runs); ++number) {
    TesseraRun run = {0};
    run.structSize = sizeof(run);
    run.launchMode = runs[number].mode;
    check(tesseraExecutableRun(executable, arguments, numArguments, &result, 1,
                               &run),
          "tesseraExecutableRun");
    check(tesseraExecutableGetLaunchStatistics(executable, &statistics),
          "tesseraExecutableGetLaunchStatistics");
    printf("%s: %d as graphs, %d direct, %d overlaps\n", runs[number].name,
           (int)statistics.graphRuns, (int)statistics.directRuns,
           (int)statistics.overlaps);
  }

  /* The structure of a caller that was compiled before there were overlaps. */
  TesseraLaunchStatistics older = {0};
  older.structSize = offsetof(TesseraLaunchStatistics, overlaps);
  older.overlaps = 77;
  check(tesseraExecutableGetLaunchStatistics(executable, &older),
        "tesseraExecutableGetLaunchStatistics");
  printf("an older caller: %d as graphs, %d\n", (int)older.graphRuns,
         (int)older.overlaps);

  for (size_t index = 0; index < numArguments; ++index)
    free(arguments[index].data);
  free(result.data);
  tesseraExecutableDestroy(executable);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  return 0;
}
