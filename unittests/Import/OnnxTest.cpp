//===- OnnxTest.cpp - Valid, corrupt and hostile ONNX files ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/ONNX/Import.h"
#include "WireFormat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace mlir;
using namespace mlir::tessera::onnx;
using namespace ::tessera::wire;

namespace {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string makeValue(const std::string &name,
                      const std::vector<int64_t> &shape) {
  std::string dims;
  for (int64_t size : shape)
    dims += data(1, integer(1, static_cast<uint64_t>(size)));
  return data(1, name) + data(2, data(1, integer(1, 1) + data(2, dims)));
}
std::string makeTensor(const std::string &name,
                       const std::vector<int64_t> &shape,
                       const std::string &rest) {
  std::string bytes;
  for (int64_t size : shape)
    bytes += integer(1, static_cast<uint64_t>(size));
  return data(5, bytes + integer(2, 1) + data(8, name) + rest);
}
std::string makeNode(const std::string &op,
                     const std::vector<std::string> &inputs,
                     const std::string &output, const std::string &rest = "") {
  std::string bytes;
  for (const std::string &input : inputs)
    bytes += data(1, input);
  return data(1, bytes + data(2, output) + data(4, op) + rest);
}
std::string input(const std::string &name, const std::vector<int64_t> &shape) {
  return data(11, makeValue(name, shape));
}
std::string output(const std::string &name) { return data(12, data(1, name)); }
std::string makeModel(const std::string &graph, uint64_t opset = 17) {
  return integer(1, 8) + data(7, graph) + data(8, integer(2, opset));
}
std::string external(const std::string &key, const std::string &value) {
  return data(13, data(1, key) + data(2, value));
}

/// A model of one Relu.
std::string makeRelu() {
  return makeModel(input("x", {2, 3}) + makeNode("Relu", {"x"}, "y") +
                   output("y"));
}

//===----------------------------------------------------------------------===//
// The importer
//===----------------------------------------------------------------------===//

class OnnxTest : public ::testing::Test {
protected:
  /// Reads and imports; returns the error, or nothing.
  std::string import(const std::string &bytes, ImportOptions options = {}) {
    std::string error;
    auto owner = std::make_shared<std::string>(bytes);
    std::unique_ptr<Model> model = readModel(path, *owner, owner, error);
    if (!model) {
      EXPECT_FALSE(error.empty());
      return error;
    }
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str();
      return success();
    });
    module = importModel(*model, options, context);
    EXPECT_EQ(error.empty(), static_cast<bool>(module));
    return error;
  }

  /// Expects one error that contains the text.
  void expectError(const std::string &bytes, const std::string &text) {
    std::string error = import(bytes);
    EXPECT_NE(error.find(text), std::string::npos)
        << "expected: " << text << "\nfound: " << error;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string path = "model.onnx";
};

TEST_F(OnnxTest, Imports) { EXPECT_EQ(import(makeRelu()), ""); }

TEST_F(OnnxTest, EveryTruncationIsAnError) {
  std::string whole = makeRelu();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string error = import(whole.substr(0, size));
    // The last message, the operator sets, may be absent as a whole: the model
    // then uses opset 1.
    EXPECT_NE(error, "") << size;
  }
}

TEST_F(OnnxTest, EveryChangedByteIsAnErrorOrAModel) {
  std::string whole =
      makeModel(input("x", {1, 1, 4, 4}) +
                makeTensor("w", {1, 1, 2, 2}, data(9, std::string(16, '\0'))) +
                makeNode("Conv", {"x", "w"}, "y",
                         data(5, data(1, "pads") +
                                     data(8, varint(1) + varint(1) + varint(1) +
                                                 varint(1)) +
                                     integer(20, 7))) +
                makeNode("Relu", {"y"}, "z") + output("z"));
  EXPECT_EQ(import(whole), "");
  for (size_t i = 0; i < whole.size(); ++i)
    for (int flip : {0x01, 0x02, 0x08, 0x40, 0x80, 0xff}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      (void)import(changed); // It expects an error or a module.
    }
}

TEST_F(OnnxTest, LengthBeyondTheFile) {
  std::string bytes = integer(1, 8) + varint(7 << 3 | 2) + varint(1ull << 62);
  expectError(bytes, "a length exceeds its message");
  expectError(integer(1, 8) + std::string(11, '\xff'), "invalid field tag");
  expectError(integer(1, 8) + varint(7 << 3 | 3), "unknown wire type");
  expectError(integer(1, 8), "does not contain a graph");
}

TEST_F(OnnxTest, Dimensions) {
  expectError(makeModel(input("x", {-5})), "sizes must not be negative");
  expectError(makeModel(makeTensor("w", {-1}, "")), "sizes must not be "
                                                    "negative");
  expectError(makeModel(makeTensor("w", {1ll << 40, 1ll << 40}, "")),
              "more than 2^64 elements");
  expectError(makeModel(makeTensor("w", {1ll << 61}, "")),
              "more than 2^62 bytes");
  expectError(makeModel(makeTensor("w", {1000}, data(9, "1234"))),
              "has 4 bytes of data, but its shape needs 4000");
  expectError(makeModel(input("x", {1ll << 62, 1ll << 62}) +
                        makeNode("Relu", {"x"}, "y") + output("y")),
              "more than 2^44 elements");
}

