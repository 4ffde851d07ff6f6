//===- CAPITest.cpp - The C API, as another program uses it ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPITestUtils.h"
#include "tessera-c/Compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <pthread.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// C = A * B of any size, into memory of the caller's.
const char *const multiply = R"(
func.func @multiply(%a: memref<?x?xf32>, %b: memref<?x?xf32>,
                    %c: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>)
                outs(%c : memref<?x?xf32>)
  return
})";

/// Results of its own, and a scalar among the arguments.
std::string addConstant(const std::string &constant) {
  return R"(
func.func @add(%x: tensor<6x5xf32>, %scale: f32) -> (tensor<6x5xf32>, f32) {
  %c = arith.constant )" +
         constant + R"( : f32
  %empty = tensor.empty() : tensor<6x5xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x5xf32>) outs(%empty : tensor<6x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %scaled = arith.mulf %in, %scale : f32
    %added = arith.addf %scaled, %c : f32
    linalg.yield %added : f32
  } -> tensor<6x5xf32>
  %twice = arith.addf %scale, %scale : f32
  return %sum, %twice : tensor<6x5xf32>, f32
})";
}

TesseraProgram *compile(const std::string &source, const char *target = "cpu",
                        const char *entry = nullptr) {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = target;
  options.entry = entry;
  options.fileName = "test.mlir";
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraCompile(source.data(), source.size(), &options, &program),
            TESSERA_OK)
      << tesseraGetLastError();
  return program;
}

/// A program whose entry point is loaded on the CPU.
class LoadedProgram : public testing::Test {
protected:
  void open(const std::string &source, const char *entry) {
    program = compile(source);
    device = openCpu();
    executable = load(program, entry, device);
  }
  void TearDown() override {
    tesseraExecutableDestroy(executable);
    tesseraProgramDestroy(program);
    tesseraDeviceClose(device);
  }

  TesseraProgram *program = nullptr;
  TesseraDevice *device = nullptr;
  TesseraExecutable *executable = nullptr;
};

/// Multiplies on memory of the host; returns how many elements are wrong.
int runMultiply(TesseraExecutable *executable, int64_t m, int64_t n, int64_t k,
                int seed) {
  std::vector<float> a(m * k), b(k * n), c(m * n, -1);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>((i * 7 + seed) % 11) - 5;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>((i * 5 + seed) % 13) - 6;
  int64_t sizesA[] = {m, k}, sizesB[] = {k, n}, sizesC[] = {m, n};
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, a.data(), sizesA, nullptr},
      {TESSERA_MEMORY_HOST, b.data(), sizesB, nullptr},
      {TESSERA_MEMORY_HOST, c.data(), sizesC, nullptr}};
  if (tesseraExecutableRun(executable, arguments, 3, nullptr, 0, nullptr))
    return -1;
  int wrong = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      wrong += c[i * n + j] != sum;
    }
  return wrong;
}

} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

TEST(CAPI, AMistakeIsReportedAtItsLocation) {
  std::vector<std::string> reported;
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.fileName = "wrong.mlir";
  options.handlerUser = &reported;
  options.handler = [](void *user, TesseraSeverity severity, const char *text) {
    EXPECT_EQ(severity, TESSERA_ERROR);
    static_cast<std::vector<std::string> *>(user)->push_back(text);
  };
  const char source[] = "func.func @main() {\n  return %x : f32\n}";
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraCompile(source, sizeof(source) - 1, &options, &program),
            TESSERA_COMPILE_ERROR);
  EXPECT_EQ(program, nullptr);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].find("wrong.mlir:2:10: "), 0u) << reported[0];
  EXPECT_EQ(reported[0], tesseraGetLastError());
}

TEST(CAPI, TargetsAreChecked) {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  TesseraProgram *program = nullptr;
  auto tryTarget = [&](const char *target) {
    options.target = target;
    EXPECT_EQ(
        tesseraCompile(multiply, std::strlen(multiply), &options, &program),
        TESSERA_INVALID_ARGUMENT);
    return std::string(tesseraGetLastError());
  };
  EXPECT_NE(tryTarget("cude:sm_80").find("unknown target 'cude:sm_80'"),
            std::string::npos);
  EXPECT_NE(tryTarget("cuda:sm_81").find("nearest first: sm_8"),
            std::string::npos);
  EXPECT_NE(tryTarget("hip:gfx942,hip:gfx942").find("duplicate target"),
            std::string::npos);
  options.structSize = 0;
  EXPECT_NE(tryTarget("cpu").find("structSize"), std::string::npos);
}

TEST(CAPI, FlagsAreChecked) {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  TesseraProgram *program = nullptr;
  auto compile = [&](const char *flags) {
    options.flags = flags;
    return tesseraCompile(multiply, std::strlen(multiply), &options, &program);
  };
  EXPECT_EQ(compile("allow-tf32,allow-tf33"), TESSERA_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tesseraGetLastError())
                .find("flags: unknown compile flag 'allow-tf33'; expected "),
            std::string::npos);
  // The CPU has no loads to workgroup memory: the flag has been read.
  EXPECT_EQ(compile("no-fuse-attention,direct-copies=always"),
            TESSERA_COMPILE_ERROR);
  EXPECT_NE(std::string(tesseraGetLastError()).find("--direct-copies=always"),
            std::string::npos);
  EXPECT_EQ(compile("no-fuse-attention"), TESSERA_OK);
  tesseraProgramDestroy(program);
}

TEST(CAPI, AModuleWithoutAnEntryIsAnError) {
  const char source[] = "func.func private @f()";
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraCompile(source, sizeof(source) - 1, nullptr, &program),
            TESSERA_COMPILE_ERROR);
  EXPECT_NE(std::string(tesseraGetLastError()).find("no entry point"),
            std::string::npos);
}

/// The error of compiling `source`, which prints nothing.
std::string failToCompile(const std::string &source, const char *target) {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = target;
  options.fileName = "test.mlir";
  TesseraProgram *program = nullptr;
  testing::internal::CaptureStderr();
  TesseraStatus status =
      tesseraCompile(source.data(), source.size(), &options, &program);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(status, TESSERA_COMPILE_ERROR);
  EXPECT_EQ(program, nullptr);
  return tesseraGetLastError();
}

/// A kernel around inline assembly.
std::string launchAssembly(const std::string &assembly,
                           const std::string &constraints) {
  return R"(
func.func @main(%x: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %f = llvm.inline_asm ")" +
         assembly + R"(", ")" + constraints + R"(" : () -> i32
    memref.store %f, %x[%tx] : memref<4xi32>
    gpu.terminator
  }
  return
})";
}

/// PTX has no such name: LLVM reports a fatal error.
const char *const fatal = R"(
func.func @main(%x: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             module(@kernels) function(@"a\FFb") {
    memref.store %c7, %x[%tx] : memref<4xi32>
    gpu.terminator
  }
  return
})";

