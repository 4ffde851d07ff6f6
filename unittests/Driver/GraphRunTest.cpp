//===- GraphRunTest.cpp - Runs that are submitted as graphs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled programs run over a fake CUDA driver, which notes for each stream
// what it would execute: kernels with the bytes of all their parameters, and
// copies. Runs as graphs have to execute what direct runs do.
//
//===----------------------------------------------------------------------===//

#include "CUDA/CudaDevice.h"
#include "CUDA/DependentLaunch.h"
#include "Driver/Bundler.h"
#include "DriverDevice.h"
#include "FakeCuda.h"
#include "WorkSubmitter.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <map>
#include <set>
#include <thread>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::runtime;
using namespace ::tessera::fakecuda;

namespace {

constexpr const char *source = R"(
func.func @one(%a: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %b = linalg.matmul ins(%a, %a : tensor<64x64xf16>, tensor<64x64xf16>) outs(%i : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %b : tensor<64x64xf16>
}
// Two results that are copies of one argument.
func.func @copies(%a: tensor<64x64xf16>) -> (tensor<64x64xf16>, tensor<64x64xf16>) {
  return %a, %a : tensor<64x64xf16>, tensor<64x64xf16>
}
// Kernels that depend on a number, and on how often a loop runs.
func.func @varies(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %x: f32) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %isPositive = arith.cmpf ogt, %x, %zero : f32
  linalg.fill ins(%none : f16) outs(%b : memref<64x64xf16>)
  scf.if %isPositive {
    linalg.matmul ins(%a, %a : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  }
  linalg.add ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  return
}
func.func @loop(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    linalg.add ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  }
  return
}
// A check that fails between two kernels.
func.func @fails(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %x: f32) {
  %zero = arith.constant 0.0 : f32
  linalg.add ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  %isPositive = arith.cmpf ogt, %x, %zero : f32
  cf.assert %isPositive, "x is not positive"
  linalg.mul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  linalg.add ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  return
}
)";

//===----------------------------------------------------------------------===//
// A driver that notes what it would execute
//===----------------------------------------------------------------------===//

struct FakeFunction {
  std::string name;
  std::vector<size_t> parameters;
};

/// A kernel or a copy, as text: its name, dimensions and bytes of parameters.
using Executed = std::string;

/// How the text of a kernel begins that does not wait for the end of the kernel
/// before.
constexpr char overlapSign = '~';

bool overlaps(const Executed &step) { return step[0] == overlapSign; }

std::vector<bool> listOverlaps(const std::vector<Executed> &steps) {
  std::vector<bool> list;
  for (const Executed &step : steps)
    list.push_back(overlaps(step));
  return list;
}

struct FakeGraph {
  /// The work of each node, and its function.
  std::vector<Executed> steps;
  std::vector<FakeFunction *> functions;
  /// Whether the last node has no dependency yet.
  bool isOpen = false;
};

struct FakeExec {
  FakeGraph graph;
  std::atomic<int> users = 0;
};

/// A node is the number of its step, from 1 on.
CUgraphNode toNode(size_t index) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<CUgraphNode>(static_cast<uintptr_t>(index + 1));
}
size_t toIndex(CUgraphNode node) {
  return reinterpret_cast<uintptr_t>(node) - 1;
}

struct GraphState {
  std::mutex mutex;
  std::map<CUstream, std::vector<Executed>> executed;
  std::map<std::string, std::unique_ptr<FakeFunction>> functions;
  std::set<FakeGraph *> graphs;
  std::set<FakeExec *> execs;
  std::vector<std::string> violations;
  int ofUnit = 1;
  int direct = 0, graphLaunches = 0, updates = 0, made = 0;
  CUresult instantiateResult = CUDA_SUCCESS, updateResult = CUDA_SUCCESS,
           launchResult = CUDA_SUCCESS, dependencyResult = CUDA_SUCCESS;

  void violate(const std::string &what) {
    std::lock_guard<std::mutex> lock(mutex);
    violations.push_back(what);
  }
};
GraphState *graphs = nullptr;

/// The functions of an image with the sizes of their parameters.
void readFunctions(const char *ptx) {
  std::string text = ptx;
  size_t position = 0;
  while ((position = text.find(".entry ", position)) != std::string::npos) {
    size_t open = text.find('(', position);
    auto function = std::make_unique<FakeFunction>();
    function->name = text.substr(position + 7, open - position - 7);
    size_t end = text.find(')', open);
    std::string list = text.substr(open, end - open);
    size_t parameter = 0;
    while ((parameter = list.find(".param", parameter)) != std::string::npos) {
      size_t last = list.find_first_of(",\n", parameter);
      std::string line = list.substr(parameter, last - parameter);
      size_t bytes = 0;
      if (size_t array = line.find('['); array != std::string::npos)
        bytes = std::stoul(line.substr(array + 1));
      else
        for (const char *type : {"64", "32", "16", "8"})
          if (line.find(std::string("u") + type) != std::string::npos ||
              line.find(std::string("b") + type) != std::string::npos ||
              line.find(std::string("f") + type) != std::string::npos)
            bytes = std::max<size_t>(bytes, std::stoul(type) / 8);
      EXPECT_GT(bytes, 0u) << line;
      function->parameters.push_back(bytes);
      parameter = last;
    }
    // Executables of one program have the same functions.
    std::string name = function->name;
    graphs->functions.emplace(name, std::move(function));
    position = end;
  }
}

