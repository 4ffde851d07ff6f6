/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs queue.mlir's entries on VkBuffers, in a VkQueue of a VkDevice of its
   own. */
#include "queue.h"

#include <vulkan/vulkan.h>

static VkPhysicalDevice physical;
static VkDevice device;

typedef struct Memory {
  VkBuffer buffer;
  VkDeviceMemory memory;
  void *mapped;
} Memory;

/* Memory that the host sees, with a device address if `usage` has that. */
static Memory makeBuffer(VkDeviceSize bytes, VkBufferUsageFlags usage) {
  Memory made;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = usage;
  check(vkCreateBuffer(device, &info, NULL, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, made.buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (!(needs.memoryTypeBits >> type & 1) ||
         (memory.memoryTypes[type].propertyFlags & wanted) != wanted)
    check(++type == memory.memoryTypeCount, "no memory that the host sees");
  VkMemoryAllocateFlagsInfo flags = {
      VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  check(vkAllocateMemory(device, &allocate, NULL, &made.memory),
        "vkAllocateMemory");
  check(vkBindBufferMemory(device, made.buffer, made.memory, 0),
        "vkBindBufferMemory");
  check(vkMapMemory(device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped),
        "vkMapMemory");
  return made;
}

/* Submits a copy, without waiting for it. */
static VkCommandPool pool;
static void submitCopy(VkQueue queue, VkBuffer from, VkBuffer to) {
  VkCommandBufferAllocateInfo allocate = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands;
  check(vkAllocateCommandBuffers(device, &allocate, &commands), "commands");
  VkCommandBufferBeginInfo begin = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  VkBufferCopy region = {0, 0, BYTES};
  for (int i = 0; i < 2; ++i) {
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                             VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
    if (i == 0)
      vkCmdCopyBuffer(commands, from, to, 1, &region);
  }
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

/* Runs in one mode, in the queue or, if it is null, in the device's own, with
   arguments that change; the results of five runs are read after the last of
   them. Returns how many are wrong. */
static int runMode(TesseraExecutable *executable, int mode, VkQueue queue,
                   const TesseraArgument *arguments,
                   const float *const *expected) {
  TesseraRun run = {sizeof(run), queue != NULL, queue, NULL, NULL, 0, mode};
  static float found[N * N];
  int wrong = 0;
  for (int first = 0; first < 50; first += 5) {
    TesseraResult results[5] = {{0}};
    for (int i = 0; i < 5; ++i) {
      results[i].keepOnDevice = 1;
      check(tesseraExecutableRun(executable, &arguments[(first + i) % 3 == 0],
                                 1, &results[i], 1, &run),
            "run");
    }
    if (queue)
      check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    for (int i = 0; i < 5; ++i) {
      check(tesseraBufferRead(results[i].buffer, 0, found, BYTES), "read");
      wrong += memcmp(found, expected[(first + i) % 3 == 0], BYTES) != 0;
      tesseraBufferDestroy(results[i].buffer);
    }
  }
  return wrong;
}

static TesseraLaunchStatistics getStatistics(TesseraExecutable *executable) {
  TesseraLaunchStatistics statistics = {sizeof(statistics)};
  check(tesseraExecutableGetLaunchStatistics(executable, &statistics),
        "statistics");
  return statistics;
}

/* Runs as graphs do what direct runs do. */
static int runModes(TesseraExecutable *cube, TesseraExecutable *same,
                    VkQueue queue, const TesseraArgument *arguments,
                    const float *const *copies, const float *const *cubes) {
  int wrong = 0;
  for (int own = 0; own < 2; ++own) {
    VkQueue theirs = own ? NULL : queue;
    TesseraLaunchStatistics before = getStatistics(cube);
    int inGraphs =
        runMode(cube, TESSERA_LAUNCH_GRAPH, theirs, arguments, cubes);
    TesseraLaunchStatistics after = getStatistics(cube);
    inGraphs += after.graphRuns != before.graphRuns + 50 ||
                after.directRuns != before.directRuns ||
                after.updates == before.updates;
    /* Copies are between buffers that are bound anew for each run. */
    inGraphs += runMode(same, TESSERA_LAUNCH_GRAPH, theirs, arguments, copies);
    printf("graphs: %d wrong\n", inGraphs);
    int inAny = runMode(cube, TESSERA_LAUNCH_AUTO, theirs, arguments, cubes);
    before = after;
    after = getStatistics(cube);
    /* A graph is not changed while it is under way. */
    inAny += after.graphRuns == before.graphRuns ||
             after.directRuns == before.directRuns;
    printf("either: %d wrong\n", inAny);
    wrong += inGraphs + inAny;
  }
  return wrong;
}

/* Checks what cannot be; returns whether it was. */
static int rejected(TesseraStatus status) {
  printf("%s\n", tesseraGetLastError());
  return status != TESSERA_INVALID_ARGUMENT;
}

int main(int argc, char **argv) {
  check(argc != 2, "usage: vulkan BUNDLE");
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo instanceInfo = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instanceInfo.pApplicationInfo = &application;
  VkInstance instance;
  check(vkCreateInstance(&instanceInfo, NULL, &instance), "vkCreateInstance");
  uint32_t one = 1;
  check(vkEnumeratePhysicalDevices(instance, &one, &physical) < 0,
        "vkEnumeratePhysicalDevices");

  /* All features but those that must not be enabled by accident. */
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
  VkPhysicalDeviceVulkan13Features features13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features13.pNext = &atomics;
  VkPhysicalDeviceVulkan12Features features12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.pNext = &features13;
  VkPhysicalDeviceVulkan11Features features11 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  features11.pNext = &features12;
  VkPhysicalDeviceFeatures2 features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = &features11;
  vkGetPhysicalDeviceFeatures2(physical, &features);
  features.features.robustBufferAccess = 0;

  float priorities[] = {1, 1};
  VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueCount = 1;
  queues.pQueuePriorities = priorities;
  const char *extensions[] = {VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME};
  VkDeviceCreateInfo deviceInfo = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  deviceInfo.pNext = &features;
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queues;
  deviceInfo.enabledExtensionCount = 1;
  deviceInfo.ppEnabledExtensionNames = extensions;
  check(vkCreateDevice(physical, &deviceInfo, NULL, &device), "vkCreateDevice");
  VkQueue queue;
  vkGetDeviceQueue(device, 0, 0, &queue);
  VkCommandPoolCreateInfo poolInfo = {
      VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  check(vkCreateCommandPool(device, &poolInfo, NULL, &pool),
        "vkCreateCommandPool");

  TesseraNativeDevice native = {0};
  native.structSize = sizeof(native);
  native.target = "vulkan";
  native.instance = instance;
  native.physicalDevice = physical;
  native.device = device;
  native.createInfo = &deviceInfo;
  TesseraDevice *opened;
  check(tesseraDeviceOpenNative(&native, &opened), "tesseraDeviceOpenNative");
  TesseraDeviceInfo info = {sizeof(info), 0};
  check(tesseraDeviceGetInfo(opened, &info), "tesseraDeviceGetInfo");
  printf("%s:%s\n", info.target, info.chip);
  TesseraProgram *program = load(argv[1]);
  TesseraExecutable *multiply = prepare(program, "multiply", opened),
                    *cube = prepare(program, "cube", opened),
                    *same = prepare(program, "same", opened);

  VkBufferUsageFlags copied =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBufferUsageFlags used = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | copied;
  Memory buffers[3], upload[2], download = makeBuffer(BYTES, copied);
  for (int i = 0; i < 3; ++i) {
    buffers[i] = makeBuffer(BYTES, used);
    memset(buffers[i].mapped, 0x55, BYTES);
  }
  for (int i = 0; i < 2; ++i) {
    upload[i] = makeBuffer(BYTES, copied);
    fillMatrix(i, upload[i].mapped);
  }
  const float *a = upload[0].mapped, *b = upload[1].mapped;
  int64_t sizes[] = {N, N};
  TesseraArgument arguments[3];
  for (int i = 0; i < 3; ++i)
    arguments[i] = (TesseraArgument){TESSERA_MEMORY_VK_BUFFER,
                                     (void *)buffers[i].buffer, sizes, NULL};
  TesseraRun run = {sizeof(run), 1, queue, NULL, NULL, 0, TESSERA_LAUNCH_AUTO};
  static float c[N * N], square[N * N], expected[N * N], other[N * N];
  multiplyOnHost(a, b, expected);

  /* Nothing waits between the first command and the last one. */
  submitCopy(queue, upload[0].buffer, buffers[0].buffer);
  submitCopy(queue, upload[1].buffer, buffers[1].buffer);
  check(tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &run), "run");
  submitCopy(queue, buffers[2].buffer, download.buffer);
  TesseraResult first = {0}, second = {0};
  first.keepOnDevice = 1;
  second.data = c;
  second.bytes = BYTES;
  check(tesseraExecutableRun(cube, &arguments[1], 1, &first, 1, &run), "cube");
  TesseraArgument kept = {TESSERA_MEMORY_DEVICE,
                          tesseraBufferGetPointer(first.buffer), NULL, NULL};
  check(tesseraExecutableRun(same, &kept, 1, &second, 1, &run), "same");
  check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
  int wrong = compare("product", download.mapped, expected);
  multiplyOnHost(b, b, square);
  multiplyOnHost(square, b, expected);
  wrong += compare("cube", c, expected);
  /* An argument that is given back. */
  check(tesseraExecutableRun(same, &arguments[0], 1, &second, 1, NULL), "same");
  wrong += compare("copy", c, a);
  /* More runs than may be under way at a time, with memory of the pool. */
  int many = 0;
  for (int i = 0; i < 100; ++i) {
    TesseraResult result = {0};
    result.keepOnDevice = 1;
    check(tesseraExecutableRun(cube, &arguments[1], 1, &result, 1, &run),
          "cube");
    if (i % 25 == 24) {
      check(tesseraBufferRead(result.buffer, 0, c, BYTES), "read");
      many += memcmp(c, expected, BYTES) != 0;
    }
    tesseraBufferDestroy(result.buffer);
  }
  printf("many: %d of 4 wrong\n", many);
  wrong += many;
  multiplyOnHost(a, a, square);
  multiplyOnHost(square, a, other);
  wrong += runModes(cube, same, queue, arguments, (const float *[]){a, b},
                    (const float *[]){other, expected});

  /* What cannot be. */
  int64_t large[] = {N, 4 * N}, tall[] = {4 * N, N};
  TesseraArgument tooLarge[] = {arguments[0], arguments[1], arguments[2]};
  tooLarge[0].sizes = large;
  tooLarge[1].sizes = tall;
  wrong += rejected(tesseraExecutableRun(multiply, tooLarge, 3, NULL, 0, &run));
  TesseraRun none = {sizeof(none), 1, NULL, NULL, NULL, 0, TESSERA_LAUNCH_AUTO};
  wrong +=
      rejected(tesseraExecutableRun(multiply, arguments, 3, NULL, 0, &none));
  TesseraDevice *refusedDevice;
  native.queueIndex = 1;
  wrong += rejected(tesseraDeviceOpenNative(&native, &refusedDevice));
  native.queueIndex = 0;
  features12.vulkanMemoryModel = features.features.shaderInt64 = 0;
  wrong += rejected(tesseraDeviceOpenNative(&native, &refusedDevice));
  native.createInfo = NULL;
  wrong += rejected(tesseraDeviceOpenNative(&native, &refusedDevice));

  tesseraBufferDestroy(first.buffer);
  tesseraExecutableDestroy(multiply);
  tesseraExecutableDestroy(cube);
  tesseraExecutableDestroy(same);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(opened);
  Memory all[] = {buffers[0], buffers[1], buffers[2],
                  upload[0],  upload[1],  download};
  for (int i = 0; i < 6; ++i) {
    vkDestroyBuffer(device, all[i].buffer, NULL);
    vkFreeMemory(device, all[i].memory, NULL);
  }
  vkDestroyCommandPool(device, pool, NULL);
  vkDestroyDevice(device, NULL);
  vkDestroyInstance(instance, NULL);
  return wrong != 0;
}