TEST(CAPI, ErrorsOfBackEndsAreReportedAtTheirLocation) {
  // LLVM would exit.
  std::string text =
      failToCompile(launchAssembly("mov.u32 $0, 1;", "=x"), "cuda:sm_80");
  EXPECT_EQ(text.find("test.mlir:6:10: "), 0u) << text;
  EXPECT_NE(text.find("couldn't allocate output register for constraint 'x'"),
            std::string::npos)
      << text;
  // One that the assembler finds.
  text = failToCompile(launchAssembly("v_nonsense $0", "=v"), "hip:gfx942");
  EXPECT_EQ(text.find("test.mlir:6:10: "), 0u) << text;
  EXPECT_NE(text.find("v_nonsense"), std::string::npos) << text;
  // LLVM would abort.
  text = failToCompile(launchAssembly("mov $$1, $0", "=r"), "cpu");
  EXPECT_EQ(text.find("test.mlir:6:10: "), 0u) << text;
  EXPECT_NE(text.find("must not contain inline assembly"), std::string::npos)
      << text;
}

TEST(CAPI, FatalErrorsOfLLVMAreErrors) {
  std::string text = failToCompile(fatal, "cuda:sm_80");
  EXPECT_NE(text.find("LLVM cannot compile the program for nvptx64 sm_80: "
                      "Symbol name with unsupported characters"),
            std::string::npos)
      << text;
  // Those of one thread are of no consequence to the others.
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&wrong, i] {
      std::string source = i % 2 ? fatal : multiply;
      TesseraCompileOptions options = {};
      options.structSize = sizeof(options);
      options.target = "cuda:sm_80";
      for (int round = 0; round < 5; ++round) {
        TesseraProgram *program = nullptr;
        TesseraStatus status =
            tesseraCompile(source.data(), source.size(), &options, &program);
        wrong += status != (i % 2 ? TESSERA_COMPILE_ERROR : TESSERA_OK);
        tesseraProgramDestroy(program);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Regions in each other.
std::string nest(int depth) {
  std::string text = "func.func @main() {\n";
  for (int i = 0; i < depth; ++i)
    text += "scf.execute_region {\n";
  for (int i = 0; i < depth; ++i)
    text += "scf.yield\n}\n";
  return text + "return\n}\n";
}

TEST(CAPI, NestingIsBounded) {
  std::string text = failToCompile(nest(100'000), "cpu");
  EXPECT_EQ(text.find("test.mlir:257:20: the program nests more than 256 "
                      "brackets"),
            0u)
      << text;
  tesseraProgramDestroy(compile(nest(200)));
  // Aliases nest without brackets.
  std::string aliases = "!a0 = i32\n";
  for (int i = 1; i < 100'000; ++i)
    aliases += "!a" + std::to_string(i) + " = tuple<!a" +
               std::to_string(i - 1) + ">\n";
  text = failToCompile(aliases + "func.func private @f(!a99999)", "cpu");
  EXPECT_NE(text.find("nests more than 256 others"), std::string::npos) << text;
  // Expressions, by operators.
  text = failToCompile(
      "#m = affine_map<(d0) -> (" + std::string(200'000, '-') + "d0)>", "cpu");
  EXPECT_NE(text.find("an expression has more than 4096 operators"),
            std::string::npos)
      << text.substr(0, 200);
}

TEST(CAPI, CompilesOnAThreadWithLittleStack) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 128 * 1024), 0);
  pthread_t thread;
  auto run = [](void *status) -> void * {
    std::string source = nest(200);
    TesseraProgram *program = nullptr;
    *static_cast<TesseraStatus *>(status) =
        tesseraCompile(source.data(), source.size(), nullptr, &program);
    tesseraProgramDestroy(program);
    return nullptr;
  };
  TesseraStatus status = TESSERA_INTERNAL;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &status), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(status, TESSERA_OK);
}

TEST(CAPI, NamesAreOfAnyEncoding) {
  TesseraProgram *program = compile(R"(
func.func @"a\FFb"(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})",
                                    "cpu,cuda:sm_80,hip:gfx942");
  const char *name = nullptr;
  ASSERT_EQ(tesseraProgramGetEntryName(program, 0, &name), TESSERA_OK);
  EXPECT_STREQ(name, "a\xff"
                     "b");
  tesseraProgramDestroy(program);
}

TEST(CAPI, OtherFunctionsOfTheProcessAreOutOfReach) {
  std::string text = failToCompile(R"(
func.func private @getpid() -> i32
func.func @main() -> i32 {
  %r = func.call @getpid() : () -> i32
  return %r : i32
})",
                                   "cpu");
  EXPECT_EQ(text.find("test.mlir:2:1: 'getpid' has no body"), 0u) << text;
}

TEST(CAPI, SignaturesAreReported) {
  TesseraProgram *program = compile(std::string(multiply) + addConstant("1.0"));
  size_t count = 0;
  ASSERT_EQ(tesseraProgramGetEntryCount(program, &count), TESSERA_OK);
  ASSERT_EQ(count, 2u);
  const char *name = nullptr;
  ASSERT_EQ(tesseraProgramGetEntryName(program, 1, &name), TESSERA_OK);
  EXPECT_STREQ(name, "add");
  EXPECT_EQ(tesseraProgramGetEntryName(program, 2, &name),
            TESSERA_INVALID_ARGUMENT);
  size_t arguments = 0, results = 0;
  ASSERT_EQ(tesseraProgramGetSlotCounts(program, "add", &arguments, &results),
            TESSERA_OK);
  EXPECT_EQ(arguments, 2u);
  EXPECT_EQ(results, 2u);

  TesseraSlotInfo info = {};
  EXPECT_EQ(tesseraProgramGetArgument(program, "multiply", 2, &info),
            TESSERA_INVALID_ARGUMENT);
  info.structSize = sizeof(info);
  ASSERT_EQ(tesseraProgramGetArgument(program, "multiply", 2, &info),
            TESSERA_OK);
  EXPECT_EQ(info.kind, TESSERA_MEMREF);
  EXPECT_EQ(info.element, TESSERA_F32);
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.sizes[0], TESSERA_DYNAMIC);
  EXPECT_TRUE(info.mayWrite);
  EXPECT_STREQ(info.type, "memref<?x?xf32>");
  ASSERT_EQ(tesseraProgramGetArgument(program, "multiply", 0, &info),
            TESSERA_OK);
  EXPECT_FALSE(info.mayWrite);
  ASSERT_EQ(tesseraProgramGetResult(program, "add", 0, &info), TESSERA_OK);
  EXPECT_EQ(info.kind, TESSERA_TENSOR);
  EXPECT_EQ(info.sizes[1], 5);
  ASSERT_EQ(tesseraProgramGetArgument(program, "add", 1, &info), TESSERA_OK);
  EXPECT_EQ(info.kind, TESSERA_SCALAR);
  // A caller of an older header has shorter structures.
  TesseraSlotInfo old = {};
  old.rank = 77;
  old.structSize = offsetof(TesseraSlotInfo, rank);
  ASSERT_EQ(tesseraProgramGetResult(program, "add", 0, &old), TESSERA_OK);
  EXPECT_EQ(old.kind, TESSERA_TENSOR);
  EXPECT_EQ(old.rank, 77u);
  EXPECT_EQ(tesseraProgramGetResult(program, "sub", 0, &info),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(tesseraGetLastError(),
               "no entry point 'sub': the program has multiply, add");
  tesseraProgramDestroy(program);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST(CAPI, RunsOnMemoryOfTheHost) {
  TesseraProgram *program = compile(multiply);
  TesseraDevice *device = openCpu();
  TesseraExecutable *executable = load(program, "multiply", device);
  // Neither is needed any more.
  tesseraProgramDestroy(program);
  tesseraDeviceClose(device);
  EXPECT_EQ(runMultiply(executable, 33, 50, 70, 1), 0);
  EXPECT_EQ(runMultiply(executable, 1, 1, 1, 2), 0);
  EXPECT_EQ(runMultiply(executable, 128, 64, 32, 3), 0);
  EXPECT_EQ(runMultiply(executable, 0, 5, 3, 3), 0);
  tesseraExecutableDestroy(executable);
}

TEST(CAPI, RunsOnMemoryOfTheDevice) {
  TesseraProgram *program = compile(addConstant("0.5"));
  TesseraDevice *device = openCpu();
  TesseraExecutable *executable = load(program, "add", device);
  std::vector<float> x(30), y(30);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i) - 7;
  TesseraBuffer *input = nullptr;
  ASSERT_EQ(tesseraBufferCreate(device, 30 * 4, &input), TESSERA_OK);
  ASSERT_EQ(tesseraBufferWrite(input, 0, x.data(), 30 * 4), TESSERA_OK);
  EXPECT_EQ(tesseraBufferWrite(input, 8, x.data(), 30 * 4),
            TESSERA_INVALID_ARGUMENT);
  float scale = 3, twice = 0;
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_DEVICE, tesseraBufferGetPointer(input), nullptr, nullptr},
      {TESSERA_MEMORY_HOST, &scale, nullptr, nullptr}};
  int64_t sizes[2] = {};
  TesseraResult results[2] = {};
  results[0].keepOnDevice = 1;
  results[0].sizes = sizes;
  results[1].data = &twice;
  results[1].bytes = sizeof(twice);
  ASSERT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
            TESSERA_OK)
      << tesseraGetLastError();
  EXPECT_EQ(sizes[0], 6);
  EXPECT_EQ(sizes[1], 5);
  EXPECT_EQ(twice, 6);
  ASSERT_NE(results[0].buffer, nullptr);
  EXPECT_EQ(tesseraBufferGetSize(results[0].buffer), 120u);
  // The result outlives all that made it.
  tesseraExecutableDestroy(executable);
  tesseraProgramDestroy(program);
  tesseraBufferDestroy(input);
  tesseraDeviceClose(device);
  ASSERT_EQ(tesseraBufferRead(results[0].buffer, 0, y.data(), 120), TESSERA_OK);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], x[i] * 3 + 0.5f) << i;
  tesseraBufferDestroy(results[0].buffer);
}

