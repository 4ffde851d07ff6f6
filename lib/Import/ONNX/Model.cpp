//===- Model.cpp - Reads an .onnx file ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Field numbers are those of onnx.proto, which only grows. Unknown fields are
// skipped. Graphs in attributes (If, Loop) are read to a limited depth.
//
//===----------------------------------------------------------------------===//

#include "Import/ONNX/Model.h"

#include "InlineFunctions.h"
#include "WireReader.h"

#include "Hashing/ContentHash.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir::tessera::onnx;
using llvm::SmallString;
using llvm::StringRef;
using llvm::Twine;
using mlir::tessera::hashContents;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "tensors of ONNX are little endian");

unsigned mlir::tessera::onnx::getBitWidth(DataType type) {
  switch (type) {
  case DataType::U2:
  case DataType::I2:
    return 2;
  case DataType::U4:
  case DataType::I4:
  case DataType::F4E2M1:
    return 4;
  default:
    return 8 * getByteWidth(type);
  }
}

unsigned mlir::tessera::onnx::getByteWidth(DataType type) {
  switch (type) {
  case DataType::U2:
  case DataType::I2:
  case DataType::U4:
  case DataType::I4:
  case DataType::F4E2M1:
  case DataType::F8E8M0:
  case DataType::U8:
  case DataType::I8:
  case DataType::Bool:
  case DataType::F8E4M3FN:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ:
    return 1;
  case DataType::U16:
  case DataType::I16:
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::F32:
  case DataType::I32:
  case DataType::U32:
    return 4;
  case DataType::F64:
  case DataType::I64:
  case DataType::U64:
    return 8;
  default:
    return 0;
  }
}

std::string mlir::tessera::onnx::getName(DataType type) {
  switch (type) {
  case DataType::F32:
    return "float32";
  case DataType::U8:
    return "uint8";
  case DataType::I8:
    return "int8";
  case DataType::U16:
    return "uint16";
  case DataType::I16:
    return "int16";
  case DataType::I32:
    return "int32";
  case DataType::I64:
    return "int64";
  case DataType::String:
    return "string";
  case DataType::Bool:
    return "bool";
  case DataType::F16:
    return "float16";
  case DataType::F64:
    return "float64";
  case DataType::U32:
    return "uint32";
  case DataType::U64:
    return "uint64";
  case DataType::BF16:
    return "bfloat16";
  case DataType::F8E4M3FN:
    return "float8e4m3fn";
  case DataType::F8E4M3FNUZ:
    return "float8e4m3fnuz";
  case DataType::F8E5M2:
    return "float8e5m2";
  case DataType::F8E5M2FNUZ:
    return "float8e5m2fnuz";
  case DataType::U4:
    return "uint4";
  case DataType::I4:
    return "int4";
  case DataType::F4E2M1:
    return "float4e2m1";
  case DataType::F8E8M0:
    return "float8e8m0";
  case DataType::U2:
    return "uint2";
  case DataType::I2:
    return "int2";
  default:
    return "type " + std::to_string(static_cast<int32_t>(type));
  }
}

std::string mlir::tessera::onnx::quote(StringRef name) {
  constexpr size_t longest = 80;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '\'';
  llvm::printEscapedString(name.take_front(longest), os);
  os << (name.size() > longest ? "...'" : "'");
  return text;
}

std::string Node::describe() const {
  std::string label = !name.empty()      ? quote(name)
                      : !outputs.empty() ? "of " + quote(outputs.front())
                                         : "without a name";
  return "node " + label + " (" +
         (domain.empty() || domain == "ai.onnx" ? op : domain + "." + op) + ")";
}

/// Graphs in attributes of nodes of such graphs: more would exhaust the stack.
static constexpr unsigned mostNested = 32;