TEST_F(OnnxTest, Names) {
  std::string x = input("x", {2});
  expectError(makeModel(x + makeNode("Relu", {"y"}, "y") + output("y")),
              "form a cycle or are not sorted");
  expectError(makeModel(x + makeNode("Relu", {"z"}, "y") +
                        makeNode("Relu", {"y"}, "z") + output("y")),
              "form a cycle or are not sorted");
  expectError(makeModel(x + makeNode("Relu", {"q"}, "y") + output("y")),
              "node of 'y' (Relu) uses 'q', which is not an input");
  expectError(makeModel(x + x), "two inputs have the name 'x'");
  std::string w = makeTensor("w", {1}, data(9, "1234"));
  expectError(makeModel(w + w), "two initializers have the name 'w'");
  expectError(makeModel(x + makeNode("Relu", {"x"}, "y") +
                        makeNode("Abs", {"x"}, "y") + output("y")),
              "both compute 'y'");
  expectError(makeModel(x + makeNode("Relu", {"x"}, "x") + output("x")),
              "which is an input or an initializer");
  expectError(makeModel(x + output("y")), "no node computes the output 'y'");
}

TEST_F(OnnxTest, NestedGraphs) {
  // A branch in a branch, and so on: 32 are read.
  auto makeNested = [](unsigned depth) {
    std::string graph = makeNode("Identity", {"x"}, "y") + output("y");
    for (unsigned i = 0; i < depth; ++i) {
      std::string branches;
      for (const char *name : {"then_branch", "else_branch"})
        branches += data(5, data(1, name) + data(6, graph) + integer(20, 5));
      graph = makeNode("If", {"c"}, "y", branches) + output("y");
    }
    return makeModel(input("x", {2}) +
                     makeTensor("c", {}, data(9, std::string(4, '\0'))) +
                     graph);
  };
  expectError(makeNested(1), "the condition must be one bool");
  expectError(makeNested(12), "the condition must be one bool");
  // Each level has both branches; so only one of them may be deep.
  std::string graph = makeNode("Identity", {"x"}, "y") + output("y");
  for (unsigned i = 0; i < 33; ++i)
    graph = makeNode("If", {"x"}, "y",
                     data(5, data(1, "then_branch") + data(6, graph) +
                                 integer(20, 5))) +
            output("y");
  expectError(makeModel(input("x", {2}) + graph),
              "graphs in attributes are nested more than 32 deep");
  // Loops in loops, each of which is short.
  auto close = [](const std::string &nodes) {
    return nodes + makeNode("Identity", {"c"}, "c2") + output("c2") +
           output("s2") + input("i", {}) + input("c", {}) + input("s", {});
  };
  auto makeLoop = [](const std::string &body, const std::string &state,
                     const std::string &result) {
    return makeNode("Loop", {"n", "", state}, result,
                    data(5, data(1, "body") + data(6, body) + integer(20, 5)));
  };
  std::string body = close(makeNode("Identity", {"s"}, "s2"));
  for (unsigned i = 0; i < 8; ++i)
    body = close(makeLoop(body, "s", "s2"));
  std::string count =
      data(5, integer(2, 7) + data(8, "n") +
                  data(9, std::string("\x14") + std::string(7, '\0')));
  expectError(makeModel(input("x", {2}) + count + makeLoop(body, "x", "y") +
                        output("y")),
              "the unrolled loops have more than");
  expectError(
      makeModel(input("x", {2}) + makeNode("If", {"x"}, "y") + output("y")),
      "a branch is missing");
  expectError(makeModel(input("x", {2}) + makeNode("Loop", {"", ""}, "y") +
                        output("y")),
              "the body is missing");
}

TEST_F(OnnxTest, Operators) {
  std::string x = input("x", {2});
  expectError(makeModel(x + makeNode("Foo", {"x"}, "y") +
                        makeNode("Bar", {"y"}, "z", data(3, "second")) +
                        makeNode("Unused", {"x"}, "q") + output("z")),
              "2 nodes have operators that cannot be imported:\n"
              "  node of 'y' (Foo) is not supported\n"
              "  node 'second' (Bar) is not supported");
  expectError(makeModel(x + makeNode("Gelu", {"x"}, "y") + output("y"), 19),
              "requires opset 20");
  expectError(makeModel(x, 6), "operator set 6");
  expectError(makeModel(x, 99), "operator set 99");
  expectError(makeModel(x + makeNode("Add", {"x"}, "y") + output("y")),
              "input 1 is missing");
  expectError(makeModel(x + makeNode("Relu", {"x", "x"}, "y") + output("y")),
              "at most 1 are expected");
  expectError(makeModel(x + input("w", {3}) + makeNode("Add", {"x", "w"}, "y") +
                        output("y")),
              "cannot be broadcast");
  expectError(makeModel(x +
                        makeNode("LeakyRelu", {"x"}, "y",
                                 data(5, data(1, "alpha") + integer(3, 1) +
                                             integer(20, 2))) +
                        output("y")),
              "attribute 'alpha' is not of the type");
}

