//===- Model.h - The contents of an .onnx file ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_MODEL_H
#define IMPORT_ONNX_MODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::onnx {

/// Element types, with the numbers of TensorProto.DataType.
enum class DataType : int32_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};

/// Bits of an element in a file; 0 for types that are not supported.
unsigned getBitWidth(DataType type);
/// Bytes of an element of TensorData; 0 for types that are not supported.
unsigned getByteWidth(DataType type);
/// "float32", "int64"; "type 15" for types that are not supported.
std::string getName(DataType type);

/// A tensor of known contents. The bytes are in C order, little endian, and
/// not aligned; they are those of the mapped file where its encoding permits.
/// Elements of fewer than 8 bits have a byte each: integers with a sign are
/// extended by it, the upper bits of others are zero.
struct TensorData {
  std::string name;
  DataType type = DataType::Undefined;
  llvm::SmallVector<int64_t> shape;
  llvm::StringRef bytes;
  /// Keeps `bytes` alive.
  std::shared_ptr<const void> owner;
};

struct Graph;

struct NodeAttribute {
  enum class Kind {
    None,
    Float,
    Int,
    String,
    Tensor,
    Floats,
    Ints,
    Strings,
    Graph,
    Other, // Types, sparse tensors, lists of graphs or tensors.
  };
  std::string name;
  Kind kind = Kind::None;
  float number = 0;
  int64_t integer = 0;
  std::string text;
  std::shared_ptr<TensorData> tensor;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::shared_ptr<Graph> graph;
  /// The attribute of a function whose value this one has; empty elsewhere.
  std::string reference;
};

struct Node {
  std::string name, op, domain;
  /// An empty name is an optional input or output that is absent.
  std::vector<std::string> inputs, outputs;
  std::vector<NodeAttribute> attributes;
  /// Values of the surrounding graphs that the graphs in attributes use.
  std::vector<std::string> captured;
  /// The version of the operator set, of a node of a function that uses another
  /// one than the model; 0 for the model's.
  int64_t opset = 0;
  /// The node's line in Model::listing, from 1.
  unsigned line = 0;

  /// "node 'conv1' (Conv)", for messages.
  std::string describe() const;
};

/// An input or output of the graph.
struct ValueInfo {
  std::string name;
  DataType type = DataType::Undefined;
  bool hasShape = false;
  /// A negative size is unknown; its symbol may be empty.
  llvm::SmallVector<int64_t> shape;
  std::vector<std::string> symbols;
  unsigned line = 0;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

/// An operator that the model defines by nodes. Reading a model replaces its
/// calls by its nodes.
struct Function {
  std::string domain, name;
  std::vector<std::string> inputs, outputs;
  /// Default values of attributes; others have none.
  std::vector<NodeAttribute> defaults;
  std::vector<Node> nodes;
  /// The version of the default operator set; 0 if it is not stated.
  int64_t opset = 0;
};

struct Model {
  /// As the caller named it; messages begin with it.
  std::string file;
  int64_t irVersion = 0;
  /// The version of the default operator set.
  int64_t opset = 0;
  Graph graph;
  /// One line for each input, node and output, in plain text: diagnostics show
  /// its lines. The first line has a hash of all files that were read.
  std::string listing;
};

/// True for the name or the first bytes of an ONNX file. Its format has no
/// magic number, so this tests the first fields of a ModelProto.
bool isModelFile(llvm::StringRef path, llvm::StringRef bytes);

/// Reads the model in `path` and the external data that it names, which must be
/// below the model's folder. Files are memory-mapped: they must not shrink
/// while the model or a module of it exists. Returns null after an error, with
/// a message in `error` that starts with the file's name.
std::unique_ptr<Model> readModel(llvm::StringRef path, std::string &error);

/// The same for bytes in memory. External data is looked for in the folder of
/// `path`; an empty path is a model without a file, whose external data is an
/// error. `owner` keeps the bytes alive.
std::unique_ptr<Model> readModel(llvm::StringRef path, llvm::StringRef bytes,
                                 std::shared_ptr<const void> owner,
                                 std::string &error);

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_MODEL_H
