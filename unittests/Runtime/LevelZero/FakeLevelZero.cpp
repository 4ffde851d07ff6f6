//===- FakeLevelZero.cpp - A Level Zero for tests -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeLevelZero.h"
#include "FakeKernels.h"

#include "SpirvModule.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <set>
#include <unistd.h>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

static FakeZeDevice makeFakeZeDevice(const std::string &name);

namespace {

struct Object {
  const char *kind;
  explicit Object(const char *kind) : kind(kind) {}
  virtual ~Object() = default;
};
struct Driver : Object {
  Driver() : Object("driver") {}
};
struct DeviceObject : Object {
  size_t index;
  explicit DeviceObject(size_t index) : Object("device"), index(index) {}
};
struct Context : Object {
  Context() : Object("context") {}
};
struct Event;
struct List : Object {
  struct Command {
    std::function<void()> run;
    bool isBarrier = false;
    Event *signal = nullptr;
    std::vector<Event *> waits = {};
  };
  std::vector<Command> commands;
  size_t device;
  ze_context_handle_t context;
  ze_device_handle_t deviceHandle;
  List(size_t device, ze_context_handle_t context,
       ze_device_handle_t deviceHandle)
      : Object("list"), device(device), context(context),
        deviceHandle(deviceHandle) {}
};
struct Pool : Object {
  uint32_t count, flags;
  std::set<uint32_t> taken;
  Pool(uint32_t count, uint32_t flags)
      : Object("pool"), count(count), flags(flags) {}
};
struct Event : Object {
  Pool *pool;
  uint32_t index;
  bool isSignalled = false;
  ze_kernel_timestamp_result_t time;
  Event(Pool *pool, uint32_t index)
      : Object("event"), pool(pool), index(index) {}
};
struct Module : Object {
  SpirvModule code;
  std::unique_ptr<FakeProgram> program;
  size_t device;
  int kernels = 0;
  Module() : Object("module") {}
};
struct Log : Object {
  std::string text;
  Log() : Object("log") {}
};
struct Kernel : Object {
  Module *module;
  SpirvKernel code;
  uint32_t block[3] = {0, 0, 0};
  std::vector<std::string> arguments;
  Kernel(Module *module, SpirvKernel code)
      : Object("kernel"), module(module), code(std::move(code)) {
    arguments.resize(this->code.parameters.size());
  }
};

/// The whole state: the part that tests see, and the objects.
struct World {
  FakeLevelZero state;
  bool isInitialized = false;
  std::list<std::unique_ptr<Object>> objects;
  std::map<void *, size_t> memory;
  Driver driver;
  std::vector<std::unique_ptr<DeviceObject>> devices;

  ~World() {
    for (auto &[ptr, size] : memory)
      freeFakeMemory(ptr);
  }
};

} // namespace

extern "C" void tesseraMakeFakeZeDevice(const char *name,
                                        FakeZeDevice *device) {
  *device = makeFakeZeDevice(name);
}

// Without memory for it there is no test.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
static std::unique_ptr<World> world = std::make_unique<World>();
static FakeLevelZero &state() { return world->state; }

extern "C" FakeLevelZero *tesseraFakeLevelZero() { return &world->state; }
extern "C" void tesseraResetFakeLevelZero() {
  world = std::make_unique<World>();
  state().devices.push_back(makeFakeZeDevice("pvc"));
}

/// In a program, which may be one that asks for no device.
static void initialize() {
  if (const char *name = std::getenv("TESSERA_FAKE_ZE");
      name && !world->isInitialized)
    state().devices.push_back(makeFakeZeDevice(name));
  if (const char *waits = std::getenv("TESSERA_FAKE_ZE_LOSE");
      waits && !world->isInitialized) {
    state().failures["zeEventHostSynchronize"] = ZE_RESULT_ERROR_DEVICE_LOST;
    state().failAfter["zeEventHostSynchronize"] =
        static_cast<int>(std::strtol(waits, nullptr, 10));
  }
  world->isInitialized = true;
}