namespace {

/// A file that is mapped, or read where it is small.
using File = std::shared_ptr<llvm::MemoryBuffer>;

class ModelReader {
public:
  ModelReader(StringRef path, StringRef bytes,
              std::shared_ptr<const void> owner)
      : model(std::make_unique<Model>()), whole(bytes),
        owner(std::move(owner)) {
    model->file = path.empty() ? "<model>" : path.str();
    hasFolder = !path.empty();
  }

  std::unique_ptr<Model> read(std::string &message) {
    if (readModel() && writeListing())
      return std::move(model);
    message = std::move(error);
    return nullptr;
  }

private:
  bool fail(const Twine &message) {
    if (error.empty())
      error = (model->file + ": " + message).str();
    return false;
  }
  bool failAt(const char *position, const Twine &message) {
    auto offset = position - whole.data();
    return fail(message + " (at byte " + Twine(offset) + " of " +
                Twine(whole.size()) + ")");
  }

  /// Calls `read` for each field of a message.
  template <typename Read>
  bool readFields(StringRef bytes, const char *message, Read read) {
    WireReader reader(bytes);
    WireField field;
    while (true) {
      const char *begin = reader.getPosition();
      if (!reader.next(field))
        break;
      if (!read(field))
        return failAt(begin, "malformed field " + Twine(field.number) + " of " +
                                 message);
    }
    if (reader.getError())
      return failAt(reader.getPosition(), Twine("not a valid ONNX model: ") +
                                              reader.getError() + " in " +
                                              message);
    return true;
  }

  static bool readText(const WireField &field, std::string &text) {
    if (field.kind != WireField::Bytes)
      return false;
    text = field.bytes.str();
    return true;
  }
  static bool readInteger(const WireField &field, int64_t &value) {
    value = static_cast<int64_t>(field.value);
    return field.kind == WireField::Varint;
  }
  static bool readType(const WireField &field, DataType &type) {
    type = static_cast<DataType>(static_cast<int32_t>(field.value));
    return field.kind == WireField::Varint;
  }

  bool readModel() {
    StringRef graph;
    bool hasGraph = false, hasOpset = false;
    if (!readFields(whole, "ModelProto", [&](const WireField &field) {
          switch (field.number) {
          case 1:
            return readInteger(field, model->irVersion);
          case 7:
            hasGraph = true;
            graph = field.bytes;
            return field.kind == WireField::Bytes;
          case 8:
            return field.kind == WireField::Bytes &&
                   readOpset(field.bytes, hasOpset, model->opset);
          case 25:
            return field.kind == WireField::Bytes &&
                   readFunction(field.bytes, functions.emplace_back());
          default:
            return true;
          }
        }))
      return false;
    if (!hasGraph)
      return fail("not an ONNX model: it does not contain a graph");
    if (!hasOpset)
      model->opset = 1;
    if (!readGraph(graph, model->graph))
      return false;
    std::string why;
    if (!inlineFunctions(*model, functions, why))
      return fail(why);
    return checkNames(model->graph, nullptr);
  }

  bool readFunction(StringRef bytes, Function &function) {
    return readFields(bytes, "FunctionProto", [&](const WireField &field) {
      bool isMessage = field.kind == WireField::Bytes;
      switch (field.number) {
      case 1:
        return readText(field, function.name);
      case 4:
        return readText(field, function.inputs.emplace_back());
      case 5:
        return readText(field, function.outputs.emplace_back());
      case 7:
        return isMessage &&
               readNode(field.bytes, function.nodes.emplace_back());
      case 9: {
        bool isDefault = false;
        return isMessage && readOpset(field.bytes, isDefault, function.opset);
      }
      case 10:
        return readText(field, function.domain);
      case 11:
        return isMessage &&
               readAttribute(field.bytes, function.defaults.emplace_back());
      default:
        return true;
      }
    });
  }

