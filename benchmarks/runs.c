// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* What a run of an executable costs the host beyond the launches that the
   driver gets, on an NVIDIA GPU. The first run of each entry point is watched:
   its launches are repeated without Tessera, with the same kernels, sizes and
   parameters, in turns with runs. Results are in memory of the caller's, and
   temporaries in the executable's workspace or in the caller's. Runs with the
   same memory repeat the launches of an earlier one; with results in nine
   places in turns, host code is executed each time. Six threads do the same at
   once, each with an executable and a stream of its own.

       gpu-runner test/CAPI/Inputs/capture.mlir --target=cuda:sm_90a --emit=bundle -o capture.bundle
       cc -O2 -rdynamic benchmarks/runs.c -Iinclude -LDIR -ltessera-runtime -Wl,-rpath,DIR -ldl -lpthread -o runs
       ./runs capture.bundle result splitk attention three

   The program has a function dlsym of its own, by which the runtime finds the
   driver's functions: so it sees the launches. */
#define _GNU_SOURCE
#include "tessera-c/Runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MOST = 8,
  MOST_LAUNCHES = 16,
  ROUNDS = 15,
  BATCHES = 10,
  BATCH = 100,
  THREADS = 6,
  /* More than the runtime keeps. */
  PLACES = 9,
  KINDS = 4
};

typedef unsigned long long Address;
typedef struct Context *Context;
typedef struct Function *Function;
typedef struct Stream *Stream;

/* CUlaunchConfig. */
typedef struct {
  unsigned grid[3], block[3], sharedBytes;
  Stream stream;
  void *attributes;
  unsigned numAttributes;
} Config;

static int (*cuInit)(unsigned);
static int (*cuDeviceGet)(int *, int);
static int (*cuDeviceGetName)(char *, int, int);
static int (*cuDevicePrimaryCtxRetain)(Context *, int);
static int (*cuCtxSetCurrent)(Context);
static int (*cuStreamCreate)(Stream *, unsigned);
static int (*cuStreamSynchronize)(Stream);
static int (*cuMemAlloc)(Address *, size_t);
static int (*cuMemsetD8)(Address, unsigned char, size_t);
static int (*cuFuncGetParamInfo)(Function, size_t, size_t *, size_t *);
static int (*cuLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, Stream, void **,
                             void **);
static int (*cuLaunchKernelEx)(const Config *, Function, void **, void **);

static void check(int failed, const char *what) {
  if (!failed)
    return;
  fprintf(stderr, "%s: %d: %s\n", what, failed, tesseraGetLastError());
  exit(1);
}

/* ---- The launches of a run ---- */

typedef struct {
  Function function;
  Config config;
  char attribute[72];
  int isExtended;
  size_t numParameters;
  void *parameters[64];
} Launch;

typedef struct {
  Launch launches[MOST_LAUNCHES];
  size_t count;
} Launches;

/* The launches of this thread are noted here. */
static _Thread_local Launches *watched;

static void note(Function function, const Config *config, void **parameters,
                 int isExtended) {
  check(watched->count == MOST_LAUNCHES, "too many launches");
  Launch *launch = &watched->launches[watched->count++];
  memset(launch, 0, sizeof(*launch));
  launch->function = function;
  launch->config = *config;
  launch->isExtended = isExtended;
  if (config->numAttributes == 1) {
    memcpy(launch->attribute, config->attributes, sizeof(launch->attribute));
    launch->config.attributes = launch->attribute;
  }
  check(config->numAttributes > 1, "more than one attribute");
  size_t offset, bytes;
  while (!cuFuncGetParamInfo(function, launch->numParameters, &offset, &bytes)) {
    check(launch->numParameters == 64, "too many parameters");
    void *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memcpy(copy, parameters[launch->numParameters], bytes);
    launch->parameters[launch->numParameters++] = copy;
  }
}

static int watchedLaunch(Function function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes, Stream stream,
                         void **parameters, void **extra) {
  if (watched) {
    Config config = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                     sharedBytes,           stream,
                     NULL,                  0};
    note(function, &config, parameters, 0);
  }
  return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                        sharedBytes, stream, parameters, extra);
}
static int watchedLaunchEx(const Config *config, Function function,
                           void **parameters, void **extra) {
  if (watched)
    note(function, config, parameters, 1);
  return cuLaunchKernelEx(config, function, parameters, extra);
}

typedef void *(*Find)(void *, const char *);
static Find getFind(void) {
  static Find find;
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5",
                                         "GLIBC_2.17"};
  for (int i = 0; i < 3 && !find; ++i) {
    void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    memcpy(&find, &found, sizeof(found));
  }
  if (!find)
    abort();
  return find;
}
void *dlsym(void *restrict library, const char *restrict name) {
  void *found = getFind()(library, name), *own = NULL;
  int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, Stream, void **, void **) = watchedLaunch;
  int (*launchEx)(const Config *, Function, void **, void **) = watchedLaunchEx;
  if (found && !strcmp(name, "cuLaunchKernel"))
    memcpy(&own, &launch, sizeof(own));
  if (found && !strcmp(name, "cuLaunchKernelEx"))
    memcpy(&own, &launchEx, sizeof(own));
  return own ? own : found;
}