template <typename T> void append(Executed &text, T value) {
  text += " " + std::to_string(value);
}

Executed describe(CUfunction handle, std::initializer_list<unsigned> sizes,
                  void **args) {
  auto *function = reinterpret_cast<FakeFunction *>(handle);
  Executed text = function->name;
  for (unsigned size : sizes)
    append(text, size);
  text += ":";
  if ((args == nullptr) != function->parameters.empty())
    graphs->violate("parameters of " + function->name);
  for (size_t index = 0; index < function->parameters.size(); ++index)
    text.append(static_cast<const char *>(args[index]),
                function->parameters[index]);
  return text;
}

Executed describe(const CUDA_KERNEL_NODE_PARAMS_v2 *node) {
  if (node->extra || node->kernel || node->context)
    graphs->violate("a node has more than a function");
  return describe(node->function,
                  {node->gridX, node->gridY, node->gridZ, node->blockX,
                   node->blockY, node->blockZ, node->sharedBytes},
                  node->args);
}

Executed describeCopy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Executed text = "copy";
  append(text, to);
  append(text, from);
  append(text, bytes);
  return text;
}

Executed describe(const CUDA_MEMCPY3D_v2 *copy, CUcontext context) {
  if (copy->from.type != CU_MEMORYTYPE_DEVICE ||
      copy->to.type != CU_MEMORYTYPE_DEVICE || copy->height != 1 ||
      copy->depth != 1 || copy->from.host || copy->to.host ||
      copy->from.reserved || copy->to.reserved ||
      context != reinterpret_cast<CUcontext>(fakeCuda))
    graphs->violate("a copy is not one row of the device");
  return describeCopy(copy->to.device, copy->from.device, copy->bytes);
}

/// Each node follows the one before: by a dependency that it is added with, or
/// a kernel by one that is added next.
CUresult addNode(CUgraphNode *node, CUgraph handle, const CUgraphNode *before,
                 size_t numBefore, Executed step, FakeFunction *function) {
  auto *graph = reinterpret_cast<FakeGraph *>(handle);
  bool isFirst = graph->steps.empty();
  if (std::exchange(graph->isOpen, !isFirst && numBefore == 0 && function) ||
      (!graph->isOpen && numBefore != (isFirst ? 0 : 1)) ||
      (numBefore == 1 && toIndex(*before) + 1 != graph->steps.size()))
    graphs->violate("a node does not follow the one before");
  graph->steps.push_back(std::move(step));
  graph->functions.push_back(function);
  *node = toNode(graph->steps.size() - 1);
  return CUDA_SUCCESS;
}

/// A kernel follows a kernel without waiting for its end.
CUresult addDependency(CUgraph handle, const CUgraphNode *before,
                       const CUgraphNode *after, const CUgraphEdgeData *edge,
                       size_t count) {
  if (graphs->dependencyResult)
    return graphs->dependencyResult;
  auto *graph = reinterpret_cast<FakeGraph *>(handle);
  size_t last = graph->steps.size() - 1;
  const unsigned char expected[sizeof(CUgraphEdgeData)] = {1, 0, 1};
  if (count != 1 || !std::exchange(graph->isOpen, false) ||
      toIndex(*after) != last || toIndex(*before) + 1 != last ||
      !graph->functions[last - 1] || !graph->functions[last] ||
      std::memcmp(edge, expected, sizeof(expected)) != 0)
    graphs->violate("a dependency is not one between two kernels");
  graph->steps[last].insert(0, 1, overlapSign);
  return CUDA_SUCCESS;
}

/// The driver does not let one thread change a graph while another uses it.
class Use {
public:
  explicit Use(CUgraphExec handle)
      : exec(reinterpret_cast<FakeExec *>(handle)) {
    if (!graphs->execs.count(exec))
      graphs->violate("a graph that does not exist");
    if (++exec->users != 1)
      graphs->violate("two uses of a graph at once");
  }
  ~Use() { --exec->users; }
  FakeExec *operator->() const { return exec; }

private:
  FakeExec *exec;
};

CUresult changeNode(CUgraphExec handle, CUgraphNode node, const Executed &step,
                    FakeFunction *function) {
  Use exec(handle);
  ++graphs->updates;
  if (toIndex(node) >= exec->graph.steps.size() ||
      exec->graph.functions[toIndex(node)] != function) {
    graphs->violate("a node of another function");
    return CUDA_ERROR_INVALID_VALUE;
  }
  Executed &changed = exec->graph.steps[toIndex(node)];
  // Its dependencies stay.
  if (graphs->updateResult == CUDA_SUCCESS)
    changed = (overlaps(changed) ? std::string(1, overlapSign) : "") + step;
  return graphs->updateResult;
}

