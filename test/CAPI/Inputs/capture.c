// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Captures runs into CUDA graphs, each as the first run of its executable, and
   compares 1,000 replays with runs outside of graphs, on contents that change.
   Compares runs that are submitted as graphs of the runtime's with runs whose
   kernels are launched one by one, with other memory each time. Then measures
   the host's time for a run, also on six threads at once.

       capture BUNDLE ENTRY... */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPLAYS = 1000, VARIANTS = 5, MOST = 8, THREADS = 6, RUNS = 2000 };

typedef unsigned long long Address;
typedef struct Stream *Stream;
typedef struct Graph *Graph;
typedef struct Exec *Exec;

static int (*cuInit)(unsigned);
static int (*cuDeviceGet)(int *, int);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuCtxSetCurrent)(void *);
static int (*cuStreamCreate)(Stream *, unsigned);
static int (*cuStreamDestroy)(Stream);
static int (*cuStreamSynchronize)(Stream);
static int (*cuStreamBeginCapture)(Stream, int);
static int (*cuStreamEndCapture)(Stream, Graph *);
static int (*cuGraphInstantiate)(Exec *, Graph, unsigned long long);
static int (*cuGraphLaunch)(Exec, Stream);
static int (*cuGraphExecDestroy)(Exec);
static int (*cuGraphDestroy)(Graph);
static int (*cuMemAlloc)(Address *, size_t);
static int (*cuMemFree)(Address);
static int (*cuMemcpyHtoD)(Address, const void *, size_t);
static int (*cuMemcpyDtoH)(void *, Address, size_t);
static int (*cuMemcpyDtoDAsync)(Address, Address, size_t, Stream);
static int (*cuModuleLoadData)(void **, const void *);
static int (*cuModuleGetFunction)(void **, void *, const char *);
static int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, Stream, void **,
                             void **);

static void *context;

static void cu(int code, const char *what) {
  if (!code)
    return;
  fprintf(stderr, "%s: error %d\n", what, code);
  exit(1);
}

