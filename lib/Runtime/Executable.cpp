//===- Executable.cpp - An entry of a program, ready to be called ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Executable.h"

#include "Format.h"
#include "HostLibrary.h"
#include "RecordedRun.h"
#include "RunPlan.h"
#include "RunSession.h"
#include "Runtime/HostImports.h"
#include "Runtime/Nvtx.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// LoadedVariant
//===----------------------------------------------------------------------===//

LoadedVariant::LoadedVariant() = default;
LoadedVariant::~LoadedVariant() = default;

EntryFunction LoadedVariant::getFunction(const std::string &name) const {
  return reinterpret_cast<EntryFunction>(library->find(packedPrefix + name));
}

Expected<std::unique_ptr<LoadedVariant>>
LoadedVariant::load(const ProgramVariant &variant) {
  static std::atomic<unsigned> count;
  std::unique_ptr<LoadedVariant> loaded(new LoadedVariant);
  auto library = HostLibrary::load(variant.library, variant.imports);
  if (!library.ok())
    return library.status();
  loaded->library = library.take();
  KernelImage &image = loaded->image;
  image.kind = variant.imageKind;
  image.name = format("program %u", ++count);
  image.bytes = variant.image;
  loaded->constants = variant.constants;
  if (!variant.loader.empty()) {
    loaded->loader = loaded->getFunction(variant.loader);
    if (!loaded->loader)
      return Status(StatusCode::Rejected,
                    "host code of the program: missing function '" +
                        variant.loader + "'");
  }
  for (const std::string &name : variant.functions) {
    void *address = reinterpret_cast<void *>(loaded->getFunction(name));
    if (!address)
      return Status(StatusCode::Rejected,
                    "host code of the program: missing kernel '" + name + "'");
    image.functions.emplace_back(name, address);
  }
  return loaded;
}

//===----------------------------------------------------------------------===//
// Executable
//===----------------------------------------------------------------------===//