CudaDriver makeGraphDriver() {
  CudaDriver driver = makeDriver();
  driver.moduleLoadDataEx = [](CUmodule *module, const void *image, unsigned,
                               CUJitOption *, void **) {
    readFunctions(static_cast<const char *>(image));
    *module = reinterpret_cast<CUmodule>(new int);
    return forbid();
  };
  driver.moduleGetFunction = [](CUfunction *function, CUmodule,
                                const char *name) {
    auto found = graphs->functions.find(name);
    if (found == graphs->functions.end())
      return CUresult(CUDA_ERROR_NOT_FOUND);
    *function = reinterpret_cast<CUfunction>(found->second.get());
    return forbid();
  };
  driver.funcGetParamInfo = [](CUfunction handle, size_t index, size_t *offset,
                               size_t *bytes) {
    auto &sizes = reinterpret_cast<FakeFunction *>(handle)->parameters;
    if (index >= sizes.size())
      return CUresult(CUDA_ERROR_INVALID_VALUE);
    *offset = 0;
    *bytes = sizes[index];
    return CUresult(CUDA_SUCCESS);
  };
  driver.launchKernel = [](CUfunction function, unsigned gridX, unsigned gridY,
                           unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned shared, CUstream stream,
                           void **args, void **) {
    Executed step = describe(
        function, {gridX, gridY, gridZ, blockX, blockY, blockZ, shared}, args);
    std::lock_guard<std::mutex> lock(graphs->mutex);
    ++graphs->direct;
    graphs->executed[stream].push_back(std::move(step));
    return CUresult(CUDA_SUCCESS);
  };
  driver.occupancy = [](int *workgroups, CUfunction, int, size_t) {
    *workgroups = graphs->ofUnit;
    return CUresult(CUDA_SUCCESS);
  };
  driver.launchKernelEx = [](const CUlaunchConfig *config, CUfunction function,
                             void **args, void **extra) {
    Executed step =
        describe(function,
                 {config->gridX, config->gridY, config->gridZ, config->blockX,
                  config->blockY, config->blockZ, config->sharedBytes},
                 args);
    if (extra || config->numAttributes != 1 ||
        config->attributes->id !=
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
        config->attributes->value != 1)
      graphs->violate("a launch has other attributes");
    std::lock_guard<std::mutex> lock(graphs->mutex);
    ++graphs->direct;
    graphs->executed[config->stream].push_back(overlapSign + step);
    return CUresult(CUDA_SUCCESS);
  };
  driver.graphAddDependencies = addDependency;
  driver.memcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
    std::lock_guard<std::mutex> lock(graphs->mutex);
    ++graphs->direct;
    graphs->executed[stream].push_back(describeCopy(to, from, bytes));
    return CUresult(CUDA_SUCCESS);
  };
  // A tensor map depends on the address and the sizes.
  driver.tensorMapEncodeTiled =
      [](void *map, CUtensorMapDataType, unsigned rank, void *address,
         const unsigned long long *sizes, const unsigned long long *,
         const unsigned *, const unsigned *, CUtensorMapInterleave,
         CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
        std::memset(map, 7, tensorMapBytes);
        std::memcpy(map, static_cast<const void *>(&address), sizeof(address));
        std::memcpy(static_cast<char *>(map) + 8, sizes, 8 * rank);
        return CUresult(CUDA_SUCCESS);
      };
  driver.graphCreate = [](CUgraph *graph, unsigned flags) {
    EXPECT_EQ(flags, 0u);
    auto *made = new FakeGraph;
    std::lock_guard<std::mutex> lock(graphs->mutex);
    graphs->graphs.insert(made);
    *graph = reinterpret_cast<CUgraph>(made);
    return CUresult(CUDA_SUCCESS);
  };
  driver.graphAddKernelNode = [](CUgraphNode *node, CUgraph graph,
                                 const CUgraphNode *before, size_t numBefore,
                                 const CUDA_KERNEL_NODE_PARAMS_v2 *step) {
    return addNode(node, graph, before, numBefore, describe(step),
                   reinterpret_cast<FakeFunction *>(step->function));
  };
  driver.graphAddMemcpyNode =
      [](CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
         size_t numBefore, const CUDA_MEMCPY3D_v2 *copy, CUcontext context) {
        return addNode(node, graph, before, numBefore, describe(copy, context),
                       nullptr);
      };
  driver.graphInstantiate = [](CUgraphExec *exec, CUgraph graph,
                               unsigned long long flags) {
    EXPECT_EQ(flags, 0u);
    // It may allocate.
    if (CUresult result = forbid())
      return result;
    if (graphs->instantiateResult)
      return graphs->instantiateResult;
    auto *made = new FakeExec;
    made->graph = *reinterpret_cast<FakeGraph *>(graph);
    if (made->graph.isOpen)
      graphs->violate("a node does not follow the one before");
    std::lock_guard<std::mutex> lock(graphs->mutex);
    ++graphs->made;
    graphs->execs.insert(made);
    *exec = reinterpret_cast<CUgraphExec>(made);
    return CUresult(CUDA_SUCCESS);
  };
  driver.graphExecKernelNodeSetParams =
      [](CUgraphExec exec, CUgraphNode node,
         const CUDA_KERNEL_NODE_PARAMS_v2 *step) {
        return changeNode(exec, node, describe(step),
                          reinterpret_cast<FakeFunction *>(step->function));
      };
  driver.graphExecMemcpyNodeSetParams = [](CUgraphExec exec, CUgraphNode node,
                                           const CUDA_MEMCPY3D_v2 *copy,
                                           CUcontext context) {
    return changeNode(exec, node, describe(copy, context), nullptr);
  };
  driver.graphLaunch = [](CUgraphExec handle, CUstream stream) {
    Use exec(handle);
    if (fakeCuda->isCapturing && stream == getCallers())
      graphs->violate("a graph is launched into a capture");
    if (graphs->launchResult)
      return graphs->launchResult;
    std::lock_guard<std::mutex> lock(graphs->mutex);
    ++graphs->graphLaunches;
    auto &executed = graphs->executed[stream];
    executed.insert(executed.end(), exec->graph.steps.begin(),
                    exec->graph.steps.end());
    return CUresult(CUDA_SUCCESS);
  };
  driver.graphExecDestroy = [](CUgraphExec handle) {
    // It may free memory.
    if (CUresult result = forbid())
      return result;
    auto *exec = reinterpret_cast<FakeExec *>(handle);
    std::lock_guard<std::mutex> lock(graphs->mutex);
    EXPECT_EQ(graphs->execs.erase(exec), 1u);
    delete exec;
    return CUresult(CUDA_SUCCESS);
  };
  driver.graphDestroy = [](CUgraph handle) {
    auto *graph = reinterpret_cast<FakeGraph *>(handle);
    std::lock_guard<std::mutex> lock(graphs->mutex);
    EXPECT_EQ(graphs->graphs.erase(graph), 1u);
    delete graph;
    return CUresult(CUDA_SUCCESS);
  };
  return driver;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// Gives out the memory that a test chooses.
