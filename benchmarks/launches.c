// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Times of launches on an NVIDIA GPU: kernels that do nothing, launched one by one and as a graph, and
   the cost of changing a graph's nodes. A line has the numbers that lib/Runtime/WorkSubmitter.cpp names.
   The last table compares the ways to launch one kernel: by parameters, shared memory and attributes.

       cc -O2 benchmarks/launches.c -ldl -o launches && ./launches */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 300, MOST = 256 };

typedef struct Context *Context;
typedef struct Module *Module;
typedef struct Function *Function;
typedef struct Stream *Stream;
typedef struct Graph *Graph;
typedef struct Node *Node;
typedef struct Exec *Exec;

/* CUDA_KERNEL_NODE_PARAMS_v2. */
typedef struct {
  Function function;
  unsigned grid[3], block[3], shared;
  void **args, **extra;
  void *kernel;
  Context context;
} Launch;

/* CUlaunchConfig, and CUlaunchAttribute of a number. */
typedef struct {
  unsigned grid[3], block[3], shared;
  Stream stream;
  void *attributes;
  unsigned numAttributes;
} Config;
typedef struct {
  int id;
  char padding[4];
  int value;
  char rest[60];
} Attribute;

static int (*cuInit)(unsigned);
static int (*cuDeviceGet)(int *, int);
static int (*cuDeviceGetName)(char *, int, int);
static int (*cuDriverGetVersion)(int *);
static int (*cuDevicePrimaryCtxRetain)(Context *, int);
static int (*cuCtxSetCurrent)(Context);
static int (*cuModuleLoadData)(Module *, const void *);
static int (*cuModuleGetFunction)(Function *, Module, const char *);
static int (*cuStreamCreate)(Stream *, unsigned);
static int (*cuStreamSynchronize)(Stream);
static int (*cuLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             Stream, void **, void **);
static int (*cuFuncSetAttribute)(Function, int, int);
static int (*cuLaunchKernelEx)(const Config *, Function, void **, void **);
static int (*cuCtxGetCurrent)(Context *);
static int (*cuGraphCreate)(Graph *, unsigned);
static int (*cuGraphAddKernelNode)(Node *, Graph, const Node *, size_t, const Launch *);
static int (*cuGraphInstantiate)(Exec *, Graph, unsigned long long);
static int (*cuGraphExecKernelNodeSetParams)(Exec, Node, const Launch *);
static int (*cuGraphLaunch)(Exec, Stream);

static void check(int code, const char *what) {
  if (!code)
    return;
  fprintf(stderr, "%s: error %d\n", what, code);
  exit(1);
}
#define CU(call) check(call, #call)

static void findDriver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    check(1, "libcuda.so.1 not found");
  struct {
    void *position;
    const char *name;
  } functions[] = {
      {&cuInit, "cuInit"},
      {&cuDeviceGet, "cuDeviceGet"},
      {&cuDeviceGetName, "cuDeviceGetName"},
      {&cuDriverGetVersion, "cuDriverGetVersion"},
      {&cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"},
      {&cuCtxSetCurrent, "cuCtxSetCurrent"},
      {&cuModuleLoadData, "cuModuleLoadData"},
      {&cuModuleGetFunction, "cuModuleGetFunction"},
      {&cuStreamCreate, "cuStreamCreate"},
      {&cuStreamSynchronize, "cuStreamSynchronize"},
      {&cuLaunchKernel, "cuLaunchKernel"},
      {&cuFuncSetAttribute, "cuFuncSetAttribute"},
      {&cuLaunchKernelEx, "cuLaunchKernelEx"},
      {&cuCtxGetCurrent, "cuCtxGetCurrent"},
      {&cuGraphCreate, "cuGraphCreate"},
      {&cuGraphAddKernelNode, "cuGraphAddKernelNode_v2"},
      {&cuGraphInstantiate, "cuGraphInstantiateWithFlags"},
      {&cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2"},
      {&cuGraphLaunch, "cuGraphLaunch"},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    void *found = dlsym(library, functions[i].name);
    if (!found)
      check(1, functions[i].name);
    memcpy(functions[i].position, &found, sizeof(found));
  }
}

/* Two tensor maps and two pointers, as kernels of matmuls have. */
static const char *ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
                         ".visible .entry nothing(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128],\n"
                         "  .param .u64 c, .param .u64 d) { ret; }\n"
                         ".visible .entry pointers(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n";
static char maps[2][128] __attribute__((aligned(64)));
static unsigned long long pointers[2];
static void *args[] = {maps[0], maps[1], &pointers[0], &pointers[1]};

static Function function, ofPointers;
static Stream stream;
static Exec exec;
static Node nodes[MOST];
static Launch launch;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + (double)time.tv_nsec / 1e3;
}

static void runDirect(int count) {
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
}
static void runGraph(int count) {
  (void)count;
  CU(cuGraphLaunch(exec, stream));
}
static void runChanged(int count) {
  ++pointers[0];
  for (int i = 0; i < count; ++i)
    CU(cuGraphExecKernelNodeSetParams(exec, nodes[i], &launch));
  CU(cuGraphLaunch(exec, stream));
}