TEST_F(LoadedProgram, ResultsAreCopiedToTheHost) {
  open(addConstant("2.0"), "add");
  std::vector<float> x(30, 1), y(30);
  float scale = 4, twice = 0;
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, x.data(), nullptr, nullptr},
      {TESSERA_MEMORY_HOST, &scale, nullptr, nullptr}};
  TesseraResult results[2] = {};
  results[0].data = y.data();
  results[0].bytes = 119;
  results[1].data = &twice;
  results[1].bytes = 4;
  EXPECT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(
      tesseraGetLastError(),
      "result 0 (tensor<6x5xf32>) takes 120 bytes, but its buffer holds 119");
  results[0].bytes = 120;
  ASSERT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
            TESSERA_OK);
  for (float value : y)
    EXPECT_EQ(value, 6);
}

TEST_F(LoadedProgram, MistakesOfACallAreReported) {
  open(multiply, "multiply");
  float data[64] = {};
  int64_t sizes[] = {8, 8}, negative[] = {8, -8}, strides[] = {16, 1};
  TesseraArgument good = {TESSERA_MEMORY_HOST, data, sizes, nullptr};
  TesseraArgument arguments[] = {good, good, good};
  auto run = [&](size_t count) {
    EXPECT_EQ(
        tesseraExecutableRun(executable, arguments, count, nullptr, 0, nullptr),
        TESSERA_INVALID_ARGUMENT);
    return std::string(tesseraGetLastError());
  };
  EXPECT_EQ(run(2), "2 arguments, but the entry point 'multiply' takes 3");
  arguments[1].sizes = nullptr;
  EXPECT_EQ(
      run(3),
      "argument 1 (memref<?x?xf32>): dimension 1 is dynamic; pass its size");
  arguments[1].sizes = negative;
  EXPECT_EQ(run(3), "argument 1 (memref<?x?xf32>): dimension 1 is -8");
  arguments[1] = good;
  arguments[1].strides = strides;
  EXPECT_EQ(run(3),
            "argument 1 (memref<?x?xf32>): its stride in dimension 0 is 16 "
            "elements, but a dense row-major array has 8; pass a dense copy");
  arguments[1] = good;
  arguments[2].data = nullptr;
  EXPECT_EQ(run(3), "argument 2 (memref<?x?xf32>): it is null");
  arguments[2] = good;
  TesseraRun options = {sizeof(TesseraRun), 1, data, nullptr, nullptr, 0,
                        TESSERA_LAUNCH_AUTO};
  EXPECT_EQ(
      tesseraExecutableRun(executable, arguments, 3, nullptr, 0, &options),
      TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tesseraGetLastError())
                .find("target cpu does not accept a caller's queue"),
            0u);
  // It works nevertheless.
  EXPECT_EQ(tesseraExecutableRun(executable, arguments, 3, nullptr, 0, nullptr),
            TESSERA_OK);
  TesseraExecutable *none = nullptr;
  EXPECT_EQ(tesseraExecutableCreate(program, "main", device, &none),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(tesseraGetLastError(),
               "no entry point 'main': the program has multiply");
}

TEST_F(LoadedProgram, MemoryOfAnotherKindIsRejected) {
  open(multiply, "multiply");
  float data[64] = {};
  int64_t sizes[] = {8, 8};
  TesseraArgument good = {TESSERA_MEMORY_HOST, data, sizes, nullptr};
  TesseraArgument arguments[] = {good, good, good};
  // As a caller in C may have it, whose enumerations hold any number.
  auto run = [&](int memory) {
    static_assert(sizeof(TesseraMemory) == sizeof(memory));
    std::memcpy(&arguments[1].memory, &memory, sizeof(memory));
    EXPECT_EQ(
        tesseraExecutableRun(executable, arguments, 3, nullptr, 0, nullptr),
        TESSERA_INVALID_ARGUMENT);
    return std::string(tesseraGetLastError());
  };
  EXPECT_EQ(run(TESSERA_MEMORY_CL_MEM),
            "argument 1 (memref<?x?xf32>): target cpu does not accept a "
            "cl_mem; target opencl does");
  EXPECT_EQ(run(TESSERA_MEMORY_VK_BUFFER),
            "argument 1 (memref<?x?xf32>): target cpu does not accept a "
            "VkBuffer; target vulkan does");
  EXPECT_EQ(run(4), "argument 1: invalid memory kind 4");
}