class ChosenMemory : public ResultAllocator {
public:
  bool takes(size_t) const override { return true; }
  void *allocate(const ResultRequest &request) override {
    return next + request.result * 65536;
  }
  void release(void *, const ResultRequest &) override { ++releases; }
  char *next = nullptr;
  int releases = 0;
};

class GraphRunTest : public ::testing::Test {
protected:
  void SetUp() override {
    fakeCuda = &state;
    graphs = &graphState;
    driver = makeGraphDriver();
    fakeMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    prepareContext(context);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        std::string(commonPrograms) + source, &context, "source.mlir");
    ASSERT_TRUE(module);
    FailureOr<Bundle> compiled = compileBundle(
        *module, CompileOptions(), {{"cuda", "sm_90a"}}, "", "source.mlir");
    ASSERT_TRUE(succeeded(compiled));
    bundle = std::move(*compiled);
    memory.resize(4 << 20);
    base = memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & 255);
    open();
  }
  void open() {
    auto opened = openCudaDevice(driver, 0);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  void TearDown() override {
    device.reset();
    EXPECT_EQ(state.allocations, 0);
    EXPECT_TRUE(graphState.graphs.empty());
    EXPECT_TRUE(graphState.execs.empty());
    EXPECT_EQ(graphState.violations, std::vector<std::string>());
    EXPECT_EQ(state.forbidden, 0);
    EXPECT_EQ(fakeMode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fakeCuda = nullptr;
    graphs = nullptr;
  }
  std::unique_ptr<Executable> load(const char *entry) {
    auto created = Executable::create(bundle, entry, *device);
    EXPECT_TRUE(created.ok()) << created.status().message();
    return created.ok() ? created.take() : nullptr;
  }

  /// One run: the positions of its arrays, the rows of the first one, and the
  /// value of a scalar.
  struct Call {
    size_t place = 0;
    int64_t rows = 64;
    float number = 1;
    int64_t count = 3;
    std::optional<void *> queue = getCallers();
  };
  Status run(Executable &executable, const Call &call, LaunchMode mode,
             std::vector<CallResult> *results = nullptr) {
    const Signature &signature = executable.getSignature();
    std::vector<Operand> operands(signature.arguments.size());
    std::vector<std::vector<int64_t>> sizes;
    uint64_t scalar = 0;
    for (size_t index = 0; index < operands.size(); ++index) {
      const Slot &slot = signature.arguments[index];
      sizes.push_back(slot.shape);
      if (!slot.isBuffer()) {
        if (slot.element == ElementType::F32)
          std::memcpy(&scalar, &call.number, sizeof(call.number));
        else
          scalar = static_cast<uint64_t>(call.count);
        operands[index].data = &scalar;
        continue;
      }
      for (int64_t &size : sizes.back())
        size = size < 0 ? call.rows : size;
      operands[index].data = base + (call.place * 8 + index) * 65536;
    }
    for (size_t index = 0; index < operands.size(); ++index)
      if (signature.arguments[index].isBuffer())
        operands[index].sizes = sizes[index].data();
    ChosenMemory own;
    own.next = base + (call.place * 8 + 4) * 65536;
    RunOptions options;
    options.queue = call.queue;
    options.allocator = &own;
    options.mutex = &mutex;
    options.launch = mode;
    // The same address for all executables.
    options.workspace = base + (3 << 20);
    options.workspaceBytes = 512 << 10;
    std::vector<CallResult> unused;
    Status status =
        executable.run(operands, results ? *results : unused, options);
    releases += own.releases;
    return status;
  }
  std::vector<Executed> take(std::optional<void *> queue = getCallers()) {
    std::lock_guard<std::mutex> lock(graphState.mutex);
    for (auto &[stream, steps] : graphState.executed)
      if (queue ? stream == *queue
                : stream == reinterpret_cast<CUstream>(&fakeOwnStream))
        return std::exchange(steps, {});
    return {};
  }
  /// Runs directly and as a graph, and compares what was executed.
  void compare(Executable &direct, Executable &graph, const Call &call) {
    ASSERT_TRUE(run(direct, call, LaunchMode::Direct).ok());
    std::vector<Executed> expected = take(call.queue);
    EXPECT_FALSE(expected.empty());
    Status status = run(graph, call, LaunchMode::Graph);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(take(call.queue) == expected);
  }

  MLIRContext context;
  FakeState state;
  GraphState graphState;
  CudaDriver driver;
  std::unique_ptr<Device> device;
  std::mutex mutex;
  Bundle bundle;
  std::vector<char> memory;
  char *base = nullptr;
  int releases = 0;
};

TEST_F(GraphRunTest, GraphsExecuteWhatDirectRunsExecute) {
  for (const char *entry : {"splitk", "chain", "one", "copies", "loop"}) {
    std::unique_ptr<Executable> direct = load(entry), graph = load(entry);
    ASSERT_TRUE(direct && graph);
    int launches = graphState.graphLaunches;
    for (size_t number = 0; number < 12; ++number) {
      Call call;
      call.place = number / 2 % 3;
      compare(*direct, *graph, call);
    }
    EXPECT_EQ(graphState.graphLaunches - launches, 12) << entry;
    const LaunchStatistics &statistics = graph->getLaunchStatistics();
    EXPECT_EQ(statistics.graphRuns, 12u);
    EXPECT_EQ(statistics.directRuns, 0u);
    EXPECT_EQ(statistics.graphs, 1u);
    EXPECT_GT(statistics.updates, 0u);
    EXPECT_EQ(direct->getLaunchStatistics().directRuns, 12u);
  }
}

TEST_F(GraphRunTest, ARunIsOneSubmission) {
  std::unique_ptr<Executable> executable = load("chain");
  ASSERT_TRUE(executable);
  // The first run is not worth a graph.
  ASSERT_TRUE(run(*executable, {}, LaunchMode::Auto).ok());
  EXPECT_EQ(graphState.direct, 3);
  EXPECT_EQ(executable->getLaunchStatistics().whyDirect,
            DirectReason::FirstRun);
  for (int number = 1; number <= 10; ++number) {
    ASSERT_TRUE(run(*executable, {}, LaunchMode::Auto).ok());
    EXPECT_EQ(graphState.graphLaunches, number);
  }
  EXPECT_EQ(graphState.direct, 3);
  EXPECT_EQ(graphState.made, 1);
  EXPECT_EQ(graphState.updates, 0);
  EXPECT_EQ(executable->getLaunchStatistics().whyDirect, DirectReason::None);
  // A run of one kernel is a launch.
  std::unique_ptr<Executable> one = load("one");
  for (int number = 0; number < 3; ++number)
    ASSERT_TRUE(run(*one, {}, LaunchMode::Auto).ok());
  EXPECT_EQ(graphState.direct, 6);
  EXPECT_EQ(one->getLaunchStatistics().whyDirect, DirectReason::FewLaunches);
}

TEST_F(GraphRunTest, OnlyStepsThatDifferAreChanged) {
  std::unique_ptr<Executable> executable = load("chain");
  ASSERT_TRUE(executable);
  ASSERT_TRUE(run(*executable, {}, LaunchMode::Graph).ok());
  Call other;
  other.place = 1;
  ASSERT_TRUE(run(*executable, other, LaunchMode::Graph).ok());
  // The argument or the result is in each of the kernels.
  EXPECT_EQ(graphState.updates, 3);
  EXPECT_EQ(executable->getLaunchStatistics().updates, 3u);
  ASSERT_TRUE(run(*executable, other, LaunchMode::Graph).ok());
  EXPECT_EQ(graphState.updates, 3);
  // A graph of few kernels of which all change is still faster.
  std::unique_ptr<Executable> pair = load("splitk");
  auto explain = [&](size_t place) {
    other.place = place;
    EXPECT_TRUE(run(*pair, other, LaunchMode::Auto).ok());
    return pair->getLaunchStatistics().whyDirect;
  };
  EXPECT_EQ(explain(0), DirectReason::FirstRun);
  EXPECT_EQ(explain(0), DirectReason::None);
  EXPECT_EQ(explain(1), DirectReason::None);
  EXPECT_EQ(pair->getLaunchStatistics().updates, 2u);
}

TEST_F(GraphRunTest, EachSizeAndQueueHasItsGraph) {
  std::unique_ptr<Executable> direct = load("sizes"), graph = load("sizes");
  ASSERT_TRUE(direct && graph);
  int queues[2];
  for (int round = 0; round < 3; ++round)
    for (int64_t rows : {16, 64, 17})
      for (std::optional<void *> queue :
           {std::optional<void *>(&queues[0]),
            std::optional<void *>(&queues[1]), std::optional<void *>()}) {
        Call call;
        call.rows = rows;
        call.queue = queue;
        compare(*direct, *graph, call);
      }
  EXPECT_EQ(graph->getLaunchStatistics().graphs, 9u);
  EXPECT_EQ(graph->getLaunchStatistics().graphRuns, 27u);
  EXPECT_EQ(graph->getLaunchStatistics().updates, 0u);
  // Graphs of sizes that have not come for a while are given up, also while
  // another queue is captured.
  ASSERT_TRUE(device->synchronize().ok());
  state.isCapturing = true;
  for (int64_t rows = 1; rows <= 40; ++rows) {
    Call call;
    call.rows = rows;
    call.queue = &queues[0];
    compare(*direct, *graph, call);
  }
  state.isCapturing = false;
  EXPECT_EQ(state.forbidden, 0);
  EXPECT_GE(graph->getLaunchStatistics().graphs, 9u + 37u);
  EXPECT_LE(graphState.execs.size(), 9 + Executable::maxGraphs);
}

TEST_F(GraphRunTest, LoopsOfOtherLengthsAreOtherGraphs) {
  std::unique_ptr<Executable> direct = load("loop"), graph = load("loop");
  ASSERT_TRUE(direct && graph);
  for (int64_t count : {3, 5, 3, 1, 5, 3}) {
    Call call;
    call.count = count;
    compare(*direct, *graph, call);
  }
  EXPECT_EQ(graph->getLaunchStatistics().graphs, 3u);
  EXPECT_EQ(graph->getLaunchStatistics().graphRuns, 6u);
  // Nothing is nothing.
  Call none;
  none.count = 0;
  ASSERT_TRUE(run(*graph, none, LaunchMode::Graph).ok());
  EXPECT_TRUE(take().empty());
}

TEST_F(GraphRunTest, OtherKernelsForTheSameSizesAreLaunched) {
  std::unique_ptr<Executable> direct = load("varies"), graph = load("varies");
  ASSERT_TRUE(direct && graph);
  for (int number = 0; number < 20; ++number) {
    Call call;
    call.number = number % 2 ? 1.0f : -1.0f;
    compare(*direct, *graph, call);
  }
  // After a few graphs the executable makes no more.
  const LaunchStatistics &statistics = graph->getLaunchStatistics();
  EXPECT_EQ(statistics.whyDirect, DirectReason::LaunchesVary);
  EXPECT_EQ(statistics.graphs, 4u);
  EXPECT_EQ(statistics.graphRuns, 4u);
  EXPECT_EQ(statistics.directRuns, 16u);
  EXPECT_TRUE(graphState.execs.empty());
}

TEST_F(GraphRunTest, ACaptureGetsTheKernels) {
  std::unique_ptr<Executable> direct = load("chain"), graph = load("chain");
  ASSERT_TRUE(direct && graph);
  compare(*direct, *graph, {});
  state.isCapturing = true;
  compare(*direct, *graph, {});
  EXPECT_EQ(graph->getLaunchStatistics().whyDirect, DirectReason::Captured);
  // Another queue's graph is made and launched meanwhile.
  int other;
  Call call;
  call.queue = &other;
  fakeMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  compare(*direct, *graph, call);
  EXPECT_EQ(graph->getLaunchStatistics().whyDirect, DirectReason::None);
  state.isCapturing = false;
  compare(*direct, *graph, {});
  EXPECT_EQ(graph->getLaunchStatistics().graphRuns, 3u);
}

TEST_F(GraphRunTest, AFailedRunLaunchesNothing) {
  std::unique_ptr<Executable> direct = load("fails"), graph = load("fails");
  ASSERT_TRUE(direct && graph);
  Call bad;
  bad.number = -1;
  for (int number = 0; number < 4; ++number) {
    compare(*direct, *graph, {});
    Status status = run(*graph, bad, LaunchMode::Graph);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("x is not positive"), std::string::npos);
    EXPECT_TRUE(take().empty());
  }
  EXPECT_EQ(graph->getLaunchStatistics().graphs, 1u);
}

