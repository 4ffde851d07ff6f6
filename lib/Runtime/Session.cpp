//===- Session.cpp - Runtime session of host code -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Session.h"

#include "DriverDevice.h"
#include "Format.h"
#include "HostMemory.h"
#include "Runtime/Nvtx.h"
#include "WorkSubmitter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

struct Session::Submission {
  explicit Submission(Device &device) : submitter(device), graph(device) {}

  WorkSubmitter submitter;
  KeptGraph graph;
  bool isInRun = false;
};

Session::Session(Device &device) : target(device) {}

Session::~Session() {
  for (auto &entry : owned)
    (void)target.free(entry.second.base);
  for (auto &entry : constants)
    (void)target.free(entry.second);
}

void Session::endRun() {
  for (auto &entry : owned)
    (void)target.free(entry.second.base);
  owned.clear();
  hostMemory.reset();
  clearErrors();
}

void Session::clearErrors() {
  if (!firstError.ok())
    firstError = Status::success();
  if (!mapError.ok())
    mapError = Status::success();
}

void Session::beginRun() {
  if (launchMode == LaunchMode::Direct || !target.canFindKernels())
    return;
  if (!submission)
    submission = std::make_unique<Submission>(target);
  WorkSubmitter &submitter = submission->submitter;
  submission->isInRun = true;
  if (trace || guard != 0 || checkpointHook || target.isChecking())
    submitter.beginDirect(DirectReason::Watched, /*newQueue=*/std::nullopt);
  else
    submitter.begin(&submission->graph, launchMode, submitter.countSteps(),
                    /*newQueue=*/std::nullopt);
}

void Session::submitRun() {
  if (!submission || !submission->isInRun)
    return;
  submission->isInRun = false;
  if (firstError.ok())
    fail(submission->submitter.submit());
  submission->submitter.cancel();
}

const LaunchStatistics *Session::launchStatistics() const {
  return submission ? &submission->submitter.getStatistics() : nullptr;
}

Status Session::launchFound(const LaunchRequest &request) {
  Expected<LoadedKernel *> found =
      target.findKernel(request.kernel, request.image);
  if (!found.ok())
    return found.status();
  LoadedKernel &kernel = **found;
  if (!recorder)
    return submission->submitter.launch(kernel, request);
  if (isEmptyGrid(request))
    return Status::success();
  if (Status status = target.prepareLaunch(kernel, request); !status.ok())
    return status;
  if (!request.argSizes && request.numArgs != 0)
    return Status(StatusCode::InvalidArgument,
                  describe(DirectReason::UnknownArguments));
  recorder->addLaunch(kernel, request, request.argSizes);
  return Status::success();
}

const Status &Session::finish() {
  fail(target.synchronize());
  for (const auto &[ptr, block] : owned)
    if (firstError.ok())
      fail(checkGuard(ptr, block));
  return firstError;
}

/// The byte pattern of guards.
static constexpr uint8_t guardByte = 0xA5;

Status Session::checkGuard(void *ptr, const Block &block) {
  if (block.guard == 0 || firstDamage)
    return Status::success();
  std::vector<uint8_t> found(block.guard);
  for (bool isAfter : {false, true}) {
    char *begin = static_cast<char *>(ptr);
    begin = isAfter ? begin + block.bytes : begin - block.guard;
    if (Status status = target.copyToHost(found.data(), begin, block.guard);
        !status.ok())
      return status;
    // Bytes by their distance from the memory.
    if (!isAfter)
      std::reverse(found.begin(), found.end());
    auto isChanged = [](uint8_t byte) { return byte != guardByte; };
    auto nearest = std::find_if(found.begin(), found.end(), isChanged);
    if (nearest == found.end())
      continue;
    firstDamage = GuardDamage{ptr, block.bytes, isAfter,
                              static_cast<size_t>(std::count_if(
                                  found.begin(), found.end(), isChanged)),
                              static_cast<size_t>(nearest - found.begin())};
    return Status::success();
  }
  return Status::success();
}

