//===- Gpu.cpp - Launches, threads and barriers ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Entry.h"
#include "../RandomChoice.h"
#include "Control.h"
#include "Shapes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// A kernel and how it is launched.
struct Launch {
  Operation *op = nullptr;
  const Function *kernel = nullptr;
  /// Owns it, unless the program does.
  std::shared_ptr<Function> owned;
  std::array<Slot, 3> gridDim, blockDim;
  /// The workgroups of a cluster, in a launch in clusters.
  std::optional<std::array<Slot, 3>> clusterDim;
  /// Values for the first of the kernel's arguments.
  SmallVector<Code::Use> operands;
  /// Whether its lanes exchange values, which takes more than one of them.
  bool exchanges = false;
  /// The bytes of dynamic workgroup memory.
  std::optional<Slot> dynamicBytes;
  /// Arguments for block ids, thread ids, grid and block sizes, then cluster
  /// ids and cluster sizes in a launch in clusters, come first.
  bool hasIndexArguments = false;
  /// As in `Workgroup`.
  int64_t subgroupSize = 0;
  /// Memory that a workgroup shares, and each thread's own.
  struct Memory {
    Slot slot;
    const Format *format;
    SmallVector<int64_t> shape;
  };
  SmallVector<Memory> workgroupMemory, privateMemory;

  bool run(Frame &frame) const;
  bool runGroup(Frame &host, const Workgroup &group) const;
};
} // namespace

bool Launch::runGroup(Frame &host, const Workgroup &group) const {
  SmallVector<ViewRef> shared;
  for (const Memory &memory : workgroupMemory)
    shared.push_back(View::makePoison(*memory.format, memory.shape,
                                      host.run->noteUnspecified(op)));
  std::vector<FrameOwner> owners;
  SmallVector<Frame *> frames;
  owners.reserve(group.numThreads);
  for (int64_t thread = 0; thread < group.numThreads; ++thread) {
    owners.emplace_back(*kernel, host);
    Frame &frame = owners.back().frame;
    frame.group = &group;
    frame.linearThread = thread;
    frame.threadId = {thread % group.blockDim[0],
                      thread / group.blockDim[0] % group.blockDim[1],
                      thread / group.blockDim[0] / group.blockDim[1]};
    ArrayRef<Slot> arguments = kernel->code.arguments;
    if (hasIndexArguments) {
      for (unsigned i = 0; i < 3; ++i) {
        frame.setInt(arguments[i], group.blockId[i]);
        frame.setInt(arguments[3 + i], frame.threadId[i]);
        frame.setInt(arguments[6 + i], group.gridDim[i]);
        frame.setInt(arguments[9 + i], group.blockDim[i]);
        if (!clusterDim)
          continue;
        frame.setInt(arguments[12 + i], group.blockId[i] / group.clusterDim[i]);
        frame.setInt(arguments[15 + i], group.clusterDim[i]);
      }
    }
    for (unsigned i = 0; i < operands.size(); ++i)
      assign(frame, arguments[i], host, operands[i].slot);
    for (auto [memory, view] : llvm::zip_equal(workgroupMemory, shared))
      frame.view(memory.slot) = view;
    for (const Memory &memory : privateMemory)
      frame.view(memory.slot) = View::makePoison(*memory.format, memory.shape,
                                                 host.run->noteUnspecified(op));
    frames.push_back(&frame);
  }
  if (!host.run->spend(kernel->code.cost() * group.numThreads, op))
    return false;
  return frames.size() == 1 ? kernel->code.run(*frames.front())
                            : kernel->code.runAll(frames);
}

/// Threads of a subgroup in a kernel whose lanes exchange values, on a device
/// with subgroups of one thread.
static constexpr int64_t exchangeLanes = 32;

/// Whether lanes receive values of other lanes somewhere in `kernel`.
static bool hasExchanges(Operation *kernel) {
  return assumesLanes(kernel) ||
         kernel
             ->walk([](Operation *op) {
               auto reduce = dyn_cast<gpu::SubgroupReduceOp>(op);
               bool isExchange = reduce
                                     ? reduce.getClusterSize().value_or(1) > 1
                                     : isa<gpu::ShuffleOp>(op);
               return isExchange ? WalkResult::interrupt()
                                 : WalkResult::advance();
             })
             .wasInterrupted();
}