TEST(CAPI, ADeviceOnObjectsOfTheCallersIsCheckedFirst) {
  TesseraNativeDevice native = {};
  TesseraDevice *device = nullptr;
  auto tryOpen = [&] {
    EXPECT_EQ(tesseraDeviceOpenNative(&native, &device),
              TESSERA_INVALID_ARGUMENT);
    EXPECT_EQ(device, nullptr);
    return std::string(tesseraGetLastError());
  };
  EXPECT_EQ(
      tryOpen(),
      "native->structSize is not set; set it to sizeof(TesseraNativeDevice)");
  native.structSize = sizeof(native);
  EXPECT_EQ(tryOpen(), "native->target is null");
  native.target = "cuda";
  EXPECT_NE(tryOpen().find("cuda uses the primary context"), std::string::npos);
  // It needs no driver to see that.
  native.target = "vulkan";
  EXPECT_NE(tryOpen().find("one is null"), std::string::npos);
  EXPECT_EQ(tesseraDeviceOpenNative(nullptr, &device),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraDeviceOpenNative(&native, nullptr),
            TESSERA_INVALID_ARGUMENT);
}

TEST_F(LoadedProgram, WhatTheProgramChecksIsAnError) {
  open(R"(
func.func @double(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  linalg.add ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%x : memref<?xf32>)
  return
})",
       "double");
  std::vector<float> data(65, 1);
  int64_t size = 65;
  TesseraArgument argument = {TESSERA_MEMORY_HOST, data.data(), &size, nullptr};
  EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(tesseraGetLastError(),
               "assertion failed: x has more than 64 elements");
  // Nothing was launched, and the next call is a new one.
  EXPECT_EQ(data[0], 1);
  size = 64;
  EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, nullptr, 0, nullptr),
            TESSERA_OK);
  EXPECT_EQ(data[63], 2);
  EXPECT_EQ(data[64], 1);
}

namespace {

/// A result of its own that is a copy of the argument, which must not have more
/// than 64 elements.
const char *const checkedCopy = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  %empty = tensor.empty(%size) : tensor<?xf32>
  %copy = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %copy : tensor<?xf32>
})";

/// Runs `checkedCopy` on an array of a given number of equal elements; the
/// result stays on the device, and is null if the run fails.
TesseraBuffer *runCheckedCopy(TesseraExecutable *executable, int64_t size,
                              float value) {
  std::vector<float> data(static_cast<size_t>(size), value);
  TesseraArgument argument = {TESSERA_MEMORY_HOST, data.data(), &size, nullptr};
  TesseraResult result = {};
  result.keepOnDevice = 1;
  TesseraStatus status =
      tesseraExecutableRun(executable, &argument, 1, &result, 1, nullptr);
  EXPECT_EQ(status, size <= 64 ? TESSERA_OK : TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(result.buffer != nullptr, status == TESSERA_OK);
  return result.buffer;
}

/// How many of eight elements of a buffer are not `value`.
int countOthers(TesseraBuffer *buffer, float value) {
  std::vector<float> found(8);
  EXPECT_EQ(tesseraBufferRead(buffer, 0, found.data(), 8 * sizeof(float)),
            TESSERA_OK);
  return static_cast<int>(8 - std::count(found.begin(), found.end(), value));
}

} // namespace

TEST_F(LoadedProgram, AFailedRunLeavesEarlierResultsAlone) {
  open(checkedCopy, "main");
  TesseraBuffer *first = runCheckedCopy(executable, 8, 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(runCheckedCopy(executable, 65, 9), nullptr);
  // Somebody else's memory, of the same size.
  TesseraBuffer *other = nullptr;
  std::vector<float> sevens(8, 7);
  ASSERT_EQ(tesseraBufferCreate(device, 8 * sizeof(float), &other), TESSERA_OK);
  ASSERT_EQ(tesseraBufferWrite(other, 0, sevens.data(), 8 * sizeof(float)),
            TESSERA_OK);
  TesseraBuffer *second = runCheckedCopy(executable, 8, 2);
  ASSERT_TRUE(second);
  void *addresses[] = {tesseraBufferGetPointer(first),
                       tesseraBufferGetPointer(other),
                       tesseraBufferGetPointer(second)};
  EXPECT_NE(addresses[0], addresses[1]);
  EXPECT_NE(addresses[0], addresses[2]);
  EXPECT_NE(addresses[1], addresses[2]);
  EXPECT_EQ(countOthers(first, 2), 0);
  EXPECT_EQ(countOthers(other, 7), 0);
  EXPECT_EQ(countOthers(second, 4), 0);
  for (TesseraBuffer *buffer : {first, other, second})
    tesseraBufferDestroy(buffer);
}

TEST_F(LoadedProgram, NoResultIsGivenWhereOneHasNoRoom) {
  open(addConstant("2.0"), "add");
  std::vector<float> x(30, 1), y(30, -1);
  float scale = 4;
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, x.data(), nullptr, nullptr},
      {TESSERA_MEMORY_HOST, &scale, nullptr, nullptr}};
  TesseraResult results[2] = {};
  results[0].data = y.data();
  results[0].bytes = 120;
  EXPECT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(tesseraGetLastError(),
               "result 1 (f32) takes 4 bytes, but its buffer holds 0");
  for (float value : y)
    EXPECT_EQ(value, -1);
  results[0].keepOnDevice = 1;
  EXPECT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(results[0].buffer, nullptr);
}

