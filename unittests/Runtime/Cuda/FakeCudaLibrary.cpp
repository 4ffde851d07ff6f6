//===- FakeCudaLibrary.cpp - A CUDA driver without a GPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays libcuda.so.1 with one device of sm_90. Memory is the host's, copies are
// made, and kernels do nothing: results have arbitrary contents. Written from
// the description of the driver's functions, not from the runtime. A call that
// needs a context fails in a thread without one.
//
// A program that finds the function fakeCudaTakeLaunches gets the launches
// since its last call as text: the kernel, its grid, and the bytes of its
// parameters.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidContext = 201,
  NotFound = 500
};

using Address = unsigned long long;

/// The sizes of the parameters of a kernel.
struct Function {
  std::string name;
  std::vector<size_t> parameters;
};

struct Module {
  std::map<std::string, Function> functions;
};

/// The kernel of each node, null for a copy, and its launch as text.
struct Graph {
  std::vector<const Function *> nodes;
  std::vector<std::string> launches;
};

/// The launches that a program asks for.
std::mutex launchesMutex;
std::string launches;
bool areLaunchesWatched = false;

int theContext, theEvent;
std::atomic<int> contextUsers{0};
thread_local void *current = nullptr;

Result requireContext() { return current ? Success : InvalidContext; }