bool Launch::run(Frame &frame) const {
  Workgroup shape;
  shape.subgroupSize = subgroupSize ? subgroupSize : frame.run->subgroupSize;
  if (exchanges && shape.subgroupSize == 1)
    shape.subgroupSize = exchangeLanes;
  if (dynamicBytes)
    shape.dynamicBytes = frame.integer(*dynamicBytes);
  if (shape.dynamicBytes < 0 || shape.dynamicBytes > (1 << 20))
    return frame.run->error(
        op, "the size of the dynamic workgroup memory is out of bounds");
  int64_t groups = 1;
  for (unsigned i = 0; i < 3; ++i) {
    shape.gridDim[i] = frame.integer(gridDim[i]);
    shape.blockDim[i] = frame.integer(blockDim[i]);
    if (shape.gridDim[i] < 1 || shape.blockDim[i] < 1)
      return frame.run->error(op, "a grid or workgroup size is not positive");
    if (shape.gridDim[i] > INT32_MAX || shape.blockDim[i] > 65536)
      return frame.run->error(
          op, "a grid or workgroup size exceeds the limits of all devices");
    groups *= shape.gridDim[i];
    shape.numThreads *= shape.blockDim[i];
    if (!clusterDim)
      continue;
    shape.clusterDim[i] = frame.integer((*clusterDim)[i]);
    if (shape.clusterDim[i] < 1 || shape.gridDim[i] % shape.clusterDim[i] != 0)
      return frame.run->error(
          op, "the grid must be a multiple of the cluster size");
  }
  if (shape.numThreads > 16384)
    return frame.run->error(op,
                            "a workgroup of " + Twine(shape.numThreads) +
                                " threads exceeds the limits of all devices");
  auto runLinear = [&](int64_t linear) {
    Workgroup group = shape;
    group.blockId = {linear % shape.gridDim[0],
                     linear / shape.gridDim[0] % shape.gridDim[1],
                     linear / shape.gridDim[0] / shape.gridDim[1]};
    return runGroup(frame, group);
  };
  // The first one shows what the others will take.
  Run &all = *frame.run;
  int64_t before = all.work;
  if (!runLinear(0))
    return false;
  int64_t each = std::max<int64_t>(all.work - before, 1);
  int64_t affordable = (all.options.maxWork - all.work) / each;
  SmallVector<int64_t> sample;
  int64_t others = groups - 1;
  if (all.options.sampledWorkgroups) {
    others = std::min(*all.options.sampledWorkgroups, affordable) - 1;
    sample = pickSample(1, groups, others, all.options.seed);
    others = static_cast<int64_t>(sample.size());
  } else if (others > affordable) {
    double total = static_cast<double>(each) * static_cast<double>(others);
    return all.spend(static_cast<int64_t>(std::min(total, 1e18)), op);
  }
  all.workgroups += others + 1;
  all.allWorkgroups += groups;
  return all.parallel(others, [&](int64_t index) {
    return runLinear(sample.empty() ? index + 1 : sample[index]);
  });
}

/// Adds memory attributions; false for one whose size is not known.
static bool addMemory(Scope &scope, ArrayRef<BlockArgument> attributions,
                      ArrayRef<Slot> arguments,
                      SmallVectorImpl<Launch::Memory> &memory) {
  for (BlockArgument attribution : attributions) {
    auto type = dyn_cast<MemRefType>(attribution.getType());
    const Format *format = type ? getFormat(type) : nullptr;
    if (!format || !type.hasStaticShape())
      return false;
    memory.push_back({arguments[attribution.getArgNumber()], format,
                      SmallVector<int64_t>(type.getShape())});
  }
  return true;
}