namespace {
/// Reports misuse of Level Zero.
struct Reporter {
  ~Reporter() {
    if (!std::getenv("TESSERA_FAKE_ZE") || !world)
      return;
    for (const auto &[kind, count] : world->state.live)
      if (count)
        world->state.violations.push_back(std::to_string(count) + " " + kind +
                                          " left over");
    for (const std::string &line : world->state.violations)
      std::fprintf(stderr, "fake Level Zero: %s\n", line.c_str());
    if (!world->state.violations.empty()) {
      std::fflush(nullptr);
      _exit(70);
    }
  }
} reporter;
} // namespace

static ze_result_t
violate(const std::string &text,
        ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT) {
  state().violations.push_back(text);
  return result;
}

/// At the begin of each function.
static ze_result_t enter(const char *symbol) {
  state().calls.push_back(symbol);
  if (!world->isInitialized)
    return violate(std::string(symbol) + " before zeInit",
                   ZE_RESULT_ERROR_UNINITIALIZED);
  auto failure = state().failures.find(symbol);
  if (failure == state().failures.end() || state().failAfter[symbol]-- > 0)
    return ZE_RESULT_SUCCESS;
  return failure->second;
}

#define ENTER()                                                                \
  if (ze_result_t entered = enter(__func__))                                   \
  return entered

/// The object of a handle; null, with a violation, if the handle is invalid.
template <typename T> static T *find(const char *call, void *handle) {
  for (auto &object : world->objects)
    if (object.get() == handle)
      if (auto *found = dynamic_cast<T *>(object.get()))
        return found;
  violate(std::string(call) + ": no such handle");
  return nullptr;
}
static DeviceObject *findDevice(const char *call, void *handle) {
  for (auto &device : world->devices)
    if (device.get() == handle)
      return device.get();
  violate(std::string(call) + ": no such device");
  return nullptr;
}
static const FakeZeDevice &spec(const DeviceObject *device) {
  return state().devices[device->index];
}

// A type and a name cannot be in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define FIND(type, variable, handle)                                           \
  auto *variable = find<type>(__func__, handle);                               \
  if (!variable)                                                               \
  return ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define DEVICE(variable, handle)                                               \
  auto *variable = findDevice(__func__, handle);                               \
  if (!variable)                                                               \
  return ZE_RESULT_ERROR_INVALID_NULL_HANDLE