void *toPointer(Address address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

/// Reads the bytes of one parameter: ".param .align 64 .b8 name[128]" or
/// ".param .u64 name".
size_t readParameter(const std::string &text) {
  size_t array = text.find('[');
  if (array != std::string::npos)
    return std::strtoul(text.c_str() + array + 1, nullptr, 10);
  size_t bytes = 0;
  for (const char *kind : {".u", ".s", ".b", ".f"})
    for (size_t bits : {8, 16, 32, 64})
      if (text.find(kind + std::to_string(bits) + " ") != std::string::npos)
        bytes = bits / 8;
  return bytes;
}

/// Reads the kernels of PTX.
void readFunctions(const std::string &ptx, Module &module) {
  const std::string directive = ".entry ";
  for (size_t entry = ptx.find(directive); entry != std::string::npos;
       entry = ptx.find(directive, entry + 1)) {
    size_t begin = entry + directive.size(),
           end = ptx.find_first_of("( \t\r\n{", begin),
           open = ptx.find_first_of("({", end);
    Function function;
    function.name = ptx.substr(begin, end - begin);
    if (open != std::string::npos && ptx[open] == '(') {
      size_t close = ptx.find(')', open);
      const std::string list = ptx.substr(open, close - open);
      for (size_t found = list.find(".param"); found != std::string::npos;
           found = list.find(".param", found + 1))
        function.parameters.push_back(
            readParameter(list.substr(found, list.find(',', found) - found)));
    }
    module.functions.emplace(function.name, function);
  }
}

/// "kernel 4 1 1, 128 1 1: 0010a0 ...".
std::string describe(const Function &function, const unsigned *grid,
                     const unsigned *block, void **arguments) {
  std::string text = function.name;
  for (const unsigned *sizes : {grid, block})
    for (int dim = 0; dim < 3; ++dim)
      text += " " + std::to_string(sizes[dim]);
  for (size_t index = 0; index < function.parameters.size(); ++index) {
    text += index ? " " : ": ";
    const auto *bytes = static_cast<const unsigned char *>(arguments[index]);
    for (size_t byte = 0; byte < function.parameters[index]; ++byte) {
      text += "0123456789abcdef"[bytes[byte] >> 4];
      text += "0123456789abcdef"[bytes[byte] & 15];
    }
  }
  return text + "\n";
}

/// Adds a launch to those that a program asks for.
void note(const Function *function, const unsigned *grid, const unsigned *block,
          void **arguments) {
  std::lock_guard<std::mutex> lock(launchesMutex);
  if (areLaunchesWatched && function)
    launches += describe(*function, grid, block, arguments);
}

/// A tensor map as text is its address; the rest is zero.
int encodeMap(void *map, void *address) {
  std::memset(map, 0, 128);
  *static_cast<void **>(map) = address;
  return Success;
}

Result launch(const Function *function, void **arguments) {
  if (Result result = requireContext())
    return result;
  return function && (arguments || function->parameters.empty()) ? Success
                                                                 : InvalidValue;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
#define FAKE_CUDA extern "C" __attribute__((visibility("default"))) int

//===----------------------------------------------------------------------===//
// The driver and its device
//===----------------------------------------------------------------------===//

FAKE_CUDA cuInit(unsigned) { return Success; }

extern "C" __attribute__((visibility("default"))) const char *
fakeCudaTakeLaunches() {
  static std::string taken;
  std::lock_guard<std::mutex> lock(launchesMutex);
  areLaunchesWatched = true;
  taken = launches;
  launches.clear();
  return taken.c_str();
}

FAKE_CUDA cuDriverGetVersion(int *version) {
  *version = 13000;
  return Success;
}
FAKE_CUDA cuGetErrorName(int, const char **name) {
  *name = "CUDA_ERROR_FAKE";
  return Success;
}
FAKE_CUDA cuGetErrorString(int, const char **text) {
  *text = "an error of the fake driver";
  return Success;
}
FAKE_CUDA cuDeviceGet(int *device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? Success : InvalidValue;
}
FAKE_CUDA cuDeviceGetCount(int *count) {
  *count = 1;
  return Success;
}
FAKE_CUDA cuDeviceGetName(char *name, int length, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return Success;
}
FAKE_CUDA cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(1) << 32;
  return Success;
}
FAKE_CUDA cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 10: // Threads of a warp.
    *value = 32;
    break;
  case 13: // kHz.
    *value = 1500000;
    break;
  case 16: // Multiprocessors.
    *value = 132;
    break;
  case 38: // Bytes of the L2 cache.
    *value = 50 << 20;
    break;
  case 75: // The compute capability.
    *value = 9;
    break;
  case 76:
    *value = 0;
    break;
  case 97: // Bytes of shared memory that a workgroup may ask for.
    *value = 232448;
    break;
  case 5: // The largest grid in x.
    *value = 0x7fffffff;
    break;
  case 6: // In y and in z.
  case 7:
    *value = 65535;
    break;
  default:
    *value = 1024;
  }
  return Success;
}
FAKE_CUDA cuDevicePrimaryCtxRetain(void **context, int) {
  // The first one takes FAKE_CUDA_START_MS, and makes the file
  // FAKE_CUDA_STARTED when it begins.
  if (contextUsers++ == 0) {
    if (const char *path = std::getenv("FAKE_CUDA_STARTED"))
      if (std::FILE *file = std::fopen(path, "w"))
        std::fclose(file);
    if (const char *start = std::getenv("FAKE_CUDA_START_MS"))
      std::this_thread::sleep_for(
          std::chrono::milliseconds(std::strtol(start, nullptr, 10)));
  }
  *context = &theContext;
  return Success;
}
FAKE_CUDA cuDevicePrimaryCtxRelease_v2(int) {
  --contextUsers;
  return Success;
}
FAKE_CUDA cuDevicePrimaryCtxReset_v2(int) { return Success; }
FAKE_CUDA cuCtxSetCurrent(void *context) {
  current = context;
  return Success;
}
FAKE_CUDA cuCtxGetCurrent(void **context) {
  *context = current;
  return Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FAKE_CUDA cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  *freeBytes = *totalBytes = size_t(1) << 32;
  return requireContext();
}
FAKE_CUDA cuMemAlloc_v2(Address *address, size_t bytes) {
  constexpr size_t alignment = 256;
  if (Result result = requireContext())
    return result;
  if (bytes == 0)
    return InvalidValue;
  void *memory = bytes > (size_t(1) << 32)
                     ? nullptr
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                         alignment * alignment);
  *address = reinterpret_cast<uintptr_t>(memory);
  return memory ? Success : OutOfMemory;
}
FAKE_CUDA cuMemFree_v2(Address address) {
  std::free(toPointer(address));
  return requireContext();
}
FAKE_CUDA cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                               void *) {
  std::memcpy(toPointer(to), from, bytes);
  return requireContext();
}
FAKE_CUDA cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *) {
  std::memcpy(to, toPointer(from), bytes);
  return requireContext();
}
FAKE_CUDA cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *) {
  std::memmove(toPointer(to), toPointer(from), bytes);
  return requireContext();
}
FAKE_CUDA cuMemsetD8_v2(Address address, unsigned char value, size_t bytes) {
  std::memset(toPointer(address), value, bytes);
  return requireContext();
}
FAKE_CUDA cuMemsetD8Async(Address address, unsigned char value, size_t bytes,
                          void *) {
  std::memset(toPointer(address), value, bytes);
  return requireContext();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FAKE_CUDA cuModuleLoadDataEx(void **module, const void *image, unsigned, int *,
                             void **) {
  if (Result result = requireContext())
    return result;
  auto loaded = std::make_unique<Module>();
  readFunctions(static_cast<const char *>(image), *loaded);
  *module = loaded.release();
  return Success;
}
FAKE_CUDA cuModuleLoadData(void **module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
FAKE_CUDA cuModuleUnload(void *module) {
  delete static_cast<Module *>(module);
  return requireContext();
}
FAKE_CUDA cuModuleGetFunction(void **function, void *module, const char *name) {
  auto &functions = static_cast<Module *>(module)->functions;
  auto found = functions.find(name);
  if (found == functions.end())
    return NotFound;
  *function = &found->second;
  return Success;
}
FAKE_CUDA cuFuncGetAttribute(int *value, int attribute, void *) {
  // Threads of a workgroup, registers, bytes of shared memory.
  *value = attribute == 0 ? 1024 : attribute == 4 ? 64 : 0;
  return Success;
}
FAKE_CUDA cuFuncSetAttribute(void *, int, int) { return Success; }
FAKE_CUDA cuFuncGetParamInfo(void *function, size_t index, size_t *offset,
                             size_t *bytes) {
  const auto &parameters = static_cast<Function *>(function)->parameters;
  if (index >= parameters.size())
    return InvalidValue;
  *offset = 0;
  *bytes = parameters[index];
  return Success;
}
FAKE_CUDA cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned, void *, void **arguments,
                         void **) {
  const unsigned grid[] = {gridX, gridY, gridZ},
                 block[] = {blockX, blockY, blockZ};
  note(static_cast<Function *>(function), grid, block, arguments);
  return launch(static_cast<Function *>(function), arguments);
}
/// How CUlaunchConfig begins.
struct LaunchConfig {
  unsigned grid[3], block[3];
};
FAKE_CUDA cuLaunchKernelEx(const LaunchConfig *config, void *function,
                           void **arguments, void **) {
  note(static_cast<Function *>(function), config->grid, config->block,
       arguments);
  return launch(static_cast<Function *>(function), arguments);
}
FAKE_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int,
                                                      size_t) {
  *blocks = 1;
  return Success;
}
FAKE_CUDA cuTensorMapEncodeTiled(void *map, int, unsigned, void *address,
                                 const unsigned long long *,
                                 const unsigned long long *, const unsigned *,
                                 const unsigned *, int, int, int, int) {
  return encodeMap(map, address);
}
FAKE_CUDA cuTensorMapEncodeIm2col(void *map, int, unsigned, void *address,
                                  const unsigned long long *,
                                  const unsigned long long *, const int *,
                                  const int *, unsigned, unsigned,
                                  const unsigned *, int, int, int, int) {
  return encodeMap(map, address);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

FAKE_CUDA cuStreamCreate(void **stream, unsigned) {
  *stream = new int;
  return requireContext();
}
FAKE_CUDA cuStreamDestroy_v2(void *stream) {
  delete static_cast<int *>(stream);
  return Success;
}
FAKE_CUDA cuStreamSynchronize(void *) { return requireContext(); }
FAKE_CUDA cuStreamGetCtx(void *, void **context) {
  *context = &theContext;
  return Success;
}
FAKE_CUDA cuStreamWaitEvent(void *, void *, unsigned) {
  return requireContext();
}
FAKE_CUDA cuStreamIsCapturing(void *, int *status) {
  *status = 0;
  return Success;
}
FAKE_CUDA cuThreadExchangeStreamCaptureMode(int *mode) {
  thread_local int own = 0;
  std::swap(*mode, own);
  return Success;
}
FAKE_CUDA cuEventCreate(void **event, unsigned) {
  *event = &theEvent;
  return requireContext();
}
FAKE_CUDA cuEventDestroy_v2(void *) { return Success; }
FAKE_CUDA cuEventRecord(void *, void *) { return requireContext(); }
FAKE_CUDA cuEventSynchronize(void *) { return requireContext(); }
FAKE_CUDA cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 0.001F;
  return Success;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// How CUDA_KERNEL_NODE_PARAMS_v2 begins.
struct NodeParameters {
  void *function;
  unsigned grid[3], block[3], sharedBytes;
  void **arguments;
};

/// Nodes are numbers, from 1 on.
static void addNode(void **node, void *graph, const Function *function,
                    std::string launch) {
  auto &own = *static_cast<Graph *>(graph);
  own.nodes.push_back(function);
  own.launches.push_back(std::move(launch));
  *node = toPointer(own.nodes.size());
}

static std::string describe(const NodeParameters &parameters) {
  return describe(*static_cast<Function *>(parameters.function),
                  parameters.grid, parameters.block, parameters.arguments);
}

FAKE_CUDA cuGraphCreate(void **graph, unsigned) {
  *graph = new Graph;
  return Success;
}
FAKE_CUDA cuGraphDestroy(void *graph) {
  delete static_cast<Graph *>(graph);
  return Success;
}
FAKE_CUDA cuGraphAddKernelNode_v2(void **node, void *graph, void *const *,
                                  size_t, const NodeParameters *parameters) {
  auto *function = static_cast<Function *>(parameters->function);
  addNode(node, graph, function, describe(*parameters));
  return launch(function, parameters->arguments);
}
FAKE_CUDA cuGraphAddMemcpyNode(void **node, void *graph, void *const *, size_t,
                               const void *, void *) {
  addNode(node, graph, nullptr, "");
  return Success;
}
FAKE_CUDA cuGraphAddDependencies_v2(void *, void *const *, void *const *,
                                    const void *, size_t) {
  return Success;
}
FAKE_CUDA cuGraphInstantiateWithFlags(void **instance, void *graph,
                                      unsigned long long) {
  *instance = new Graph(*static_cast<Graph *>(graph));
  return Success;
}
FAKE_CUDA cuGraphExecDestroy(void *instance) {
  delete static_cast<Graph *>(instance);
  return Success;
}
FAKE_CUDA cuGraphExecKernelNodeSetParams_v2(void *instance, void *node,
                                            const NodeParameters *parameters) {
  auto &own = *static_cast<Graph *>(instance);
  auto &nodes = own.nodes;
  size_t number = reinterpret_cast<uintptr_t>(node);
  if (number == 0 || number > nodes.size() ||
      nodes[number - 1] != parameters->function)
    return InvalidValue;
  own.launches[number - 1] = describe(*parameters);
  return launch(nodes[number - 1], parameters->arguments);
}
FAKE_CUDA cuGraphExecMemcpyNodeSetParams(void *, void *, const void *, void *) {
  return Success;
}
FAKE_CUDA cuGraphLaunch(void *instance, void *) {
  if (!instance)
    return InvalidValue;
  std::lock_guard<std::mutex> lock(launchesMutex);
  for (const std::string &launch : static_cast<Graph *>(instance)->launches)
    if (areLaunchesWatched)
      launches += launch;
  return requireContext();
}
// NOLINTEND(readability-identifier-naming)
