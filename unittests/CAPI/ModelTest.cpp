//===- ModelTest.cpp - ONNX models through the C API ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Import/WireFormat.h"
#include "tessera-c/Compiler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tessera::wire;

namespace {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

constexpr uint64_t uint8Type = 2, uint64Type = 13;

/// An input or output of the shape [rows, 3].
std::string makeValue(uint32_t field, const std::string &name, uint64_t type) {
  std::string dims = data(1, data(2, "rows")) + data(1, integer(1, 3));
  return data(field, data(1, name) +
                         data(2, data(1, integer(1, type) + data(2, dims))));
}

/// y = x + x, and `more` of the graph.
std::string makeSum(uint64_t type, const std::string &more = "") {
  std::string node =
      data(1, data(1, "x") + data(1, "x") + data(2, "y") + data(4, "Add"));
  return integer(1, 8) +
         data(7, makeValue(11, "x", type) + node + more +
                     makeValue(12, "y", type)) +
         data(8, integer(2, 17));
}

/// A tensor whose data is in the file `name`.
std::string makeExternal(const std::string &name) {
  return data(5, integer(1, 1) + integer(2, 1) + data(8, "w") +
                     data(13, data(1, "location") + data(2, name)) +
                     integer(14, 1));
}

TesseraCompileOptions makeOptions() {
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  return options;
}

/// Compiles bytes; the error's text, or nothing.
std::string compile(const std::string &bytes,
                    const TesseraCompileOptions &options,
                    TesseraStatus expected = TESSERA_COMPILE_ERROR) {
  TesseraProgram *program = nullptr;
  TesseraStatus status =
      tesseraCompile(bytes.data(), bytes.size(), &options, &program);
  EXPECT_EQ(status == TESSERA_OK, program != nullptr);
  tesseraProgramDestroy(program);
  if (status == TESSERA_OK)
    return "";
  EXPECT_EQ(status, expected) << tesseraGetLastError();
  return tesseraGetLastError();
}

/// Expects a part of a text.
void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(Model, NamesTypesAndSymbolsAreTheModels) {
  for (bool isSaved : {false, true}) {
    TesseraProgram *program = nullptr;
    std::string bytes = makeSum(uint8Type);
    ASSERT_EQ(tesseraCompile(bytes.data(), bytes.size(), nullptr, &program),
              TESSERA_OK)
        << tesseraGetLastError();
    if (isSaved) {
      const void *bundle = nullptr;
      size_t size = 0;
      ASSERT_EQ(tesseraProgramSave(program, &bundle, &size), TESSERA_OK);
      TesseraProgram *loaded = nullptr;
      ASSERT_EQ(tesseraProgramLoad(bundle, size, &loaded), TESSERA_OK);
      tesseraProgramDestroy(program);
      program = loaded;
    }
    TesseraSlotInfo info = {};
    info.structSize = sizeof(info);
    ASSERT_EQ(tesseraProgramGetArgument(program, "main", 0, &info), TESSERA_OK);
    EXPECT_EQ(info.element, TESSERA_U8);
    EXPECT_STREQ(info.type, "tensor<?x3xi8>");
    EXPECT_STREQ(info.name, "x");
    ASSERT_EQ(info.rank, 2u);
    ASSERT_NE(info.symbols, nullptr);
    EXPECT_STREQ(info.symbols[0], "rows");
    EXPECT_STREQ(info.symbols[1], "");
    ASSERT_EQ(tesseraProgramGetResult(program, "main", 0, &info), TESSERA_OK);
    EXPECT_STREQ(info.name, "y");
    EXPECT_EQ(info.element, TESSERA_U8);
    ASSERT_NE(info.symbols, nullptr);
    EXPECT_STREQ(info.symbols[0], "rows");

    TesseraDevice *device = nullptr;
    TesseraExecutable *executable = nullptr;
    ASSERT_EQ(tesseraDeviceOpen("cpu", 0, &device), TESSERA_OK);
    ASSERT_EQ(tesseraExecutableCreate(program, "main", device, &executable),
              TESSERA_OK);
    uint8_t x[6] = {1, 2, 3, 100, 120, 127}, y[6] = {};
    int64_t sizes[] = {2, 3};
    TesseraArgument argument = {TESSERA_MEMORY_HOST, x, sizes, nullptr};
    TesseraResult result = {};
    result.data = y;
    result.bytes = sizeof(y);
    ASSERT_EQ(
        tesseraExecutableRun(executable, &argument, 1, &result, 1, nullptr),
        TESSERA_OK)
        << tesseraGetLastError();
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(y[i], 2 * x[i]);
    tesseraExecutableDestroy(executable);
    tesseraProgramDestroy(program);
    tesseraDeviceClose(device);
  }
}

TEST(Model, TheBatchMakesADimensionStatic) {
  TesseraCompileOptions options = makeOptions();
  options.batch = 4;
  std::string bytes = makeSum(uint64Type);
  TesseraProgram *program = nullptr;
  ASSERT_EQ(tesseraCompile(bytes.data(), bytes.size(), &options, &program),
            TESSERA_OK);
  TesseraSlotInfo info = {};
  info.structSize = sizeof(info);
  ASSERT_EQ(tesseraProgramGetArgument(program, "main", 0, &info), TESSERA_OK);
  EXPECT_EQ(info.element, TESSERA_U64);
  EXPECT_EQ(info.sizes[0], 4);
  EXPECT_EQ(info.symbols, nullptr);
  tesseraProgramDestroy(program);

  options.batch = -4;
  expectPart(compile(bytes, options, TESSERA_INVALID_ARGUMENT),
             "batch: -4 is not a size");
  options.batch = 4;
  expectPart(compile("module {}", options, TESSERA_INVALID_ARGUMENT),
             "the source is MLIR");
}

TEST(Model, TheKindOfTheSourceCanBeStated) {
  TesseraCompileOptions options = makeOptions();
  std::string bytes = makeSum(uint8Type);
  EXPECT_EQ(compile(bytes, options), "");
  options.sourceKind = TESSERA_SOURCE_MLIR;
  EXPECT_NE(compile(bytes, options), "");
  options.sourceKind = TESSERA_SOURCE_ONNX;
  expectPart(compile("module {}", options), "<model>: not a valid ONNX model");
  options.sourceKind = 3;
  expectPart(compile(bytes, options, TESSERA_INVALID_ARGUMENT),
             "sourceKind: 3 is not a value of TesseraSourceKind");
}

TEST(Model, HostileBytesAreErrors) {
  TesseraCompileOptions options = makeOptions();
  options.sourceKind = TESSERA_SOURCE_ONNX;
  std::string bytes = makeSum(uint8Type);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(compile(bytes.substr(0, length), options), "") << length;
  // The position of the node's operator: it does not exist.
  std::string unknown = bytes;
  unknown.replace(unknown.find("Add"), 3, "Adx");
  std::string text = compile(unknown, options);
  expectPart(text, "node of 'y' (Adx) is not supported");
  expectPart(text, "<model>:");
}

TEST(Model, ExternalDataNeedsAFile) {
  char folder[] = "/tmp/tessera-model-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string file = std::string(folder) + "/m.onnx",
              weights = std::string(folder) + "/w.bin";
  std::string bytes = makeSum(uint8Type, makeExternal("w.bin"));
  std::ofstream(weights, std::ios::binary) << "0123";
  std::ofstream(file, std::ios::binary) << bytes;

  TesseraCompileOptions options = makeOptions();
  expectPart(compile(bytes, options),
             "its external data 'w.bin' has no folder");
  options.fileName = file.c_str();
  EXPECT_EQ(compile(bytes, options), "");

  options.fileName = "ignored";
  TesseraProgram *program = nullptr;
  EXPECT_EQ(tesseraCompileFile(file.c_str(), &options, &program), TESSERA_OK)
      << tesseraGetLastError();
  tesseraProgramDestroy(program);
  ASSERT_EQ(truncate(weights.c_str(), 3), 0);
  EXPECT_EQ(tesseraCompileFile(file.c_str(), &options, &program),
            TESSERA_COMPILE_ERROR);
  expectPart(tesseraGetLastError(), file + ": tensor 'w'");
  EXPECT_EQ(program, nullptr);
  unlink(weights.c_str());
  unlink(file.c_str());
  EXPECT_EQ(tesseraCompileFile(file.c_str(), &options, &program),
            TESSERA_INVALID_ARGUMENT);
  expectPart(tesseraGetLastError(), "cannot read '" + file + "': No such file");

  std::string module = std::string(folder) + "/m.mlir";
  std::ofstream(module) << "func.func @f(%x: f32) -> f32 { return %x : f32 }";
  EXPECT_EQ(tesseraCompileFile(module.c_str(), nullptr, &program), TESSERA_OK);
  tesseraProgramDestroy(program);
  unlink(module.c_str());
  EXPECT_EQ(tesseraCompileFile(folder, nullptr, &program),
            TESSERA_INVALID_ARGUMENT);
  rmdir(folder);
  EXPECT_EQ(tesseraCompileFile(nullptr, nullptr, &program),
            TESSERA_INVALID_ARGUMENT);
}

TEST(Model, IsExplainedAndVerified) {
  std::string bytes = makeSum(uint8Type);
  TesseraCompileOptions options = makeOptions();
  options.target = "cpu";
  options.batch = 2;
  char *json = nullptr;
  ASSERT_EQ(tesseraExplain(bytes.data(), bytes.size(), &options, &json),
            TESSERA_OK)
      << tesseraGetLastError();
  expectPart(json, "\"target\": \"cpu\"");
  tesseraStringFree(json);
  int passed = 0;
  ASSERT_EQ(tesseraVerify(bytes.data(), bytes.size(), &options, nullptr,
                          &passed, nullptr),
            TESSERA_OK)
      << tesseraGetLastError();
  EXPECT_TRUE(passed);
}

} // namespace