// NOLINTEND(bugprone-macro-parentheses)
#define CHECK(condition)                                                       \
  if (!(condition))                                                            \
  return violate(std::string(__func__) + ": " #condition)

template <typename T, typename Handle, typename... Args>
static T *make(Handle *handle, Args &&...args) {
  auto object = std::make_unique<T>(std::forward<Args>(args)...);
  T *result = object.get();
  ++state().live[result->kind];
  world->objects.push_back(std::move(object));
  *handle = reinterpret_cast<Handle>(result);
  return result;
}
static ze_result_t destroy(Object *object) {
  --state().live[object->kind];
  world->objects.remove_if(
      [&](const auto &other) { return other.get() == object; });
  return ZE_RESULT_SUCCESS;
}

/// A list, in the two calls in which it is asked for.
template <typename T>
static ze_result_t giveList(const std::vector<T> &values, uint32_t *count,
                            T *list) {
  if (!list || *count == 0) {
    *count = static_cast<uint32_t>(values.size());
    return ZE_RESULT_SUCCESS;
  }
  *count = std::min<uint32_t>(*count, static_cast<uint32_t>(values.size()));
  std::copy_n(values.begin(), *count, list);
  return ZE_RESULT_SUCCESS;
}

/// The size of the allocation that a pointer is in, from there on; 0 if it is
/// in none.
static size_t bytesFrom(const void *ptr) {
  for (auto &[base, size] : world->memory) {
    auto offset = static_cast<const char *>(ptr) - static_cast<char *>(base);
    if (offset >= 0 && static_cast<size_t>(offset) < size)
      return size - static_cast<size_t>(offset);
  }
  return 0;
}

/// Runs the appended commands, up to a barrier that waits for an event which is
/// not signalled: commands between two barriers run in reverse order. Returns
/// whether it has run any.
static bool runCommands(List &list) {
  auto isBlocked = [](const List::Command &command) {
    return std::any_of(command.waits.begin(), command.waits.end(),
                       [](Event *event) { return !event->isSignalled; });
  };
  // An event that is signalled on the way counts from the next round on.
  auto blocked =
      std::find_if(list.commands.begin(), list.commands.end(), isBlocked);
  if (blocked == list.commands.begin())
    return false;
  std::vector<List::Command> commands(list.commands.begin(), blocked);
  list.commands.erase(list.commands.begin(), blocked);
  uint32_t bits =
      state().devices[list.device].properties.kernelTimestampValidBits;
  uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  std::vector<List::Command *> group;
  auto flush = [&] {
    for (auto it = group.rbegin(); it != group.rend(); ++it)
      (*it)->run();
    group.clear();
  };
  for (List::Command &command : commands) {
    if (!command.isBarrier) {
      group.push_back(&command);
      continue;
    }
    flush();
    if (Event *event = command.signal) {
      event->isSignalled = true;
      // A barrier takes a while itself, and may have begun long ago.
      event->time.global = {state().clock - 900 & mask, state().clock & mask};
      event->time.context = {5, 5};
    }
  }
  flush();
  return true;
}

static void runAll() {
  for (bool hasRun = true; hasRun;) {
    hasRun = false;
    for (auto &object : world->objects)
      if (auto *list = dynamic_cast<List *>(object.get()))
        hasRun |= runCommands(*list);
  }
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static ze_result_t giveDrivers(uint32_t *count, ze_driver_handle_t *drivers) {
  return giveList<ze_driver_handle_t>(
      {reinterpret_cast<ze_driver_handle_t>(&world->driver)}, count, drivers);
}

extern "C" {

ze_result_t zeInit(uint32_t flags) {
  initialize();
  ENTER();
  CHECK(flags == ZE_INIT_FLAG_GPU_ONLY);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
                          ze_init_driver_type_desc_t *desc) {
  initialize();
  ENTER();
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC && desc->flags);
  return giveDrivers(count, drivers);
}
ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
  ENTER();
  return giveDrivers(count, drivers);
}
ze_result_t zeDriverGetApiVersion(ze_driver_handle_t, uint32_t *version) {
  ENTER();
  *version = state().apiVersion;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDriverGetProperties(ze_driver_handle_t,
                                  ze_driver_properties_t *properties) {
  ENTER();
  CHECK(properties->stype == ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  properties->driverVersion = state().driverVersion;
  return ZE_RESULT_SUCCESS;
}
ze_result_t
zeDriverGetExtensionProperties(ze_driver_handle_t, uint32_t *count,
                               ze_driver_extension_properties_t *extensions) {
  ENTER();
  std::vector<ze_driver_extension_properties_t> all;
  auto add = [&](bool is, const char *name) {
    if (!is)
      return;
    all.emplace_back();
    std::strcpy(all.back().name, name);
  };
  const FakeZeDevice none;
  const FakeZeDevice &device =
      state().devices.empty() ? none : state().devices.front();
  add(true, "ZE_extension_something");
  add(device.reportsVersion, "ZE_extension_device_ip_version");
  add(device.reportsAtomics, "ZE_extension_float_atomics");
  add(device.reportsDpas, "ZE_intel_experimental_device_module_dp_properties");
  return giveList(all, count, extensions);
}
ze_result_t zeDriverGetLastErrorDescription(ze_driver_handle_t,
                                            const char **text) {
  *text = state().lastError.c_str();
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count,
                        ze_device_handle_t *devices) {
  ENTER();
  CHECK(static_cast<void *>(driver) == &world->driver);
  while (world->devices.size() < state().devices.size())
    world->devices.push_back(
        std::make_unique<DeviceObject>(world->devices.size()));
  std::vector<ze_device_handle_t> handles;
  for (size_t i = 0; i < state().devices.size(); ++i)
    handles.push_back(
        reinterpret_cast<ze_device_handle_t>(world->devices[i].get()));
  return giveList(handles, count, devices);
}
ze_result_t zeDeviceGetProperties(ze_device_handle_t handle,
                                  ze_device_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  uint32_t stype = properties->stype;
  CHECK(stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES ||
        (stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 &&
         state().apiVersion >= (1 << 16 | 2)));
  void *next = properties->pNext;
  *properties = spec(device).properties;
  properties->stype = stype;
  properties->pNext = next;
  // In nanoseconds.
  if (stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES &&
      properties->timerResolution)
    properties->timerResolution = 1000000000 / properties->timerResolution;
  if (auto *version = static_cast<ze_device_ip_version_ext_t *>(next)) {
    CHECK(version->stype == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT &&
          spec(device).reportsVersion);
    version->ipVersion = spec(device).ipVersion;
  }
  return ZE_RESULT_SUCCESS;
}
ze_result_t
zeDeviceGetComputeProperties(ze_device_handle_t handle,
                             ze_device_compute_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  CHECK(properties->stype == ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
  *properties = spec(device).compute;
  return ZE_RESULT_SUCCESS;
}
ze_result_t
zeDeviceGetModuleProperties(ze_device_handle_t handle,
                            ze_device_module_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  CHECK(properties->stype == ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  const FakeZeDevice &from = spec(device);
  void *next = properties->pNext;
  *properties = from.module;
  properties->pNext = next;
  // Each structure begins with its type and the next one.
  for (auto *at =
           static_cast<ze_intel_device_module_dp_exp_properties_t *>(next);
       at; at = static_cast<ze_intel_device_module_dp_exp_properties_t *>(
               at->pNext)) {
    if (at->stype == ZE_STRUCTURE_INTEL_DEVICE_MODULE_DP_EXP_PROPERTIES) {
      CHECK(from.reportsDpas);
      at->flags = 1 | (from.hasDpas ? ZE_INTEL_DEVICE_MODULE_EXP_FLAG_DPAS : 0);
    } else {
      CHECK(at->stype == ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES &&
            from.reportsAtomics);
      auto *atomics = reinterpret_cast<ze_float_atomic_ext_properties_t *>(at);
      atomics->fp32Flags =
          from.addsF32 ? ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD : 0;
      atomics->fp64Flags =
          from.addsF64 ? ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD : 0;
    }
  }
  return ZE_RESULT_SUCCESS;
}
ze_result_t
zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count,
                            ze_device_memory_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  std::vector<ze_device_memory_properties_t> memories(1);
  memories[0].totalSize = spec(device).memoryBytes;
  return giveList(memories, count, properties);
}
ze_result_t
zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count,
                           ze_device_cache_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  std::vector<ze_device_cache_properties_t> caches(2);
  caches[0].cacheSize = 1 << 16;
  caches[1].cacheSize = spec(device).cacheBytes;
  return giveList(caches, count, properties);
}
ze_result_t zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t handle, uint32_t *count,
    ze_command_queue_group_properties_t *properties) {
  ENTER();
  DEVICE(device, handle);
  return giveList(spec(device).queueGroups, count, properties);
}

//===----------------------------------------------------------------------===//
// Context, memory, events
//===----------------------------------------------------------------------===//

ze_result_t zeContextCreate(ze_driver_handle_t driver,
                            const ze_context_desc_t *desc,
                            ze_context_handle_t *context) {
  ENTER();
  CHECK(static_cast<void *>(driver) == &world->driver);
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  make<Context>(context);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextDestroy(ze_context_handle_t handle) {
  ENTER();
  FIND(Context, context, handle);
  for (const auto &[kind, count] : state().live)
    if (count && kind != "context")
      violate("zeContextDestroy: there is still a " + kind);
  return destroy(context);
}

static ze_result_t allocate(size_t size, size_t alignment, void **ptr) {
  // By the specification it is 0 or a power of two.
  CHECK(size > 0 && (alignment & (alignment - 1)) == 0);
  *ptr = allocateFakeMemory(size, std::max<size_t>(alignment, 64));
  world->memory[*ptr] = size;
  ++state().live["memory"];
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemAllocDevice(ze_context_handle_t handle,
                             const ze_device_mem_alloc_desc_t *desc,
                             size_t size, size_t alignment,
                             ze_device_handle_t deviceHandle, void **ptr) {
  ENTER();
  FIND(Context, context, handle);
  DEVICE(device, deviceHandle);
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  if (size > spec(device).properties.maxMemAllocSize)
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  (void)context;
  return allocate(size, alignment, ptr);
}
ze_result_t zeMemAllocHost(ze_context_handle_t handle,
                           const ze_host_mem_alloc_desc_t *desc, size_t size,
                           size_t alignment, void **ptr) {
  ENTER();
  FIND(Context, context, handle);
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  (void)context;
  return allocate(size, alignment, ptr);
}
ze_result_t zeMemFree(ze_context_handle_t handle, void *ptr) {
  ENTER();
  FIND(Context, context, handle);
  (void)context;
  CHECK(world->memory.count(ptr));
  for (auto &object : world->objects)
    if (auto *list = dynamic_cast<List *>(object.get()))
      CHECK(list->commands.empty());
  world->memory.erase(ptr);
  freeFakeMemory(ptr);
  --state().live["memory"];
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolCreate(ze_context_handle_t handle,
                              const ze_event_pool_desc_t *desc,
                              uint32_t deviceCount, ze_device_handle_t *,
                              ze_event_pool_handle_t *pool) {
  ENTER();
  FIND(Context, context, handle);
  (void)context;
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  CHECK(desc->count > 0 && deviceCount == 1);
  state().lastEventPoolFlags = desc->flags;
  make<Pool>(pool, desc->count, desc->flags);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t handle) {
  ENTER();
  FIND(Pool, pool, handle);
  CHECK(pool->taken.empty());
  return destroy(pool);
}
ze_result_t zeEventCreate(ze_event_pool_handle_t handle,
                          const ze_event_desc_t *desc,
                          ze_event_handle_t *event) {
  ENTER();
  FIND(Pool, pool, handle);
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_EVENT_DESC);
  CHECK(desc->index < pool->count && !pool->taken.count(desc->index));
  pool->taken.insert(desc->index);
  make<Event>(event, pool, desc->index);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventDestroy(ze_event_handle_t handle) {
  ENTER();
  FIND(Event, event, handle);
  event->pool->taken.erase(event->index);
  return destroy(event);
}
ze_result_t zeEventHostReset(ze_event_handle_t handle) {
  ENTER();
  FIND(Event, event, handle);
  for (auto &object : world->objects)
    if (auto *list = dynamic_cast<List *>(object.get()))
      for (List::Command &command : list->commands) {
        CHECK(command.signal != event);
        CHECK(std::count(command.waits.begin(), command.waits.end(), event) ==
              0);
      }
  event->isSignalled = false;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
  if (ze_result_t entered = enter(__func__)) {
    // Queued work is lost as well.
    if (entered == ZE_RESULT_ERROR_DEVICE_LOST)
      for (auto &object : world->objects)
        if (auto *list = dynamic_cast<List *>(object.get()))
          list->commands.clear();
    return entered;
  }
  FIND(Event, event, handle);
  CHECK(event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
  CHECK(timeout == UINT64_MAX);
  runAll();
  CHECK(event->isSignalled);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle,
                                        ze_kernel_timestamp_result_t *result) {
  ENTER();
  FIND(Event, event, handle);
  CHECK(event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  if (!event->isSignalled)
    return ZE_RESULT_NOT_READY;
  *result = event->time;
  return ZE_RESULT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Command lists
//===----------------------------------------------------------------------===//

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t handle,
                                         ze_device_handle_t deviceHandle,
                                         const ze_command_queue_desc_t *desc,
                                         ze_command_list_handle_t *list) {
  ENTER();
  FIND(Context, context, handle);
  DEVICE(device, deviceHandle);
  (void)context;
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  CHECK(desc->ordinal < spec(device).queueGroups.size());
  CHECK(spec(device).queueGroups[desc->ordinal].flags &
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
  state().lastQueueGroup = desc->ordinal;
  make<List>(list, device->index, handle, deviceHandle);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListDestroy(ze_command_list_handle_t handle) {
  ENTER();
  FIND(List, list, handle);
  CHECK(list->commands.empty());
  return destroy(list);
}
ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t handle,
                                     uint8_t *isImmediate) {
  ENTER();
  FIND(List, list, handle);
  (void)list;
  *isImmediate = state().listsAreImmediate;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListGetContextHandle(ze_command_list_handle_t handle,
                                          ze_context_handle_t *context) {
  ENTER();
  FIND(List, list, handle);
  *context = list->context;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t handle,
                                         ze_device_handle_t *device) {
  ENTER();
  FIND(List, list, handle);
  *device = list->deviceHandle;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t handle,
                                       ze_event_handle_t signal, uint32_t waits,
                                       ze_event_handle_t *waitFor) {
  ENTER();
  FIND(List, list, handle);
  List::Command command;
  command.isBarrier = true;
  for (uint32_t i = 0; i < waits; ++i) {
    FIND(Event, event, waitFor[i]);
    command.waits.push_back(event);
  }
  if (signal) {
    FIND(Event, event, signal);
    CHECK(!event->isSignalled);
    command.signal = event;
  }
  list->commands.push_back(command);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t handle,
                                          void *to, const void *from,
                                          size_t size, ze_event_handle_t,
                                          uint32_t waits, ze_event_handle_t *) {
  ENTER();
  FIND(List, list, handle);
  CHECK(waits == 0 && size > 0);
  CHECK(bytesFrom(to) >= size);
  CHECK(bytesFrom(from) >= size);
  list->commands.push_back({[=] { std::memcpy(to, from, size); }});
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t handle,
                                          void *ptr, const void *pattern,
                                          size_t patternSize, size_t size,
                                          ze_event_handle_t, uint32_t waits,
                                          ze_event_handle_t *) {
  ENTER();
  FIND(List, list, handle);
  CHECK(waits == 0 && patternSize == 1 && bytesFrom(ptr) >= size);
  uint8_t byte = *static_cast<const uint8_t *>(pattern);
  list->commands.push_back({[=] { std::memset(ptr, byte, size); }});
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t handle,
                                            ze_kernel_handle_t kernelHandle,
                                            const ze_group_count_t *groups,
                                            ze_event_handle_t, uint32_t waits,
                                            ze_event_handle_t *) {
  ENTER();
  FIND(List, list, handle);
  FIND(Kernel, kernel, kernelHandle);
  CHECK(waits == 0 && kernel->block[0] > 0);
  FakeZeLaunch launch;
  launch.kernel = kernel->code.name;
  const uint32_t grid[] = {groups->groupCountX, groups->groupCountY,
                           groups->groupCountZ};
  std::copy_n(grid, 3, launch.grid);
  std::copy_n(kernel->block, 3, launch.block);
  // The arguments are those of now.
  launch.arguments = kernel->arguments;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    CHECK(!launch.arguments[i].empty());
    void *pointer = nullptr;
    if (kernel->code.parameters[i].isPointer) {
      std::memcpy(static_cast<void *>(&pointer), launch.arguments[i].data(),
                  sizeof(pointer));
      CHECK(!pointer || bytesFrom(pointer) > 0);
    }
  }
  FakeProgram *program = kernel->module->program.get();
  list->commands.push_back({[launch, program, code = kernel->code] {
    state().clock += state().ticksOfKernel;
    state().launches.push_back(launch);
    if (state().onLaunch)
      state().onLaunch(launch);
    if (program)
      for (const std::string &problem :
           program->run(code, launch.grid, launch.arguments))
        violate(problem);
  }});
  return ZE_RESULT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

ze_result_t zeModuleCreate(ze_context_handle_t handle,
                           ze_device_handle_t deviceHandle,
                           const ze_module_desc_t *desc,
                           ze_module_handle_t *module,
                           ze_module_build_log_handle_t *log) {
  // Failures have a log as well.
  if (log)
    make<Log>(log)->text = state().buildLog;
  ENTER();
  FIND(Context, context, handle);
  DEVICE(device, deviceHandle);
  (void)context;
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_MODULE_DESC);
  CHECK(desc->format == ZE_MODULE_FORMAT_IL_SPIRV && desc->pInputModule);
  state().lastBuildFlags = desc->pBuildFlags ? desc->pBuildFlags : "";
  Expected<std::vector<SpirvModule>> code = readSpirv(
      {reinterpret_cast<const char *>(desc->pInputModule), desc->inputSize});
  CHECK(code.ok() && code->size() == 1);
  auto made = std::make_unique<Module>();
  std::string problem;
  made->program = makeFakeProgram(code->front(), problem);
  if (!problem.empty())
    return violate(problem, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  Module *object = make<Module>(module);
  object->code = code->front();
  object->program = std::move(made->program);
  object->device = device->index;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeModuleDestroy(ze_module_handle_t handle) {
  ENTER();
  FIND(Module, module, handle);
  CHECK(module->kernels == 0);
  return destroy(module);
}
ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t handle,
                                      size_t *size, char *text) {
  ENTER();
  FIND(Log, log, handle);
  if (text)
    std::memcpy(text, log->text.c_str(), std::min(*size, log->text.size() + 1));
  *size = log->text.size() + 1;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle) {
  ENTER();
  FIND(Log, log, handle);
  return destroy(log);
}
ze_result_t zeKernelCreate(ze_module_handle_t handle,
                           const ze_kernel_desc_t *desc,
                           ze_kernel_handle_t *kernel) {
  ENTER();
  FIND(Module, module, handle);
  CHECK(desc->stype == ZE_STRUCTURE_TYPE_KERNEL_DESC);
  for (const SpirvKernel &code : module->code.kernels)
    if (code.name == desc->pKernelName) {
      make<Kernel>(kernel, module, code);
      ++module->kernels;
      return ZE_RESULT_SUCCESS;
    }
  return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}
ze_result_t zeKernelDestroy(ze_kernel_handle_t handle) {
  ENTER();
  FIND(Kernel, kernel, handle);
  --kernel->module->kernels;
  return destroy(kernel);
}
ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x,
                                 uint32_t y, uint32_t z) {
  ENTER();
  FIND(Kernel, kernel, handle);
  const uint32_t block[] = {x, y, z};
  for (int dim = 0; dim < 3; ++dim)
    CHECK(block[dim] == kernel->code.block[static_cast<size_t>(dim)]);
  const FakeZeDevice &device = state().devices[kernel->module->device];
  if (uint64_t(x) * y * z > device.compute.maxTotalGroupSize)
    return 0x78000013; // ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION
  std::copy_n(block, 3, kernel->block);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index,
                                     size_t size, const void *value) {
  ENTER();
  FIND(Kernel, kernel, handle);
  CHECK(index < kernel->arguments.size());
  CHECK(static_cast<int64_t>(size) == kernel->code.parameters[index].bytes);
  kernel->arguments[index].assign(static_cast<const char *>(value), size);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeKernelGetProperties(ze_kernel_handle_t handle,
                                  ze_kernel_properties_t *properties) {
  ENTER();
  FIND(Kernel, kernel, handle);
  CHECK(properties->stype == ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
  auto parameters = static_cast<uint32_t>(kernel->code.parameters.size());
  auto lanes = static_cast<uint32_t>(kernel->code.subgroupSize);
  properties->numKernelArgs =
      state().parameterCount ? state().parameterCount : parameters;
  properties->requiredSubgroupSize = lanes;
  properties->maxSubgroupSize = state().lanes ? state().lanes : lanes;
  properties->spillMemSize = state().spillBytes;
  return ZE_RESULT_SUCCESS;
}

} // extern "C"

//===----------------------------------------------------------------------===//
// Devices that it plays
//===----------------------------------------------------------------------===//

static FakeZeDevice makeFakeZeDevice(const std::string &name) {
  struct Known {
    const char *name, *product;
    uint32_t number, major, minor;
    std::vector<uint32_t> lanes;
    uint32_t workgroupKiB, slices, subslices;
    bool f64, dpas;
  };
  const Known all[] = {
      {"pvc",
       "Intel(R) Data Center GPU Max 1550",
       0x0bd5,
       12,
       60,
       {16, 32},
       128,
       1,
       64,
       true,
       true},
      {"bmg",
       "Intel(R) Arc(TM) B580 Graphics",
       0xe20b,
       20,
       1,
       {16, 32},
       128,
       5,
       4,
       true,
       true},
      {"dg2",
       "Intel(R) Arc(TM) A770 Graphics",
       0x56a0,
       12,
       55,
       {8, 16, 32},
       64,
       8,
       4,
       false,
       true},
      {"lnl",
       "Intel(R) Arc(TM) 140V GPU",
       0x64a0,
       20,
       4,
       {16, 32},
       128,
       2,
       4,
       true,
       true},
      {"simt",
       "Intel(R) Arc(TM) Graphics",
       0x7d55,
       12,
       71,
       {8, 16, 32},
       64,
       2,
       4,
       true,
       false},
      {"pocl",
       "PoCL, by a Level Zero of tests",
       1,
       0,
       0,
       {},
       32,
       1,
       4,
       true,
       false},
  };
  const Known *known =
      std::find_if(std::begin(all), std::end(all), [&](const Known &candidate) {
        return candidate.name == name;
      });
  if (known == std::end(all)) {
    std::fprintf(stderr, "TESSERA_FAKE_ZE: no device '%s'\n", name.c_str());
    std::abort();
  }
  FakeZeDevice device;
  ze_device_properties_t &properties = device.properties;
  properties.type = ZE_DEVICE_TYPE_GPU;
  properties.vendorId = 0x8086;
  properties.deviceId = known->number;
  properties.coreClockRate = 1600;
  properties.maxMemAllocSize = uint64_t(4) << 30;
  properties.numSlices = known->slices;
  properties.numSubslicesPerSlice = known->subslices;
  properties.timerResolution = 12500000;
  properties.timestampValidBits = 36;
  properties.kernelTimestampValidBits = 32;
  std::strcpy(properties.name, known->product);
  ze_device_compute_properties_t &compute = device.compute;
  compute.maxTotalGroupSize = compute.maxGroupSizeX = compute.maxGroupSizeY =
      compute.maxGroupSizeZ = 1024;
  compute.maxGroupCountX = compute.maxGroupCountY = compute.maxGroupCountZ =
      UINT32_MAX;
  compute.maxSharedLocalMemory = known->workgroupKiB * 1024;
  compute.numSubGroupSizes = static_cast<uint32_t>(known->lanes.size());
  std::copy(known->lanes.begin(), known->lanes.end(), compute.subGroupSizes);
  device.module.spirvVersionSupported = 1 << 16 | 4;
  device.module.flags = ZE_DEVICE_MODULE_FLAG_FP16 |
                        (known->f64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0);
  device.hasDpas = known->dpas;
  device.ipVersion = known->major << 22 | known->minor << 14 | 4;
  device.addsF64 = known->f64;
  // The first group copies alone.
  device.queueGroups.resize(2);
  device.queueGroups[0].flags = 2;
  device.queueGroups[1].flags = 3;
  for (ze_command_queue_group_properties_t &group : device.queueGroups)
    group.numQueues = 1;
  if (name == "pocl") {
    // The flags that PoCL itself reports.
    device.module.flags = ZE_DEVICE_MODULE_FLAG_FP64;
    device.module.spirvVersionSupported = 1 << 16 | 2;
    device.reportsDpas = device.reportsVersion = false;
    properties.vendorId = 0;
    useFakePrograms();
  }
  return device;
}