static int repeatLaunches(Launches *launches) {
  for (size_t i = 0; i < launches->count; ++i) {
    Launch *launch = &launches->launches[i];
    const Config *config = &launch->config;
    int code =
        launch->isExtended
            ? cuLaunchKernelEx(config, launch->function, launch->parameters,
                               NULL)
            : cuLaunchKernel(launch->function, config->grid[0], config->grid[1],
                             config->grid[2], config->block[0],
                             config->block[1], config->block[2],
                             config->sharedBytes, config->stream,
                             launch->parameters, NULL);
    if (code)
      return code;
  }
  return 0;
}

/* ---- The program ---- */

static Context context;

static void findDriver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  check(!library, "libcuda.so.1");
  struct {
    void *position;
    const char *name;
  } functions[] = {
      {&cuInit, "cuInit"},
      {&cuDeviceGet, "cuDeviceGet"},
      {&cuDeviceGetName, "cuDeviceGetName"},
      {&cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"},
      {&cuCtxSetCurrent, "cuCtxSetCurrent"},
      {&cuStreamCreate, "cuStreamCreate"},
      {&cuStreamSynchronize, "cuStreamSynchronize"},
      {&cuMemAlloc, "cuMemAlloc_v2"},
      {&cuMemsetD8, "cuMemsetD8_v2"},
      {&cuFuncGetParamInfo, "cuFuncGetParamInfo"},
      {&cuLaunchKernel, "cuLaunchKernel"},
      {&cuLaunchKernelEx, "cuLaunchKernelEx"},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    void *found = getFind()(library, functions[i].name);
    check(!found, functions[i].name);
    memcpy(functions[i].position, &found, sizeof(found));
  }
  int device;
  char name[128];
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDeviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  printf("%s; the host's time in microseconds: median (fastest to slowest of %d rounds)\n\n",
         name, ROUNDS);
}

static TesseraProgram *load(const char *path) {
  FILE *file = fopen(path, "rb");
  check(!file, path);
  static char bytes[8 << 20];
  size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  TesseraProgram *program;
  check(tesseraProgramLoad(bytes, size, &program), "tesseraProgramLoad");
  return program;
}

static void *allocate(size_t bytes) {
  Address address;
  check(cuMemAlloc(&address, bytes ? bytes : 1), "cuMemAlloc");
  check(cuMemsetD8(address, 0, bytes ? bytes : 1), "cuMemsetD8");
  return (void *)(size_t)address;
}

static size_t countBytes(const TesseraSlotInfo *slot) {
  size_t bytes = slot->element == TESSERA_F32 ? 4 : 2;
  for (size_t dim = 0; dim < slot->rank; ++dim)
    bytes *= (size_t)slot->sizes[dim];
  return bytes;
}

typedef struct {
  TesseraExecutable *executable;
  TesseraArgument arguments[MOST];
  size_t numArguments;
  void *results[PLACES];
  int place, isMoved;
  TesseraAllocator allocator;
  TesseraRun run;
  Launches launches;
  /* What the thread of this work measures, and the time of one call. */
  int isRun;
  double microseconds;
} Work;

static void *giveResult(void *user, const TesseraAllocation *request) {
  Work *work = user;
  (void)request;
  if (work->isMoved)
    work->place = (work->place + 1) % PLACES;
  return work->results[work->place];
}
static void takeBack(void *user, void *memory,
                     const TesseraAllocation *request) {
  (void)user, (void)memory, (void)request;
}

static int runOnce(Work *work) {
  TesseraResult result = {0};
  result.keepOnDevice = 1;
  return (int)tesseraExecutableRun(work->executable, work->arguments,
                                   work->numArguments, &result, 1, &work->run);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + (double)time.tv_nsec / 1e3;
}

/* Measures the time of one call. The driver's queue must not be full: the host
   would wait. */
