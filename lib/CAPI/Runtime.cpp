//===- Runtime.cpp - The C API of the runtime -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Runtime.h"

#include "Runtime/Device.h"
#include "Runtime/Executable.h"
#include "Runtime/NativeDevice.h"
#include "Support.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

static_assert(static_cast<int>(runtime::LaunchMode::Direct) ==
                      TESSERA_LAUNCH_DIRECT &&
                  static_cast<int>(runtime::LaunchMode::Graph) ==
                      TESSERA_LAUNCH_GRAPH,
              "the launch modes of the C API are those of the runtime");
static_assert(static_cast<int>(runtime::ElementType::Index) == TESSERA_INDEX &&
                  static_cast<int>(runtime::ElementType::F8E5M2FNUZ) ==
                      TESSERA_F8E5M2FNUZ &&
                  static_cast<int>(runtime::ElementType::I4) == TESSERA_I4,
              "the values of the element types are part of the ABI");
static_assert(static_cast<int>(runtime::StatusCode::Internal) ==
                      TESSERA_INTERNAL &&
                  static_cast<int>(runtime::StatusCode::NoDevice) ==
                      TESSERA_NO_DEVICE,
              "the values of the status codes are part of the ABI");

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

TesseraStatus capi::fail(TesseraStatus code, std::string text) {
  lastError() = std::move(text);
  return code;
}

TesseraStatus capi::fail(const runtime::Status &status) {
  return fail(static_cast<TesseraStatus>(status.code()), status.message());
}

/// The code of an outcome, with its text where it is a failure.
static TesseraStatus finish(const runtime::Status &status) {
  return status.ok() ? TESSERA_OK : fail(status);
}

static TesseraStatus failNull(const char *what) {
  return fail(TESSERA_INVALID_ARGUMENT, std::string(what) + " is null");
}

/// Runs what may run out of the host's memory, or throw otherwise.
template <typename Body> static TesseraStatus guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(TESSERA_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception &error) {
    return fail(TESSERA_INTERNAL, error.what());
  }
}

const char *tesseraStatusName(TesseraStatus status) {
  switch (status) {
  case TESSERA_OK:
    return "TESSERA_OK";
  case TESSERA_NO_DEVICE:
    return "TESSERA_NO_DEVICE";
  case TESSERA_OUT_OF_MEMORY:
    return "TESSERA_OUT_OF_MEMORY";
  case TESSERA_REJECTED:
    return "TESSERA_REJECTED";
  case TESSERA_LAUNCH_FAILED:
    return "TESSERA_LAUNCH_FAILED";
  case TESSERA_INVALID_ARGUMENT:
    return "TESSERA_INVALID_ARGUMENT";
  case TESSERA_INTERNAL:
    return "TESSERA_INTERNAL";
  case TESSERA_COMPILE_ERROR:
    return "TESSERA_COMPILE_ERROR";
  }
  return "unknown status";
}

const char *tesseraGetLastError(void) { return lastError().c_str(); }
int tesseraGetAbiVersion(void) { return TESSERA_ABI_VERSION; }
const char *tesseraGetVersion(void) { return TESSERA_VERSION; }

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

namespace {
/// A device, which calls have to themselves one at a time.
struct SharedDevice {
  std::unique_ptr<runtime::Device> device;
  std::mutex mutex;
};

/// Exclusive use of a device during a call. At its end, the driver's state of
/// the calling thread is as before.
class DeviceLock {
public:
  explicit DeviceLock(SharedDevice &shared)
      : lock(shared.mutex), device(*shared.device),
        callersState(device.saveCaller()) {}
  ~DeviceLock() { device.restoreCaller(callersState); }
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

private:
  std::lock_guard<std::mutex> lock;
  runtime::Device &device;
  void *callersState;
};
} // namespace

struct TesseraDevice {
  std::shared_ptr<SharedDevice> shared;
};

