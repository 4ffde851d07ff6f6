// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs queue.mlir's entries on memory of Level Zero's, in an immediate command
// list of its own context. It uses the runtime's declarations of Level Zero,
// for lack of headers.
#include "queue.h"

#include "LevelZero/LevelZeroDriver.h"

#include <dlfcn.h>

using namespace tessera::runtime;

#define FIND(member, symbol, parameters)                                       \
  ze_result_t(*member) parameters =                                            \
      reinterpret_cast<ze_result_t(*) parameters>(dlsym(library, #symbol));    \
  check(!member, #symbol);

int main(int argc, char **argv) {
  check(argc != 2, "usage: level-zero BUNDLE");
  void *library = dlopen("libze_loader.so.1", RTLD_NOW);
  check(!library, "libze_loader.so.1");
  TESSERA_LEVELZERO_FUNCTIONS(FIND)

  uint32_t one = 1;
  ze_driver_handle_t driver;
  ze_device_handle_t id;
  check(init(ZE_INIT_FLAG_GPU_ONLY), "zeInit");
  check(driverGet(&one, &driver), "zeDriverGet");
  check(deviceGet(driver, &one, &id), "zeDeviceGet");
  ze_context_desc_t contextDesc;
  ze_context_handle_t context, foreign;
  check(contextCreate(driver, &contextDesc, &context), "zeContextCreate");
  check(contextCreate(driver, &contextDesc, &foreign), "zeContextCreate");
  ze_command_queue_desc_t queueDesc;
  queueDesc.ordinal = 1;
  ze_command_list_handle_t list, foreignList;
  check(commandListCreateImmediate(context, id, &queueDesc, &list), "list");
  check(commandListCreateImmediate(foreign, id, &queueDesc, &foreignList),
        "list");
  ze_event_pool_desc_t poolDesc;
  poolDesc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  poolDesc.count = 1;
  ze_event_pool_handle_t pool;
  check(eventPoolCreate(context, &poolDesc, 1, &id, &pool), "zeEventPool");
  ze_event_desc_t eventDesc;
  eventDesc.signal = eventDesc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t done;
  check(eventCreate(pool, &eventDesc, &done), "zeEventCreate");

  ze_device_mem_alloc_desc_t deviceDesc;
  ze_host_mem_alloc_desc_t hostDesc;
  void *buffers[3], *host[4];
  for (void *&buffer : buffers)
    check(memAllocDevice(context, &deviceDesc, BYTES, 64, id, &buffer),
          "zeMemAllocDevice");
  for (void *&memory : host) {
    check(memAllocHost(context, &hostDesc, BYTES, 64, &memory),
          "zeMemAllocHost");
    memset(memory, 0x55, BYTES);
  }

  TesseraNativeDevice native = {};
  native.structSize = sizeof(native);
  native.target = "level-zero";
  native.context = context;
  native.device = id;
  TesseraDevice *device;
  check(tesseraDeviceOpenNative(&native, &device), "tesseraDeviceOpenNative");
  TesseraProgram *program = load(argv[1]);
  TesseraExecutable *multiply = prepare(program, "multiply", device),
                    *cube = prepare(program, "cube", device),
                    *same = prepare(program, "same", device);
  auto *a = static_cast<float *>(host[0]), *b = static_cast<float *>(host[1]);
  fillMatrix(0, a);
  fillMatrix(1, b);
  int64_t sizes[] = {N, N};
  TesseraArgument arguments[3];
  for (int i = 0; i < 3; ++i)
    arguments[i] = {TESSERA_MEMORY_DEVICE, buffers[i], sizes, nullptr};
  TesseraRun run = {sizeof(run),        1, list, nullptr, nullptr, 0,
                    TESSERA_LAUNCH_AUTO};

  // Nothing waits between the first command and the last one.
  auto copy = [&](void *to, const void *from) {
    check(appendMemoryCopy(list, to, from, BYTES, nullptr, 0, nullptr), "copy");
  };
  copy(buffers[0], a);
  copy(buffers[1], b);
  check(tesseraExecutableRun(multiply, arguments, 3, nullptr, 0, &run), "run");
  copy(host[2], buffers[2]);
  TesseraResult result = {};
  result.keepOnDevice = 1;
  check(tesseraExecutableRun(cube, &arguments[1], 1, &result, 1, &run), "cube");
  copy(host[3], tesseraBufferGetPointer(result.buffer));
  check(appendBarrier(list, done, 0, nullptr), "zeCommandListAppendBarrier");
  auto *matmul = static_cast<float *>(host[2]);
  static float square[N * N], expected[N * N], c[N * N];
  multiplyOnHost(a, b, expected);
  printf("before: %s\n", matmul[0] == expected[0] ? "done" : "not done");
  check(eventHostSynchronize(done, UINT64_MAX), "zeEventHostSynchronize");
  int wrong = compare("product", matmul, expected);
  multiplyOnHost(b, b, square);
  multiplyOnHost(square, b, expected);
  wrong += compare("cube", static_cast<float *>(host[3]), expected);
  TesseraResult copied = {};
  copied.data = c;
  copied.bytes = BYTES;
  check(tesseraExecutableRun(same, &arguments[0], 1, &copied, 1, &run), "same");
  wrong += compare("copy", c, a);

  run.queue = foreignList;
  wrong += tesseraExecutableRun(multiply, arguments, 3, nullptr, 0, &run) !=
           TESSERA_INVALID_ARGUMENT;
  printf("%s\n", tesseraGetLastError());

  tesseraBufferDestroy(result.buffer);
  tesseraExecutableDestroy(multiply);
  tesseraExecutableDestroy(cube);
  tesseraExecutableDestroy(same);
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  check(eventDestroy(done) || eventPoolDestroy(pool), "event");
  for (void *memory :
       {buffers[0], buffers[1], buffers[2], host[0], host[1], host[2], host[3]})
    check(memFree(context, memory), "zeMemFree");
  check(commandListDestroy(list) || commandListDestroy(foreignList), "list");
  check(contextDestroy(foreign) || contextDestroy(context), "context");
  return wrong != 0;
}