  /// Sets the version of the default domain.
  bool readOpset(StringRef bytes, bool &hasOpset, int64_t &opset) {
    std::string domain;
    int64_t version = 0;
    if (!readFields(bytes, "OperatorSetIdProto", [&](const WireField &field) {
          return field.number == 1   ? readText(field, domain)
                 : field.number == 2 ? readInteger(field, version)
                                     : true;
        }))
      return false;
    if (domain.empty() || domain == "ai.onnx") {
      opset = version;
      hasOpset = true;
    }
    return true;
  }

  bool readGraph(StringRef bytes, Graph &graph) {
    return readFields(bytes, "GraphProto", [&](const WireField &field) {
      if (field.number == 2)
        return readText(field, graph.name);
      bool isMessage = field.kind == WireField::Bytes;
      switch (field.number) {
      case 1:
        return isMessage && readNode(field.bytes, graph.nodes.emplace_back());
      case 5:
        return isMessage &&
               readTensor(field.bytes, graph.initializers.emplace_back());
      case 11:
        return isMessage && readValue(field.bytes, graph.inputs.emplace_back());
      case 12:
        return isMessage &&
               readValue(field.bytes, graph.outputs.emplace_back());
      case 15:
        return fail("the graph has a sparse initializer, which is not "
                    "supported; store it as a dense tensor");
      default:
        return true;
      }
    });
  }

  bool readNode(StringRef bytes, Node &node) {
    return readFields(bytes, "NodeProto", [&](const WireField &field) {
      switch (field.number) {
      case 1:
        return readText(field, node.inputs.emplace_back());
      case 2:
        return readText(field, node.outputs.emplace_back());
      case 3:
        return readText(field, node.name);
      case 4:
        return readText(field, node.op);
      case 5:
        return field.kind == WireField::Bytes &&
               readAttribute(field.bytes, node.attributes.emplace_back());
      case 7:
        return readText(field, node.domain);
      default:
        return true;
      }
    });
  }

  bool readAttribute(StringRef bytes, NodeAttribute &attribute) {
    using Kind = NodeAttribute::Kind;
    int64_t type = 0;
    Kind seen = Kind::None;
    auto see = [&](Kind kind, bool isValid) {
      seen = kind;
      return isValid;
    };
    if (!readFields(bytes, "AttributeProto", [&](const WireField &field) {
          switch (field.number) {
          case 1:
            return readText(field, attribute.name);
          case 2:
            attribute.number = field.getFloat();
            return see(Kind::Float, field.kind == WireField::Fixed32);
          case 3:
            return see(Kind::Int, readInteger(field, attribute.integer));
          case 4:
            return see(Kind::String, readText(field, attribute.text));
          case 5:
            attribute.tensor = std::make_shared<TensorData>();
            return see(Kind::Tensor,
                       field.kind == WireField::Bytes &&
                           readTensor(field.bytes, *attribute.tensor));
          case 6:
            if (depth == mostNested)
              return fail("graphs in attributes are nested more than " +
                          Twine(mostNested) + " deep");
            attribute.graph = std::make_shared<Graph>();
            return see(Kind::Graph,
                       field.kind == WireField::Bytes &&
                           readNested(field.bytes, *attribute.graph));
          case 7:
            return see(Kind::Floats, field.appendTo(attribute.numbers));
          case 8:
            return see(Kind::Ints, field.appendTo(attribute.integers));
          case 9:
            return see(Kind::Strings,
                       readText(field, attribute.texts.emplace_back()));
          case 20:
            return readInteger(field, type);
          case 21:
            return readText(field, attribute.reference);
          case 10:
          case 11:
          case 14:
          case 15:
          case 22:
          case 23:
            return see(Kind::Other, true);
          default:
            return true;
          }
        }))
      return false;
    // Files of the first versions have no type. Writers leave out empty lists
    // and, by the rules of proto3, zeros.
    static constexpr Kind kinds[] = {Kind::None,   Kind::Float,  Kind::Int,
                                     Kind::String, Kind::Tensor, Kind::Graph,
                                     Kind::Floats, Kind::Ints,   Kind::Strings};
    if (type < 0 || type > 64)
      return fail("attribute " + quote(attribute.name) + " has the type " +
                  Twine(type) + ", which ONNX does not define");
    attribute.kind = type == 0 ? seen
                     : static_cast<size_t>(type) < std::size(kinds)
                         ? kinds[type]
                         : Kind::Other;
    if (!attribute.reference.empty())
      return true;
    if (attribute.kind == Kind::Tensor && !attribute.tensor)
      return fail("attribute " + quote(attribute.name) +
                  " is a tensor without contents");
    if (attribute.kind == Kind::Graph && !attribute.graph)
      return fail("attribute " + quote(attribute.name) +
                  " is a graph without contents");
    return true;
  }