static TesseraDeviceInfo describe(const runtime::DeviceInfo &device) {
  TesseraDeviceInfo info = {};
  info.structSize = sizeof(info);
  info.target = device.target.c_str();
  info.chip = device.chip.c_str();
  info.name = device.name.c_str();
  info.driver = device.driver.c_str();
  info.ordinal = device.ordinal;
  info.isSoftware = device.isSoftware;
  info.memoryBytes = device.memoryBytes;
  info.computeUnits = device.computeUnits;
  info.subgroupSize = device.subgroupSize;
  return info;
}

namespace {
/// `tesseraDeviceList` returns an array that follows one of these in memory and
/// points to its texts.
struct alignas(std::max_align_t) DeviceList {
  std::vector<runtime::DeviceInfo> devices;

  TesseraDeviceInfo *getArray() {
    return reinterpret_cast<TesseraDeviceInfo *>(this + 1);
  }
  static DeviceList *ofArray(TesseraDeviceInfo *array) {
    return reinterpret_cast<DeviceList *>(array) - 1;
  }
};
} // namespace

TesseraStatus tesseraDeviceList(const char *target, TesseraDeviceInfo **devices,
                                size_t *count) {
  if (!target || !devices || !count)
    return failNull("an argument of tesseraDeviceList");
  *devices = nullptr;
  *count = 0;
  return guarded([&] {
    std::vector<runtime::DeviceInfo> found =
        runtime::listDevices(nullptr, target);
    size_t size = found.size();
    void *block =
        ::operator new(sizeof(DeviceList) + size * sizeof(TesseraDeviceInfo));
    auto *list = new (block) DeviceList{std::move(found)};
    for (size_t index = 0; index < size; ++index)
      list->getArray()[index] = describe(list->devices[index]);
    *devices = list->getArray();
    *count = size;
    return TESSERA_OK;
  });
}

void tesseraDeviceListFree(TesseraDeviceInfo *devices) {
  if (!devices)
    return;
  DeviceList *list = DeviceList::ofArray(devices);
  list->~DeviceList();
  ::operator delete(list);
}

/// Hands an open device to the caller.
static TesseraStatus
give(runtime::Expected<std::unique_ptr<runtime::Device>> opened,
     TesseraDevice **device) {
  if (!opened.ok())
    return fail(opened.status());
  auto shared = std::make_shared<SharedDevice>();
  shared->device = opened.take();
  *device = new TesseraDevice{std::move(shared)};
  return TESSERA_OK;
}

TesseraStatus tesseraDeviceOpen(const char *target, int ordinal,
                                TesseraDevice **device) {
  if (!target || !device)
    return failNull("an argument of tesseraDeviceOpen");
  *device = nullptr;
  return guarded(
      [&] { return give(runtime::openDevice(target, ordinal), device); });
}

TesseraStatus tesseraDeviceOpenNative(const TesseraNativeDevice *native,
                                      TesseraDevice **device) {
  if (!native || !device)
    return failNull("an argument of tesseraDeviceOpenNative");
  *device = nullptr;
  TesseraNativeDevice own = {};
  if (!readStruct(own, *native))
    return fail(
        TESSERA_INVALID_ARGUMENT,
        "native->structSize is not set; set it to sizeof(TesseraNativeDevice)");
  if (!own.target)
    return failNull("native->target");
  return guarded([&] {
    runtime::NativeDevice objects;
    objects.target = own.target;
    objects.context = own.context;
    objects.device = own.device;
    objects.instance = own.instance;
    objects.physicalDevice = own.physicalDevice;
    objects.createInfo = own.createInfo;
    objects.queueFamily = own.queueFamily;
    objects.queueIndex = own.queueIndex;
    objects.getInstanceProcAddr = own.getInstanceProcAddr;
    return give(runtime::openNativeDevice(objects), device);
  });
}

void tesseraDeviceClose(TesseraDevice *device) { delete device; }