void Session::fail(Status status) {
  if (firstError.ok() && !status.ok())
    firstError = std::move(status);
}

void Session::report(std::string message) {
  fail(Status(StatusCode::InvalidArgument, std::move(message)));
}

void Session::encodeTensorMap(const TensorMapRequest &request, void *map) {
  if (!firstError.ok() || !mapError.ok())
    return;
  mapError = target.encodeTensorMap(request, map);
}

bool Session::checkMaps(const LaunchRequest &request) {
  if (!mapError.ok()) {
    Status maps = std::exchange(mapError, Status::success());
    if (!isEmptyGrid(request))
      fail(Status(maps.code(), format("launch of '%s': %s", request.kernel,
                                      maps.message().c_str())));
  }
  return firstError.ok();
}

void Session::launch(LaunchRequest request) {
  if (!image.empty())
    request.image = image.c_str();
  request.sink = sink ? &sink : nullptr;
  if (!checkMaps(request))
    return;
  if (launchHook)
    fail(launchHook(request));
  if (!firstError.ok())
    return;
  NvtxRange range(request.kernel ? request.kernel : "launch");
  bool isKept =
      request.kernel && (recorder || (submission && submission->isInRun));
  fail(trace    ? launchTraced(request)
       : isKept ? launchFound(request)
                : target.launch(request));
  if (!firstError.ok() || !recording)
    return;
  LaunchRecord record;
  record.kernel = request.kernel;
  std::copy(request.grid, request.grid + 3, record.grid);
  std::copy(request.block, request.block + 3, record.block);
  record.workgroupBytes = request.workgroupBytes;
  records.push_back(std::move(record));
}

Status Session::launchTraced(const LaunchRequest &request) {
  TraceScope scope(trace, "launch", std::string("launch ") + request.kernel);
  double begin = trace->now(), milliseconds = 0;
  Status status = target.timeBegin();
  if (status.ok())
    status = target.launch(request);
  if (status.ok())
    status = target.timeEnd(&milliseconds);
  if (!status.ok())
    return status;
  if (isEmptyGrid(request))
    return Status::success();
  TraceEvent event;
  event.name = request.kernel;
  event.category = "kernel";
  event.track = Trace::deviceTrack;
  event.duration = 1e3 * milliseconds;
  // The device has its own clock: the kernel ended before this.
  event.start = std::max(begin, trace->now() - event.duration);
  event.details = {{"grid", formatDims(request.grid)},
                   {"workgroup", formatDims(request.block)},
                   {"workgroup bytes", request.workgroupBytes}};
  trace->add(std::move(event));
  return Status::success();
}

bool Session::checkRequest(int64_t alignment, int64_t bytes) {
  if (!firstError.ok())
    return false;
  if (bytes < 0)
    report(format("allocation of %lld bytes: a size in the program is negative "
                  "or overflows",
                  static_cast<long long>(bytes)));
  else if (alignment < 1 || (alignment & (alignment - 1)) != 0)
    report(format("allocation aligned to %lld bytes: not a power of two",
                  static_cast<long long>(alignment)));
  return firstError.ok();
}

void *Session::allocate(int64_t alignment, int64_t bytes) {
  constexpr int64_t natural = 256;
  if (!checkRequest(alignment, bytes))
    return nullptr;
  size_t slack = alignment > natural ? static_cast<size_t>(alignment) : 0;
  size_t size = static_cast<size_t>(bytes);
  void *base = nullptr;
  Status status = target.allocate(size + slack + 2 * guard, &base);
  if (!status.ok()) {
    fail(std::move(status));
    return nullptr;
  }
  char *ptr = static_cast<char *>(base) + guard;
  if (slack != 0)
    ptr += -reinterpret_cast<uintptr_t>(ptr) & (slack - 1);
  if (guard != 0) {
    fail(target.fill(ptr - guard, guardByte, guard));
    fail(target.fill(ptr + size, guardByte, guard));
  }
  owned.emplace(ptr, Block{base, size, guard});
  return ptr;
}

