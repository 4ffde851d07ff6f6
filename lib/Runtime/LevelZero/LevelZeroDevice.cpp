//===- LevelZeroDevice.cpp - Intel's GPUs by Level Zero -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stream is an immediate command list, in which each command is followed by
// a barrier: lists that order commands by themselves are of later versions.
// Memory is the device's own (zeMemAllocDevice). Host memory that a device may
// read has to come from the driver, so copies go through a buffer of that kind.
//
//     copy, fill, kernel     append, barrier
//     wait                   barrier that signals an event, wait for the event
//     begin, end of a time   barrier that signals an event with a timestamp
//     one list after another barrier that signals an event in the one, barrier
//                            that waits for it in the other
//
//===----------------------------------------------------------------------===//

#include "LevelZeroDevice.h"

#include "../Format.h"
#include "../OpenOrdinal.h"
#include "../SpirvDevice.h"
#include "LevelZeroCapabilities.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t levelZeroStagingBytes = 4 << 20;
constexpr size_t allocationAlignment = 256;
/// The number of unfinished notes by which one list may wait for another.
constexpr uint32_t maxNotes = 16;

class LevelZeroDevice final : public SpirvDevice {
public:
  LevelZeroDevice(const LevelZeroDriver &driver,
                  LevelZeroCapabilities capabilities, DeviceInfo info)
      : SpirvDevice(std::move(info),
                    {"zeKernelCreate", ZE_RESULT_ERROR_INVALID_KERNEL_NAME}),
        driver(driver), capabilities(std::move(capabilities)) {}
  ~LevelZeroDevice() override;

  /// Second half of construction. With a context of the caller's, in that.
  Status open(ze_context_handle_t callers = nullptr);

protected:
  DriverResult memAlloc(void **ptr, size_t bytes) override;
  DriverResult memFree(void *ptr) override;
  DriverResult queueCopyIn(void *to, const void *from, size_t bytes) override;
  DriverResult queueCopyOut(void *to, const void *from, size_t bytes) override;
  DriverResult queueCopy(void *to, const void *from, size_t bytes) override {
    return queued(
        "zeCommandListAppendMemoryCopy",
        driver.appendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr));
  }
  DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) override;
  DriverResult waitForStream() override;
  DriverResult recordBegin() override { return mark(Begin); }
  DriverResult recordEnd() override { return mark(End); }
  DriverResult waitForEnd() override { return waitFor(End); }
  DriverResult elapsed(float *milliseconds) override;
  bool takesQueues() const override { return true; }
  Status checkQueue(void *other) override;
  void setQueue(void *other) override {
    list = static_cast<ze_command_list_handle_t>(other);
  }
  void setOwnQueue() override { list = ownList; }
  DriverResult noteQueue() override;
  DriverResult waitForNote() override;
  /// Commands appended by the caller need not be in order.
  DriverResult beginQueue() override { return queued("", ZE_RESULT_SUCCESS); }
  DriverResult queueLaunch(void *function,
                           const LaunchRequest &request) override;
  Status build(const KernelImage &image, const SpirvModule &code,
               Module &module) override;
  void release(Module &module) override;

  std::string describe(DriverResult result) const override;
  DriverFailure classify(int code) const override;

private:
  enum Event { Done, Begin, End, EventCount };
  /// Makes one list wait for another.
  struct Note {
    /// Signalled when the awaited list is done, and when the waiting list has
    /// seen it.
    ze_event_handle_t noted = nullptr, seen = nullptr;
    bool isNoted = false, isSeen = false;
  };

  /// Appends a barrier after a command.
  DriverResult queued(const char *call, ze_result_t result);
  /// Appends a barrier that signals the event, for which no command waits any
  /// more.
  DriverResult mark(Event event);
  DriverResult waitFor(Event event);
  DriverResult createEvent(uint32_t index, ze_event_handle_t &event);
  /// Waits until the device has finished with the events of the note.
  DriverResult clear(Note &note);
  Status addFunction(const KernelImage &image, const SpirvKernel &kernel,
                     ze_module_handle_t handle, Module &module);
  /// Reads the log, which it hands back to the driver.
  std::string takeBuildLog(ze_module_build_log_handle_t log) const;

  const LevelZeroDriver &driver;
  LevelZeroCapabilities capabilities;
  ze_context_handle_t context = nullptr;
  bool ownsContext = false;
  ze_command_list_handle_t ownList = nullptr;
  /// Which work goes to: `ownList`, or the caller's.
  ze_command_list_handle_t list = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  ze_event_handle_t events[EventCount] = {};
  Note notes[maxNotes];
  /// The one in use.
  uint32_t note = 0;
  void *staging = nullptr;
  /// Nothing that is queued will ever have run.
  bool isLost = false;
};

} // namespace