/// A launch with the extents of `op`.
template <typename LaunchOpT>
static std::shared_ptr<Launch> startLaunch(LaunchOpT op, Scope &scope) {
  auto launch = std::make_shared<Launch>();
  launch->op = op;
  launch->gridDim = {scope.slot(op.getGridSizeX()),
                     scope.slot(op.getGridSizeY()),
                     scope.slot(op.getGridSizeZ())};
  launch->blockDim = {scope.slot(op.getBlockSizeX()),
                      scope.slot(op.getBlockSizeY()),
                      scope.slot(op.getBlockSizeZ())};
  if (Value bytes = op.getDynamicSharedMemorySize())
    launch->dynamicBytes = scope.slot(bytes);
  if (op.hasClusterSize())
    launch->clusterDim = {scope.slot(op.getClusterSizeX()),
                          scope.slot(op.getClusterSizeY()),
                          scope.slot(op.getClusterSizeZ())};
  return launch;
}

static InstrPtr makeLaunch(std::shared_ptr<Launch> launch) {
  return makeInstr([launch = std::move(launch)](Frame &frame) {
    return launch->run(frame);
  });
}

static InstrPtr compileLaunch(gpu::LaunchOp op, Scope &scope) {
  std::shared_ptr<Launch> launch = startLaunch(op, scope);
  launch->owned = scope.compileFunction(op.getBody().front());
  launch->kernel = launch->owned.get();
  launch->subgroupSize = getVendorSubgroupSize(op);
  launch->hasIndexArguments = true;
  launch->exchanges = hasExchanges(op);
  ArrayRef<Slot> arguments = launch->kernel->code.arguments;
  if (!addMemory(scope, op.getWorkgroupAttributions(), arguments,
                 launch->workgroupMemory) ||
      !addMemory(scope, op.getPrivateAttributions(), arguments,
                 launch->privateMemory))
    return nullptr;
  scope.define(op->getResults());
  return makeLaunch(std::move(launch));
}

static InstrPtr compileLaunchFunc(gpu::LaunchFuncOp op, Scope &scope) {
  if (op.getAsyncObject())
    return nullptr;
  auto kernel =
      scope.program.getSymbols().lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          op, op.getKernelAttr());
  if (!kernel)
    return nullptr;
  std::shared_ptr<Launch> launch = startLaunch(op, scope);
  launch->kernel = scope.program.getFunction(kernel);
  launch->subgroupSize = getVendorSubgroupSize(kernel);
  if (!launch->kernel)
    return nullptr;
  launch->exchanges = hasExchanges(kernel);
  for (OpOperand &operand : op.getKernelOperandsMutable())
    launch->operands.push_back(scope.use(operand));
  ArrayRef<Slot> arguments = launch->kernel->code.arguments;
  if (launch->operands.size() > arguments.size() ||
      !addMemory(scope, kernel.getWorkgroupAttributions(), arguments,
                 launch->workgroupMemory) ||
      !addMemory(scope, kernel.getPrivateAttributions(), arguments,
                 launch->privateMemory))
    return nullptr;
  scope.define(op->getResults());
  return makeLaunch(std::move(launch));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// An op that asks a thread where it is.
template <typename F>
static InstrPtr makeQuery(Operation *op, Scope &scope, F query) {
  Slot result = scope.define(op->getResult(0));
  return makeInstr([=](Frame &frame) {
    if (!frame.group)
      return frame.run->error(op, "must be inside a kernel");
    frame.setInt(result, query(frame));
    return true;
  });
}

template <typename OpT, typename F>
static void addQuery(Registry &registry, F query) {
  registry.add<OpT>([query](OpT op, Scope &scope) {
    auto dim = static_cast<unsigned>(op.getDimension());
    return makeQuery(op, scope,
                     [=](const Frame &frame) { return query(frame, dim); });
  });
}