void *Session::allocateArray(int64_t alignment, int64_t rank,
                             const int64_t *sizes, int64_t elementBytes,
                             const char *element) {
  std::optional<int64_t> bytes =
      countArrayBytes(rank, sizes, elementBytes, element);
  return bytes ? allocate(alignment, *bytes) : nullptr;
}

std::optional<int64_t> Session::countArrayBytes(int64_t rank,
                                                const int64_t *sizes,
                                                int64_t elementBytes,
                                                const char *element) {
  if (!firstError.ok())
    return std::nullopt;
  auto reject = [&](const std::string &what) {
    report("allocation of an array of " +
           formatSizes(sizes, static_cast<size_t>(rank)) + "x" +
           (element ? element : "?") + ": " + what);
    return std::nullopt;
  };
  bool isEmpty = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (sizes[dim] < 0)
      return reject(format("the size of dimension %lld is negative",
                           static_cast<long long>(dim)));
    isEmpty |= sizes[dim] == 0;
  }
  int64_t bytes = isEmpty ? 0 : elementBytes;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (__builtin_mul_overflow(bytes, sizes[dim], &bytes))
      return reject("it exceeds 2^63 - 1 bytes");
  return bytes;
}

void *Session::release(void *ptr) {
  auto it = owned.find(ptr);
  if (it == owned.end())
    return nullptr;
  void *base = it->second.base;
  owned.erase(it);
  return base;
}

void Session::free(void *ptr) {
  if (ptr == nullptr)
    return;
  auto it = owned.find(ptr);
  if (it != owned.end() && firstError.ok())
    fail(checkGuard(ptr, it->second));
  if (hostMemory && hostMemory->free(ptr))
    return;
  void *base = release(ptr);
  if (base)
    fail(target.free(base));
  else
    reportUnknown(ptr);
}

//===----------------------------------------------------------------------===//
// Host code that accesses buffers
//===----------------------------------------------------------------------===//

void Session::call(void (*function)(void **), void **arguments) {
  std::jmp_buf here;
  std::jmp_buf *outer = std::exchange(leaving, &here);
  // Between here and the jump there are frames of host code, and of functions
  // of this file without objects that have destructors.
  // NOLINTNEXTLINE(cert-err52-cpp,modernize-avoid-setjmp-longjmp)
  if (setjmp(here) == 0)
    function(arguments);
  leaving = outer;
}

void Session::leaveAfterError() {
  if (!firstError.ok() && leaving)
    // NOLINTNEXTLINE(cert-err52-cpp,modernize-avoid-setjmp-longjmp)
    std::longjmp(*leaving, 1);
}

HostMemory &Session::getHostMemory() {
  if (!hostMemory)
    hostMemory = std::make_unique<HostMemory>(target, [this] {
      return submission && submission->isInRun ? submission->submitter.flush()
                                               : Status::success();
    });
  return *hostMemory;
}

void *Session::allocateShared(bool isSeparate, int64_t alignment, int64_t rank,
                              const int64_t *sizes, int64_t elementBytes,
                              const char *element) {
  void *result = nullptr;
  if (!isSeparate) {
    result = allocateArray(alignment, rank, sizes, elementBytes, element);
  } else if (std::optional<int64_t> bytes =
                 countArrayBytes(rank, sizes, elementBytes, element);
             bytes && checkRequest(alignment, *bytes)) {
    Expected<void *> host = getHostMemory().allocate(
        static_cast<size_t>(*bytes), static_cast<size_t>(alignment));
    if (host.ok())
      result = *host;
    else
      fail(host.status());
  }
  return result;
}