  bool readNested(StringRef bytes, Graph &graph) {
    ++depth;
    bool isRead = readGraph(bytes, graph);
    --depth;
    return isRead;
  }

  bool readValue(StringRef bytes, ValueInfo &value) {
    return readFields(bytes, "ValueInfoProto", [&](const WireField &field) {
      if (field.number == 1)
        return readText(field, value.name);
      return field.number != 2 || (field.kind == WireField::Bytes &&
                                   readTypeProto(field.bytes, value));
    });
  }

  /// The type of a tensor, or of an optional one: its tensor must be given.
  /// Sequences and maps stay undefined.
  bool readTypeProto(StringRef bytes, ValueInfo &value,
                     bool isInOptional = false) {
    return readFields(bytes, "TypeProto", [&](const WireField &type) {
      bool isMessage = type.kind == WireField::Bytes;
      if (type.number == 1)
        return isMessage && readTensorType(type.bytes, value);
      if (type.number != 9 || isInOptional)
        return true;
      return isMessage &&
             readFields(type.bytes, "TypeProto.Optional",
                        [&](const WireField &element) {
                          return element.number != 1 ||
                                 (element.kind == WireField::Bytes &&
                                  readTypeProto(element.bytes, value,
                                                /*isInOptional=*/true));
                        });
    });
  }

  bool readTensorType(StringRef bytes, ValueInfo &value) {
    return readFields(bytes, "TypeProto.Tensor", [&](const WireField &field) {
      if (field.number == 1)
        return readType(field, value.type);
      if (field.number != 2)
        return true;
      value.hasShape = true;
      return field.kind == WireField::Bytes &&
             readFields(field.bytes, "TensorShapeProto",
                        [&](const WireField &dim) {
                          if (dim.number != 1)
                            return true;
                          return dim.kind == WireField::Bytes &&
                                 readDimension(dim.bytes, value);
                        });
    });
  }

  bool readDimension(StringRef bytes, ValueInfo &value) {
    int64_t size = -1;
    std::string symbol;
    if (!readFields(bytes, "TensorShapeProto.Dimension",
                    [&](const WireField &field) {
                      return field.number == 1   ? readInteger(field, size)
                             : field.number == 2 ? readText(field, symbol)
                                                 : true;
                    }))
      return false;
    // Some exporters write -1 or 0 for an unknown size.
    if (size < -1)
      return fail("dimension " + Twine(value.shape.size()) + " of " +
                  quote(value.name) + " is " + Twine(size) +
                  "; sizes must not be negative");
    value.shape.push_back(size == 0 && !symbol.empty() ? -1 : size);
    value.symbols.push_back(std::move(symbol));
    return true;
  }

