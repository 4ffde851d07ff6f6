//===- ConcurrencyTest.cpp - Many threads, many devices -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a bundle (test/CAPI/Inputs/queue.mlir, for the target cpu) by the small
// library alone, so that ThreadSanitizer sees all there is (scripts/tsan.sh):
//
//     concurrency-test BUNDLE
//
//===----------------------------------------------------------------------===//

#include "CAPITestUtils.h"
#include "tessera-c/Runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string bundle;

constexpr int64_t cubeSize = 40;
constexpr size_t cubeBytes = cubeSize * cubeSize * sizeof(float);

TesseraProgram *loadProgram() {
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraProgramLoad(bundle.data(), bundle.size(), &program),
            TESSERA_OK)
      << tesseraGetLastError();
  return program;
}

/// Small integers, so that all sums are exact in f32.
std::vector<float> makeMatrix(int64_t rows, int64_t cols, int seed) {
  std::vector<float> matrix(static_cast<size_t>(rows * cols));
  for (size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 5) - 2;
  return matrix;
}
std::vector<float> multiplyOnHost(const std::vector<float> &a,
                                  const std::vector<float> &b, int64_t m,
                                  int64_t n, int64_t k) {
  std::vector<float> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] *
                                             b[static_cast<size_t>(l * n + j)];
  return c;
}

/// Returns the number of wrong matmuls on host memory.
int runMultiply(TesseraExecutable *executable, int64_t m, int64_t n, int64_t k,
                int seed) {
  std::vector<float> a = makeMatrix(m, k, seed), b = makeMatrix(k, n, seed + 1),
                     c(static_cast<size_t>(m * n), -1);
  int64_t sizesA[] = {m, k}, sizesB[] = {k, n}, sizesC[] = {m, n};
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, a.data(), sizesA, nullptr},
      {TESSERA_MEMORY_HOST, b.data(), sizesB, nullptr},
      {TESSERA_MEMORY_HOST, c.data(), sizesC, nullptr}};
  return tesseraExecutableRun(executable, arguments, 3, nullptr, 0, nullptr) !=
             TESSERA_OK ||
         c != multiplyOnHost(a, b, m, n, k);
}

/// The cube of a matrix, left on the device; null on a failure.
TesseraBuffer *runCube(TesseraExecutable *executable, TesseraBuffer *input) {
  TesseraArgument argument = {TESSERA_MEMORY_DEVICE,
                              tesseraBufferGetPointer(input), nullptr, nullptr};
  TesseraResult result = {};
  result.keepOnDevice = 1;
  if (tesseraExecutableRun(executable, &argument, 1, &result, 1, nullptr))
    return nullptr;
  return result.buffer;
}
std::vector<float> cubeOnHost(const std::vector<float> &a) {
  std::vector<float> square =
      multiplyOnHost(a, a, cubeSize, cubeSize, cubeSize);
  return multiplyOnHost(square, a, cubeSize, cubeSize, cubeSize);
}

/// Calls `body(number)` on as many threads.
void onThreads(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int number = 0; number < count; ++number)
    threads.emplace_back(body, number);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Concurrency, ThreadsShareAnExecutable) {
  TesseraProgram *program = loadProgram();
  TesseraDevice *device = openCpu();
  TesseraExecutable *multiply = load(program, "multiply", device);
  tesseraProgramDestroy(program);
  std::atomic<int> wrong = 0, runs = 0;
  onThreads(6, [&](int number) {
    for (int run = 0; run < 20; ++run, ++runs)
      wrong += runMultiply(multiply, 5 + number, 30 + run, 17, run);
  });
  EXPECT_EQ(runs, 120);
  EXPECT_EQ(wrong, 0);
  tesseraExecutableDestroy(multiply);
  tesseraDeviceClose(device);
}