TEST_F(LoadedProgram, ThreadsShareAnExecutableOfWhichSomeRunsFail) {
  open(checkedCopy, "main");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      // Results are kept for a while.
      std::deque<std::pair<TesseraBuffer *, float>> kept;
      auto check = [&](size_t most) {
        for (; kept.size() > most; kept.pop_front()) {
          wrong += countOthers(kept.front().first, kept.front().second) != 0;
          tesseraBufferDestroy(kept.front().first);
        }
      };
      for (int run = 0; run < 400; ++run) {
        auto value = static_cast<float>(number * 1000 + run);
        TesseraBuffer *buffer =
            runCheckedCopy(executable, run % 3 == 2 ? 65 : 8, value);
        if (buffer)
          kept.emplace_back(buffer, 2 * value);
        check(/*most=*/5);
      }
      check(/*most=*/0);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(LoadedProgram, SizesThatOverflowAreErrors) {
  // The result has n x n elements: 2^64 bytes for n = 2^31.
  open(R"(
func.func @main(%n: index, %x: memref<?x?xf32>) -> tensor<?x?xf32> {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%x : memref<?x?xf32>)
  %empty = tensor.empty(%n, %n) : tensor<?x?xf32>
  %full = linalg.fill ins(%one : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %full : tensor<?x?xf32>
})",
       "main");
  int64_t n = 0, sizes[] = {4, 4}, strides[] = {4, 1}, given[2] = {};
  float data[16] = {};
  TesseraMemory memory = TESSERA_MEMORY_HOST;
  auto run = [&](int64_t size, int64_t *argumentSizes) {
    n = size;
    TesseraArgument arguments[] = {
        {TESSERA_MEMORY_HOST, &n, nullptr, nullptr},
        {memory, data, argumentSizes,
         argumentSizes == sizes ? strides : nullptr}};
    TesseraResult result = {};
    result.keepOnDevice = 1;
    result.sizes = given;
    TesseraStatus status =
        tesseraExecutableRun(executable, arguments, 2, &result, 1, nullptr);
    EXPECT_EQ(result.buffer != nullptr, status == TESSERA_OK);
    size_t bytes = tesseraBufferGetSize(result.buffer);
    tesseraBufferDestroy(result.buffer);
    if (status == TESSERA_OK)
      return std::to_string(bytes) + " bytes";
    return std::string(tesseraStatusName(status)) + ": " +
           tesseraGetLastError();
  };
  EXPECT_EQ(run(3, sizes), "36 bytes");
  const std::string invalid = "TESSERA_INVALID_ARGUMENT: ",
                    allocation = invalid + "allocation of an array of ",
                    tooMany = ": it exceeds 2^63 - 1 bytes";
  EXPECT_EQ(run(int64_t(1) << 31, sizes),
            allocation + "2147483648x2147483648xf32 at test.mlir:5:12" +
                tooMany);
  EXPECT_EQ(run(int64_t(1) << 32, sizes),
            allocation + "4294967296x4294967296xf32 at test.mlir:5:12" +
                tooMany);
  EXPECT_EQ(run(-1, sizes),
            allocation + "-1x-1xf32 at test.mlir:5:12: the size of dimension 0 "
                         "is negative");
  EXPECT_EQ(run(int64_t(1) << 30, sizes).find("TESSERA_OUT_OF_MEMORY: "), 0u);
  // An argument's sizes, for memory of the host's and of the device's.
  for (TesseraMemory kind : {TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE}) {
    memory = kind;
    int64_t large[] = {int64_t(1) << 31, int64_t(1) << 31},
            larger[] = {INT64_MAX, INT64_MAX}, none[] = {INT64_MAX, 0};
    EXPECT_EQ(run(3, large),
              invalid + "argument 1 (memref<?x?xf32>): an array of "
                        "2147483648x2147483648 has more elements than memory "
                        "can hold");
    EXPECT_EQ(run(3, larger).find(invalid + "argument 1 "), 0u);
    EXPECT_EQ(run(3, none), "36 bytes");
  }
  // Buffers and copies.
  TesseraBuffer *buffer = nullptr;
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2 + 2, SIZE_MAX / 4})
    EXPECT_EQ(tesseraBufferCreate(device, bytes, &buffer),
              TESSERA_OUT_OF_MEMORY);
  EXPECT_EQ(buffer, nullptr);
  ASSERT_EQ(tesseraBufferCreate(device, 64, &buffer), TESSERA_OK);
  EXPECT_EQ(tesseraBufferWrite(buffer, 8, data, SIZE_MAX),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraBufferRead(buffer, SIZE_MAX, data, 64),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tesseraGetLastError()),
            "64 bytes from byte " + std::to_string(SIZE_MAX) +
                " exceed the buffer size of 64");
  tesseraBufferDestroy(buffer);
  EXPECT_EQ(run(5, sizes), "100 bytes");
}

//===----------------------------------------------------------------------===//
// Several at a time
//===----------------------------------------------------------------------===//

TEST(CAPI, KernelsOfOneNameAreKeptApart) {
  TesseraDevice *device = openCpu();
  TesseraProgram *first = compile(addConstant("1.0")),
                 *second = compile(addConstant("100.0"));
  TesseraExecutable *one = load(first, "add", device),
                    *hundred = load(second, "add", device);
  std::vector<float> x(30, 1), y(30);
  float scale = 1, twice = 0;
  TesseraArgument arguments[] = {
      {TESSERA_MEMORY_HOST, x.data(), nullptr, nullptr},
      {TESSERA_MEMORY_HOST, &scale, nullptr, nullptr}};
  TesseraResult results[2] = {};
  results[0].data = y.data();
  results[0].bytes = 120;
  results[1].data = &twice;
  results[1].bytes = 4;
  for (auto [executable, expected] :
       {std::pair<TesseraExecutable *, float>{one, 2},
        {hundred, 101},
        {one, 2}}) {
    ASSERT_EQ(
        tesseraExecutableRun(executable, arguments, 2, results, 2, nullptr),
        TESSERA_OK);
    EXPECT_EQ(y[29], expected);
  }
  tesseraExecutableDestroy(one);
  ASSERT_EQ(tesseraExecutableRun(hundred, arguments, 2, results, 2, nullptr),
            TESSERA_OK);
  EXPECT_EQ(y[0], 101);
  tesseraExecutableDestroy(hundred);
  tesseraProgramDestroy(first);
  tesseraProgramDestroy(second);
  tesseraDeviceClose(device);
}

TEST(CAPI, ThreadsCompileAndRunAtTheSameTime) {
  TesseraDevice *shared = openCpu();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 6; ++number)
    threads.emplace_back([&, number] {
      TesseraProgram *program = compile(multiply);
      TesseraDevice *own = number % 2 ? openCpu() : nullptr;
      TesseraExecutable *executable =
          load(program, "multiply", own ? own : shared);
      for (int run = 0; run < 10; ++run)
        wrong += runMultiply(executable, 17 + number, 19, 23 + run, run) != 0;
      // Errors are each thread's own.
      TesseraExecutable *none = nullptr;
      std::string name = "e" + std::to_string(number);
      wrong += tesseraExecutableCreate(program, name.c_str(), shared, &none) !=
               TESSERA_INVALID_ARGUMENT;
      wrong += std::string(tesseraGetLastError()).find("'" + name + "'") ==
               std::string::npos;
      tesseraExecutableDestroy(executable);
      tesseraProgramDestroy(program);
      tesseraDeviceClose(own);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  tesseraDeviceClose(shared);
}

//===----------------------------------------------------------------------===//
// Bundles and devices
//===----------------------------------------------------------------------===//

TEST(CAPI, AProgramIsSavedAndLoaded) {
  TesseraProgram *program = compile(multiply, "cpu,cuda:sm_80,hip:gfx942");
  EXPECT_EQ(std::string(tesseraProgramDescribe(program)).find("cpu:"), 0u);
  EXPECT_NE(std::string(tesseraProgramDescribe(program)).find("hip:gfx942"),
            std::string::npos);
  const void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(tesseraProgramSave(program, &bytes, &size), TESSERA_OK);
  std::string kept(static_cast<const char *>(bytes), size);
  tesseraProgramDestroy(program);
  TesseraProgram *loaded = nullptr;
  ASSERT_EQ(tesseraProgramLoad(kept.data(), kept.size(), &loaded), TESSERA_OK);
  TesseraDevice *device = openCpu();
  TesseraExecutable *executable = load(loaded, "multiply", device);
  EXPECT_EQ(runMultiply(executable, 40, 30, 20, 5), 0);
  tesseraExecutableDestroy(executable);
  tesseraProgramDestroy(loaded);

  kept[kept.size() / 2] ^= 1;
  EXPECT_EQ(tesseraProgramLoad(kept.data(), kept.size(), &loaded),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(loaded, nullptr);
  EXPECT_NE(std::string(tesseraGetLastError()).find("checksum"),
            std::string::npos);

  // Nothing for this device.
  TesseraProgram *other = compile(multiply, "hip:gfx942");
  TesseraExecutable *none = nullptr;
  EXPECT_EQ(tesseraExecutableCreate(other, "multiply", device, &none),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tesseraGetLastError()).find("it contains hip:gfx942"),
            std::string::npos);
  tesseraProgramDestroy(other);
  tesseraDeviceClose(device);
}

TEST(CAPI, DevicesAreListed) {
  TesseraDeviceInfo *devices = nullptr;
  size_t count = 0;
  ASSERT_EQ(tesseraDeviceList("cpu", &devices, &count), TESSERA_OK);
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(devices[0].target, "cpu");
  EXPECT_GT(devices[0].memoryBytes, 0u);
  TesseraDevice *device = openCpu();
  TesseraDeviceInfo info = {};
  info.structSize = sizeof(info);
  ASSERT_EQ(tesseraDeviceGetInfo(device, &info), TESSERA_OK);
  EXPECT_STREQ(info.chip, devices[0].chip);
  tesseraDeviceListFree(devices);
  tesseraDeviceClose(device);
  EXPECT_EQ(tesseraDeviceOpen("gpu", 0, &device), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(tesseraGetAbiVersion(), TESSERA_ABI_VERSION);
}

/// A matmul of fixed sizes.
const char *const staticMultiply = R"(
func.func @main(%a: tensor<16x8xf32>, %b: tensor<8x24xf32>, %c: tensor<16x24xf32>)
    -> tensor<16x24xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x24xf32>)
      outs(%c : tensor<16x24xf32>) -> tensor<16x24xf32>
  return %d : tensor<16x24xf32>
})";