void *Session::share(void *ptr, int64_t bytes, SharedKind kind) {
  if (bytes < 0) {
    report(format("a buffer of %lld bytes: a size in the program is negative",
                  static_cast<long long>(bytes)));
    return ptr;
  }
  if (!firstError.ok())
    return ptr;
  auto size = static_cast<size_t>(bytes);
  if (kind != SharedKind::Device) {
    getHostMemory().addVariable(ptr, size, kind == SharedKind::Constant);
    return ptr;
  }
  Expected<void *> host = getHostMemory().addDevice(ptr, size);
  if (host.ok())
    return *host;
  fail(host.status());
  return ptr;
}

void *Session::toDevice(void *ptr) {
  if (!firstError.ok() || !hostMemory)
    return ptr;
  Expected<void *> address = hostMemory->toDevice(ptr);
  if (address.ok())
    return *address;
  fail(address.status());
  return ptr;
}

void Session::accessFromHost(const void *ptr, bool isWrite) {
  if (firstError.ok() && hostMemory)
    fail(hostMemory->access(ptr, isWrite));
}

void *Session::exportMemory(void *ptr) {
  if (!firstError.ok() || !hostMemory)
    return ptr;
  auto exported = hostMemory->exportBlock(ptr);
  if (!exported.ok()) {
    fail(exported.status());
    return ptr;
  }
  HostMemory::Exported memory = *exported;
  if (memory.base)
    owned.emplace(memory.base, Block{memory.base, memory.bytes, /*guard=*/0});
  return memory.address;
}

void Session::endEntry() {
  if (firstError.ok() && hostMemory)
    fail(hostMemory->endEntry());
}

void Session::print(std::string_view text) {
  if (firstError.ok() && sink)
    sink(text);
}

void Session::printError(std::string_view text) {
  if (firstError.ok() && errorSink)
    errorSink(text);
}

bool Session::prepareRead(int64_t rank, const void *data, int64_t offset,
                          const int64_t *sizes, const int64_t *strides,
                          size_t elementBytes) {
  if (!firstError.ok())
    return false;
  // The first and the last element, in elements.
  __int128 first = offset, last = offset;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (sizes[dim] < 0) {
      report(format("host code prints an array whose size %lld is %lld",
                    static_cast<long long>(dim),
                    static_cast<long long>(sizes[dim])));
      return false;
    }
    if (sizes[dim] == 0)
      return true;
    __int128 extent = static_cast<__int128>(sizes[dim] - 1) * strides[dim];
    (extent < 0 ? first : last) += extent;
    // Sums of 64 such terms could overflow.
    constexpr __int128 most = static_cast<__int128>(1) << 96;
    if (first < -most || last > most)
      break;
  }
  accessFromHost(data, /*isWrite=*/false);
  const char *begin = nullptr;
  size_t bytes = 0;
  bool isKnown = hostMemory && hostMemory->findBounds(data, begin, bytes);
  const char *address = static_cast<const char *>(data);
  for (auto block = owned.begin(); !isKnown && block != owned.end(); ++block) {
    begin = static_cast<const char *>(block->first);
    bytes = block->second.bytes;
    isKnown = address >= begin && address <= begin + bytes;
  }
  if (!isKnown || !firstError.ok())
    return firstError.ok();
  auto size = static_cast<__int128>(elementBytes);
  __int128 start = address - begin;
  if (start + first * size >= 0 &&
      start + (last + 1) * size <= static_cast<__int128>(bytes))
    return true;
  report(format("host code prints an array of %s elements, which exceeds its "
                "buffer of %zu bytes",
                formatSizes(sizes, static_cast<size_t>(rank)).c_str(), bytes));
  return false;
}

void Session::reportUnknown(void *ptr) {
  report(format(
      "host code frees %p, which it did not allocate or already freed", ptr));
}