TEST(Concurrency, ThreadsShareSeveralDevices) {
  TesseraProgram *program = loadProgram();
  constexpr int numDevices = 3;
  TesseraDevice *devices[numDevices];
  for (TesseraDevice *&device : devices)
    device = openCpu();
  // A buffer that one thread creates and another one reads and frees.
  struct Made {
    TesseraBuffer *buffer;
    std::vector<float> expected;
  };
  std::mutex mutex;
  std::vector<Made> handedOver;
  std::atomic<int> wrong = 0, seen = 0;
  auto check = [&](const Made &made) {
    std::vector<float> found(made.expected.size());
    wrong += tesseraBufferRead(made.buffer, 0, found.data(), cubeBytes) !=
                 TESSERA_OK ||
             found != made.expected;
    tesseraBufferDestroy(made.buffer);
    ++seen;
  };
  constexpr int numThreads = 6, numRuns = 12;
  onThreads(numThreads, [&](int number) {
    TesseraDevice *device = devices[number % numDevices];
    TesseraExecutable *cube = load(program, "cube", device);
    for (int run = 0; run < numRuns; ++run) {
      std::vector<float> a = makeMatrix(cubeSize, cubeSize, number + run);
      TesseraBuffer *input = nullptr;
      wrong += tesseraBufferCreate(device, cubeBytes, &input) ||
               tesseraBufferWrite(input, 0, a.data(), cubeBytes);
      TesseraBuffer *output = runCube(cube, input);
      wrong += !output;
      tesseraBufferDestroy(input);
      Made other = {nullptr, {}};
      {
        std::lock_guard<std::mutex> lock(mutex);
        handedOver.push_back({output, cubeOnHost(a)});
        if (handedOver.size() > 3) {
          other = std::move(handedOver.front());
          handedOver.erase(handedOver.begin());
        }
      }
      if (other.buffer)
        check(other);
    }
    tesseraExecutableDestroy(cube);
  });
  // The buffers keep their devices.
  for (TesseraDevice *device : devices)
    tesseraDeviceClose(device);
  tesseraProgramDestroy(program);
  for (const Made &made : handedOver)
    check(made);
  EXPECT_EQ(seen, numThreads * numRuns);
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, ThingsAreMadeAndDestroyedMeanwhile) {
  TesseraProgram *shared = loadProgram();
  TesseraDevice *device = openCpu();
  std::atomic<int> wrong = 0, rounds = 0;
  onThreads(6, [&](int number) {
    for (int round = 0; round < 6; ++round, ++rounds) {
      TesseraProgram *program = number % 2 ? loadProgram() : shared;
      TesseraDevice *own = number % 3 ? device : openCpu();
      TesseraExecutable *multiply = load(program, "multiply", own),
                        *cube = load(program, "cube", own);
      wrong += runMultiply(multiply, 20, 21, 22 + round, number);
      tesseraExecutableDestroy(multiply);
      TesseraBuffer *input = nullptr;
      std::vector<float> a = makeMatrix(cubeSize, cubeSize, number),
                         found(a.size());
      wrong += tesseraBufferCreate(own, cubeBytes, &input) ||
               tesseraBufferWrite(input, 0, a.data(), cubeBytes);
      TesseraBuffer *output = runCube(cube, input);
      tesseraExecutableDestroy(cube);
      // Errors are each thread's own.
      TesseraExecutable *none = nullptr;
      std::string name = "e" + std::to_string(number);
      wrong += tesseraExecutableCreate(program, name.c_str(), own, &none) !=
               TESSERA_INVALID_ARGUMENT;
      wrong += std::string(tesseraGetLastError()).find("'" + name + "'") ==
               std::string::npos;
      TesseraDeviceInfo *list = nullptr;
      size_t count = 0;
      wrong += tesseraDeviceList("auto", &list, &count) || count == 0;
      tesseraDeviceListFree(list);
      if (own != device)
        tesseraDeviceClose(own);
      size_t entries = 0;
      wrong += tesseraProgramGetEntryCount(program, &entries) || entries != 3;
      if (program != shared)
        tesseraProgramDestroy(program);
      wrong += !output ||
               tesseraBufferRead(output, 0, found.data(), cubeBytes) ||
               found != cubeOnHost(a);
      tesseraBufferDestroy(output);
      tesseraBufferDestroy(input);
    }
  });
  EXPECT_EQ(rounds, 36);
  EXPECT_EQ(wrong, 0);
  tesseraProgramDestroy(shared);
  tesseraDeviceClose(device);
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  bundle.assign(std::istreambuf_iterator<char>(file), {});
  if (bundle.empty()) {
    std::fprintf(stderr, "usage: concurrency-test BUNDLE\n");
    return 2;
  }
  return RUN_ALL_TESTS();
}