TEST_F(GraphRunTest, FailuresOfTheDriver) {
  std::unique_ptr<Executable> direct = load("chain"), graph = load("chain");
  ASSERT_TRUE(direct && graph);
  // A graph that cannot be made is replaced by launches, which is reported.
  graphState.instantiateResult = CUDA_ERROR_OUT_OF_MEMORY;
  compare(*direct, *graph, {});
  const LaunchStatistics &statistics = graph->getLaunchStatistics();
  EXPECT_EQ(statistics.whyDirect, DirectReason::GraphFailed);
  EXPECT_NE(statistics.failure.find("cuGraphInstantiate"), std::string::npos)
      << statistics.failure;
  EXPECT_TRUE(graphState.graphs.empty());
  graphState.instantiateResult = CUDA_SUCCESS;

  // So is one that cannot be changed; it is not launched half changed.
  graph = load("chain");
  compare(*direct, *graph, {});
  graphState.updateResult = CUDA_ERROR_INVALID_VALUE;
  Call other;
  other.place = 1;
  compare(*direct, *graph, other);
  EXPECT_EQ(graph->getLaunchStatistics().whyDirect, DirectReason::GraphFailed);
  EXPECT_TRUE(graphState.execs.empty());
  graphState.updateResult = CUDA_SUCCESS;

  // The failure of a launch is that of the run.
  graph = load("chain");
  compare(*direct, *graph, {});
  graphState.launchResult = CUDA_ERROR_INVALID_VALUE;
  Status status = run(*graph, {}, LaunchMode::Graph);
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_NE(status.message().find("cuGraphLaunch"), std::string::npos);
  EXPECT_NE(status.message().find("chain"), std::string::npos)
      << status.message();
  EXPECT_EQ(releases, 1);
  graphState.launchResult = CUDA_SUCCESS;
  compare(*direct, *graph, {});
}