bool Session::checkConstant(const void *host, int64_t bytes) {
  if (!firstError.ok())
    return false;
  if (bytes >= 0 && (host != nullptr || bytes == 0))
    return true;
  report(format("constant of %lld bytes at %p", static_cast<long long>(bytes),
                host));
  return false;
}

void *Session::constant(const void *host, int64_t bytes) {
  if (!checkConstant(host, bytes))
    return nullptr;
  auto known = constants.find({host, bytes});
  if (known != constants.end())
    return known->second;
  void *copy = nullptr;
  size_t size = static_cast<size_t>(bytes);
  fail(target.allocate(size, &copy));
  if (firstError.ok() && size != 0) {
    TraceScope scope(trace, "copy", "constant to the device");
    scope.add("bytes", bytes);
    fail(target.copyToDevice(copy, host, size));
  }
  if (firstError.ok()) {
    constants.emplace(std::pair{host, bytes}, copy);
    return copy;
  }
  // A later run must not find a copy without the contents.
  (void)target.free(copy);
  return nullptr;
}

void *Session::data(int64_t index, int64_t bytes) {
  if (!firstError.ok())
    return nullptr;
  if (deviceConstants)
    if (void *found = deviceConstants->find(index, bytes))
      return found;
  report(format("the program has no constant %lld of %lld bytes",
                static_cast<long long>(index), static_cast<long long>(bytes)));
  return nullptr;
}

void Session::passValue(int64_t value) {
  if (checkpointHook)
    passedValues.push_back(value);
}

void Session::reachCheckpoint(int64_t step, bool isEnd) {
  if (!checkpointHook)
    return;
  std::vector<int64_t> values = std::exchange(passedValues, {});
  if (firstError.ok())
    fail(checkpointHook(step, isEnd, values));
}

void Session::read(void *host, const void *device, int64_t bytes) {
  auto size = static_cast<size_t>(bytes);
  if (firstError.ok() && submission && submission->isInRun)
    fail(submission->submitter.flush());
  if (firstError.ok())
    fail(target.copyToHost(host, device, size));
  if (!firstError.ok())
    std::memset(host, 0, size);
}

//===----------------------------------------------------------------------===//
// The current session
//===----------------------------------------------------------------------===//

static thread_local Session *theSession = nullptr;

SessionScope::SessionScope(Session &session) : previous(theSession) {
  theSession = &session;
}

SessionScope::~SessionScope() { theSession = previous; }

Session *tessera::runtime::currentSession() { return theSession; }

/// The session, for requests that are known from the launches of a run: those
/// for launches, memory and constants.
static Session &requirePlannedSession(const char *what) {
  if (Session *session = theSession)
    return *session;
  std::fprintf(stderr,
               "tessera: %s outside of a session: the caller of compiled code "
               "must create a tessera::runtime::SessionScope first\n",
               what);
  std::abort();
}

/// The session, for all other requests.
static Session &requireSession(const char *what) {
  Session &session = requirePlannedSession(what);
  session.noteEffect();
  return session;
}

void tessera_rt_launch(const char *kernel, int64_t gridX, int64_t gridY,
                       int64_t gridZ, int64_t blockX, int64_t blockY,
                       int64_t blockZ, int64_t workgroupBytes, int64_t numArgs,
                       void **args, const int64_t *argSizes) {
  LaunchRequest request;
  request.kernel = kernel;
  request.grid[0] = gridX;
  request.grid[1] = gridY;
  request.grid[2] = gridZ;
  request.block[0] = blockX;
  request.block[1] = blockY;
  request.block[2] = blockZ;
  request.workgroupBytes = workgroupBytes;
  request.numArgs = numArgs;
  request.args = args;
  request.argSizes = argSizes;
  requirePlannedSession("tessera_rt_launch").launch(request);
}

void tessera_rt_tensor_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle) {
  tessera_rt_window_map(map, pointer, offset, rank, sizes, strides, element,
                        box, swizzle, nullptr, nullptr, nullptr);
}

