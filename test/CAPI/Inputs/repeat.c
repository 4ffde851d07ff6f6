// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Runs an executable many times, with operands, results, workspaces, queues and
   modes that come again in another order, and compares the launches of each run
   with those of an executable that was made for this run. The driver is the
   fake one, which has the launches as text.

       repeat BUNDLE ENTRY...

   Of entry points after --count, only the number of launches is compared: some
   of their memory is the executable's. */
#include "program.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 4, PLACES = 3, RUNS = 3000, BYTES = 8 << 20 };

static unsigned next(unsigned below) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(256, bytes);
  check(!memory, "aligned_alloc");
  memset(memory, 0, bytes);
  return memory;
}

/* Memory for a result: one of some places. Null from time to time. */
typedef struct {
  void *places[PLACES];
  unsigned place;
  int fails, live;
} Memory;

static void *giveResult(void *user, const TesseraAllocation *request) {
  Memory *memory = user;
  check(request->bytes > BYTES, "a result is too large");
  if (memory->fails)
    return NULL;
  ++memory->live;
  return memory->places[memory->place];
}
static void takeBack(void *user, void *place,
                     const TesseraAllocation *request) {
  (void)place, (void)request;
  --((Memory *)user)->live;
}

/* The arguments of a run. */
typedef struct {
  TesseraArgument arguments[MOST];
  int64_t sizes[MOST][4], strides[MOST][4];
  int64_t scalars[MOST];
} Call;

static const char *(*takeLaunches)(void);

static int runOnce(TesseraExecutable *executable, Call *call, size_t count,
                   const TesseraRun *run, char **launches) {
  TesseraResult result = {0};
  result.keepOnDevice = 1;
  takeLaunches();
  int status = (int)tesseraExecutableRun(executable, call->arguments, count,
                                         &result, 1, run);
  if (!status) {
    Memory *memory = run->allocator->context;
    check(result.data != memory->places[memory->place], "another result");
  }
  const char *text = takeLaunches();
  *launches = malloc(strlen(text) + 1);
  check(!*launches, "malloc");
  strcpy(*launches, text);
  return status;
}

static int countLines(const char *text) {
  int lines = 0;
  for (; *text; ++text)
    lines += *text == '\n';
  return lines;
}

/* Another argument: one of some addresses, sizes, scalars. */
static void choose(Call *call, size_t index, const TesseraSlotInfo *slot,
                   void **places) {
  TesseraArgument *argument = &call->arguments[index];
  memset(argument, 0, sizeof(*argument));
  if (slot->kind == TESSERA_SCALAR) {
    /* The number of launches, or a factor. */
    float factor = 1 + (float)next(2);
    call->scalars[index] = 1 + next(2);
    if (slot->element == TESSERA_F32)
      memcpy(&call->scalars[index], &factor, sizeof(factor));
    argument->data = &call->scalars[index];
    return;
  }
  argument->memory = TESSERA_MEMORY_DEVICE;
  argument->data = places[next(PLACES)];
  int isDynamic = 0;
  int64_t stride = 1;
  for (size_t dim = slot->rank; dim-- > 0;) {
    int64_t size = slot->sizes[dim];
    if (size < 0)
      size = 1 + next(2), isDynamic = 1;
    call->sizes[index][dim] = size;
    call->strides[index][dim] = stride;
    stride *= size;
  }
  if (isDynamic || next(2))
    argument->sizes = call->sizes[index];
  if (next(3) == 0)
    argument->strides = call->strides[index];
  /* A scalar of the device, which may change where its address does not. */
  if (slot->rank == 0)
    *(int64_t *)argument->data = 1 + next(2);
}