static void *measure(void *user) {
  Work *work = user;
  double total = 0;
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  for (int batch = 0; batch < BATCHES; ++batch) {
    double begin = now();
    for (int number = 0; number < BATCH; ++number)
      check(work->isRun ? runOnce(work) : repeatLaunches(&work->launches),
            "a run or a launch");
    total += now() - begin;
    check(cuStreamSynchronize(work->run.queue), "cuStreamSynchronize");
  }
  work->microseconds = total / (BATCHES * BATCH);
  return NULL;
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

/* Prepares an entry point, and watches a run of it. */
static void begin(Work *work, TesseraProgram *program, const char *entry,
                  TesseraDevice *device, int givesWorkspace) {
  memset(work, 0, sizeof(*work));
  check(tesseraExecutableCreate(program, entry, device, &work->executable),
        entry);
  Stream stream;
  check(cuStreamCreate(&stream, 1), "cuStreamCreate");
  size_t numResults, workspaceBytes = 0;
  check(tesseraProgramGetSlotCounts(program, entry, &work->numArguments,
                                    &numResults),
        entry);
  check(numResults != 1 || work->numArguments > MOST, "one result is expected");
  TesseraSlotInfo slot = {0};
  slot.structSize = sizeof(slot);
  for (size_t index = 0; index < work->numArguments; ++index) {
    check(tesseraProgramGetArgument(program, entry, index, &slot), entry);
    work->arguments[index].memory = TESSERA_MEMORY_DEVICE;
    work->arguments[index].data = allocate(countBytes(&slot));
  }
  check(tesseraProgramGetResult(program, entry, 0, &slot), entry);
  for (int place = 0; place < PLACES; ++place)
    work->results[place] = allocate(countBytes(&slot));
  TesseraAllocator allocator = {sizeof(allocator), giveResult, takeBack, work};
  work->allocator = allocator;
  work->run.structSize = sizeof(work->run);
  work->run.hasQueue = 1;
  work->run.queue = stream;
  work->run.allocator = &work->allocator;
  work->run.launchMode = TESSERA_LAUNCH_DIRECT;
  check(tesseraExecutableWorkspaceSize(work->executable, NULL, 0,
                                       &workspaceBytes),
        "tesseraExecutableWorkspaceSize");
  if (givesWorkspace) {
    work->run.workspace = allocate(workspaceBytes);
    work->run.workspaceBytes = workspaceBytes;
  }
  check(runOnce(work), "the first run");
  watched = &work->launches;
  check(runOnce(work), "the watched run");
  watched = NULL;
}

static void measureEntry(TesseraProgram *program, const char *entry,
                         TesseraDevice *device, int numThreads,
                         int givesWorkspace) {
  static Work works[THREADS];
  for (int thread = 0; thread < numThreads; ++thread)
    begin(&works[thread], program, entry, device, givesWorkspace);

  /* The launches alone, direct runs, runs as graphs, direct runs with another
     result each time. */
  double times[KINDS][ROUNDS];
  for (int round = -1; round < ROUNDS; ++round)
    for (int which = 0; which < KINDS; ++which) {
      pthread_t threads[THREADS];
      double sum = 0;
      for (int thread = 0; thread < numThreads; ++thread) {
        Work *work = &works[thread];
        work->isRun = which != 0;
        work->isMoved = which == 3;
        work->run.launchMode =
            which == 2 ? TESSERA_LAUNCH_GRAPH : TESSERA_LAUNCH_DIRECT;
        if (numThreads == 1)
          measure(work);
        else
          check(pthread_create(&threads[thread], NULL, measure, work),
                "pthread_create");
      }
      for (int thread = 0; thread < numThreads; ++thread) {
        if (numThreads != 1)
          check(pthread_join(threads[thread], NULL), "pthread_join");
        sum += works[thread].microseconds;
      }
      /* The first round is the warm-up. */
      if (round >= 0)
        times[which][round] = sum / numThreads;
    }

  const Launches *launches = &works[0].launches;
  int overlaps = 0;
  for (size_t i = 0; i < launches->count; ++i)
    overlaps += launches->launches[i].isExtended;
  printf("| %s%s | %d | %d, %d |", entry, givesWorkspace ? ", workspace" : "",
         numThreads, (int)launches->count, overlaps);
  for (int which = 0; which < KINDS; ++which) {
    qsort(times[which], ROUNDS, sizeof(double), compare);
    printf(" %.2f (%.2f to %.2f) |", times[which][ROUNDS / 2], times[which][0],
           times[which][ROUNDS - 1]);
  }
  for (int which = 1; which < KINDS; which += 2)
    printf(" %.2f |", times[which][ROUNDS / 2] - times[0][ROUNDS / 2]);
  printf("\n");
  fflush(stdout);
  for (int thread = 0; thread < numThreads; ++thread)
    tesseraExecutableDestroy(works[thread].executable);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fprintf(stderr, "usage: runs BUNDLE ENTRY...\n"), 2;
  findDriver();
  TesseraProgram *program = load(argv[1]);
  TesseraDevice *device;
  check(tesseraDeviceOpen("cuda", 0, &device), "tesseraDeviceOpen");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  printf("| program | threads | launches, of which overlap | the launches alone | a run, direct | a run, as a graph | direct, another result each time | "
         "direct above the launches | another result above the launches |\n"
         "|---|---|---|---|---|---|---|---|---|\n");
  for (int entry = 2; entry < argc; ++entry) {
    measureEntry(program, argv[entry], device, 1, /*givesWorkspace=*/0);
    measureEntry(program, argv[entry], device, 1, /*givesWorkspace=*/1);
    measureEntry(program, argv[entry], device, THREADS, /*givesWorkspace=*/0);
  }
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  return 0;
}