static InstrPtr compileBarrier(Operation *operation, Scope &) {
  return makeCollective([=](ArrayRef<Frame *> frames) {
    const Frame &frame = *frames.front();
    if (!frame.group)
      return frame.run->error(operation, "must be inside a kernel");
    int64_t present = static_cast<int64_t>(frames.size()) / frame.replicas;
    if (static_cast<int64_t>(frames.size()) ==
        frame.group->numThreads * frame.replicas)
      return true;
    return frame.run->error(
        operation, "not all threads of the workgroup reach this barrier: " +
                       Twine(present) + " of " +
                       Twine(frame.group->numThreads) + " do");
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static InstrPtr compileAlloc(gpu::AllocOp op, Scope &scope) {
  if (!op.getSymbolOperands().empty())
    return nullptr;
  MixedList sizes = getSizes(scope, op.getType(), op.getDynamicSizes());
  Slot result = scope.define(op.getMemref());
  if (op.getAsyncToken())
    scope.define(op.getAsyncToken());
  return makeAllocation(op, sizes, getFormat(op.getType()), result);
}

static InstrPtr compileMemset(gpu::MemsetOp op, Scope &scope) {
  Slot memory = scope.slot(op.getDst()), value = scope.slot(op.getValue());
  scope.define(op->getResults());
  return makeFill(op, memory, value);
}

/// The dynamic memory of the workgroup from byte `begin` on as elements of
/// `format`, of `sizes`; null with an error where it has not as many, or
/// others.
static ViewRef getDynamicMemory(const Frame &frame, Operation *op,
                                const Format &format, int64_t begin,
                                ArrayRef<int64_t> sizes) {
  if (!frame.group) {
    (void)frame.run->error(op, "must be inside a kernel");
    return nullptr;
  }
  const Workgroup &group = *frame.group;
  int64_t bytes = format.width / 8, count = 1;
  for (int64_t size : sizes)
    count *= size;
  int64_t end = begin + count * bytes;
  if (begin < 0 || begin % bytes != 0 || end > group.dynamicBytes) {
    (void)frame.run->error(op, "bytes " + Twine(begin) + " to " + Twine(end) +
                                   " are not whole elements of the " +
                                   Twine(group.dynamicBytes) +
                                   " bytes of dynamic workgroup memory");
    return nullptr;
  }
  bool isKnown = false;
  for (const Workgroup::DynamicPart &part : group.dynamicParts) {
    if (part.format != &format && begin < part.end && part.begin < end) {
      (void)frame.run->error(
          op, "elements of two types share bytes of the dynamic workgroup "
              "memory, which the reference does not support");
      return nullptr;
    }
    isKnown |= part.format == &format && part.begin <= begin && end <= part.end;
  }
  if (!isKnown)
    group.dynamicParts.push_back({&format, begin, end});
  ViewRef &memory = group.dynamicMemory[&format];
  if (!memory)
    memory = View::makePoison(format, {group.dynamicBytes / bytes},
                              frame.run->noteUnspecified(op));
  ViewRef view = memory->alias();
  view->offset = begin / bytes;
  view->sizes.assign(sizes.begin(), sizes.end());
  view->strides = denseStrides(sizes);
  return view;
}

static InstrPtr compileDynamicMemory(gpu::DynamicSharedMemoryOp op,
                                     Scope &scope) {
  const Format *format = getFormat(op.getType());
  Slot result = scope.define(op.getResultMemref());
  Operation *operation = op;
  // The elements belong to the views, if all uses are views.
  bool isViewed = llvm::all_of(op->getUsers(), llvm::IsaPred<memref::ViewOp>);
  return makeInstr([=](Frame &frame) {
    int64_t bytes = frame.group ? frame.group->dynamicBytes : 0;
    ViewRef view = isViewed ? View::make(*format, {0})
                            : getDynamicMemory(frame, operation, *format,
                                               /*begin=*/0, {bytes});
    frame.view(result) = view;
    return view != nullptr;
  });
}

/// A view of the dynamic memory; other bytes do not become elements.
static InstrPtr compileDynamicView(memref::ViewOp op, Scope &scope) {
  const Format *format = getFormat(op.getType());
  if (!op.getSource().getDefiningOp<gpu::DynamicSharedMemoryOp>() || !format ||
      format->width < 8)
    return nullptr;
  Slot shift = scope.slot(op.getByteShift());
  MixedList sizes = getSizes(scope, op.getType(), op.getSizes());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t> extents = sizes.get(frame);
    if (!checkSizes(*frame.run, operation, extents))
      return false;
    ViewRef view = getDynamicMemory(frame, operation, *format,
                                    frame.integer(shift), extents);
    frame.view(result) = view;
    return view != nullptr;
  });
}

/// An op of which nothing remains: everything is synchronous, and there is one
/// memory.
static InstrPtr compileNothing(Operation *op, Scope &scope) {
  scope.define(op->getResults());
  return makeInstr([](Frame &) { return true; });
}

void tessera::reference::addGpuHandlers(Registry &registry) {
  registry.add<gpu::LaunchOp>(compileLaunch);
  registry.add<gpu::LaunchFuncOp>(compileLaunchFunc);
  registry.add<gpu::BarrierOp>(compileBarrier);
  registry.add<amdgpu::LDSBarrierOp>(compileBarrier);
  addQuery<gpu::ThreadIdOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.threadId[dim];
  });
  addQuery<gpu::BlockIdOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->blockId[dim];
  });
  addQuery<gpu::BlockDimOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->blockDim[dim];
  });
  addQuery<gpu::GridDimOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->gridDim[dim];
  });
  // Workgroups of a cluster run as others do.
  addQuery<gpu::ClusterIdOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->blockId[dim] / frame.group->clusterDim[dim];
  });
  addQuery<gpu::ClusterBlockIdOp>(
      registry, [](const Frame &frame, unsigned dim) {
        return frame.group->blockId[dim] % frame.group->clusterDim[dim];
      });
  addQuery<gpu::ClusterDimOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->gridDim[dim] / frame.group->clusterDim[dim];
  });
  addQuery<gpu::ClusterDimBlocksOp>(registry,
                                    [](const Frame &frame, unsigned dim) {
                                      return frame.group->clusterDim[dim];
                                    });
  addQuery<gpu::GlobalIdOp>(registry, [](const Frame &frame, unsigned dim) {
    return frame.group->blockId[dim] * frame.group->blockDim[dim] +
           frame.threadId[dim];
  });
  registry.add<gpu::SubgroupIdOp>([](gpu::SubgroupIdOp op, Scope &scope) {
    return makeQuery(op, scope,
                     [](const Frame &frame) { return frame.subgroupOf(); });
  });
  registry.add<gpu::LaneIdOp>([](gpu::LaneIdOp op, Scope &scope) {
    return makeQuery(op, scope, [](const Frame &frame) {
      return frame.linearThread % frame.subgroupSize();
    });
  });
  registry.add<gpu::NumSubgroupsOp>([](gpu::NumSubgroupsOp op, Scope &scope) {
    return makeQuery(op, scope, [](const Frame &frame) {
      int64_t size = frame.subgroupSize();
      return (frame.group->numThreads + size - 1) / size;
    });
  });
  // The host asks it, too, for the size of a workgroup.
  registry.add<gpu::SubgroupSizeOp>([](gpu::SubgroupSizeOp op, Scope &scope) {
    Slot result = scope.define(op.getResult());
    return makeInstr([=](Frame &frame) {
      frame.setInt(result, frame.subgroupSize());
      return true;
    });
  });

  registry.add<gpu::AllocOp>(compileAlloc);
  registry.add<gpu::DynamicSharedMemoryOp>(compileDynamicMemory);
  registry.add<memref::ViewOp>(compileDynamicView);
  registry.add<gpu::MemsetOp>(compileMemset);
  registry.add<gpu::MemcpyOp>([](gpu::MemcpyOp op, Scope &scope) {
    scope.define(op->getResults());
    return makeMemoryCopy(op, scope.slot(op.getSrc()), scope.slot(op.getDst()));
  });
  for (const char *name :
       {"gpu.dealloc", "gpu.wait", "gpu.host_register", "gpu.host_unregister",
        "gpu.set_default_device", "gpu.printf", "vector.print"})
    registry.addNamed(name, compileNothing);
}