TEST_F(GraphRunTest, OldDriversHaveNoGraphs) {
  device.reset();
  driver.graphExecKernelNodeSetParams = nullptr;
  open();
  std::unique_ptr<Executable> direct = load("chain"), graph = load("chain");
  ASSERT_TRUE(direct && graph);
  compare(*direct, *graph, {});
  EXPECT_EQ(graph->getLaunchStatistics().whyDirect, DirectReason::NoGraphs);
  EXPECT_EQ(graphState.graphLaunches, 0);
}

TEST_F(GraphRunTest, KernelsOverlapWithTheKernelBefore) {
  // The first kernel of a run waits for all work before it.
  const std::vector<bool> expected = {false, true, true};
  std::unique_ptr<Executable> direct = load("chain"), graph = load("chain");
  ASSERT_TRUE(direct && graph);
  for (int number = 0; number < 3; ++number) {
    Call call;
    call.place = static_cast<size_t>(number);
    ASSERT_TRUE(run(*direct, call, LaunchMode::Direct).ok());
    EXPECT_EQ(listOverlaps(take()), expected);
    EXPECT_EQ(direct->getLaunchStatistics().overlaps, 2u);
    ASSERT_TRUE(run(*graph, call, LaunchMode::Graph).ok());
    EXPECT_EQ(listOverlaps(take()), expected);
    EXPECT_EQ(graph->getLaunchStatistics().overlaps, 2u);
  }
  // So it is in a graph of the caller's.
  state.isCapturing = true;
  ASSERT_TRUE(run(*graph, {}, LaunchMode::Auto).ok());
  state.isCapturing = false;
  EXPECT_EQ(listOverlaps(take()), expected);
}