static void findDriver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  check(!library, "libcuda.so.1");
  struct {
    void *position;
    const char *name;
  } functions[] = {
      {&cuInit, "cuInit"},
      {&cuDeviceGet, "cuDeviceGet"},
      {&cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"},
      {&cuCtxSetCurrent, "cuCtxSetCurrent"},
      {&cuStreamCreate, "cuStreamCreate"},
      {&cuStreamDestroy, "cuStreamDestroy_v2"},
      {&cuStreamSynchronize, "cuStreamSynchronize"},
      {&cuStreamBeginCapture, "cuStreamBeginCapture_v2"},
      {&cuStreamEndCapture, "cuStreamEndCapture"},
      {&cuGraphInstantiate, "cuGraphInstantiateWithFlags"},
      {&cuGraphLaunch, "cuGraphLaunch"},
      {&cuGraphExecDestroy, "cuGraphExecDestroy"},
      {&cuGraphDestroy, "cuGraphDestroy"},
      {&cuMemAlloc, "cuMemAlloc_v2"},
      {&cuMemFree, "cuMemFree_v2"},
      {&cuMemcpyHtoD, "cuMemcpyHtoD_v2"},
      {&cuMemcpyDtoH, "cuMemcpyDtoH_v2"},
      {&cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"},
      {&cuModuleLoadData, "cuModuleLoadData"},
      {&cuModuleGetFunction, "cuModuleGetFunction"},
      {&cuLaunchKernel, "cuLaunchKernel"},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    void *found = dlsym(library, functions[i].name);
    check(!found, functions[i].name);
    memcpy(functions[i].position, &found, sizeof(found));
  }
  int device;
  cu(cuInit(0), "cuInit");
  cu(cuDeviceGet(&device, 0), "cuDeviceGet");
  cu(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  cu(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/* Memory for one result, which was allocated before any capture. */
typedef struct {
  Address memory;
  size_t bytes;
  int calls, releases;
} Reserved;

static void *takeReserved(void *user, const TesseraAllocation *request) {
  Reserved *own = user;
  ++own->calls;
  return request->bytes <= own->bytes ? (void *)(size_t)own->memory : NULL;
}
static void giveBack(void *user, void *memory,
                     const TesseraAllocation *request) {
  (void)memory;
  (void)request;
  ++((Reserved *)user)->releases;
}

/* Values of -0.25 to 0.25, so that sums are exact or nearly so. */
static void fill(TesseraElementType element, size_t count, int seed, char *to) {
  static const unsigned short half[] = {0xB400, 0xB000, 0, 0x3000, 0x3400},
                              bfloat[] = {0xBE80, 0xBE00, 0, 0x3E00, 0x3E80};
  for (size_t i = 0; i < count; ++i) {
    size_t which = (i * 7 + i / 13 * 3 + (size_t)seed * (i % 3 + 1)) % 5;
    float number = ((float)which - 2) / 8;
    if (element == TESSERA_F32)
      memcpy(to + 4 * i, &number, 4);
    else
      memcpy(to + 2 * i, element == TESSERA_F16 ? &half[which] : &bfloat[which],
             2);
  }
}

static size_t countElements(const TesseraSlotInfo *slot) {
  size_t count = 1;
  for (size_t dim = 0; dim < slot->rank; ++dim)
    count *= (size_t)slot->sizes[dim];
  return count;
}
static size_t countBytes(const TesseraSlotInfo *slot) {
  return countElements(slot) * (slot->element == TESSERA_F32 ? 4 : 2);
}

/* A program's arguments with several contents, and memory for its result. */
typedef struct {
  size_t numArguments, bytes[MOST], resultBytes;
  Address variants[VARIANTS][MOST];
  TesseraArgument arguments[MOST];
} Data;

static void makeData(TesseraProgram *program, const char *entry, Data *data) {
  size_t results;
  check(tesseraProgramGetSlotCounts(program, entry, &data->numArguments,
                                    &results),
        entry);
  check(results != 1 || data->numArguments > MOST, "one result is expected");
  memset(data->arguments, 0, sizeof(data->arguments));
  for (size_t index = 0; index < data->numArguments; ++index) {
    TesseraSlotInfo slot = {0};
    slot.structSize = sizeof(slot);
    check(tesseraProgramGetArgument(program, entry, index, &slot), entry);
    size_t bytes = data->bytes[index] = countBytes(&slot);
    char *host = malloc(bytes);
    Address memory;
    cu(cuMemAlloc(&memory, bytes), "cuMemAlloc");
    data->arguments[index].memory = TESSERA_MEMORY_DEVICE;
    data->arguments[index].data = (void *)(size_t)memory;
    for (int variant = 0; variant < VARIANTS; ++variant) {
      fill(slot.element, countElements(&slot), variant + (int)index, host);
      cu(cuMemAlloc(&data->variants[variant][index], bytes), "cuMemAlloc");
      cu(cuMemcpyHtoD(data->variants[variant][index], host, bytes),
         "cuMemcpyHtoD");
    }
    cu(cuMemcpyHtoD(memory, host, bytes), "cuMemcpyHtoD");
    free(host);
  }
  TesseraSlotInfo slot = {0};
  slot.structSize = sizeof(slot);
  check(tesseraProgramGetResult(program, entry, 0, &slot), entry);
  data->resultBytes = countBytes(&slot);
}

static void freeData(Data *data) {
  for (size_t index = 0; index < data->numArguments; ++index) {
    cu(cuMemFree((Address)(size_t)data->arguments[index].data), "cuMemFree");
    for (int variant = 0; variant < VARIANTS; ++variant)
      cu(cuMemFree(data->variants[variant][index]), "cuMemFree");
  }
}

static void setVariant(const Data *data, int variant, Stream stream) {
  for (size_t index = 0; index < data->numArguments; ++index)
    cu(cuMemcpyDtoDAsync((Address)(size_t)data->arguments[index].data,
                         data->variants[variant][index], data->bytes[index],
                         stream),
       "cuMemcpyDtoDAsync");
}

static int runAs(int launchMode, TesseraExecutable *executable,
                 const Data *data, Stream stream, Reserved *reserved,
                 void *workspace, size_t workspaceBytes) {
  TesseraAllocator allocator = {sizeof(allocator), takeReserved, giveBack,
                                reserved};
  TesseraRun run = {sizeof(run),    1,         stream, &allocator, workspace,
                    workspaceBytes, launchMode};
  TesseraResult result = {0};
  result.keepOnDevice = 1;
  int status = (int)tesseraExecutableRun(executable, data->arguments,
                                         data->numArguments, &result, 1, &run);
  return status || result.data != (void *)(size_t)reserved->memory ||
         result.bytes != data->resultBytes;
}

static int runIn(TesseraExecutable *executable, const Data *data, Stream stream,
                 Reserved *reserved, void *workspace, size_t workspaceBytes) {
  return runAs(TESSERA_LAUNCH_AUTO, executable, data, stream, reserved,
               workspace, workspaceBytes);
}

static void reserve(Reserved *reserved, size_t bytes) {
  memset(reserved, 0, sizeof(*reserved));
  reserved->bytes = bytes;
  cu(cuMemAlloc(&reserved->memory, bytes), "cuMemAlloc");
}

/* Captures the first run of an executable, with or without a workspace, and
   returns in how many replays something was wrong. */
static int replay(TesseraProgram *program, const char *entry,
                  TesseraDevice *device, Data *data, int givesWorkspace) {
  TesseraExecutable *captured = prepare(program, entry, device),
                    *eager = prepare(program, entry, device);
  Stream stream;
  Graph graph;
  Exec exec;
  Reserved inGraph, outside;
  Address workspace = 0;
  size_t workspaceBytes = 0;
  cu(cuStreamCreate(&stream, 1), "cuStreamCreate");
  reserve(&inGraph, data->resultBytes);
  reserve(&outside, data->resultBytes);
  check(tesseraExecutableWorkspaceSize(captured, NULL, 0, &workspaceBytes),
        "tesseraExecutableWorkspaceSize");
  if (givesWorkspace && workspaceBytes)
    cu(cuMemAlloc(&workspace, workspaceBytes), "cuMemAlloc");

  cu(cuStreamBeginCapture(stream, /*global*/ 0), "cuStreamBeginCapture");
  check(runIn(captured, data, stream, &inGraph, (void *)(size_t)workspace,
              workspace ? workspaceBytes : 0),
        "the captured run");
  cu(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  cu(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");

  char *found = malloc(data->resultBytes),
       *expected = malloc(data->resultBytes),
       *last = calloc(1, data->resultBytes);
  int wrong = 0, same = 0;
  for (int number = 0; number < REPLAYS; ++number) {
    setVariant(data, number % VARIANTS, stream);
    cu(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    check(runIn(eager, data, stream, &outside, NULL, 0), "the run");
    cu(cuStreamSynchronize(stream), "cuStreamSynchronize");
    cu(cuMemcpyDtoH(found, inGraph.memory, data->resultBytes), "cuMemcpyDtoH");
    cu(cuMemcpyDtoH(expected, outside.memory, data->resultBytes),
       "cuMemcpyDtoH");
    wrong += memcmp(found, expected, data->resultBytes) != 0;
    same += memcmp(found, last, data->resultBytes) == 0;
    memcpy(last, found, data->resultBytes);
  }
  printf("%s%s: %d of %d replays wrong, %d with the contents of the last one\n",
         entry, givesWorkspace ? " with a workspace" : "", wrong, REPLAYS,
         same);
  wrong += same + inGraph.releases + outside.releases;
  cu(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
  cu(cuGraphDestroy(graph), "cuGraphDestroy");
  tesseraExecutableDestroy(captured);
  tesseraExecutableDestroy(eager);
  cu(cuStreamDestroy(stream), "cuStreamDestroy");
  cu(cuMemFree(inGraph.memory), "cuMemFree");
  cu(cuMemFree(outside.memory), "cuMemFree");
  if (workspace)
    cu(cuMemFree(workspace), "cuMemFree");
  free(found);
  free(expected);
  free(last);
  return wrong;
}

/* Runs as graphs of the runtime's, against runs whose kernels are launched one
   by one. Arguments, results and workspaces have other addresses from run to
   run, and contents change. Returns in how many runs something was wrong. */
static int compareModes(TesseraProgram *program, const char *entry,
                        TesseraDevice *device, const Data *data,
                        int launchMode) {
  enum { MEMORIES = 3 };
  TesseraExecutable *graph = prepare(program, entry, device),
                    *direct = prepare(program, entry, device);
  Stream stream;
  Reserved results[MEMORIES], expectedResult;
  Address workspaces[MEMORIES];
  size_t workspaceBytes = 0;
  Data current = *data;
  cu(cuStreamCreate(&stream, 1), "cuStreamCreate");
  check(tesseraExecutableWorkspaceSize(graph, NULL, 0, &workspaceBytes),
        "tesseraExecutableWorkspaceSize");
  reserve(&expectedResult, data->resultBytes);
  for (int memory = 0; memory < MEMORIES; ++memory) {
    reserve(&results[memory], data->resultBytes);
    cu(cuMemAlloc(&workspaces[memory], workspaceBytes + 256), "cuMemAlloc");
  }
  char *found = malloc(data->resultBytes),
       *expected = malloc(data->resultBytes);
  int wrong = 0;
  for (int number = 0; number < REPLAYS; ++number) {
    /* Sometimes all addresses are as before, and contents differ. */
    int moves = number % 4 != 3;
    if (moves)
      for (size_t index = 0; index < data->numArguments; ++index)
        current.arguments[index].data =
            (void *)(size_t)
                data->variants[(number + (int)index) % VARIANTS][index];
    else
      cu(cuMemcpyDtoDAsync((Address)(size_t)current.arguments[0].data,
                           data->variants[number % VARIANTS][0], data->bytes[0],
                           stream),
         "cuMemcpyDtoDAsync");
    int memory = number / 4 % MEMORIES;
    void *workspace = (void *)(size_t)workspaces[memory];
    int own = number % 2;
    check(runAs(launchMode, graph, &current, stream, &results[memory],
                own ? NULL : workspace, own ? 0 : workspaceBytes),
          "a run as a graph");
    check(runAs(TESSERA_LAUNCH_DIRECT, direct, &current, stream,
                &expectedResult, NULL, 0),
          "a direct run");
    cu(cuStreamSynchronize(stream), "cuStreamSynchronize");
    cu(cuMemcpyDtoH(found, results[memory].memory, data->resultBytes),
       "cuMemcpyDtoH");
    cu(cuMemcpyDtoH(expected, expectedResult.memory, data->resultBytes),
       "cuMemcpyDtoH");
    wrong += memcmp(found, expected, data->resultBytes) != 0;
  }
  TesseraLaunchStatistics statistics = {0};
  statistics.structSize = sizeof(statistics);
  check(tesseraExecutableGetLaunchStatistics(graph, &statistics),
        "tesseraExecutableGetLaunchStatistics");
  printf(
      "%s %s: %d of %d runs wrong, %d as graphs; %d graphs, %d updates%s%s\n",
      entry, launchMode == TESSERA_LAUNCH_GRAPH ? "as graphs" : "auto", wrong,
      REPLAYS, (int)statistics.graphRuns, (int)statistics.graphs,
      (int)statistics.updates, *statistics.whyDirect ? "; last direct: " : "",
      statistics.whyDirect);
  if (launchMode == TESSERA_LAUNCH_GRAPH)
    wrong += statistics.graphRuns != REPLAYS;
  tesseraExecutableDestroy(graph);
  tesseraExecutableDestroy(direct);
  cu(cuStreamDestroy(stream), "cuStreamDestroy");
  cu(cuMemFree(expectedResult.memory), "cuMemFree");
  for (int memory = 0; memory < MEMORIES; ++memory) {
    wrong += results[memory].releases;
    cu(cuMemFree(results[memory].memory), "cuMemFree");
    cu(cuMemFree(workspaces[memory]), "cuMemFree");
  }
  free(found);
  free(expected);
  return wrong;
}

/* What a thread has for itself. */
typedef struct {
  TesseraExecutable *executable;
  Data data;
  Stream stream;
  Reserved reserved;
  int launchMode;
  double nanoseconds;
  int failures;
} Worker;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* The driver's queue must not be full: the host would wait. */
static void *runOften(void *user) {
  Worker *worker = user;
  cuCtxSetCurrent(context);
  double total = 0;
  for (int batch = 0; batch < RUNS / 100; ++batch) {
    double begin = now();
    for (int number = 0; number < 100; ++number)
      worker->failures +=
          runAs(worker->launchMode, worker->executable, &worker->data,
                worker->stream, &worker->reserved, NULL, 0);
    total += now() - begin;
    worker->failures += cuStreamSynchronize(worker->stream) != 0;
  }
  worker->nanoseconds = total / RUNS;
  return NULL;
}

static int measure(TesseraProgram *program, const char *entry,
                   TesseraDevice *device, int threads, int launchMode) {
  static const char *const modes[] = {"", " (direct)", " (graph)"};
  Worker *workers = calloc((size_t)threads, sizeof(Worker));
  pthread_t ids[THREADS];
  for (int number = 0; number < threads; ++number) {
    Worker *worker = &workers[number];
    worker->launchMode = launchMode;
    worker->executable = prepare(program, entry, device);
    makeData(program, entry, &worker->data);
    reserve(&worker->reserved, worker->data.resultBytes);
    cu(cuStreamCreate(&worker->stream, 1), "cuStreamCreate");
    /* The first run in a queue makes the executable know it. */
    check(runIn(worker->executable, &worker->data, worker->stream,
                &worker->reserved, NULL, 0),
          "the first run");
    cu(cuStreamSynchronize(worker->stream), "cuStreamSynchronize");
  }
  for (int number = 0; number < threads; ++number)
    check(pthread_create(&ids[number], NULL, runOften, &workers[number]),
          "pthread_create");
  double sum = 0;
  int failures = 0;
  for (int number = 0; number < threads; ++number) {
    Worker *worker = &workers[number];
    pthread_join(ids[number], NULL);
    sum += worker->nanoseconds;
    failures += worker->failures;
    tesseraExecutableDestroy(worker->executable);
    cu(cuStreamDestroy(worker->stream), "cuStreamDestroy");
    cu(cuMemFree(worker->reserved.memory), "cuMemFree");
    freeData(&worker->data);
  }
  printf("%s%s: %.0f ns per run on %d thread%s, %d runs failed\n", entry,
         modes[launchMode], sum / threads, threads, threads == 1 ? "" : "s",
         failures);
  free(workers);
  return failures;
}

/* The time of a launch without Tessera, of a kernel that does nothing and takes
   the parameters of a matmul. */
static void measureLaunch(void) {
  static const char ptx[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry nothing(.param .align 64 .b8 a[128],\n"
      "  .param .align 64 .b8 b[128], .param .u64 c, .param .u64 d) { ret; }\n";
  static char maps[2][128] __attribute__((aligned(64)));
  Address pointers[2] = {0, 0};
  void *arguments[] = {maps[0], maps[1], &pointers[0], &pointers[1]};
  void *module, *function;
  Stream stream;
  cu(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
  cu(cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
  cu(cuStreamCreate(&stream, 1), "cuStreamCreate");
  double total = 0;
  for (int batch = 0; batch < RUNS / 100; ++batch) {
    double begin = now();
    for (int number = 0; number < 100; ++number)
      cu(cuLaunchKernel(function, 16, 1, 1, 128, 1, 1, 0, stream, arguments,
                        NULL),
         "cuLaunchKernel");
    total += now() - begin;
    cu(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  cu(cuStreamDestroy(stream), "cuStreamDestroy");
  printf("cuLaunchKernel: %.0f ns\n", total / RUNS);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fprintf(stderr, "usage: capture BUNDLE ENTRY...\n"), 2;
  findDriver();
  TesseraProgram *program = load(argv[1]);
  TesseraDevice *device;
  check(tesseraDeviceOpen("cuda", 0, &device), "tesseraDeviceOpen");
  int wrong = 0;
  for (int entry = 2; entry < argc; ++entry) {
    Data data;
    makeData(program, argv[entry], &data);
    for (int givesWorkspace = 0; givesWorkspace < 2; ++givesWorkspace)
      wrong += replay(program, argv[entry], device, &data, givesWorkspace);
    for (int mode = TESSERA_LAUNCH_AUTO; mode <= TESSERA_LAUNCH_GRAPH; ++mode)
      if (mode != TESSERA_LAUNCH_DIRECT)
        wrong += compareModes(program, argv[entry], device, &data, mode);
    freeData(&data);
    measureLaunch();
    for (int mode = TESSERA_LAUNCH_AUTO; mode <= TESSERA_LAUNCH_GRAPH; ++mode) {
      wrong += measure(program, argv[entry], device, 1, mode);
      wrong += measure(program, argv[entry], device, THREADS, mode);
    }
  }
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  printf("%s\n", wrong ? "failed" : "done");
  return wrong != 0;
}