void tessera_rt_window_map(void *map, void *pointer, int64_t offset,
                           int64_t rank, const int64_t *sizes,
                           const int64_t *strides, int64_t element,
                           const int64_t *box, int64_t swizzle,
                           const int64_t *lower, const int64_t *extent,
                           const int64_t *stride) {
  TensorMapRequest request;
  request.pointer = pointer;
  request.offset = offset;
  request.element = static_cast<TensorMapElement>(element);
  request.rank = rank;
  request.sizes = sizes;
  request.strides = strides;
  request.box = box;
  request.swizzle = swizzle;
  request.windowLower = lower;
  request.windowExtent = extent;
  request.windowStride = stride;
  requirePlannedSession("tessera_rt_tensor_map").encodeTensorMap(request, map);
}

void *tessera_rt_alloc(int64_t bytes) {
  return requirePlannedSession("tessera_rt_alloc")
      .allocate(/*alignment=*/1, bytes);
}

void *tessera_rt_aligned_alloc(int64_t alignment, int64_t bytes) {
  return requirePlannedSession("tessera_rt_aligned_alloc")
      .allocate(alignment, bytes);
}

void *tessera_rt_alloc_array(int64_t alignment, int64_t rank,
                             const int64_t *sizes, int64_t elementBytes,
                             const char *element) {
  return requirePlannedSession("tessera_rt_alloc_array")
      .allocateArray(alignment, rank, sizes, elementBytes, element);
}

// After each of these returns, host code accesses memory: it must not continue
// after an error.

void *tessera_rt_alloc_shared(int64_t isSeparate, int64_t alignment,
                              int64_t rank, const int64_t *sizes,
                              int64_t elementBytes, const char *element) {
  Session &session = requireSession("tessera_rt_alloc_shared");
  void *ptr = session.allocateShared(isSeparate != 0, alignment, rank, sizes,
                                     elementBytes, element);
  session.leaveAfterError();
  return ptr;
}

void *tessera_rt_share(void *ptr, int64_t bytes, int64_t kind) {
  Session &session = requireSession("tessera_rt_share");
  void *shared = session.share(ptr, bytes, static_cast<SharedKind>(kind));
  session.leaveAfterError();
  return shared;
}

void *tessera_rt_to_device(void *ptr) {
  return requireSession("tessera_rt_to_device").toDevice(ptr);
}

void tessera_rt_host_access(const void *ptr, int64_t isWrite) {
  Session &session = requireSession("tessera_rt_host_access");
  session.accessFromHost(ptr, isWrite != 0);
  session.leaveAfterError();
}

void *tessera_rt_export(void *ptr) {
  return requireSession("tessera_rt_export").exportMemory(ptr);
}

void tessera_rt_end_entry() {
  requireSession("tessera_rt_end_entry").endEntry();
}

void tessera_rt_free(void *ptr) {
  requirePlannedSession("tessera_rt_free").free(ptr);
}

void *tessera_rt_constant(const void *host, int64_t bytes) {
  return requirePlannedSession("tessera_rt_constant").constant(host, bytes);
}

void *tessera_rt_data(int64_t index, int64_t bytes) {
  return requirePlannedSession("tessera_rt_data").data(index, bytes);
}

void tessera_rt_checkpoint_value(int64_t value) {
  requireSession("tessera_rt_checkpoint_value").passValue(value);
}

void tessera_rt_checkpoint(int64_t step, int64_t isEnd) {
  requireSession("tessera_rt_checkpoint").reachCheckpoint(step, isEnd != 0);
}

void tessera_rt_read(void *host, const void *device, int64_t bytes) {
  requireSession("tessera_rt_read").read(host, device, bytes);
}

void tessera_rt_report(const char *message) {
  if (!message)
    message = "a runtime check failed";
  if (!theSession)
    std::fprintf(stderr, "tessera: %s\n", message);
  requirePlannedSession("tessera_rt_report").report(message);
}