/// Takes a text of the library.
std::string take(char *text) {
  std::string own = text ? text : "";
  tesseraStringFree(text);
  return own;
}

TEST(CAPI, ProgramsAreExplained) {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = "cuda:sm_90a";
  options.fileName = "test.mlir";
  char *json = nullptr;
  ASSERT_EQ(tesseraExplain(staticMultiply, std::strlen(staticMultiply),
                           &options, &json),
            TESSERA_OK)
      << tesseraGetLastError();
  std::string text = take(json);
  for (const char *part :
       {"\"explain_version\": 1", "\"chip\": \"sm_90a\"",
        "\"location\": \"test.mlir:4:8\"", "\"operations\": 6144",
        "\"matrix_unit\": false", "\"schedule\": \"#tessera.schedule<"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;

  options.target = "cuda:sm_90a,cpu";
  EXPECT_EQ(tesseraExplain(staticMultiply, std::strlen(staticMultiply),
                           &options, &json),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(json, nullptr);
  options.target = "cuda:sm_90a";
  options.requireMatrixUnit = 1;
  EXPECT_EQ(tesseraExplain(staticMultiply, std::strlen(staticMultiply),
                           &options, &json),
            TESSERA_COMPILE_ERROR);
  EXPECT_NE(std::string(tesseraGetLastError()).find("test.mlir:4:8"),
            std::string::npos)
      << tesseraGetLastError();
}

TEST(CAPI, ProgramsAreVerified) {
  int passed = 0;
  char *json = nullptr;
  ASSERT_EQ(tesseraVerify(staticMultiply, std::strlen(staticMultiply), nullptr,
                          nullptr, &passed, &json),
            TESSERA_OK)
      << tesseraGetLastError();
  EXPECT_EQ(passed, 1);
  std::string text = take(json);
  for (const char *part : {"\"target\": \"cpu\"", "\"passed\": true",
                           "\"checked\": 384", "\"mismatches\": 0"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;

  // Dynamic sizes come from the arguments, and a wrong number of these is an
  // error that names the fix.
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.entry = "multiply";
  const char *sizes[] = {"int:1:4x6", "random:2:6x5", "zeros:4x5", "zeros"};
  TesseraVerifyOptions verify = {};
  verify.structSize = sizeof(verify);
  verify.arguments = sizes;
  verify.numArguments = 3;
  EXPECT_EQ(tesseraVerify(multiply, std::strlen(multiply), &options, &verify,
                          &passed, nullptr),
            TESSERA_OK)
      << tesseraGetLastError();
  EXPECT_EQ(passed, 1);
  verify.numArguments = 4;
  EXPECT_EQ(tesseraVerify(multiply, std::strlen(multiply), &options, &verify,
                          &passed, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(passed, 0);
  EXPECT_NE(std::string(tesseraGetLastError()).find("takes 3 arguments"),
            std::string::npos)
      << tesseraGetLastError();

  // Results that depend on the last bits of a rounded value have no bound.
  const char *const open = R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xi32> {
  %c = arith.constant 1.1 : f32
  %d = arith.constant 1.3 : f32
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.map ins(%a : tensor<4xf32>) outs(%e : tensor<4xi32>) (%x: f32, %o: i32) {
    %p = arith.mulf %x, %c : f32
    %q = arith.mulf %p, %d : f32
    %i = arith.bitcast %q : f32 to i32
    linalg.yield %i : i32
  }
  return %r : tensor<4xi32>
})";
  const char *fill[] = {"fill:1.2"};
  verify.arguments = fill;
  verify.numArguments = 1;
  for (int accept : {0, 1}) {
    verify.acceptUnverified = accept;
    EXPECT_EQ(tesseraVerify(open, std::strlen(open), nullptr, &verify, &passed,
                            &json),
              TESSERA_OK)
        << tesseraGetLastError();
    EXPECT_EQ(passed, accept);
    EXPECT_NE(take(json).find("\"unverified\": 4"), std::string::npos);
  }
}

TEST(CAPI, NothingIsTakenForGranted) {
  int passed = 0;
  EXPECT_EQ(tesseraExplain("", 0, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraVerify(nullptr, 0, nullptr, nullptr, &passed, nullptr),
            TESSERA_INVALID_ARGUMENT);
  tesseraStringFree(nullptr);
  EXPECT_EQ(tesseraCompile(nullptr, 0, nullptr, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraDeviceOpen(nullptr, 0, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraExecutableRun(nullptr, nullptr, 0, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraProgramLoad("x", 1, nullptr), TESSERA_INVALID_ARGUMENT);
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraProgramLoad("x", 1, &program), TESSERA_INVALID_ARGUMENT);
  tesseraProgramDestroy(nullptr);
  tesseraDeviceClose(nullptr);
  tesseraBufferDestroy(nullptr);
  tesseraExecutableDestroy(nullptr);
  tesseraDeviceListFree(nullptr);
}

//===----------------------------------------------------------------------===//
// Memory of the caller's for results and temporaries
//===----------------------------------------------------------------------===//

namespace {

/// (x * x) * x: a temporary, and a result.
const char *const cubeSource = R"(
func.func @cube(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40x40xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<40x40xf32>) -> tensor<40x40xf32>
  %square = linalg.matmul ins(%x, %x : tensor<40x40xf32>, tensor<40x40xf32>) outs(%clear : tensor<40x40xf32>) -> tensor<40x40xf32>
  %cube = linalg.matmul ins(%square, %x : tensor<40x40xf32>, tensor<40x40xf32>) outs(%clear : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %cube : tensor<40x40xf32>
}
func.func @any(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%size, %size) : tensor<?x?xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %square = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%clear : tensor<?x?xf32>) -> tensor<?x?xf32>
  %cube = linalg.matmul ins(%square, %z : tensor<?x?xf32>, tensor<?x?xf32>) outs(%clear : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %cube : tensor<?x?xf32>
}
func.func @some(%x: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %first = memref.alloc(%size) : memref<?xf32>
  %second = memref.alloc(%size) : memref<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  return %first, %second : memref<?xf32>, memref<?xf32>
}
// Which memory is returned, and how much is allocated, depend on a value that
// no plan is made for.
func.func @either(%x: memref<16xf32>, %f: f32) -> (memref<16xf32>, memref<16xf32>) {
  %one = arith.constant 1.0 : f32
  %first = memref.alloc() : memref<16xf32>
  %second = memref.alloc() : memref<16xf32>
  linalg.fill ins(%one : f32) outs(%first : memref<16xf32>)
  linalg.fill ins(%f : f32) outs(%second : memref<16xf32>)
  %positive = arith.cmpf ogt, %f, %one : f32
  %a, %b = scf.if %positive -> (memref<16xf32>, memref<16xf32>) {
    %more = memref.alloc() : memref<400xf32>
    linalg.fill ins(%f : f32) outs(%more : memref<400xf32>)
    scf.yield %second, %first : memref<16xf32>, memref<16xf32>
  } else {
    scf.yield %first, %second : memref<16xf32>, memref<16xf32>
  }
  return %a, %b : memref<16xf32>, memref<16xf32>
})";

/// Memory of the host, which is that of the CPU. Fails on request.
struct CountingAllocator {
  std::vector<std::pair<void *, TesseraAllocation>> live;
  std::vector<TesseraAllocation> requests;
  std::vector<int64_t> lastSizes;
  int calls = 0, failAt = -1, releases = 0;
  TesseraAllocator self = {sizeof(TesseraAllocator), allocate, release, this};

  static void *allocate(void *context, const TesseraAllocation *request) {
    auto &own = *static_cast<CountingAllocator *>(context);
    EXPECT_GE(request->bytes, 1u);
    EXPECT_GE(request->alignment, 256u);
    own.requests.push_back(*request);
    own.lastSizes.assign(request->sizes, request->sizes + request->rank);
    if (own.calls++ == own.failAt)
      return nullptr;
    void *memory = nullptr;
    EXPECT_EQ(posix_memalign(&memory, request->alignment, request->bytes), 0);
    std::memset(memory, 0xFF, request->bytes);
    own.live.emplace_back(memory, *request);
    return memory;
  }
  static void release(void *context, void *memory,
                      const TesseraAllocation *request) {
    auto &own = *static_cast<CountingAllocator *>(context);
    ++own.releases;
    auto found =
        std::find_if(own.live.begin(), own.live.end(),
                     [&](const auto &entry) { return entry.first == memory; });
    ASSERT_NE(found, own.live.end());
    EXPECT_EQ(found->second.bytes, request->bytes);
    EXPECT_EQ(found->second.result, request->result);
    own.live.erase(found);
    std::free(memory);
  }
  void freeAll() {
    for (const auto &entry : live)
      std::free(entry.first);
    live.clear();
  }
  ~CountingAllocator() { freeAll(); }
};

class CallersMemory : public LoadedProgram {
protected:
  /// x, y and z of one size, or x alone.
  std::vector<float> makeInput(int64_t size, int seed) {
    std::vector<float> x(static_cast<size_t>(size * size));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 5) - 2;
    return x;
  }
  static std::vector<float> cubeOf(const std::vector<float> &x, int64_t size) {
    auto multiplied = [&](const std::vector<float> &a) {
      std::vector<float> c(x.size());
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j)
          for (int64_t k = 0; k < size; ++k)
            c[i * size + j] += a[i * size + k] * x[k * size + j];
      return c;
    };
    return multiplied(multiplied(x));
  }
  TesseraRun makeRun() {
    TesseraRun run = {};
    run.structSize = sizeof(run);
    run.allocator = &memory.self;
    return run;
  }
  CountingAllocator memory;
};

TEST_F(CallersMemory, LaunchModesAreCountedAndChecked) {
  open(cubeSource, "cube");
  std::vector<float> x = makeInput(40, 1);
  TesseraArgument argument = {TESSERA_MEMORY_DEVICE, x.data(), nullptr,
                              nullptr};
  TesseraResult result = {};
  result.keepOnDevice = 1;
  TesseraRun run = makeRun();
  TesseraLaunchStatistics statistics = {};
  EXPECT_EQ(tesseraExecutableGetLaunchStatistics(executable, &statistics),
            TESSERA_INVALID_ARGUMENT);
  statistics.structSize = sizeof(statistics);
  auto explain = [&] {
    EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, &result, 1, &run),
              TESSERA_OK)
        << tesseraGetLastError();
    EXPECT_EQ(tesseraExecutableGetLaunchStatistics(executable, &statistics),
              TESSERA_OK);
    return std::string(statistics.whyDirect);
  };
  run.launchMode = TESSERA_LAUNCH_DIRECT;
  EXPECT_EQ(explain(), "direct launches were asked for");
  // Never silently: the CPU has no graphs.
  run.launchMode = TESSERA_LAUNCH_GRAPH;
  EXPECT_EQ(explain(), "the device has no graphs");
  EXPECT_EQ(statistics.directRuns, 2u);
  EXPECT_EQ(statistics.graphRuns, 0u);
  run.launchMode = 3;
  EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, &result, 1, &run),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_STREQ(tesseraGetLastError(),
               "run->launchMode is none of TesseraLaunchMode");
  // A caller that was compiled before there were modes.
  run.structSize = offsetof(TesseraRun, launchMode);
  EXPECT_EQ(explain(), "the device has no graphs");
}

TEST_F(CallersMemory, AWorkspaceIsChecked) {
  open(cubeSource, "cube");
  size_t bytes = 0;
  ASSERT_EQ(tesseraExecutableWorkspaceSize(executable, nullptr, 0, &bytes),
            TESSERA_OK)
      << tesseraGetLastError();
  ASSERT_GE(bytes, 40 * 40 * sizeof(float));
  std::vector<float> x = makeInput(40, 1);
  TesseraArgument argument = {TESSERA_MEMORY_DEVICE, x.data(), nullptr,
                              nullptr};
  TesseraResult result = {};
  result.keepOnDevice = 1;
  TesseraRun run = makeRun();
  // With guards after it.
  void *block = nullptr;
  ASSERT_EQ(posix_memalign(&block, 256, bytes + 512), 0);
  std::memset(block, 0xAB, bytes + 512);
  run.workspace = block;
  run.workspaceBytes = bytes - 1;
  EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, &result, 1, &run),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tesseraGetLastError(),
            "a workspace of " + std::to_string(bytes - 1) +
                " bytes, but the run takes " + std::to_string(bytes));
  run.workspace = static_cast<char *>(block) + 128;
  run.workspaceBytes = bytes;
  EXPECT_EQ(tesseraExecutableRun(executable, &argument, 1, &result, 1, &run),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tesseraGetLastError()).find("not aligned to 256 bytes"),
            std::string::npos);
  EXPECT_EQ(memory.calls, 0);
  run.workspace = block;
  ASSERT_EQ(tesseraExecutableRun(executable, &argument, 1, &result, 1, &run),
            TESSERA_OK)
      << tesseraGetLastError();
  ASSERT_EQ(memory.calls, 1);
  EXPECT_EQ(memory.live[0].first, result.data);
  EXPECT_EQ(result.bytes, 40 * 40 * sizeof(float));
  EXPECT_EQ(result.buffer, nullptr);
  EXPECT_EQ(memory.lastSizes, (std::vector<int64_t>{40, 40}));
  EXPECT_EQ(std::memcmp(result.data, cubeOf(x, 40).data(), result.bytes), 0);
  const auto *guard = static_cast<unsigned char *>(block) + bytes;
  EXPECT_TRUE(std::all_of(guard, guard + 512,
                          [](unsigned char byte) { return byte == 0xAB; }));
  // The temporaries were there.
  const auto *used = static_cast<unsigned char *>(block);
  EXPECT_FALSE(std::all_of(used, used + bytes,
                           [](unsigned char byte) { return byte == 0xAB; }));
  std::free(block);
}