Status LevelZeroDevice::open(ze_context_handle_t callers) {
  auto fail = [&](const char *call, ze_result_t result) {
    return Status(
        classify(result) == DriverFailure::OutOfMemory ? StatusCode::OutOfMemory
                                                       : StatusCode::NoDevice,
        format("level-zero device %d (%s) cannot be opened: %s", info().ordinal,
               info().name.c_str(), describe({call, result}).c_str()));
  };
  context = callers;
  if (!callers) {
    ze_context_desc_t contextDesc;
    if (ze_result_t result =
            driver.contextCreate(capabilities.driver, &contextDesc, &context))
      return fail("zeContextCreate", result);
    ownsContext = true;
  }
  ze_command_queue_desc_t queueDesc;
  queueDesc.ordinal = static_cast<uint32_t>(capabilities.queueGroup);
  if (ze_result_t result = driver.commandListCreateImmediate(
          context, capabilities.device, &queueDesc, &ownList))
    return fail("zeCommandListCreateImmediate", result);
  list = ownList;
  ze_event_pool_desc_t poolDesc;
  poolDesc.flags =
      ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  poolDesc.count = EventCount + 2 * maxNotes;
  if (ze_result_t result = driver.eventPoolCreate(context, &poolDesc, 1,
                                                  &capabilities.device, &pool))
    return fail("zeEventPoolCreate", result);
  for (uint32_t index = 0; index < EventCount; ++index)
    if (DriverResult result = createEvent(index, events[index]);
        result.failed())
      return fail(result.call, static_cast<ze_result_t>(result.code));
  ze_host_mem_alloc_desc_t hostDesc;
  if (ze_result_t result =
          driver.memAllocHost(context, &hostDesc, levelZeroStagingBytes,
                              allocationAlignment, &staging))
    return fail("zeMemAllocHost", result);
  const ze_device_compute_properties_t &limits = capabilities.compute;
  const int64_t grid[3] = {limits.maxGroupCountX, limits.maxGroupCountY,
                           limits.maxGroupCountZ};
  const int64_t block[3] = {limits.maxGroupSizeX, limits.maxGroupSizeY,
                            limits.maxGroupSizeZ};
  setLimits(grid, block, limits.maxTotalGroupSize);
  return Status::success();
}

LevelZeroDevice::~LevelZeroDevice() {
  // A device that was not opened completely has neither memory nor modules.
  if (events[EventCount - 1])
    releaseAll();
  for (Note &used : notes) {
    if (used.noted)
      clear(used);
    for (ze_event_handle_t event : {used.noted, used.seen})
      if (event)
        driver.eventDestroy(event);
  }
  if (staging)
    driver.memFree(context, staging);
  for (ze_event_handle_t event : events)
    if (event)
      driver.eventDestroy(event);
  if (pool)
    driver.eventPoolDestroy(pool);
  if (ownList)
    driver.commandListDestroy(ownList);
  if (ownsContext)
    driver.contextDestroy(context);
}

std::string LevelZeroDevice::describe(DriverResult result) const {
  std::string text = LevelZeroDriver::describe(result.call, result.code);
  const char *more = nullptr;
  if (driver.driverGetLastErrorDescription &&
      driver.driverGetLastErrorDescription(capabilities.driver, &more) ==
          ZE_RESULT_SUCCESS &&
      more && *more)
    text += std::string(": ") + more;
  return text;
}