  bool readTensor(StringRef bytes, TensorData &tensor) {
    std::vector<int64_t> shape, integers, wide;
    std::vector<float> numbers;
    StringRef packed, raw;
    unsigned packedFields = 0;
    bool hasRaw = false, isExternal = false, hasSegment = false;
    std::vector<std::pair<std::string, std::string>> external;
    if (!readFields(bytes, "TensorProto", [&](const WireField &field) {
          switch (field.number) {
          case 1:
            return field.appendTo(shape);
          case 2:
            return readType(field, tensor.type);
          case 3:
            hasSegment = true;
            return true;
          case 4:  // float_data
          case 10: // double_data
            if (field.kind == WireField::Bytes && packedFields++ == 0) {
              packed = field.bytes;
              return true;
            }
            if (field.number == 4 && packedFields == 0)
              return field.appendTo(numbers);
            return false;
          case 5: // int32_data
            return field.appendTo(integers);
          case 7:  // int64_data
          case 11: // uint64_data
            return field.appendTo(wide);
          case 8:
            return readText(field, tensor.name);
          case 9:
            hasRaw = true;
            raw = field.bytes;
            return field.kind == WireField::Bytes;
          case 13: {
            std::pair<std::string, std::string> &pair = external.emplace_back();
            return field.kind == WireField::Bytes &&
                   readFields(field.bytes, "StringStringEntryProto",
                              [&](const WireField &entry) {
                                return entry.number == 1
                                           ? readText(entry, pair.first)
                                       : entry.number == 2
                                           ? readText(entry, pair.second)
                                           : true;
                              });
          }
          case 14:
            isExternal = field.value == 1;
            return field.kind == WireField::Varint;
          default:
            return true;
          }
        }))
      return false;
    tensor.shape.assign(shape.begin(), shape.end());
    if (hasSegment)
      return fail("tensor " + quote(tensor.name) +
                  " is stored in segments, which are not supported; save the "
                  "model again with onnx.save");
    unsigned width = getByteWidth(tensor.type);
    if (width == 0)
      return fail("tensor " + quote(tensor.name) + " is of " +
                  getName(tensor.type) + ", which is not supported");
    uint64_t count = 1;
    for (int64_t size : shape) {
      if (size < 0)
        return fail("tensor " + quote(tensor.name) + " has the dimension " +
                    Twine(size) + "; sizes must not be negative");
      if (__builtin_mul_overflow(count, static_cast<uint64_t>(size), &count))
        return fail("tensor " + quote(tensor.name) +
                    " has more than 2^64 elements");
    }
    uint64_t needed;
    if (__builtin_mul_overflow(count, width, &needed) || needed >> 62)
      return fail("tensor " + quote(tensor.name) + " has more than 2^62 bytes");
    unsigned bits = getBitWidth(tensor.type);
    if (bits < 8)
      needed = llvm::divideCeil(count, 8 / bits);
    tensor.owner = owner;
    if (isExternal) {
      if (!readExternal(external, needed, tensor))
        return false;
    } else if (hasRaw) {
      tensor.bytes = raw;
    } else if (packedFields) {
      tensor.bytes = packed;
    } else {
      convert(numbers, integers, wide, width, tensor);
    }
    if (tensor.bytes.size() != needed)
      return fail("tensor " + quote(tensor.name) + " has " +
                  Twine(tensor.bytes.size()) +
                  " bytes of data, but its shape needs " + Twine(needed) +
                  ": the file is corrupt");
    if (bits < 8)
      unpack(count, bits,
             tensor.type == DataType::I4 || tensor.type == DataType::I2,
             tensor);
    return true;
  }

  /// Gives each element of fewer than 8 bits a byte. The first element of a
  /// byte of the file is in its lowest bits.
  static void unpack(uint64_t count, unsigned bits, bool hasSign,
                     TensorData &tensor) {
    auto bytes = std::make_shared<std::string>(count, 0);
    unsigned unused = 8 - bits, each = 8 / bits;
    for (uint64_t i = 0; i < count; ++i) {
      auto packed = static_cast<uint8_t>(tensor.bytes[i / each]);
      auto high = static_cast<uint8_t>(packed << (unused - bits * (i % each)));
      (*bytes)[i] = hasSign
                        ? static_cast<char>(static_cast<int8_t>(high) >> unused)
                        : static_cast<char>(high >> unused);
    }
    tensor.bytes = *bytes;
    tensor.owner = std::move(bytes);
  }