TesseraStatus tesseraDeviceGetInfo(TesseraDevice *device,
                                   TesseraDeviceInfo *info) {
  if (!device || !info)
    return failNull("an argument of tesseraDeviceGetInfo");
  if (!writeStruct(*info, describe(device->shared->device->info())))
    return fail(
        TESSERA_INVALID_ARGUMENT,
        "info->structSize is not set; set it to sizeof(TesseraDeviceInfo)");
  return TESSERA_OK;
}

TesseraStatus tesseraDeviceSynchronize(TesseraDevice *device) {
  if (!device)
    return failNull("the device");
  return guarded([&] {
    DeviceLock lock(*device->shared);
    return finish(device->shared->device->synchronize());
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct TesseraBuffer {
  std::shared_ptr<SharedDevice> shared;
  /// The allocation of the device, and the address of the contents.
  void *allocation, *data;
  size_t bytes;
  /// The caller's queue that it was made in.
  std::optional<void *> queue;

  ~TesseraBuffer() {
    DeviceLock lock(*shared);
    (void)(queue ? shared->device->freeInQueue(allocation, *queue)
                 : shared->device->free(allocation));
  }
};

TesseraStatus tesseraBufferCreate(TesseraDevice *device, size_t bytes,
                                  TesseraBuffer **buffer) {
  if (!device || !buffer)
    return failNull("an argument of tesseraBufferCreate");
  *buffer = nullptr;
  return guarded([&] {
    DeviceLock lock(*device->shared);
    void *memory = nullptr;
    if (runtime::Status status =
            device->shared->device->allocate(bytes, &memory);
        !status.ok())
      return fail(status);
    *buffer = new TesseraBuffer{device->shared, memory, memory, bytes, {}};
    return TESSERA_OK;
  });
}

void tesseraBufferDestroy(TesseraBuffer *buffer) { delete buffer; }

void *tesseraBufferGetPointer(TesseraBuffer *buffer) {
  return buffer ? buffer->data : nullptr;
}

size_t tesseraBufferGetSize(TesseraBuffer *buffer) {
  return buffer ? buffer->bytes : 0;
}

/// Copies within a buffer by `copy(device, address)`.
template <typename Copy>
static TesseraStatus copyBuffer(TesseraBuffer *buffer, size_t offset,
                                const void *host, size_t bytes, Copy copy) {
  if (!buffer || (!host && bytes != 0))
    return failNull("the buffer or the memory of the host");
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    return fail(TESSERA_INVALID_ARGUMENT,
                std::to_string(bytes) + " bytes from byte " +
                    std::to_string(offset) + " exceed the buffer size of " +
                    std::to_string(buffer->bytes));
  return guarded([&] {
    DeviceLock lock(*buffer->shared);
    return bytes == 0
               ? TESSERA_OK
               : finish(copy(*buffer->shared->device,
                             static_cast<char *>(buffer->data) + offset));
  });
}

TesseraStatus tesseraBufferWrite(TesseraBuffer *buffer, size_t offset,
                                 const void *from, size_t bytes) {
  return copyBuffer(buffer, offset, from, bytes,
                    [&](runtime::Device &device, void *address) {
                      return device.copyToDevice(address, from, bytes);
                    });
}

TesseraStatus tesseraBufferRead(TesseraBuffer *buffer, size_t offset, void *to,
                                size_t bytes) {
  return copyBuffer(buffer, offset, to, bytes,
                    [&](runtime::Device &device, void *address) {
                      return device.copyToHost(to, address, bytes);
                    });
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string describe(const runtime::Bundle &bundle) {
  std::string text, lines;
  for (const runtime::ProgramVariant &variant : bundle.variants) {
    std::string name = variant.target + ":" + variant.chip;
    text += (text.empty() ? "" : ", ") + name;
    for (const runtime::KernelRecord &kernel : variant.kernels) {
      lines += "\n" + name + " " + kernel.name;
      for (const runtime::MatmulRecord &matmul : kernel.matmuls)
        lines += "; " + matmul.types + ": " + matmul.instruction +
                 (matmul.matrixUnit ? "" : ", not on a matrix unit");
      if (!kernel.schedule.empty())
        lines += "; " + kernel.schedule;
      if (!kernel.scheduleOrigin.empty())
        lines += "; " + kernel.scheduleOrigin;
    }
  }
  return text + lines;
}

runtime::Expected<std::unique_ptr<TesseraProgram>>
capi::makeProgram(std::string bytes) {
  auto program = std::make_unique<TesseraProgram>();
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  auto bundle = runtime::readBundle(*owner, owner);
  if (!bundle.ok())
    return bundle.status();
  program->bytes = owner;
  program->description = describe(*bundle);
  program->bundle = bundle.take();
  for (const runtime::ProgramVariant &variant : program->bundle.variants)
    for (const runtime::Signature &entry : variant.entries)
      for (const auto *slots : {&entry.arguments, &entry.results})
        for (const runtime::Slot &slot : *slots)
          for (const std::string &symbol : slot.symbols)
            program->symbols[&slot].push_back(symbol.c_str());
  return program;
}

TesseraStatus tesseraProgramLoad(const void *bytes, size_t size,
                                 TesseraProgram **program) {
  if (!bytes || !program)
    return failNull("an argument of tesseraProgramLoad");
  *program = nullptr;
  return guarded([&] {
    auto made = makeProgram({static_cast<const char *>(bytes), size});
    if (!made.ok())
      return fail(made.status());
    *program = made.take().release();
    return TESSERA_OK;
  });
}

void tesseraProgramDestroy(TesseraProgram *program) { delete program; }

TesseraStatus tesseraProgramSave(TesseraProgram *program, const void **bytes,
                                 size_t *size) {
  if (!program || !bytes || !size)
    return failNull("an argument of tesseraProgramSave");
  *bytes = program->bytes->data();
  *size = program->bytes->size();
  return TESSERA_OK;
}

const char *tesseraProgramDescribe(TesseraProgram *program) {
  return program ? program->description.c_str() : "";
}

/// The entries of all variants are the same: they are one program's.
static const std::vector<runtime::Signature> &
getEntries(const TesseraProgram &program) {
  static const std::vector<runtime::Signature> none;
  return program.bundle.variants.empty() ? none
                                         : program.bundle.variants[0].entries;
}

TesseraStatus tesseraProgramGetEntryCount(TesseraProgram *program,
                                          size_t *count) {
  if (!program || !count)
    return failNull("an argument of tesseraProgramGetEntryCount");
  *count = getEntries(*program).size();
  return TESSERA_OK;
}

TesseraStatus tesseraProgramGetEntryName(TesseraProgram *program, size_t index,
                                         const char **name) {
  if (!program || !name)
    return failNull("an argument of tesseraProgramGetEntryName");
  const std::vector<runtime::Signature> &entries = getEntries(*program);
  if (index >= entries.size())
    return fail(TESSERA_INVALID_ARGUMENT,
                "no entry point " + std::to_string(index) +
                    ": the program has " + std::to_string(entries.size()));
  *name = entries[index].name.c_str();
  return TESSERA_OK;
}

/// Calls `visit(signature)` for an entry by name.
template <typename Visit>
static TesseraStatus withEntry(TesseraProgram *program, const char *entry,
                               Visit visit) {
  if (!program || !entry)
    return failNull("the program or the entry's name");
  std::string names;
  for (const runtime::Signature &signature : getEntries(*program)) {
    if (signature.name == entry)
      return visit(signature);
    names += (names.empty() ? "" : ", ") + signature.name;
  }
  return fail(TESSERA_INVALID_ARGUMENT, std::string("no entry point '") +
                                            entry + "': the program has " +
                                            (names.empty() ? "none" : names));
}

TesseraStatus tesseraProgramGetSlotCounts(TesseraProgram *program,
                                          const char *entry, size_t *arguments,
                                          size_t *results) {
  return withEntry(program, entry, [&](const runtime::Signature &signature) {
    if (arguments)
      *arguments = signature.arguments.size();
    if (results)
      *results = signature.results.size();
    return TESSERA_OK;
  });
}

/// The element type of an argument or a result as its model has it.
static TesseraElementType getElementType(const runtime::Slot &slot) {
  if (slot.isUnsigned)
    switch (slot.element) {
    case runtime::ElementType::I8:
      return TESSERA_U8;
    case runtime::ElementType::I16:
      return TESSERA_U16;
    case runtime::ElementType::I32:
      return TESSERA_U32;
    case runtime::ElementType::I64:
      return TESSERA_U64;
    default:
      break;
    }
  return static_cast<TesseraElementType>(slot.element);
}

static TesseraStatus getSlot(const TesseraProgram &program,
                             const std::vector<runtime::Slot> &slots,
                             const char *what, size_t index,
                             TesseraSlotInfo *info) {
  if (index >= slots.size())
    return fail(TESSERA_INVALID_ARGUMENT,
                std::string("no ") + what + " " + std::to_string(index) +
                    ": the entry point has " + std::to_string(slots.size()));
  if (!info)
    return failNull("info");
  const runtime::Slot &slot = slots[index];
  TesseraSlotInfo own = {};
  own.kind = static_cast<TesseraSlotKind>(slot.kind);
  own.element = getElementType(slot);
  own.rank = slot.shape.size();
  own.sizes = slot.shape.data();
  own.mayWrite = slot.mayWrite;
  own.type = slot.text.c_str();
  own.name = slot.name.c_str();
  auto symbols = program.symbols.find(&slot);
  if (symbols != program.symbols.end())
    own.symbols = symbols->second.data();
  if (!writeStruct(*info, own))
    return fail(
        TESSERA_INVALID_ARGUMENT,
        "info->structSize is not set; set it to sizeof(TesseraSlotInfo)");
  return TESSERA_OK;
}

TesseraStatus tesseraProgramGetArgument(TesseraProgram *program,
                                        const char *entry, size_t index,
                                        TesseraSlotInfo *info) {
  return withEntry(program, entry, [&](const runtime::Signature &signature) {
    return getSlot(*program, signature.arguments, "argument", index, info);
  });
}

TesseraStatus tesseraProgramGetResult(TesseraProgram *program,
                                      const char *entry, size_t index,
                                      TesseraSlotInfo *info) {
  return withEntry(program, entry, [&](const runtime::Signature &signature) {
    return getSlot(*program, signature.results, "result", index, info);
  });
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

struct TesseraExecutable {
  std::shared_ptr<SharedDevice> shared;
  std::unique_ptr<runtime::Executable> executable;
  /// Runs of one executable wait for each other.
  std::mutex mutex;
  /// Kept from call to call, for their memory. After a call, the results have
  /// none.
  std::vector<runtime::Operand> operands;
  std::vector<runtime::CallResult> results;
  /// The text that `tesseraExecutableGetLaunchStatistics` returned last.
  std::string whyDirect;

  ~TesseraExecutable() {
    DeviceLock lock(*shared);
    executable.reset();
  }
};

TesseraStatus tesseraExecutableCreate(TesseraProgram *program,
                                      const char *entry, TesseraDevice *device,
                                      TesseraExecutable **executable) {
  if (!program || !entry || !device || !executable)
    return failNull("an argument of tesseraExecutableCreate");
  *executable = nullptr;
  return guarded([&] {
    auto made = std::make_unique<TesseraExecutable>();
    made->shared = device->shared;
    {
      DeviceLock lock(*device->shared);
      auto created = runtime::Executable::create(program->bundle, entry,
                                                 *device->shared->device);
      if (!created.ok())
        return fail(created.status());
      made->executable = created.take();
    }
    *executable = made.release();
    return TESSERA_OK;
  });
}

void tesseraExecutableDestroy(TesseraExecutable *executable) {
  delete executable;
}

namespace {
/// The buffers of a call, which are destroyed where it fails. It takes the
/// device's turn for that.
class OwnBuffers {
public:
  OwnBuffers() = default;
  ~OwnBuffers() {
    for (const auto &[result, buffer] : buffers)
      delete buffer;
  }
  OwnBuffers(const OwnBuffers &) = delete;
  OwnBuffers &operator=(const OwnBuffers &) = delete;

  void add(TesseraResult &result, TesseraBuffer *buffer) {
    buffers.emplace_back(&result, buffer);
  }
  /// So that adding as many cannot fail.
  void reserve(size_t count) { buffers.reserve(count); }
  void handOver() {
    for (const auto &[result, buffer] : buffers)
      result->buffer = buffer;
    buffers.clear();
  }

private:
  std::vector<std::pair<TesseraResult *, TesseraBuffer *>> buffers;
};
} // namespace

namespace {
/// The caller's allocator, for the results that stay on the device.
class CallersAllocator final : public runtime::ResultAllocator {
public:
  CallersAllocator(const TesseraAllocator &allocator, const TesseraRun &run,
                   const TesseraResult *results,
                   const std::vector<runtime::Slot> &slots)
      : allocator(allocator), run(run), results(results), slots(slots) {}

  bool takes(size_t result) const override {
    return allocator.allocate && results[result].keepOnDevice &&
           slots[result].isBuffer();
  }
  void *allocate(const runtime::ResultRequest &request) override {
    TesseraAllocation allocation = translate(request);
    return allocator.allocate(allocator.context, &allocation);
  }
  void release(void *memory, const runtime::ResultRequest &request) override {
    TesseraAllocation allocation = translate(request);
    allocator.release(allocator.context, memory, &allocation);
  }

private:
  TesseraAllocation translate(const runtime::ResultRequest &request) const {
    return {sizeof(TesseraAllocation),
            request.bytes,
            request.alignment,
            run.hasQueue,
            run.queue,
            request.result,
            request.sizes.size(),
            request.sizes.data()};
  }

  const TesseraAllocator &allocator;
  const TesseraRun &run;
  const TesseraResult *results;
  const std::vector<runtime::Slot> &slots;
};

/// The results of a run until the caller has all of them: their memory is given
/// back otherwise.
class OwnResults {
public:
  OwnResults(TesseraExecutable &executable, CallersAllocator &allocator)
      : executable(executable), allocator(allocator) {}
  ~OwnResults() {
    for (size_t index = 0; index < executable.results.size(); ++index) {
      runtime::CallResult &result = executable.results[index];
      if (!isHandedOver && result.data && !result.allocation &&
          allocator.takes(index))
        allocator.release(result.data, {index, result.allocatedBytes,
                                        result.alignment, result.sizes});
      if (result.allocation) {
        DeviceLock lock(*executable.shared);
        (void)executable.shared->device->free(result.allocation);
      }
      result.data = result.allocation = nullptr;
    }
  }
  OwnResults(const OwnResults &) = delete;
  OwnResults &operator=(const OwnResults &) = delete;

  void handOver() { isHandedOver = true; }

private:
  TesseraExecutable &executable;
  CallersAllocator &allocator;
  bool isHandedOver = false;
};
} // namespace

/// Bytes of a result.
static size_t countBytes(const runtime::Slot &slot,
                         const runtime::CallResult &given) {
  return slot.isBuffer() ? given.bytes : runtime::elementBytes(slot.element);
}

/// Passes all results to the caller, or none if one does not fit.
static runtime::Status giveResults(TesseraExecutable &executable,
                                   const std::optional<void *> &queue,
                                   TesseraResult *results, OwnBuffers &buffers,
                                   const CallersAllocator &allocator) {
  std::vector<runtime::CallResult> &own = executable.results;
  const std::vector<runtime::Slot> &slots =
      executable.executable->getSignature().results;
  auto staysOnDevice = [&](size_t index) {
    return results[index].keepOnDevice && slots[index].isBuffer();
  };
  for (size_t index = 0; index < slots.size(); ++index) {
    const TesseraResult &result = results[index];
    size_t bytes = countBytes(slots[index], own[index]);
    // A caller without enough room learns how much it takes.
    if (result.sizes)
      std::copy(own[index].sizes.begin(), own[index].sizes.end(), result.sizes);
    size_t room = result.data ? result.bytes : 0;
    if (!staysOnDevice(index) && room < bytes)
      return runtime::Status(
          runtime::StatusCode::InvalidArgument,
          "result " + std::to_string(index) + " (" + slots[index].str() +
              ") takes " + std::to_string(bytes) +
              " bytes, but its buffer holds " + std::to_string(room));
  }
  for (size_t index = 0; index < slots.size(); ++index) {
    runtime::CallResult &given = own[index];
    size_t bytes = countBytes(slots[index], given);
    if (allocator.takes(index))
      continue;
    if (staysOnDevice(index)) {
      buffers.reserve(slots.size());
      buffers.add(results[index],
                  new TesseraBuffer{executable.shared, given.allocation,
                                    given.data, bytes, queue});
      given.allocation = nullptr;
    } else if (!slots[index].isBuffer()) {
      std::memcpy(results[index].data, &given.scalar, bytes);
    } else if (bytes != 0) {
      DeviceLock lock(*executable.shared);
      if (runtime::Status status = executable.shared->device->copyToHost(
              results[index].data, given.data, bytes);
          !status.ok())
        return status;
    }
  }
  // Nothing fails from here on.
  for (size_t index = 0; index < slots.size(); ++index)
    if (allocator.takes(index)) {
      results[index].data = own[index].data;
      results[index].bytes = own[index].bytes;
    }
  return runtime::Status::success();
}

/// The value from a C caller, which may be outside the enumeration.
static int getNumber(const TesseraMemory &memory) {
  int number;
  static_assert(sizeof(memory) == sizeof(number));
  std::memcpy(&number, &memory, sizeof(number));
  return number;
}

static std::optional<runtime::MemoryKind> getMemoryKind(int memory) {
  switch (memory) {
  case TESSERA_MEMORY_HOST:
    return runtime::MemoryKind::Host;
  case TESSERA_MEMORY_DEVICE:
    return runtime::MemoryKind::Device;
  case TESSERA_MEMORY_CL_MEM:
    return runtime::MemoryKind::ClMem;
  case TESSERA_MEMORY_VK_BUFFER:
    return runtime::MemoryKind::VkBuffer;
  default:
    return std::nullopt;
  }
}

/// Makes the arguments of a call the executable's operands.
static TesseraStatus setOperands(TesseraExecutable &executable,
                                 const TesseraArgument *arguments,
                                 size_t numArguments) {
  executable.operands.resize(numArguments);
  for (size_t index = 0; index < numArguments; ++index) {
    const TesseraArgument &argument = arguments[index];
    std::optional<runtime::MemoryKind> kind =
        getMemoryKind(getNumber(argument.memory));
    if (!kind)
      return fail(TESSERA_INVALID_ARGUMENT,
                  "argument " + std::to_string(index) +
                      ": invalid memory kind " +
                      std::to_string(getNumber(argument.memory)));
    executable.operands[index] = {*kind, argument.data, argument.sizes,
                                  argument.strides};
  }
  return TESSERA_OK;
}

TesseraStatus tesseraExecutableWorkspaceSize(TesseraExecutable *executable,
                                             const TesseraArgument *arguments,
                                             size_t numArguments,
                                             size_t *bytes) {
  if (!executable || !bytes || (!arguments && numArguments != 0))
    return failNull("an argument of tesseraExecutableWorkspaceSize");
  *bytes = 0;
  return guarded([&] {
    std::lock_guard<std::mutex> own(executable->mutex);
    if (TesseraStatus status =
            setOperands(*executable, arguments, numArguments))
      return status;
    DeviceLock lock(*executable->shared);
    runtime::Expected<size_t> size =
        executable->executable->workspaceSize(executable->operands);
    if (!size.ok())
      return fail(size.status());
    *bytes = *size;
    return TESSERA_OK;
  });
}

TesseraStatus tesseraExecutableRun(TesseraExecutable *executable,
                                   const TesseraArgument *arguments,
                                   size_t numArguments, TesseraResult *results,
                                   size_t numResults, const TesseraRun *run) {
  if (!executable || (!arguments && numArguments != 0) ||
      (!results && numResults != 0))
    return failNull("an argument of tesseraExecutableRun");
  TesseraRun options = {};
  if (run && !readStruct(options, *run))
    return fail(TESSERA_INVALID_ARGUMENT,
                "run->structSize is not set; set it to sizeof(TesseraRun)");
  TesseraAllocator allocator = {};
  if (options.allocator && (!readStruct(allocator, *options.allocator) ||
                            !allocator.allocate || !allocator.release))
    return fail(TESSERA_INVALID_ARGUMENT,
                "run->allocator is incomplete; set structSize to "
                "sizeof(TesseraAllocator), and both functions");
  runtime::Executable &callee = *executable->executable;
  const std::vector<runtime::Slot> &slots = callee.getSignature().results;
  if (numResults != slots.size())
    return fail(TESSERA_INVALID_ARGUMENT,
                std::to_string(numResults) + " results, but the entry point '" +
                    callee.getSignature().name + "' returns " +
                    std::to_string(slots.size()));
  if (options.launchMode < TESSERA_LAUNCH_AUTO ||
      options.launchMode > TESSERA_LAUNCH_GRAPH)
    return fail(TESSERA_INVALID_ARGUMENT,
                "run->launchMode is none of TesseraLaunchMode");
  CallersAllocator memory(allocator, options, results, slots);
  for (size_t index = 0; index < numResults; ++index) {
    results[index].buffer = nullptr;
    if (memory.takes(index)) {
      results[index].data = nullptr;
      results[index].bytes = 0;
    }
  }
  return guarded([&] {
    OwnBuffers buffers;
    std::lock_guard<std::mutex> lock(executable->mutex);
    if (TesseraStatus status =
            setOperands(*executable, arguments, numArguments))
      return status;
    runtime::RunOptions runOptions;
    if (options.hasQueue)
      runOptions.queue = options.queue;
    runOptions.allocator = options.allocator ? &memory : nullptr;
    runOptions.workspace = options.workspace;
    runOptions.workspaceBytes = options.workspaceBytes;
    runOptions.launch = static_cast<runtime::LaunchMode>(options.launchMode);
    runOptions.mutex = &executable->shared->mutex;
    runtime::Status status =
        callee.run(executable->operands, executable->results, runOptions);
    if (!status.ok())
      return fail(status);
    OwnResults own(*executable, memory);
    status =
        giveResults(*executable, runOptions.queue, results, buffers, memory);
    if (!status.ok())
      return fail(status);
    own.handOver();
    buffers.handOver();
    return TESSERA_OK;
  });
}

TesseraStatus
tesseraExecutableGetLaunchStatistics(TesseraExecutable *executable,
                                     TesseraLaunchStatistics *statistics) {
  if (!executable || !statistics)
    return failNull("an argument of tesseraExecutableGetLaunchStatistics");
  return guarded([&] {
    std::lock_guard<std::mutex> lock(executable->mutex);
    const runtime::LaunchStatistics &found =
        executable->executable->getLaunchStatistics();
    std::string &text = executable->whyDirect;
    text = runtime::describe(found.whyDirect);
    if (found.whyDirect == runtime::DirectReason::GraphFailed)
      text += ": " + found.failure;
    TesseraLaunchStatistics own = {};
    own.graphRuns = found.graphRuns;
    own.directRuns = found.directRuns;
    own.graphs = found.graphs;
    own.updates = found.updates;
    own.whyDirect = text.c_str();
    own.overlaps = found.overlaps;
    own.repeatedRuns = found.repeatedRuns;
    return writeStruct(*statistics, own)
               ? TESSERA_OK
               : fail(TESSERA_INVALID_ARGUMENT,
                      "statistics->structSize is not set; set it to "
                      "sizeof(TesseraLaunchStatistics)");
  });
}