DriverFailure LevelZeroDevice::classify(int code) const {
  switch (code) {
  case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
  case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
  // Allocations larger than maxMemAllocSize.
  case ZE_RESULT_ERROR_UNSUPPORTED_SIZE:
    return DriverFailure::OutOfMemory;
  case ZE_RESULT_ERROR_DEVICE_LOST:
  case ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET:
    return DriverFailure::Fault;
  case ZE_RESULT_ERROR_INVALID_KERNEL_NAME:
    return DriverFailure::NotFound;
  default:
    return DriverFailure::Other;
  }
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

DriverResult LevelZeroDevice::queued(const char *call, ze_result_t result) {
  if (result)
    return {call, result};
  return {"zeCommandListAppendBarrier",
          driver.appendBarrier(list, nullptr, 0, nullptr)};
}

DriverResult LevelZeroDevice::mark(Event event) {
  if (ze_result_t result = driver.eventHostReset(events[event]))
    return {"zeEventHostReset", result};
  return {"zeCommandListAppendBarrier",
          driver.appendBarrier(list, events[event], 0, nullptr)};
}

DriverResult LevelZeroDevice::waitFor(Event event) {
  DriverResult result = {
      "zeEventHostSynchronize",
      driver.eventHostSynchronize(events[event], UINT64_MAX)};
  isLost |= result.failed() && classify(result.code) == DriverFailure::Fault;
  return result;
}

DriverResult LevelZeroDevice::waitForStream() {
  // An event that will never be signalled must not be reset.
  if (isLost)
    return {"zeEventHostSynchronize", ZE_RESULT_ERROR_DEVICE_LOST};
  DriverResult result = mark(Done);
  return result.failed() ? result : waitFor(Done);
}

DriverResult LevelZeroDevice::elapsed(float *milliseconds) {
  // A barrier has ended when all commands before it have.
  ze_kernel_timestamp_result_t begin, end;
  for (auto [event, time] : {std::pair(Begin, &begin), {End, &end}})
    if (ze_result_t result =
            driver.eventQueryKernelTimestamp(events[event], time))
      return {"zeEventQueryKernelTimestamp", result};
  if (capabilities.ticksPerSecond <= 0)
    return {"zeDeviceGetProperties (timerResolution is 0)",
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE};
  *milliseconds = static_cast<float>(getElapsedMilliseconds(
      capabilities, begin.global.kernelEnd, end.global.kernelEnd));
  return success();
}

//===----------------------------------------------------------------------===//
// Lists of the caller's
//===----------------------------------------------------------------------===//

Status LevelZeroDevice::checkQueue(void *other) {
  auto theirs = static_cast<ze_command_list_handle_t>(other);
  auto invalid = [](const std::string &text) {
    return Status(StatusCode::InvalidArgument, text);
  };
  if (!theirs)
    return invalid("the command list is null: Level Zero has no default one");
  if (!driver.commandListIsImmediate || !driver.commandListGetContext ||
      !driver.commandListGetDevice)
    return invalid("the loader is older than Level Zero 1.9, which is required "
                   "to use a caller's command list; update it");
  uint8_t isImmediate = 0;
  ze_context_handle_t itsContext = nullptr;
  ze_device_handle_t itsDevice = nullptr;
  auto failed = [&](const char *call, ze_result_t result) {
    return invalid("the driver does not tell what the command list is: " +
                   describe({call, result}));
  };
  if (ze_result_t result = driver.commandListIsImmediate(theirs, &isImmediate))
    return failed("zeCommandListIsImmediate", result);
  if (ze_result_t result = driver.commandListGetContext(theirs, &itsContext))
    return failed("zeCommandListGetContextHandle", result);
  if (ze_result_t result = driver.commandListGetDevice(theirs, &itsDevice))
    return failed("zeCommandListGetDeviceHandle", result);
  if (!isImmediate)
    return invalid("the command list is a regular one, which executes later, "
                   "when the program's memory may already be reused; pass an "
                   "immediate one (zeCommandListCreateImmediate)");
  if (itsContext != context)
    return invalid("the command list belongs to another ze_context_handle_t "
                   "than the device; open the device on that one "
                   "(tesseraDeviceOpenNative)");
  if (itsDevice != capabilities.device)
    return invalid("the command list belongs to another device than " +
                   info().name);
  return Status::success();
}

DriverResult LevelZeroDevice::createEvent(uint32_t index,
                                          ze_event_handle_t &event) {
  ze_event_desc_t desc;
  desc.index = index;
  desc.signal = desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  return {"zeEventCreate", driver.eventCreate(pool, &desc, &event)};
}

DriverResult LevelZeroDevice::clear(Note &used) {
  if (isLost)
    return {"zeEventHostSynchronize", ZE_RESULT_ERROR_DEVICE_LOST};
  // A waiter that has seen an event no longer needs it.
  for (auto [event, isUsed] :
       {std::pair(used.seen, &used.isSeen), {used.noted, &used.isNoted}}) {
    if (!*isUsed)
      continue;
    if (ze_result_t result = driver.eventHostSynchronize(event, UINT64_MAX)) {
      isLost |= classify(result) == DriverFailure::Fault;
      return {"zeEventHostSynchronize", result};
    }
    if (ze_result_t result = driver.eventHostReset(event))
      return {"zeEventHostReset", result};
    *isUsed = false;
  }
  return success();
}

DriverResult LevelZeroDevice::noteQueue() {
  note = (note + 1) % maxNotes;
  Note &used = notes[note];
  DriverResult result = success();
  if (!used.noted)
    result = createEvent(EventCount + 2 * note, used.noted);
  if (!result.failed() && !used.seen)
    result = createEvent(EventCount + 2 * note + 1, used.seen);
  if (!result.failed())
    result = clear(used);
  if (result.failed())
    return result;
  result = {"zeCommandListAppendBarrier",
            driver.appendBarrier(list, used.noted, 0, nullptr)};
  used.isNoted = !result.failed();
  return result;
}

DriverResult LevelZeroDevice::waitForNote() {
  Note &used = notes[note];
  DriverResult result = {"zeCommandListAppendBarrier",
                         driver.appendBarrier(list, used.seen, 1, &used.noted)};
  used.isSeen = !result.failed();
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DriverResult LevelZeroDevice::memAlloc(void **ptr, size_t bytes) {
  ze_device_mem_alloc_desc_t desc;
  return {"zeMemAllocDevice",
          driver.memAllocDevice(context, &desc, std::max<size_t>(bytes, 1),
                                allocationAlignment, capabilities.device, ptr)};
}

DriverResult LevelZeroDevice::memFree(void *ptr) {
  // Queued work may still use it.
  waitForStream();
  return {"zeMemFree", driver.memFree(context, ptr)};
}

DriverResult LevelZeroDevice::queueCopyIn(void *to, const void *from,
                                          size_t bytes) {
  for (size_t at = 0; at < bytes; at += levelZeroStagingBytes) {
    size_t size = std::min(levelZeroStagingBytes, bytes - at);
    std::memcpy(staging, static_cast<const char *>(from) + at, size);
    DriverResult result =
        queued("zeCommandListAppendMemoryCopy",
               driver.appendMemoryCopy(list, static_cast<char *>(to) + at,
                                       staging, size, nullptr, 0, nullptr));
    if (!result.failed())
      result = waitForStream();
    if (result.failed())
      return result;
  }
  return success();
}

DriverResult LevelZeroDevice::queueCopyOut(void *to, const void *from,
                                           size_t bytes) {
  for (size_t at = 0; at < bytes; at += levelZeroStagingBytes) {
    size_t size = std::min(levelZeroStagingBytes, bytes - at);
    DriverResult result =
        queued("zeCommandListAppendMemoryCopy",
               driver.appendMemoryCopy(list, staging,
                                       static_cast<const char *>(from) + at,
                                       size, nullptr, 0, nullptr));
    if (!result.failed())
      result = waitForStream();
    if (result.failed())
      return result;
    std::memcpy(static_cast<char *>(to) + at, staging, size);
  }
  return success();
}

DriverResult LevelZeroDevice::queueFill(void *ptr, uint8_t pattern,
                                        size_t bytes) {
  return queued("zeCommandListAppendMemoryFill",
                driver.appendMemoryFill(list, ptr, &pattern, 1, bytes, nullptr,
                                        0, nullptr));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::string
LevelZeroDevice::takeBuildLog(ze_module_build_log_handle_t log) const {
  if (!log)
    return "";
  size_t size = 0;
  std::string text;
  if (driver.buildLogGetString(log, &size, nullptr) == ZE_RESULT_SUCCESS &&
      size > 0) {
    text.resize(size);
    if (driver.buildLogGetString(log, &size, text.data()) != ZE_RESULT_SUCCESS)
      text.clear();
  }
  driver.buildLogDestroy(log);
  text.resize(std::min(text.find('\0'), text.size()));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  return text.empty() ? "; its build log is empty" : "; build log:\n" + text;
}

void LevelZeroDevice::release(Module &module) {
  for (Function &function : module.functions)
    driver.kernelDestroy(static_cast<ze_kernel_handle_t>(function.handle));
  for (void *handle : module.handles)
    driver.moduleDestroy(static_cast<ze_module_handle_t>(handle));
}

Status LevelZeroDevice::addFunction(const KernelImage &image,
                                    const SpirvKernel &kernel,
                                    ze_module_handle_t handle, Module &module) {
  ze_kernel_desc_t desc;
  desc.pKernelName = kernel.name.c_str();
  std::string note = " (kernel '" + kernel.name + "')";
  ze_kernel_handle_t made = nullptr;
  if (ze_result_t result = driver.kernelCreate(handle, &desc, &made))
    return rejectImage(image, {"zeKernelCreate", result}, note);
  module.functions.push_back({made, kernel});
  ze_kernel_properties_t properties;
  if (ze_result_t result = driver.kernelGetProperties(made, &properties))
    return rejectImage(image, {"zeKernelGetProperties", result}, note);
  module.functions.back().spillBytes = properties.spillMemSize;
  std::string what = format("kernel '%s' of image '%s' ", kernel.name.c_str(),
                            image.name.c_str());
  if (kernel.subgroupSize &&
      properties.maxSubgroupSize != static_cast<uint32_t>(kernel.subgroupSize))
    return Status(StatusCode::Rejected,
                  what + format("is compiled for subgroups of %lld lanes, but "
                                "%s uses subgroups of %u",
                                static_cast<long long>(kernel.subgroupSize),
                                info().name.c_str(),
                                properties.maxSubgroupSize));
  if (properties.numKernelArgs != kernel.parameters.size())
    return Status(StatusCode::Rejected,
                  what + format("has %zu parameters, but the driver reports %u",
                                kernel.parameters.size(),
                                properties.numKernelArgs));
  // No other size fits, so that a launch need not set it.
  const std::array<int64_t, 3> &block = kernel.block;
  if (block[0] == 0)
    return Status::success();
  if (ze_result_t result = driver.kernelSetGroupSize(
          made, static_cast<uint32_t>(block[0]),
          static_cast<uint32_t>(block[1]), static_cast<uint32_t>(block[2])))
    return rejectImage(image, {"zeKernelSetGroupSize", result},
                       " (kernel '" + kernel.name + "', " +
                           formatDims(block.data()) + " threads)");
  return Status::success();
}

Status LevelZeroDevice::build(const KernelImage &image, const SpirvModule &code,
                              Module &module) {
  ze_module_desc_t desc;
  desc.inputSize = code.words.size() * sizeof(uint32_t);
  desc.pInputModule = reinterpret_cast<const uint8_t *>(code.words.data());
  desc.pBuildFlags = "";
  ze_module_handle_t handle = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  ze_result_t result =
      driver.moduleCreate(context, capabilities.device, &desc, &handle, &log);
  std::string text = takeBuildLog(log);
  if (result)
    return rejectImage(image, {"zeModuleCreate", result}, text);
  module.handles.push_back(handle);
  for (const SpirvKernel &kernel : code.kernels)
    if (Status status = addFunction(image, kernel, handle, module);
        !status.ok())
      return status;
  return Status::success();
}

DriverResult LevelZeroDevice::queueLaunch(void *handle,
                                          const LaunchRequest &request) {
  auto *function = static_cast<Function *>(handle);
  auto kernel = static_cast<ze_kernel_handle_t>(function->handle);
  for (int64_t i = 0; i < request.numArgs; ++i) {
    const SpirvParameter &parameter = function->kernel.parameters[i];
    if (ze_result_t result = driver.kernelSetArgument(
            kernel, static_cast<uint32_t>(i),
            static_cast<size_t>(parameter.bytes), request.args[i]))
      return {"zeKernelSetArgumentValue", result};
  }
  ze_group_count_t groups;
  groups.groupCountX = static_cast<uint32_t>(request.grid[0]);
  groups.groupCountY = static_cast<uint32_t>(request.grid[1]);
  groups.groupCountZ = static_cast<uint32_t>(request.grid[2]);
  return queued(
      "zeCommandListAppendLaunchKernel",
      driver.appendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr));
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

/// The drivers of GPUs. A status in words where there is none.
static std::string getDrivers(const LevelZeroDriver &driver,
                              std::vector<ze_driver_handle_t> &drivers) {
  ze_result_t result = ZE_RESULT_SUCCESS;
  const char *call = "zeInitDrivers";
  if (driver.initDrivers) {
    ze_init_driver_type_desc_t desc;
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    result = getList(drivers, [&](uint32_t *count, auto *list) {
      return driver.initDrivers(count, list, &desc);
    });
  } else {
    call = "zeInit";
    result = driver.init(ZE_INIT_FLAG_GPU_ONLY);
    if (result == ZE_RESULT_SUCCESS) {
      call = "zeDriverGet";
      result = getList(drivers, [&](uint32_t *count, auto *list) {
        return driver.driverGet(count, list);
      });
    }
  }
  // The loader returns this when it has no driver.
  if (result == ZE_RESULT_ERROR_UNINITIALIZED ||
      (result == ZE_RESULT_SUCCESS && drivers.empty()))
    return "the loader does not find a GPU driver (Intel's is "
           "libze_intel_gpu.so.1)";
  if (result)
    return LevelZeroDriver::describe(call, result);
  return "";
}

/// Calls `visit` with each device that is fit until it returns false. Returns
/// the reason for those that are not, or that there is none.
template <typename Visit>
static std::string forEachDevice(const LevelZeroDriver &driver, Visit visit) {
  std::vector<ze_driver_handle_t> drivers;
  if (std::string reason = getDrivers(driver, drivers); !reason.empty())
    return reason;
  std::string reason;
  auto add = [&](const std::string &text) {
    reason += (reason.empty() ? "" : "; ") + text;
  };
  bool found = false;
  for (ze_driver_handle_t handle : drivers) {
    std::vector<ze_device_handle_t> devices;
    if (ze_result_t result = getList(devices, [&](uint32_t *count, auto *list) {
          return driver.deviceGet(handle, count, list);
        })) {
      add(LevelZeroDriver::describe("zeDeviceGet", result));
      continue;
    }
    for (ze_device_handle_t device : devices) {
      LevelZeroCapabilities capabilities =
          queryLevelZeroDevice(driver, handle, device);
      found = true;
      std::string unfit = explainUnfit(capabilities);
      std::string name = capabilities.properties.name;
      if (!unfit.empty())
        add((name.empty() ? "a device" : name) + " is not usable: " + unfit);
      else if (!visit(capabilities))
        return reason;
    }
  }
  if (!found && reason.empty())
    return "the drivers report no device";
  return reason;
}

std::string
tessera::runtime::listLevelZeroDevices(const LevelZeroDriver &driver,
                                       std::vector<DeviceInfo> &devices) {
  int next = 0;
  return forEachDevice(driver, [&](const LevelZeroCapabilities &capabilities) {
    devices.push_back(describeDevice(capabilities));
    devices.back().ordinal = next++;
    return true;
  });
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openLevelZeroDevice(const LevelZeroDriver &driver,
                                      int ordinal) {
  return openOrdinal<LevelZeroDevice>(
      "level-zero", ordinal,
      [&](auto visit) { return forEachDevice(driver, visit); },
      [&](const LevelZeroCapabilities &capabilities) {
        DeviceInfo info = describeDevice(capabilities);
        info.ordinal = ordinal;
        return std::make_unique<LevelZeroDevice>(driver, capabilities,
                                                 std::move(info));
      });
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openLevelZeroDeviceOn(const LevelZeroDriver &driver,
                                        ze_context_handle_t context,
                                        ze_device_handle_t device) {
  if (!context || !device)
    return Status(StatusCode::InvalidArgument,
                  "a Level Zero device requires a ze_context_handle_t and a "
                  "ze_device_handle_t; one is null");
  int next = 0;
  std::unique_ptr<LevelZeroDevice> made;
  std::string reason =
      forEachDevice(driver, [&](const LevelZeroCapabilities &capabilities) {
        if (capabilities.device != device) {
          ++next;
          return true;
        }
        DeviceInfo info = describeDevice(capabilities);
        info.ordinal = next;
        made = std::make_unique<LevelZeroDevice>(driver, capabilities,
                                                 std::move(info));
        return false;
      });
  if (!made)
    return Status(
        StatusCode::InvalidArgument,
        "the ze_device_handle_t is not a usable GPU that zeDeviceGet lists" +
            (reason.empty() ? "" : " (" + reason + ")"));
  if (Status status = made->open(context); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(made));
}