/// The entry of that name.
static Expected<const Signature *> findEntry(const ProgramVariant &variant,
                                             const std::string &name) {
  std::string names;
  for (const Signature &entry : variant.entries) {
    if (entry.name == name)
      return &entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  return Status(StatusCode::InvalidArgument,
                "no entry point '" + name + "': the program has " +
                    (names.empty() ? "none" : names));
}

ResultAllocator::~ResultAllocator() = default;

/// The state of an executable for a queue.
struct Executable::QueueState {
  explicit QueueState(Device &device, const std::optional<void *> &queue)
      : queue(queue), extra(device) {}

  std::optional<void *> queue;
  /// Whether the device has accepted the queue.
  bool isAccepted = false;
  /// `Device::pendingWork` which the queue waits for.
  uint64_t orderedAfter = 0;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  /// Workspaces that were too small; graphs may still use them.
  std::vector<void *> retired;
  ExtraMemory extra;
  /// By the number of the plan; the one used last comes first.
  std::vector<std::pair<uint64_t, std::unique_ptr<KeptGraph>>> graphs;
  RecordedRuns runs;
};

/// How a run is recorded, to be repeated.
struct Executable::Recording {
  /// The run before with the same inputs and results; null for none.
  RecordedRun *record = nullptr;
  KeptGraph *graph = nullptr;
  /// The results have been allocated.
  bool hasResults = false;
  /// Whether the run has followed its plan in all.
  bool isPlanned = false;
};

/// Results of a run that are not the caller's yet: their memory is given back
/// unless they are taken.
class Executable::Results {
public:
  explicit Results(Device &device) : device(device) {}
  ~Results() { giveBack(); }
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  /// Before a run.
  void begin(size_t count, ResultAllocator *newAllocator) {
    giveBack();
    allocator = newAllocator;
    results.resize(count);
    given.assign(count, {});
    for (CallResult &result : results) {
      result.data = result.allocation = nullptr;
      result.bytes = 0;
      result.scalar = 0;
    }
    addresses.assign(count, nullptr);
  }

  /// Memory for the elements of a result, in place of what it had.
  Status allocate(size_t index, size_t bytes, size_t alignment,
                  const std::vector<int64_t> &sizes) {
    CallResult &result = results[index];
    // The old memory may still be copied from.
    if (given[index].memory)
      replaced.push_back(
          {index, std::exchange(given[index], {}), nullptr, result.sizes});
    else if (result.allocation)
      replaced.push_back(
          {index, {}, std::exchange(result.allocation, nullptr), {}});
    result.data = nullptr;
    result.sizes = sizes;
    result.bytes = result.allocatedBytes = bytes;
    result.alignment = alignment;
    if (isCallers(index)) {
      // An address for what has no elements.
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      addresses[index] = reinterpret_cast<void *>(alignment);
      if (bytes == 0)
        return Status::success();
      ResultRequest request = {index, bytes, alignment, result.sizes};
      void *memory = allocator->allocate(request);
      if (!memory)
        return Status(StatusCode::OutOfMemory,
                      format("result %zu: the caller's allocator has no %zu "
                             "bytes",
                             index, bytes));
      given[index] = {memory, bytes, alignment};
      if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
        return Status(StatusCode::InvalidArgument,
                      format("result %zu: the caller's allocator returned %p, "
                             "which is not aligned to %zu bytes",
                             index, memory, alignment));
      addresses[index] = result.data = memory;
      return Status::success();
    }
    if (Status status =
            device.allocate(bytes + alignment - natural, &result.allocation);
        !status.ok())
      return status;
    auto address = reinterpret_cast<uintptr_t>(result.allocation);
    address = (address + alignment - 1) & ~(uintptr_t(alignment) - 1);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    addresses[index] = result.data = reinterpret_cast<void *>(address);
    return Status::success();
  }

  /// Whether the results have the sizes and the alignment of a plan.
  bool areThoseOf(const std::vector<RunPlan::Result> &planned) const {
    return std::equal(results.begin(), results.end(), planned.begin(),
                      planned.end(),
                      [](const CallResult &own, const RunPlan::Result &result) {
                        return own.bytes == result.bytes &&
                               own.alignment == result.alignment &&
                               own.sizes == result.sizes;
                      });
  }
  /// Hands the results to the caller. The vectors are exchanged, and keep their
  /// memory.
  void take(std::vector<CallResult> &callers) {
    callers.swap(results);
    given.clear();
    for (CallResult &result : results)
      result.allocation = nullptr;
  }
  /// Gives back the memory of all results.
  void giveBack() {
    giveBackReplaced();
    for (size_t index = 0; index < given.size(); ++index) {
      CallResult &result = results[index];
      giveBack(index, given[index], result.allocation, result.sizes);
      result.data = result.allocation = nullptr;
    }
    given.clear();
  }
  /// Gives back memory in whose position a result has got other.
  void giveBackReplaced() {
    for (const Replaced &memory : replaced)
      giveBack(memory.result, memory.given, memory.allocation, memory.sizes);
    replaced.clear();
  }
  /// Whether a result must be in memory of the caller's allocator.
  bool isCallers(size_t index) const {
    return allocator && allocator->takes(index);
  }

  static constexpr size_t natural = 256;

  std::vector<CallResult> results;
  /// The memory of each.
  std::vector<void *> addresses;

private:
  struct Given {
    void *memory = nullptr;
    size_t bytes = 0, alignment = 0;
  };

  struct Replaced {
    size_t result;
    Given given;
    void *allocation;
    std::vector<int64_t> sizes;
  };

  void giveBack(size_t index, const Given &memory, void *allocation,
                const std::vector<int64_t> &sizes) {
    if (memory.memory)
      allocator->release(memory.memory,
                         {index, memory.bytes, memory.alignment, sizes});
    if (allocation)
      (void)device.free(allocation);
  }

  Device &device;
  ResultAllocator *allocator = nullptr;
  /// Memory of the caller's allocator.
  std::vector<Given> given;
  std::vector<Replaced> replaced;
};

static bool isInteger(ElementType element) {
  switch (element) {
  case ElementType::I1:
  case ElementType::I4:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::Index:
    return true;
  default:
    return false;
  }
}

Executable::Executable(Device &device, const Signature &signature)
    : device(device), signature(signature), constants(device),
      layout(signature.results) {
  size_t count = 0;
  for (const Slot &slot : signature.arguments) {
    firstWords.push_back(count);
    shapes.push_back(
        {slot.shape.size(), slot.isBuffer() ? 0 : elementBytes(slot.element)});
    for (size_t dim = 0; dim < slot.shape.size(); ++dim)
      if (slot.shape[dim] < 0)
        keyWords.push_back(count + 3 + dim);
    if (!slot.isBuffer() && isInteger(slot.element))
      keyWords.push_back(count);
    count += countWords(slot);
  }
  words.resize(count);
  resultWords.resize((layout.bytes + 7) / 8);
  for (uint64_t &word : words)
    pointers.push_back(&word);
  pointers.push_back(resultWords.data());
}

Expected<std::unique_ptr<Executable>>
Executable::create(const Bundle &bundle, const std::string &entry,
                   Device &device) {
  auto selected = selectVariant(bundle, device.info());
  if (!selected.ok())
    return selected.status();
  auto found = findEntry(**selected, entry);
  if (!found.ok())
    return found.status();
  auto loaded = LoadedVariant::load(**selected);
  if (!loaded.ok())
    return loaded.status();
  std::unique_ptr<Executable> made(new Executable(device, **found));
  made->variant = loaded.take();
  made->function = made->variant->getFunction(entry);
  if (!made->function)
    return Status(StatusCode::Rejected,
                  "host code of the program: missing entry point '" + entry +
                      "'");
  if (Status status = device.loadImage(made->variant->getImage()); !status.ok())
    return status;
  made->isLoaded = true;
  for (const KernelRecord &kernel : (*selected)->kernels)
    if (device.canFindKernels())
      // The driver loads some kernels here. The launch reports what it rejects.
      (void)device.findKernel(kernel.name.c_str(),
                              made->variant->getImage().name.c_str());
  if (Status status = made->loadConstants(); !status.ok())
    return status;
  made->prepare();
  return made;
}

Status Executable::loadConstants() {
  if (Status status = constants.load(variant->getConstants()); !status.ok())
    return status;
  EntryFunction loader = variant->getLoader();
  if (!loader)
    return Status::success();
  Session loading(device);
  loading.setRecording(false);
  loading.setImage(variant->getImage().name);
  loading.setConstants(&constants);
  uint64_t none = 0;
  void *pointers[] = {&none};
  {
    SessionScope scope(loading);
    loader(pointers);
  }
  return loading.finish();
}

Executable::~Executable() {
  // They give memory back to the device, and graphs have its kernels.
  for (const std::unique_ptr<QueueState> &state : states)
    state->graphs.clear();
  session.reset();
  checkingSession.reset();
  program.reset();
  kept.reset();
  (void)device.free(firstWorkspace);
  for (const std::unique_ptr<QueueState> &state : states) {
    (void)device.free(state->workspace);
    for (void *workspace : state->retired)
      (void)device.free(workspace);
  }
  states.clear();
  if (isLoaded)
    (void)device.unloadImage(variant->getImage().name);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Status reject(size_t index, const Slot &slot, const std::string &what) {
  return Status(StatusCode::InvalidArgument,
                format("argument %zu (%s): ", index, slot.str().c_str()) +
                    what);
}

/// The bytes of a dense array of sizes that are not negative; an error where
/// they are more than 2^63 bits.
static Expected<size_t> countBytes(const Slot &slot, const int64_t *sizes) {
  size_t rank = slot.shape.size();
  if (std::find(sizes, sizes + rank, 0) != sizes + rank)
    return size_t(0);
  auto bits = static_cast<int64_t>(elementBits(slot.element));
  for (size_t dim = 0; dim < rank; ++dim)
    if (__builtin_mul_overflow(bits, sizes[dim], &bits))
      return Status(StatusCode::InvalidArgument,
                    "an array of " + formatSizes(sizes, rank) +
                        " has more elements than memory can hold");
  // Without overflow for the largest number of bits.
  return static_cast<size_t>(bits / 8 + (bits % 8 != 0));
}

/// The bytes of argument `index` after it was bound. `words` is its memref
/// descriptor: two pointers and an offset precede the sizes.
static Expected<size_t> countBoundBytes(size_t index, const Slot &slot,
                                        const uint64_t *words) {
  Expected<size_t> bytes =
      countBytes(slot, reinterpret_cast<const int64_t *>(words + 3));
  if (!bytes.ok())
    return reject(index, slot, bytes.status().message());
  return bytes;
}

/// Row-major strides, also of arrays without elements, whose sizes may have any
/// value: their multiplication wraps, and nothing is addressed by them.
static int64_t nextStride(int64_t stride, int64_t size) {
  return static_cast<int64_t>(
      static_cast<uint64_t>(stride) *
      static_cast<uint64_t>(std::max<int64_t>(size, 1)));
}

Status Executable::bind(size_t index, const Operand &operand) {
  const Slot &slot = signature.arguments[index];
  uint64_t *first = &words[firstWords[index]];
  if (!slot.isBuffer()) {
    *first = 0;
    std::memcpy(first, operand.data, elementBytes(slot.element));
    return Status::success();
  }
  size_t rank = slot.shape.size();
  auto *sizes = reinterpret_cast<int64_t *>(first + 3), *strides = sizes + rank;
  first[0] = first[1] = reinterpret_cast<uintptr_t>(operand.data);
  first[2] = 0;
  const int64_t *given = operand.sizes ? operand.sizes : slot.shape.data();
  int64_t stride = 1;
  bool isEmpty = false;
  for (size_t dim = rank; dim-- > 0;) {
    if (given[dim] < 0)
      return reject(
          index, slot,
          operand.sizes
              ? format("dimension %zu is %lld", dim,
                       static_cast<long long>(given[dim]))
              : format("dimension %zu is dynamic; pass its size", dim));
    if (slot.shape[dim] >= 0 && slot.shape[dim] != given[dim])
      return reject(
          index, slot,
          format("dimension %zu is %lld, but the program expects %lld", dim,
                 static_cast<long long>(given[dim]),
                 static_cast<long long>(slot.shape[dim])));
    isEmpty |= given[dim] == 0;
    sizes[dim] = given[dim];
    strides[dim] = stride;
    stride = nextStride(stride, given[dim]);
  }
  if (Expected<size_t> bytes = countBytes(slot, sizes); !bytes.ok())
    return reject(index, slot, bytes.status().message());
  for (size_t dim = 0; operand.strides && !isEmpty && dim < rank; ++dim)
    if (sizes[dim] > 1 && operand.strides[dim] != strides[dim])
      return reject(
          index, slot,
          format("its stride in dimension %zu is %lld elements, but a dense "
                 "row-major array has %lld; pass a dense copy",
                 dim, static_cast<long long>(operand.strides[dim]),
                 static_cast<long long>(strides[dim])));
  if (!operand.data && !isEmpty)
    return reject(index, slot, "it is null");
  return Status::success();
}

/// Arrays of the host, on the device for a run.
class Executable::Copies {
public:
  explicit Copies(Executable &executable) : executable(executable) {}
  ~Copies() {
    for (const Copy &copy : copies)
      (void)executable.device.free(copy.device);
  }
  Copies(const Copies &) = delete;
  Copies &operator=(const Copies &) = delete;

  /// Replaces an operand that has been bound.
  Status copyIn(size_t index, const Operand &operand) {
    const Slot &slot = executable.signature.arguments[index];
    uint64_t *first = &executable.words[executable.firstWords[index]];
    Expected<size_t> bytes = countBoundBytes(index, slot, first);
    if (!bytes.ok())
      return bytes.status();
    void *memory = nullptr;
    if (Status status = executable.device.allocate(*bytes, &memory);
        !status.ok())
      return status;
    copies.push_back({memory, operand.data, *bytes, slot.mayWrite});
    first[0] = first[1] = reinterpret_cast<uintptr_t>(memory);
    return *bytes ? executable.device.copyToDevice(memory, operand.data, *bytes)
                  : Status::success();
  }

  /// Back to the host, what may have been written.
  Status copyOut() {
    for (const Copy &copy : copies)
      if (copy.isWritten && copy.bytes)
        if (Status status = executable.device.copyToHost(copy.host, copy.device,
                                                         copy.bytes);
            !status.ok())
          return status;
    return Status::success();
  }

private:
  struct Copy {
    void *device, *host;
    size_t bytes;
    bool isWritten;
  };

  Executable &executable;
  std::vector<Copy> copies;
};

/// Objects of the driver's that operands of a run lie in.
class Executable::Objects {
public:
  explicit Objects(Executable &executable) : executable(executable) {}
  ~Objects() {
    if (!isEmpty)
      executable.device.releaseObjects();
  }
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;

  /// Replaces an operand that has been bound.
  Status use(size_t index, const Operand &operand) {
    const Slot &slot = executable.signature.arguments[index];
    uint64_t *first = &executable.words[executable.firstWords[index]];
    Expected<size_t> bytes = countBoundBytes(index, slot, first);
    if (!bytes.ok())
      return bytes.status();
    if (*bytes == 0)
      return Status::success();
    MemoryObject kind = operand.kind == MemoryKind::ClMem
                            ? MemoryObject::ClMem
                            : MemoryObject::VkBuffer;
    void *address = nullptr;
    isEmpty = false;
    Status status = executable.device.bindObject(kind, operand.data, *bytes,
                                                 slot.mayWrite, &address);
    if (!status.ok())
      return Status(status.code(),
                    reject(index, slot, status.message()).message());
    first[0] = first[1] = reinterpret_cast<uintptr_t>(address);
    return Status::success();
  }

private:
  Executable &executable;
  bool isEmpty = true;
};

Status Executable::bindAll(const std::vector<Operand> &operands) {
  if (operands.size() != signature.arguments.size())
    return Status(StatusCode::InvalidArgument,
                  format("%zu arguments, but the entry point '%s' takes %zu",
                         operands.size(), signature.name.c_str(),
                         signature.arguments.size()));
  for (size_t index = 0; index < operands.size(); ++index) {
    const Slot &slot = signature.arguments[index];
    if (!slot.isBuffer() && !operands[index].data)
      return reject(index, slot, "it is null");
    if (Status status = bind(index, operands[index]); !status.ok())
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Addresses for arrays whose memory is not used, far from each other.
static void *getNoAddress(size_t index) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>((uintptr_t(1) << 59) +
                                  (uintptr_t(index + 1) << 40));
}

void Executable::prepare() {
  program = std::make_unique<LoadedProgram>(device, variant->getImage().name);
  session = std::make_unique<RunSession>(device, *program);
  session->setConstants(&constants);
  kept = std::make_unique<Results>(device);
  // Where nothing is known only at the call, the first call needs no plan.
  if (device.isChecking() || !keyWords.empty())
    return;
  // A failure here comes again in the run, which reports it.
  Expected<size_t> bytes = workspaceSize({});
  if (bytes.ok() && *bytes != 0 &&
      device.allocate(*bytes, &firstWorkspace).ok())
    firstWorkspaceBytes = *bytes;
}

Expected<size_t>
Executable::workspaceSize(const std::vector<Operand> &operands) {
  uint64_t zero = 0;
  std::vector<Operand> own = operands;
  if (own.empty() && keyWords.empty())
    own.resize(signature.arguments.size());
  for (size_t index = 0; index < own.size(); ++index) {
    if (own[index].data || index >= signature.arguments.size())
      continue;
    if (signature.arguments[index].isBuffer())
      own[index].data = getNoAddress(index);
    else if (operands.empty())
      own[index].data = &zero;
  }
  if (Status status = bindAll(own); !status.ok())
    return status;
  if (device.isChecking())
    return size_t(0);
  if (const RunPlan *plan = findPlan())
    return plan->workspaceBytes;
  Expected<const RunPlan *> plan = makePlan();
  if (!plan.ok())
    return plan.status();
  return (*plan)->workspaceBytes;
}

const RunPlan *Executable::findPlan() {
  key.clear();
  for (size_t word : keyWords)
    key.push_back(words[word]);
  for (auto plan = plans.begin(); plan != plans.end(); ++plan)
    if ((*plan)->key == key) {
      std::rotate(plans.begin(), plan, plan + 1);
      return plans.front().get();
    }
  return nullptr;
}

Expected<const RunPlan *> Executable::makePlan() {
  PlanSession planned(device, *program);
  planned.setConstants(&constants);
  std::fill(resultWords.begin(), resultWords.end(), 0);
  {
    Device::DuringCapture permitted(device);
    SessionScope scope(planned);
    function(pointers.data());
  }
  if (!planned.status().ok())
    return planned.status();
  RunPlan &plan = planned.plan;
  plan.results.resize(signature.results.size());
  for (size_t index = 0; index < plan.results.size(); ++index)
    if (signature.results[index].isBuffer())
      if (Status status = makePlannedResult(index, planned); !status.ok())
        return status;
  plan.workspaceBytes = placeBlocks(plan.blocks);
  for (size_t word : keyWords)
    plan.key.push_back(words[word]);
  plan.number = ++numPlans;
  for (const RunPlan::Result &result : plan.results)
    plan.steps += !result.isBlock && result.bytes != 0;
  if (plans.size() == maxPlans)
    plans.pop_back();
  plans.insert(plans.begin(), std::make_unique<RunPlan>(std::move(plan)));
  return plans.front().get();
}

Status Executable::makePlannedResult(size_t index, PlanSession &planned) {
  CallResult found;
  if (Status status = readArray(index, found); !status.ok())
    return status;
  RunPlan::Result &result = planned.plan.results[index];
  result.bytes = found.bytes;
  result.sizes = found.sizes;
  uint64_t allocated = resultWords[layout.offsets[index] / 8];
  int number = planned.findBlock(allocated);
  if (number < 0 || reinterpret_cast<uintptr_t>(found.data) != allocated)
    return Status::success();
  PlannedBlock &block = planned.plan.blocks[static_cast<size_t>(number)];
  // One memory cannot be two results, and a part of one is copied out.
  if (block.result >= 0 || block.bytes != result.bytes)
    return Status::success();
  block.result = static_cast<int>(index);
  result.isBlock = true;
  result.alignment = block.alignment;
  return Status::success();
}

void Executable::dropPlan(const RunPlan &dropped) {
  plans.erase(std::find_if(plans.begin(), plans.end(),
                           [&](const std::unique_ptr<RunPlan> &plan) {
                             return &*plan == &dropped;
                           }));
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

Executable::QueueState *
Executable::findState(const std::optional<void *> &queue) {
  for (const std::unique_ptr<QueueState> &state : states)
    if (state->queue == queue)
      return state.get();
  return nullptr;
}

Executable::QueueState &
Executable::getState(const std::optional<void *> &queue) {
  if (QueueState *state = findState(queue))
    return *state;
  states.push_back(std::make_unique<QueueState>(device, queue));
  return *states.back();
}

KeptGraph *Executable::findGraph(QueueState &state, const RunPlan &plan) {
  if (!device.hasGraphs())
    return nullptr;
  auto &graphs = state.graphs;
  auto found =
      std::find_if(graphs.begin(), graphs.end(), [&](const auto &graph) {
        return graph.first == plan.number;
      });
  if (found == graphs.end()) {
    if (graphs.size() == maxGraphs) {
      state.runs.forget(graphs.back().second.get());
      graphs.pop_back();
    }
    graphs.emplace_back(plan.number, std::make_unique<KeptGraph>(device));
    found = graphs.end() - 1;
  }
  std::rotate(graphs.begin(), found, found + 1);
  return graphs.front().second.get();
}

const LaunchStatistics &Executable::getLaunchStatistics() const {
  return session->getStatistics();
}

Status Executable::checkWorkspace(const RunPlan &plan,
                                  const RunOptions &options) const {
  if (!options.workspace)
    return Status::success();
  if (reinterpret_cast<uintptr_t>(options.workspace) % Results::natural != 0)
    return Status(StatusCode::InvalidArgument,
                  format("the workspace at %p is not aligned to %zu bytes",
                         options.workspace, Results::natural));
  if (options.workspaceBytes < plan.workspaceBytes)
    return Status(StatusCode::InvalidArgument,
                  format("a workspace of %zu bytes, but the run takes %zu",
                         options.workspaceBytes, plan.workspaceBytes));
  return Status::success();
}

Status Executable::growWorkspace(QueueState &state, size_t bytes) {
  // A graph may have been captured with the old one. Growing by half, all old
  // ones together have no more than twice the size of the last.
  if (state.workspace)
    state.retired.push_back(std::exchange(state.workspace, nullptr));
  if (firstWorkspace && firstWorkspaceBytes >= bytes) {
    state.workspace = std::exchange(firstWorkspace, nullptr);
    state.workspaceBytes = firstWorkspaceBytes;
    return Status::success();
  }
  bytes = std::max(bytes, state.workspaceBytes + state.workspaceBytes / 2);
  state.workspaceBytes = 0;
  if (Status status = device.allocate(bytes, &state.workspace); !status.ok())
    return status;
  state.workspaceBytes = bytes;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// The device for one run alone, if it is shared. At its end, the driver's
/// state of the calling thread is as before.
class Exclusive {
public:
  Exclusive(Device &device, std::mutex *mutex) : device(device) {
    if (!mutex)
      return;
    lock = std::unique_lock<std::mutex>(*mutex);
    callersState = device.saveCaller();
  }
  ~Exclusive() {
    if (lock.owns_lock())
      device.restoreCaller(callersState);
  }
  Exclusive(const Exclusive &) = delete;
  Exclusive &operator=(const Exclusive &) = delete;

private:
  Device &device;
  std::unique_lock<std::mutex> lock;
  void *callersState = nullptr;
};

/// The calling thread, on a device with concurrent calls.
class EnteredThread {
public:
  explicit EnteredThread(Device &device)
      : device(device), status(device.enterThread(state)) {}
  ~EnteredThread() {
    if (status.ok())
      device.leaveThread(state);
  }
  EnteredThread(const EnteredThread &) = delete;
  EnteredThread &operator=(const EnteredThread &) = delete;

  const Status &getStatus() const { return status; }

private:
  Device &device;
  uintptr_t state = 0;
  Status status;
};
} // namespace

Status Executable::run(const std::vector<Operand> &operands,
                       std::vector<CallResult> &results,
                       const RunOptions &options) {
  NvtxRange range(signature.name.c_str());
  Status status;
  if (runConcurrently(operands, results, options, status))
    return status;
  return runExclusively(operands, results, options);
}

/// False if the run has to have the device to itself; nothing has happened
/// then.
bool Executable::runConcurrently(const std::vector<Operand> &operands,
                                 std::vector<CallResult> &results,
                                 const RunOptions &options, Status &status) {
  if (!options.mutex || !options.queue || !device.isConcurrent() ||
      device.isChecking())
    return false;
  if (!takesAllResults(options))
    return false;
  QueueState *state = findState(options.queue);
  if (!state || !state->isAccepted)
    return false;
  uint64_t pending = device.pendingWork();
  if (pending != 0 && pending != state->orderedAfter)
    return false;
  RunInputs inputs = {shapes, operands,
                      options.workspace ? options.workspace : state->workspace,
                      options.launch};
  Recording recording;
  if (repeatRun(inputs, results, options, *state, recording, status))
    return true;
  size_t count = std::min(operands.size(), signature.arguments.size());
  for (size_t index = 0; index < count; ++index)
    if (operands[index].kind != MemoryKind::Device &&
        signature.arguments[index].isBuffer())
      return false;
  status = bindAll(operands);
  if (!status.ok())
    return true;
  const RunPlan *plan = findPlan();
  // To read scalars, the run has to enter the queue.
  if (!plan || plan->readsScalars)
    return false;
  status = checkWorkspace(*plan, options);
  if (!status.ok())
    return true;
  if (!options.workspace && state->workspaceBytes < plan->workspaceBytes)
    return false;
  EnteredThread thread(device);
  status = thread.getStatus();
  if (!status.ok())
    return true;
  recording.hasResults =
      recording.hasResults && kept->areThoseOf(plan->results);
  if (!recording.hasResults)
    kept->begin(signature.results.size(), options.allocator);
  status = runPlanned(*plan, options, *state, *kept, options.mutex, &recording);
  if (status.ok()) {
    if (recording.isPlanned)
      recordRun(inputs, *plan, *state, recording);
    kept->take(results);
  } else {
    kept->giveBack();
  }
  return true;
}

bool Executable::takesAllResults(const RunOptions &options) const {
  for (size_t index = 0; index < signature.results.size(); ++index)
    if (signature.results[index].isBuffer() &&
        !(options.allocator && options.allocator->takes(index)))
      return false;
  return true;
}

/// False if no run can be repeated. Results may have been allocated then.
bool Executable::repeatRun(const RunInputs &inputs,
                           std::vector<CallResult> &results,
                           const RunOptions &options, QueueState &state,
                           Recording &recording, Status &status) {
  RecordedRun *record = state.runs.find(inputs);
  if (!record || (options.workspace &&
                  options.workspaceBytes < record->getWorkspaceBytes()))
    return false;
  EnteredThread thread(device);
  status = thread.getStatus();
  if (!status.ok())
    return true;
  const std::vector<RunPlan::Result> &planned = record->getResults();
  kept->begin(planned.size(), options.allocator);
  for (size_t index = 0; index < planned.size() && status.ok(); ++index)
    status = kept->allocate(index, planned[index].bytes,
                            planned[index].alignment, planned[index].sizes);
  if (!status.ok()) {
    kept->giveBack();
    return true;
  }
  recording.hasResults = true;
  if (!record->hasResults(kept->addresses))
    record = state.runs.find(inputs, &kept->addresses);
  recording.record = record;
  if (!record || !record->isComplete() ||
      !session->repeat(*record, options.launch, *options.queue, status))
    return false;
  if (status.ok())
    kept->take(results);
  else
    kept->giveBack();
  return true;
}

/// After a run that has followed its plan.
void Executable::recordRun(const RunInputs &inputs, const RunPlan &plan,
                           QueueState &state, Recording &recording) {
  if (!session->isRepeatable())
    return;
  for (const RunPlan::Result &result : plan.results)
    if (!result.isBlock)
      return;
  if (recording.record)
    session->keep(*recording.record, recording.graph);
  else
    state.runs.add().setKey(inputs, plan, kept->addresses);
}

Status Executable::runExclusively(const std::vector<Operand> &operands,
                                  std::vector<CallResult> &results,
                                  const RunOptions &options) {
  Exclusive exclusive(device, options.mutex);
  if (Status status = bindAll(operands); !status.ok())
    return status;
  const RunPlan *plan = nullptr;
  if (!device.isChecking()) {
    plan = findPlan();
    if (!plan) {
      Expected<const RunPlan *> made = makePlan();
      if (!made.ok())
        return made.status();
      plan = *made;
    }
    if (Status status = checkWorkspace(*plan, options); !status.ok())
      return status;
  }
  if (!options.queue)
    return runInQueue(operands, results, plan, options);
  uint64_t pending = device.pendingWork();
  if (Status status = device.enterQueue(*options.queue); !status.ok())
    return status;
  QueueState &state = getState(options.queue);
  state.isAccepted = true;
  state.orderedAfter = pending;
  // Memory that the checking mode allocates is free again after the run.
  Status status =
      !plan && device.isCapturing(*options.queue)
          ? Status(StatusCode::InvalidArgument,
                   "a run cannot be captured while memory is checked")
          : runInQueue(operands, results, plan, options);
  Status left = device.leaveQueue();
  return status.ok() ? left : status;
}

/// Whether kernels can use an array of the host's that has been bound, so that
/// the caller sees what it would of a copy: none that the program writes is, or
/// is a part of, another array.
bool Executable::canUseInPlace(const std::vector<Operand> &operands,
                               size_t index) const {
  // Kernels rely on it for all arguments (`getKnownTileAlignment`).
  constexpr uintptr_t alignment = 16;
  const std::vector<Slot> &slots = signature.arguments;
  if (!device.usesHostMemory() || device.isChecking() ||
      reinterpret_cast<uintptr_t>(operands[index].data) % alignment != 0)
    return false;
  auto getRange = [&](size_t of) -> std::pair<uintptr_t, uintptr_t> {
    const uint64_t *first = &words[firstWords[of]];
    Expected<size_t> bytes = countBoundBytes(of, slots[of], first);
    auto begin = reinterpret_cast<uintptr_t>(operands[of].data);
    return {begin, begin + (bytes.ok() ? *bytes : 0)};
  };
  auto own = getRange(index);
  for (size_t other = 0; other < operands.size(); ++other) {
    if (other == index || !slots[other].isBuffer() ||
        !(slots[index].mayWrite || slots[other].mayWrite))
      continue;
    auto [begin, end] = getRange(other);
    if (begin < own.second && own.first < end)
      return false;
  }
  return true;
}

Status Executable::runInQueue(const std::vector<Operand> &operands,
                              std::vector<CallResult> &results,
                              const RunPlan *plan, const RunOptions &options) {
  Copies copies(*this);
  Objects objects(*this);
  bool usesHost = false;
  for (size_t index = 0; index < operands.size(); ++index) {
    const Operand &operand = operands[index];
    if (!signature.arguments[index].isBuffer())
      continue;
    Status status;
    if (operand.kind == MemoryKind::Host) {
      usesHost = true;
      if (!canUseInPlace(operands, index))
        status = copies.copyIn(index, operand);
    } else if (operand.kind != MemoryKind::Device)
      status = objects.use(index, operand);
    if (!status.ok())
      return status;
  }
  kept->begin(signature.results.size(), options.allocator);
  Status status =
      plan ? runPlanned(*plan, options, getState(options.queue), *kept,
                        /*mutex=*/nullptr)
           : runUnplanned(*kept);
  // Copying to the host waits; so does giving back what the host's arrays were
  // copied to, where nothing is copied back.
  if (status.ok() && usesHost)
    status = copies.copyOut();
  if (status.ok() && usesHost)
    status = device.synchronize();
  if (status.ok())
    kept->take(results);
  else
    kept->giveBack();
  return status;
}

Status Executable::runPlanned(const RunPlan &plan, const RunOptions &options,
                              QueueState &state, Results &made,
                              std::mutex *mutex, Recording *recording) {
  if (!options.workspace && state.workspaceBytes < plan.workspaceBytes)
    if (Status status = growWorkspace(state, plan.workspaceBytes); !status.ok())
      return status;
  bool hasResults = recording && recording->hasResults;
  for (size_t index = 0; index < plan.results.size() && !hasResults; ++index) {
    const RunPlan::Result &result = plan.results[index];
    if (signature.results[index].isBuffer())
      if (Status status = made.allocate(index, result.bytes, result.alignment,
                                        result.sizes);
          !status.ok())
        return status;
  }
  std::fill(resultWords.begin(), resultWords.end(), 0);
  KeptGraph *graph = findGraph(state, plan);
  session->begin(plan, options.workspace ? options.workspace : state.workspace,
                 made.addresses, state.extra, options.queue, mutex, graph,
                 options.launch);
  if (recording && recording->record)
    session->listLaunches();
  Device::Run run(device);
  {
    SessionScope scope(*session);
    function(pointers.data());
  }
  Status status = session->status();
  bool isPlanned = session->followedPlan();
  if (status.ok())
    status = takePlanned(plan, made, isPlanned);
  session->end();
  if (Status ended = run.end(); status.ok())
    status = std::move(ended);
  if (recording) {
    recording->graph = graph;
    recording->isPlanned = status.ok() && isPlanned;
  }
  if (status.ok() && !isPlanned)
    dropPlan(plan);
  return status;
}

Status Executable::takePlanned(const RunPlan &plan, Results &made,
                               bool &isPlanned) {
  bool isEqual = true;
  for (size_t index = 0; index < made.results.size(); ++index) {
    CallResult &result = made.results[index];
    if (!signature.results[index].isBuffer()) {
      readScalar(index, result);
      continue;
    }
    if (Status status = readArray(index, found); !status.ok())
      return status;
    bool isSame = found.bytes == result.bytes && found.sizes == result.sizes;
    isEqual &= isSame;
    const RunPlan::Result &planned = plan.results[index];
    if (isSame && (found.bytes == 0 ||
                   (planned.isBlock && found.data == made.addresses[index])))
      continue;
    // Host code may have used the memory for something else, which another
    // result is.
    isEqual &= !planned.isBlock;
    if (!isSame || planned.isBlock)
      if (Status status =
              made.allocate(index, found.bytes, planned.alignment, found.sizes);
          !status.ok())
        return status;
    if (found.bytes == 0)
      continue;
    if (Status status =
            session->copy(made.addresses[index], found.data, found.bytes);
        !status.ok())
      return status;
  }
  // Memory that the work uses is given back after it.
  if (Status status = session->submit(); !status.ok())
    return status;
  made.giveBackReplaced();
  isPlanned &= isEqual;
  return Status::success();
}

Status Executable::runUnplanned(Results &made) {
  if (!checkingSession) {
    checkingSession = std::make_unique<Session>(device);
    checkingSession->setRecording(false);
    checkingSession->setConstants(&constants);
    checkingSession->setImage(variant->getImage().name);
  }
  std::fill(resultWords.begin(), resultWords.end(), 0);
  Device::Run run(device);
  {
    SessionScope scope(*checkingSession);
    function(pointers.data());
  }
  Status status = checkingSession->status();
  if (status.ok())
    status = takeUnplanned(made);
  checkingSession->endRun();
  return status;
}

Status Executable::takeUnplanned(Results &made) {
  for (size_t index = 0; index < made.results.size(); ++index) {
    CallResult &result = made.results[index];
    if (!signature.results[index].isBuffer()) {
      readScalar(index, result);
      continue;
    }
    if (Status status = readArray(index, found); !status.ok())
      return status;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto *allocated = reinterpret_cast<void *>(
        static_cast<uintptr_t>(resultWords[layout.offsets[index] / 8]));
    if (!made.isCallers(index))
      if (void *base = checkingSession->release(allocated)) {
        result = found;
        result.allocation = base;
        continue;
      }
    // An argument, a constant, or another result: the caller gets a copy.
    if (Status status =
            made.allocate(index, found.bytes, Results::natural, found.sizes);
        !status.ok())
      return status;
    if (found.bytes != 0)
      if (Status status = device.copyOnDevice(made.addresses[index], found.data,
                                              found.bytes);
          !status.ok())
        return status;
  }
  return Status::success();
}

void Executable::readScalar(size_t index, CallResult &result) {
  const Slot &slot = signature.results[index];
  const char *position = reinterpret_cast<const char *>(resultWords.data()) +
                         layout.offsets[index];
  result.sizes.clear();
  result.scalar = 0;
  std::memcpy(&result.scalar, position, elementBytes(slot.element));
  if (slot.element == ElementType::I1)
    result.scalar &= 1;
}

/// Where host code has left a result, how large it is, and its sizes.
Status Executable::readArray(size_t index, CallResult &result) {
  const Slot &slot = signature.results[index];
  const uint64_t *descriptor = &resultWords[layout.offsets[index] / 8];
  size_t rank = slot.shape.size();
  auto wrong = [&](const char *what) {
    return Status(StatusCode::Internal,
                  format("result %zu (%s) %s; this is a compiler bug", index,
                         slot.str().c_str(), what));
  };
  const auto *sizes = reinterpret_cast<const int64_t *>(descriptor + 3),
             *strides = sizes + rank;
  result.sizes.assign(sizes, sizes + rank);
  int64_t dense = 1;
  bool isEmpty = std::find(sizes, sizes + rank, 0) != sizes + rank;
  for (size_t dim = rank; dim-- > 0;) {
    if (sizes[dim] < 0 ||
        (slot.shape[dim] >= 0 && sizes[dim] != slot.shape[dim]))
      return wrong("has the wrong shape");
    if (!isEmpty && sizes[dim] > 1 && strides[dim] != dense)
      return wrong("is not dense");
    dense = nextStride(dense, sizes[dim]);
  }
  auto offset = static_cast<int64_t>(descriptor[2]);
  int64_t offsetBits = 0;
  if (offset < 0 ||
      __builtin_mul_overflow(offset,
                             static_cast<int64_t>(elementBits(slot.element)),
                             &offsetBits) ||
      offsetBits % 8 != 0)
    return wrong("is not aligned to a byte");
  Expected<size_t> bytes = countBytes(slot, sizes);
  if (!bytes.ok())
    return wrong("is too large");
  result.bytes = *bytes;
  auto address = static_cast<uintptr_t>(descriptor[1] +
                                        static_cast<uint64_t>(offsetBits / 8));
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  result.data = reinterpret_cast<char *>(address);
  return Status::success();
}