static void checkEntry(TesseraProgram *program, const char *entry,
                       TesseraDevice *device, int countsOnly) {
  size_t count, numResults;
  check(tesseraProgramGetSlotCounts(program, entry, &count, &numResults),
        entry);
  check(count > MOST || numResults != 1, "one result is expected");
  TesseraExecutable *executable = prepare(program, entry, device);
  static void *places[MOST][PLACES], *workspaces[PLACES];
  Memory memory;
  memset(&memory, 0, sizeof(memory));
  for (int place = 0; place < PLACES; ++place) {
    for (size_t index = 0; index < count; ++index)
      places[index][place] = allocate(BYTES);
    memory.places[place] = allocate(BYTES);
    workspaces[place] = allocate(BYTES);
  }
  TesseraAllocator allocator = {sizeof(allocator), giveResult, takeBack,
                                &memory};
  TesseraRun run = {0};
  run.structSize = sizeof(run);
  run.hasQueue = 1;
  run.allocator = &allocator;
  run.workspaceBytes = BYTES;
  Call call;
  int wrong = 0, failed = 0, given = 0;
  for (int number = 0; number < RUNS; ++number) {
    /* Mostly, a run differs from the last one in one thing. */
    for (size_t index = 0; index < count; ++index) {
      TesseraSlotInfo slot = {0};
      slot.structSize = sizeof(slot);
      check(tesseraProgramGetArgument(program, entry, index, &slot), entry);
      if (number == 0 || next(12) == 0)
        choose(&call, index, &slot, places[index]);
    }
    memory.place = next(4) ? memory.place : next(PLACES);
    memory.fails = next(16) == 0;
    run.workspace = workspaces[next(4) ? 0 : next(PLACES)];
    run.queue = (void *)(uintptr_t)(next(4) ? 64 : 128);
    run.launchMode = next(4) ? TESSERA_LAUNCH_AUTO : next(3);
    char *launches, *expected;
    int status = runOnce(executable, &call, count, &run, &launches);
    given += !status;
    if (status != (memory.fails ? TESSERA_OUT_OF_MEMORY : TESSERA_OK))
      ++wrong;
    failed += status != 0;
    TesseraExecutable *fresh = prepare(program, entry, device);
    memory.fails = 0;
    run.launchMode = TESSERA_LAUNCH_DIRECT;
    check(runOnce(fresh, &call, count, &run, &expected), entry);
    ++given;
    tesseraExecutableDestroy(fresh);
    int isEqual = countsOnly ? countLines(launches) == countLines(expected)
                             : strcmp(launches, expected) == 0;
    if (status == 0 && (!isEqual || !*expected))
      ++wrong;
    /* A run without a result launches nothing. */
    if (status != 0 && *launches && !countsOnly)
      ++wrong;
    free(launches);
    free(expected);
  }
  TesseraLaunchStatistics statistics = {0};
  statistics.structSize = sizeof(statistics);
  check(tesseraExecutableGetLaunchStatistics(executable, &statistics),
        "tesseraExecutableGetLaunchStatistics");
  int succeeded = RUNS - failed;
  printf("%s: %d runs wrong, %d results lost; %s failed, %s repeated, %s of the "
         "sum of direct runs and graphs\n",
         entry, wrong, memory.live - given,
         failed > RUNS / 50 ? "some" : "few",
         statistics.repeatedRuns == 0                            ? "none"
         : statistics.repeatedRuns > (uint64_t)(succeeded / 12) ? "many"
                                                                 : "few",
         statistics.directRuns + statistics.graphRuns == (uint64_t)succeeded
             ? "all"
             : "not all");
  tesseraExecutableDestroy(executable);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fprintf(stderr, "usage: repeat BUNDLE ENTRY...\n"), 2;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *found = library ? dlsym(library, "fakeCudaTakeLaunches") : NULL;
  check(!found, "the fake driver");
  memcpy(&takeLaunches, &found, sizeof(found));
  TesseraProgram *program = load(argv[1]);
  TesseraDevice *device;
  check(tesseraDeviceOpen("cuda", 0, &device), "tesseraDeviceOpen");
  int countsOnly = 0;
  for (int entry = 2; entry < argc; ++entry)
    if (strcmp(argv[entry], "--count") == 0)
      countsOnly = 1;
    else
      checkEntry(program, argv[entry], device, countsOnly);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  return 0;
}