/* The ways to launch one kernel. */
static Attribute dependent = {.id = 6, .value = 1};
static Config config = {{1, 1, 1}, {128, 1, 1}, 0, NULL, &dependent, 0};
static void runPointers(int count) {
  void *own[] = {&pointers[0], &pointers[1], &pointers[0]};
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernel(ofPointers, 1, 1, 1, 128, 1, 1, 0, stream, own, NULL));
}
static void runLargeGrid(int count) {
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernel(function, 132, 1, 1, 384, 1, 1, 0, stream, args, NULL));
}
static void runShared(int count) {
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernel(function, 132, 1, 1, 384, 1, 1, 200 << 10, stream, args, NULL));
}
static void runExtended(int count) {
  config.numAttributes = 0;
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernelEx(&config, function, args, NULL));
}
static void runDependent(int count) {
  config.numAttributes = 1;
  for (int i = 0; i < count; ++i)
    CU(cuLaunchKernelEx(&config, function, args, NULL));
}
static void runGetContext(int count) {
  Context current;
  for (int i = 0; i < count; ++i)
    CU(cuCtxGetCurrent(&current));
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

/* Medians in microseconds: until the calls return, and until the kernels have run. */
static void measure(void (*run)(int), int count, double *host, double *end) {
  static double hosts[REPETITIONS], ends[REPETITIONS];
  for (int number = -20; number < REPETITIONS; ++number) {
    CU(cuStreamSynchronize(stream));
    double begin = now();
    run(count);
    double queued = now();
    CU(cuStreamSynchronize(stream));
    if (number < 0)
      continue;
    hosts[number] = queued - begin;
    ends[number] = now() - begin;
  }
  qsort(hosts, REPETITIONS, sizeof(double), compare);
  qsort(ends, REPETITIONS, sizeof(double), compare);
  *host = hosts[REPETITIONS / 2];
  *end = ends[REPETITIONS / 2];
}

int main(void) {
  findDriver();
  int device, version;
  Context context;
  Module module;
  char name[256];
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuDeviceGetName(name, sizeof(name), device));
  CU(cuDriverGetVersion(&version));
  CU(cuDevicePrimaryCtxRetain(&context, device));
  CU(cuCtxSetCurrent(context));
  CU(cuModuleLoadData(&module, ptx));
  CU(cuModuleGetFunction(&function, module, "nothing"));
  CU(cuModuleGetFunction(&ofPointers, module, "pointers"));
  CU(cuStreamCreate(&stream, 1));
  printf("%s, CUDA %d.%d; microseconds, host and end to end\n\n", name, version / 1000, version % 1000 / 10);
  printf("| kernels | direct | | graph | | graph, all nodes changed | |\n|---|---|---|---|---|---|---|\n");
  static const int counts[] = {1, 2, 4, 8, 16, 64, 256};
  double host[7][3], end[7][3];
  for (int row = 0; row < 7; ++row) {
    int count = counts[row];
    Graph graph;
    CU(cuGraphCreate(&graph, 0));
    memset(&launch, 0, sizeof(launch));
    launch.function = function;
    for (int dim = 0; dim < 3; ++dim)
      launch.grid[dim] = launch.block[dim] = 1;
    launch.block[0] = 32;
    launch.args = args;
    for (int i = 0; i < count; ++i)
      CU(cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i ? 1 : 0, &launch));
    CU(cuGraphInstantiate(&exec, graph, 0));
    void (*const runs[])(int) = {runDirect, runGraph, runChanged};
    printf("| %d |", count);
    for (int which = 0; which < 3; ++which) {
      measure(runs[which], count, &host[row][which], &end[row][which]);
      printf(" %.2f | %.2f |", host[row][which], end[row][which]);
    }
    printf("\n");
  }
  double direct = host[5][0] / 64;
  double node = (host[6][1] - host[1][1]) / (256 - 2) / direct;
  printf("\none launch %.2f us; in units of it: graph launch %.2f, node %.3f, update %.3f\n", direct,
         host[1][1] / direct - 2 * node, node, (host[5][2] - host[5][1]) / 64 / direct);

  static const struct {
    const char *name;
    void (*run)(int);
  } ways[] = {{"cuLaunchKernel, three pointers", runPointers},
              {"cuLaunchKernel, two tensor maps and two pointers", runDirect},
              {"the same, 132 workgroups of 384 threads", runLargeGrid},
              {"the same with 200 KiB of shared memory", runShared},
              {"cuLaunchKernelEx", runExtended},
              {"cuLaunchKernelEx, begins before the one before it has ended", runDependent},
              {"cuCtxGetCurrent", runGetContext}};
  /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  CU(cuFuncSetAttribute(function, 8, 200 << 10));
  config.stream = stream;
  printf("\n| one of 64 | host | end to end |\n|---|---|---|\n");
  for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); ++way) {
    double onHost, atEnd;
    measure(ways[way].run, 64, &onHost, &atEnd);
    printf("| %s | %.3f | %.3f |\n", ways[way].name, onHost / 64, atEnd / 64);
  }
  return 0;
}