/// Runs a chain of kernels, of which none overlaps.
void expectNoOverlap(const std::vector<Executed> &direct,
                     const std::vector<Executed> &graph) {
  EXPECT_EQ(listOverlaps(direct), std::vector<bool>(3));
  EXPECT_TRUE(direct == graph);
}

TEST_F(GraphRunTest, KernelsThatDoNotWaitDoNotOverlap) {
  auto check = [&] {
    std::unique_ptr<Executable> direct = load("chain"), graph = load("chain");
    ASSERT_TRUE(direct && graph);
    ASSERT_TRUE(run(*direct, {}, LaunchMode::Direct).ok());
    std::vector<Executed> executed = take();
    ASSERT_TRUE(run(*graph, {}, LaunchMode::Graph).ok());
    EXPECT_EQ(graph->getLaunchStatistics().graphRuns, 1u);
    EXPECT_EQ(graph->getLaunchStatistics().overlaps, 0u);
    expectNoOverlap(executed, take());
  };
  // Code of an older compiler has no mark.
  std::string &image = bundle.variants.front().image;
  size_t position = image.find(waitingKernelsMark);
  ASSERT_NE(position, std::string::npos);
  std::string marked = image;
  image.replace(position, 4, "other");
  check();
  image = marked;

  // Older drivers lack one function or both.
  device.reset();
  CudaDriver whole = driver;
  driver.launchKernelEx = nullptr;
  open();
  check();
  device.reset();
  driver = whole;
  driver.graphAddDependencies = nullptr;
  open();
  check();

  // The user turns it off.
  device.reset();
  driver = whole;
  setenv("TESSERA_DEPENDENT_LAUNCH", "off", 1);
  open();
  check();
  device.reset();
  setenv("TESSERA_DEPENDENT_LAUNCH", "sometimes", 1);
  auto opened = openCudaDevice(driver, 0);
  EXPECT_EQ(opened.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(opened.status().message().find("TESSERA_DEPENDENT_LAUNCH"),
            std::string::npos);
  setenv("TESSERA_DEPENDENT_LAUNCH", "on", 1);
  open();
  std::unique_ptr<Executable> executable = load("chain");
  ASSERT_TRUE(run(*executable, {}, LaunchMode::Direct).ok());
  EXPECT_TRUE(overlaps(take().back()));
  unsetenv("TESSERA_DEPENDENT_LAUNCH");
}

/// Kernels of two images, of which one has the mark.
class OverlapTest : public GraphRunTest {
protected:
  void SetUp() override {
    GraphRunTest::SetUp();
    KernelImage image;
    image.kind = KernelImage::PTX;
    image.name = "marked";
    image.bytes = R"(
.visible .global .align 1 .u8 tessera_kernels_wait;
.visible .entry waits()
{ ret; }
)";
    ASSERT_TRUE(device->loadImage(image).ok());
    image.name = "plain";
    image.bytes = ".visible .entry plain()\n{ ret; }\n";
    ASSERT_TRUE(device->loadImage(image).ok());
    waits = find("waits", "marked");
    plain = find("plain", "plain");
    ASSERT_TRUE(waits && plain);
  }
  LoadedKernel *find(const char *name, const char *image) {
    auto found = device->findKernel(name, image);
    return found.ok() ? *found : nullptr;
  }
  static LaunchRequest request(LoadedKernel *kernel) {
    LaunchRequest result;
    result.kernel = kernel->name.c_str();
    return result;
  }
  /// Queues one by one, and as a graph, a sequence in which null is a copy.
  std::vector<bool> overlap(const std::vector<LoadedKernel *> &kernels) {
    void *to = base, *from = base + 4096;
    WorkSubmitter submitter(*device);
    submitter.beginDirect(DirectReason::Asked, getCallers());
    WorkList work;
    for (LoadedKernel *kernel : kernels) {
      EXPECT_TRUE((kernel ? submitter.launch(*kernel, request(kernel))
                          : submitter.copy(to, from, 16))
                      .ok());
      if (kernel)
        work.addLaunch(*kernel, request(kernel), nullptr);
      else
        work.addCopy(to, from, 16);
    }
    std::vector<Executed> direct = take();
    EXPECT_TRUE(launch(work) == direct);
    return listOverlaps(direct);
  }
  std::vector<Executed> launch(const WorkList &work) {
    auto made = device->makeGraph(work);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (!made.ok())
      return {};
    EXPECT_TRUE(device->launchGraph(**made, getCallers()).ok());
    device->destroyGraph(*made);
    return take();
  }

  LoadedKernel *waits = nullptr, *plain = nullptr;
};