  /// Makes bytes of the fields that have a number for each element.
  static void convert(const std::vector<float> &numbers,
                      const std::vector<int64_t> &integers,
                      const std::vector<int64_t> &wide, unsigned width,
                      TensorData &tensor) {
    auto bytes = std::make_shared<std::string>();
    auto append = [&](const void *value, size_t size) {
      bytes->append(static_cast<const char *>(value), size);
    };
    for (float number : numbers)
      append(&number, sizeof(number));
    // All integers are varints of two's complement; the low bytes are right.
    for (int64_t integer : integers)
      append(&integer, width);
    for (int64_t integer : wide)
      append(&integer, width);
    tensor.bytes = *bytes;
    tensor.owner = std::move(bytes);
  }

  bool readExternal(llvm::ArrayRef<std::pair<std::string, std::string>> entries,
                    uint64_t needed, TensorData &tensor) {
    std::string location;
    uint64_t offset = 0, length = needed;
    for (const auto &[key, text] : entries) {
      if (key == "location")
        location = text;
      uint64_t *number = key == "offset"   ? &offset
                         : key == "length" ? &length
                                           : nullptr;
      if (number && StringRef(text).getAsInteger(10, *number))
        return fail("tensor " + quote(tensor.name) + ": the " + key +
                    " of its external data, " + quote(text) +
                    ", is not a number of bytes");
    }
    auto failExternal = [&](const Twine &why) {
      return fail("tensor " + quote(tensor.name) + ": its external data " +
                  quote(location) + " " + why);
    };
    if (length != needed)
      return failExternal("has the length " + Twine(length) +
                          ", but the tensor's shape needs " + Twine(needed));
    File file = openExternal(location, failExternal);
    if (!file)
      return false;
    if (offset > file->getBufferSize() ||
        needed > file->getBufferSize() - offset)
      return failExternal("ends at byte " + Twine(file->getBufferSize()) +
                          ", but the tensor needs " + Twine(needed) +
                          " bytes from byte " + Twine(offset));
    tensor.bytes = file->getBuffer().substr(offset, needed);
    tensor.owner = file;
    return true;
  }