TEST_F(CallersMemory, SizesMayChange) {
  open(cubeSource, "any");
  TesseraRun run = makeRun();
  size_t last = 0;
  // More sizes than plans are kept, and then all of them again.
  for (int round = 0; round < 2; ++round)
    for (int64_t size = 1; size <= 70; ++size) {
      std::vector<float> x = makeInput(size, round);
      int64_t sizes[] = {size, size};
      TesseraArgument argument = {TESSERA_MEMORY_DEVICE, x.data(), sizes,
                                  nullptr};
      TesseraArgument arguments[] = {argument, argument, argument};
      TesseraArgument unknown = {TESSERA_MEMORY_DEVICE, nullptr, sizes,
                                 nullptr};
      TesseraArgument shapes[] = {unknown, unknown, unknown};
      size_t bytes = 0;
      ASSERT_EQ(tesseraExecutableWorkspaceSize(executable, shapes, 3, &bytes),
                TESSERA_OK)
          << tesseraGetLastError();
      if (round == 0) {
        EXPECT_GE(bytes, last);
        last = bytes;
      }
      TesseraResult result = {};
      result.keepOnDevice = 1;
      ASSERT_EQ(
          tesseraExecutableRun(executable, arguments, 3, &result, 1, &run),
          TESSERA_OK)
          << tesseraGetLastError();
      ASSERT_EQ(result.bytes, x.size() * sizeof(float));
      ASSERT_EQ(std::memcmp(result.data, cubeOf(x, size).data(), result.bytes),
                0)
          << size;
      memory.freeAll();
    }
  EXPECT_EQ(memory.releases, 0);
}