TEST_F(OverlapTest, BothKernelsHaveToWait) {
  EXPECT_EQ(overlap({waits, plain, plain, waits, waits, plain}),
            (std::vector<bool>{false, false, false, false, true, false}));
  // Nor do kernels overlap with copies.
  EXPECT_EQ(overlap({nullptr, waits, nullptr, waits, waits, nullptr}),
            (std::vector<bool>{false, false, false, false, true, false}));
}

TEST_F(OverlapTest, WorkBetweenLaunchesEnds) {
  WorkSubmitter submitter(*device);
  auto launch = [&] {
    EXPECT_TRUE(submitter.launch(*waits, request(waits)).ok());
    return overlaps(take().back());
  };
  submitter.beginDirect(DirectReason::Asked, getCallers());
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
  // A launch of nothing is none.
  LaunchRequest empty = request(plain);
  empty.grid[1] = 0;
  EXPECT_TRUE(submitter.launch(*plain, empty).ok());
  EXPECT_TRUE(launch());
  // Host code reads a scalar.
  EXPECT_TRUE(submitter.flush().ok());
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
  submitter.beginDirect(DirectReason::Asked, getCallers());
  EXPECT_FALSE(launch());
  // Watched kernels do not overlap.
  submitter.beginDirect(DirectReason::Watched, getCallers());
  EXPECT_FALSE(launch());
  EXPECT_FALSE(launch());
}

TEST_F(OverlapTest, RunsOfOneGraphDoNotOverlap) {
  WorkList work;
  for (int step = 0; step < 6; ++step) {
    if (step % 3 == 0)
      work.beginRun();
    work.addLaunch(*waits, request(waits), nullptr);
  }
  EXPECT_EQ(listOverlaps(launch(work)),
            (std::vector<bool>{false, true, true, false, true, true}));
}

TEST_F(OverlapTest, KernelsOfManyWorkgroupsDoNotOverlap) {
  WorkList work;
  WorkSubmitter submitter(*device);
  submitter.beginDirect(DirectReason::Asked, getCallers());
  for (int64_t ofUnit : {1, 1, 2, 1, 1}) {
    LaunchRequest one = request(waits);
    one.grid[0] = device->info().computeUnits;
    one.grid[1] = ofUnit;
    one.grid[2] = 1;
    work.addLaunch(*waits, one, nullptr);
    Status status = submitter.launch(*waits, one);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::vector<bool> expected = {false, true, false, false, true};
  EXPECT_EQ(listOverlaps(take()), expected);
  EXPECT_EQ(listOverlaps(launch(work)), expected);
}

TEST_F(OverlapTest, ResidentKernelsOverlap) {
  graphState.ofUnit = 3;
  WorkList work;
  WorkSubmitter submitter(*device);
  submitter.beginDirect(DirectReason::Asked, getCallers());
  // That it has room for three is known after the first launch.
  for (int64_t count : {1, 3, 3, 4, 3, 3}) {
    LaunchRequest one = request(waits);
    one.grid[0] = device->info().computeUnits;
    one.grid[1] = count;
    one.grid[2] = 1;
    work.addLaunch(*waits, one, nullptr);
    Status status = submitter.launch(*waits, one);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::vector<bool> expected = {false, true, true, false, false, true};
  EXPECT_EQ(listOverlaps(take()), expected);
  EXPECT_EQ(listOverlaps(launch(work)), expected);
}

TEST_F(OverlapTest, AFailedDependencyIsThatOfTheGraph) {
  WorkList work;
  work.addLaunch(*waits, request(waits), nullptr);
  work.addLaunch(*waits, request(waits), nullptr);
  graphState.dependencyResult = CUDA_ERROR_INVALID_VALUE;
  auto made = device->makeGraph(work);
  graphState.dependencyResult = CUDA_SUCCESS;
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("cuGraphAddDependencies"),
            std::string::npos);
}

TEST_F(GraphRunTest, ThreadsHaveGraphsOfTheirOwn) {
  constexpr int numThreads = 6, numRuns = 200;
  std::vector<std::unique_ptr<Executable>> executables;
  for (int number = 0; number < numThreads; ++number)
    executables.push_back(load("chain"));
  // And one that all of them share, under a lock, as in the C API.
  std::unique_ptr<Executable> shared = load("splitk");
  std::mutex sharedMutex;
  int queues[numThreads];
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < numThreads; ++number)
    threads.emplace_back([&, number] {
      fakeCurrent = nullptr;
      for (int round = 0; round < numRuns; ++round) {
        Call call;
        call.queue = &queues[number];
        call.place = static_cast<size_t>(round % 3);
        failures += !run(*executables[number], call, LaunchMode::Auto).ok();
        std::lock_guard<std::mutex> lock(sharedMutex);
        failures += !run(*shared, call, LaunchMode::Graph).ok();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  for (int number = 0; number < numThreads; ++number)
    EXPECT_EQ(take(&queues[number]).size(), 5u * numRuns);
  EXPECT_EQ(shared->getLaunchStatistics().graphs, 6u);
  EXPECT_EQ(shared->getLaunchStatistics().graphRuns, 6u * numRuns);
}

} // namespace