  /// Maps a file below the model's folder.
  template <typename Fail>
  File openExternal(StringRef location, Fail failExternal) {
    namespace path = llvm::sys::path;
    namespace fs = llvm::sys::fs;
    auto reject = [&](const Twine &why) -> File {
      failExternal(why);
      return nullptr;
    };
    auto [found, isNew] = files.try_emplace(location.str());
    if (!isNew && found->second)
      return found->second;
    if (!hasFolder)
      return reject("has no folder, because the model is not a file; pass the "
                    "model's path");
    if (location.empty() || location.contains('\0'))
      return reject("is not a file name");
    if (path::is_absolute(location) ||
        llvm::is_contained(
            llvm::make_range(path::begin(location), path::end(location)), ".."))
      return reject("is not a relative path below the model's folder; move the "
                    "data beside the model");
    SmallString<128> name(path::parent_path(model->file)), folder, real;
    if (name.empty())
      name = ".";
    if (fs::real_path(name, folder))
      return reject("is not found: the model's folder does not exist");
    path::append(name, location);
    if (std::error_code code = fs::real_path(name, real))
      return reject("cannot be read: " + code.message());
    // A symbolic link may lead out of the folder.
    StringRef below = real;
    if (!below.consume_front(folder) ||
        !(below.empty() || folder.ends_with("/") || below.starts_with("/")))
      return reject("leads out of the model's folder through a symbolic link; "
                    "move the data beside the model");
    fs::file_status status;
    if (fs::status(real, status) || !fs::is_regular_file(status))
      return reject("is not a regular file");
    auto file = llvm::MemoryBuffer::getFile(real, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return reject("cannot be read: " + file.getError().message());
    found->second = std::move(*file);
    return found->second;
  }

  /// Checks names and their order. Names that a nested graph does not define
  /// are added to `captured`.
  bool checkNames(Graph &graph, std::vector<std::string> *captured) {
    for (Node &node : graph.nodes)
      for (NodeAttribute &attribute : node.attributes)
        if (attribute.graph && !checkNames(*attribute.graph, &node.captured))
          return false;
    std::map<StringRef, const Node *> computed;
    std::map<StringRef, int> given;
    for (const ValueInfo &input : graph.inputs)
      if (given[input.name]++)
        return fail("two inputs have the name " + quote(input.name));
    std::map<StringRef, int> stored;
    for (const TensorData &tensor : graph.initializers)
      if (stored[tensor.name]++)
        return fail("two initializers have the name " + quote(tensor.name));
    for (const Node &node : graph.nodes)
      for (StringRef output : node.outputs) {
        if (output.empty())
          continue;
        if (given.count(output) || stored.count(output))
          return fail(node.describe() + " computes " + quote(output) +
                      ", which is an input or an initializer; a name must be "
                      "defined once");
        auto [other, isNew] = computed.try_emplace(output, &node);
        if (!isNew)
          return fail(node.describe() + " and " + other->second->describe() +
                      " both compute " + quote(output) +
                      "; a name must be defined once");
      }
    return checkOrder(
        graph, computed,
        [&](StringRef name) { return given.count(name) || stored.count(name); },
        captured);
  }

  template <typename IsGiven>
  bool checkOrder(const Graph &graph,
                  const std::map<StringRef, const Node *> &computed,
                  IsGiven isGiven, std::vector<std::string> *captured) {
    auto capture = [&](StringRef name) {
      if (captured && !llvm::is_contained(*captured, name))
        captured->push_back(name.str());
      return captured != nullptr;
    };
    auto findNode = [&](StringRef name) -> const Node * {
      auto found = computed.find(name);
      return found == computed.end() ? nullptr : found->second;
    };
    for (const Node &node : graph.nodes)
      for (StringRef input :
           llvm::concat<const std::string>(node.inputs, node.captured)) {
        if (input.empty() || isGiven(input))
          continue;
        const Node *other = findNode(input);
        if (!other && capture(input))
          continue;
        if (!other)
          return fail(node.describe() + " uses " + quote(input) +
                      ", which is not an input, an initializer or a result of "
                      "a node");
        if (other >= &node)
          return fail(node.describe() + " uses " + quote(input) + " before " +
                      other->describe() +
                      " computes it: the nodes form a cycle or are not sorted "
                      "topologically");
      }
    for (const ValueInfo &output : graph.outputs)
      if (!isGiven(output.name) && !findNode(output.name) &&
          !capture(output.name))
        return fail("no node computes the output " + quote(output.name));
    return true;
  }

  static void print(llvm::raw_ostream &os, StringRef name) {
    bool isPlain = !name.empty() && llvm::all_of(name, [](char c) {
      return llvm::isPrint(c) && !StringRef("\" \\(),={}[]").contains(c);
    });
    if (isPlain) {
      os << name;
      return;
    }
    os << '"';
    llvm::printEscapedString(name, os);
    os << '"';
  }

  static void print(llvm::raw_ostream &os, const NodeAttribute &attribute) {
    os << attribute.name << "=";
    auto printList = [&](const auto &values) {
      os << "[";
      llvm::interleaveComma(llvm::ArrayRef(values).take_front(16), os);
      os << (values.size() > 16 ? ", ...]" : "]");
    };
    switch (attribute.kind) {
    case NodeAttribute::Kind::Float:
      os << attribute.number;
      return;
    case NodeAttribute::Kind::Int:
      os << attribute.integer;
      return;
    case NodeAttribute::Kind::String:
      print(os, StringRef(attribute.text).take_front(80));
      return;
    case NodeAttribute::Kind::Floats:
      return printList(attribute.numbers);
    case NodeAttribute::Kind::Ints:
      return printList(attribute.integers);
    default:
      os << "...";
    }
  }

  static void print(llvm::raw_ostream &os, const ValueInfo &value) {
    print(os, value.name);
    os << ": " << getName(value.type) << "[";
    for (auto [i, size] : llvm::enumerate(value.shape)) {
      os << (i ? ", " : "");
      if (size >= 0)
        os << size;
      else if (value.symbols[i].empty())
        os << "?";
      else
        print(os, value.symbols[i]);
    }
    os << "]";
  }

  /// One line for each node; those of its graphs follow, indented.
  static void printNodes(llvm::raw_ostream &os, Graph &graph, unsigned &line,
                         unsigned indent) {
    auto printNames = [&](const std::vector<std::string> &names) {
      llvm::interleaveComma(names, os,
                            [&](const std::string &name) { print(os, name); });
    };
    for (Node &node : graph.nodes) {
      node.line = line++;
      os.indent(indent);
      printNames(node.outputs);
      os << " = " << node.op << "(";
      printNames(node.inputs);
      os << ")";
      for (auto [i, attribute] : llvm::enumerate(node.attributes)) {
        os << (i ? ", " : " {");
        print(os, attribute);
      }
      os << (node.attributes.empty() ? "\n" : "}\n");
      for (NodeAttribute &attribute : node.attributes)
        if (attribute.graph)
          printNodes(os, *attribute.graph, line, indent + 2);
    }
  }

  bool writeListing() {
    // Digests have a fixed size, so that no two lists of files look alike.
    std::string digests = hashContents(whole);
    for (const auto &[name, file] : files)
      digests += hashContents(name) + hashContents(file->getBuffer());
    llvm::raw_string_ostream os(model->listing);
    os << "ONNX model, opset " << model->opset << ", digest "
       << llvm::toHex(hashContents(digests), /*LowerCase=*/true) << "\n";
    unsigned line = 2;
    for (ValueInfo &input : model->graph.inputs) {
      input.line = line++;
      os << "input ";
      print(os, input);
      os << "\n";
    }
    printNodes(os, model->graph, line, 0);
    for (ValueInfo &output : model->graph.outputs) {
      output.line = line++;
      os << "output ";
      print(os, output);
      os << "\n";
    }
    return true;
  }

  std::unique_ptr<Model> model;
  StringRef whole;
  std::shared_ptr<const void> owner;
  std::map<std::string, File> files;
  std::vector<Function> functions;
  /// The number of graphs in attributes around the one that is read.
  unsigned depth = 0;
  std::string error;
  /// Whether the model is a file, so that external data has a folder.
  bool hasFolder = false;
};

} // namespace

bool mlir::tessera::onnx::isModelFile(StringRef path, StringRef bytes) {
  if (path.ends_with(".onnx"))
    return true;
  // ir_version, then one of the ModelProto's texts or messages.
  return bytes.size() > 3 && bytes[0] == 0x08 && bytes[1] > 0 &&
         bytes[1] < 32 &&
         llvm::is_contained({0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a, 0x42},
                            bytes[2]);
}

std::unique_ptr<Model>
mlir::tessera::onnx::readModel(StringRef path, StringRef bytes,
                               std::shared_ptr<const void> owner,
                               std::string &error) {
  return ModelReader(path, bytes, std::move(owner)).read(error);
}

std::unique_ptr<Model> mlir::tessera::onnx::readModel(StringRef path,
                                                      std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    error = (path + ": cannot be read: " + buffer.getError().message()).str();
    return nullptr;
  }
  std::shared_ptr<llvm::MemoryBuffer> file = std::move(*buffer);
  return readModel(path, file->getBuffer(), file, error);
}