TEST_F(CallersMemory, FailuresGiveEverythingBack) {
  open(cubeSource, "some");
  std::vector<float> x(65, 1);
  TesseraResult results[2] = {};
  results[0].keepOnDevice = results[1].keepOnDevice = 1;
  auto runWith = [&](int64_t size, TesseraRun run) {
    TesseraArgument argument = {TESSERA_MEMORY_DEVICE, x.data(), &size,
                                nullptr};
    return tesseraExecutableRun(executable, &argument, 1, results, 2, &run);
  };
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(runWith(8, makeRun()), TESSERA_OK) << tesseraGetLastError();
    ASSERT_EQ(memory.live.size(), 2u);
    auto *kept = static_cast<float *>(results[0].data);
    std::fill(kept, kept + 8, 5.0f);
    // Host code that fails.
    EXPECT_EQ(runWith(65, makeRun()), TESSERA_INVALID_ARGUMENT);
    EXPECT_STREQ(tesseraGetLastError(),
                 "assertion failed: x has more than 64 elements");
    EXPECT_EQ(memory.live.size(), 2u);
    EXPECT_EQ(results[0].data, nullptr);
    // An allocator that fails, at either result.
    for (int at = 0; at < 2; ++at) {
      memory.failAt = memory.calls + at;
      int releases = memory.releases;
      EXPECT_EQ(runWith(8, makeRun()), TESSERA_OUT_OF_MEMORY);
      EXPECT_EQ(tesseraGetLastError(),
                "result " + std::to_string(at) +
                    ": the caller's allocator has no 32 bytes");
      EXPECT_EQ(memory.releases, releases + at);
      EXPECT_EQ(memory.live.size(), 2u);
    }
    memory.failAt = -1;
    // A result for the host that does not fit, after the run.
    results[1].keepOnDevice = 0;
    results[1].data = x.data();
    results[1].bytes = 4;
    EXPECT_EQ(runWith(8, makeRun()), TESSERA_INVALID_ARGUMENT);
    results[1].keepOnDevice = 1;
    EXPECT_EQ(memory.live.size(), 2u);
    EXPECT_TRUE(std::all_of(kept, kept + 8, [](float f) { return f == 5; }));
    // Without elements there is nothing to allocate.
    int calls = memory.calls;
    ASSERT_EQ(runWith(0, makeRun()), TESSERA_OK) << tesseraGetLastError();
    EXPECT_EQ(memory.calls, calls);
    EXPECT_EQ(results[0].data, nullptr);
    EXPECT_EQ(results[0].bytes, 0u);
    memory.freeAll();
  }
  TesseraRun incomplete = makeRun();
  memory.self.release = nullptr;
  EXPECT_EQ(runWith(8, incomplete), TESSERA_INVALID_ARGUMENT);
}

TEST_F(CallersMemory, ARunMayLeaveItsPlan) {
  open(cubeSource, "either");
  std::vector<float> x(16, 0);
  for (float value : {0.5f, 3.0f, 4.0f, -1.0f, 7.0f, 7.0f, 0.0f}) {
    TesseraArgument arguments[] = {
        {TESSERA_MEMORY_DEVICE, x.data(), nullptr, nullptr},
        {TESSERA_MEMORY_HOST, &value, nullptr, nullptr}};
    TesseraResult results[2] = {};
    results[0].keepOnDevice = results[1].keepOnDevice = 1;
    TesseraRun run = makeRun();
    ASSERT_EQ(tesseraExecutableRun(executable, arguments, 2, results, 2, &run),
              TESSERA_OK)
        << tesseraGetLastError();
    EXPECT_EQ(memory.live.size(), 2u);
    for (int index = 0; index < 2; ++index) {
      float expected = (index == 0) == (value > 1) ? value : 1;
      const auto *found = static_cast<float *>(results[index].data);
      EXPECT_TRUE(std::all_of(found, found + 16,
                              [&](float f) { return f == expected; }))
          << value << ", result " << index << ": " << found[0];
    }
    memory.freeAll();
  }
}

} // namespace