TEST_F(OnnxTest, DeclaredOutput) {
  expectError(makeModel(input("x", {2, 3}) + makeNode("Relu", {"x"}, "y") +
                        data(12, makeValue("y", {2, 4}))),
              "declared differently");
}

TEST_F(OnnxTest, WeightsStayInTheFileWhereTheyAreAligned) {
  unsigned shared = 0, copied = 0;
  for (size_t length = 1; length <= 4; ++length) {
    auto owner = std::make_shared<std::string>(makeModel(
        makeTensor(std::string(length, 'w'), {64},
                   data(9, std::string(256, 'x'))) +
        input("x", {64}) +
        makeNode("Add", {"x", std::string(length, 'w')}, "y") + output("y")));
    std::string error;
    std::unique_ptr<Model> model = readModel(path, *owner, owner, error);
    ASSERT_TRUE(model) << error;
    module = importModel(*model, {}, context);
    ASSERT_TRUE(module);
    const char *bytes = model->graph.initializers[0].bytes.data();
    bool isAligned = reinterpret_cast<uintptr_t>(bytes) % sizeof(float) == 0;
    unsigned found = 0;
    module->walk([&](arith::ConstantOp op) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      if (!resource)
        return;
      ++found;
      const char *blob = resource.getRawHandle().getBlob()->getData().data();
      EXPECT_EQ(blob == bytes, isAligned);
      ++(blob == bytes ? shared : copied);
    });
    EXPECT_EQ(found, 1u);
  }
  EXPECT_EQ(shared, 1u);
  EXPECT_EQ(copied, 3u);
}

TEST_F(OnnxTest, Batch) {
  ImportOptions options;
  options.batch = 8;
  std::string open =
      data(11, data(1, "x") +
                   data(2, data(1, integer(1, 1) +
                                       data(2, data(1, data(2, "N")) +
                                                   data(1, integer(1, 3)))))) +
      makeNode("Relu", {"x"}, "y") + output("y");
  EXPECT_EQ(import(makeModel(open), options), "");
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_NE(text.find("tensor<8x3xf32>"), std::string::npos);
  EXPECT_EQ(import(makeModel(open)), "");
  text.clear();
  llvm::raw_string_ostream(text) << *module;
  EXPECT_NE(text.find("tensor<?x3xf32>"), std::string::npos);
  EXPECT_NE(import(makeRelu(), options)
                .find("no input of the model has an "
                      "open first dimension"),
            std::string::npos);
}

TEST_F(OnnxTest, ExternalData) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> folder;
  ASSERT_FALSE(fs::createUniqueDirectory("onnx-test", folder));
  auto join = [&](const std::string &name) {
    llvm::SmallString<128> joined(folder);
    llvm::sys::path::append(joined, name);
    return std::string(joined);
  };
  ASSERT_FALSE(fs::create_directory(join("model")));
  std::ofstream(join("outside.bin")) << std::string(64, 'x');
  std::ofstream(join("model/inside.bin")) << std::string(64, 'x');
  ASSERT_FALSE(fs::create_link(join("outside.bin"), join("model/link.bin")));
  path = join("model/model.onnx");
  auto make = [&](const std::string &location, const std::string &rest) {
    return makeModel(
        makeTensor("w", {4},
                   external("location", location) + rest + integer(14, 1)) +
        makeNode("Relu", {"w"}, "y") + output("y"));
  };
  EXPECT_EQ(import(make("inside.bin", external("offset", "48"))), "");
  expectError(make("inside.bin", external("offset", "52")),
              "ends at byte 64, but the tensor needs 16 bytes from byte 52");
  expectError(make("inside.bin", external("offset", "18446744073709551615")),
              "ends at byte 64");
  expectError(make("inside.bin", external("offset", "-1")),
              "is not a number of bytes");
  expectError(make("inside.bin", external("length", "12")),
              "has the length 12, but the tensor's shape needs 16");
  expectError(make("../outside.bin", ""), "is not a relative path below");
  expectError(make("a/../../outside.bin", ""), "is not a relative path below");
  expectError(make(join("outside.bin"), ""), "is not a relative path below");
  expectError(make("link.bin", ""), "through a symbolic link");
  expectError(make("absent.bin", ""), "cannot be read");
  expectError(make("", ""), "is not a file name");
  expectError(make(".", ""), "is not");
  EXPECT_FALSE(fs::remove_directories(folder));
}

} // namespace
