//===- GraphImporter.cpp - The nodes of a model, in order -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   readModel   checks names and order        Model.cpp
//   importModel
//     lists unsupported operators
//     adds arguments: inputs without an initializer
//     lowers node by node                     Lowering.cpp, Operators/*.cpp
//     returns the outputs
//
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

#include <deque>

using namespace mlir;
using namespace mlir::tessera::onnx;

static constexpr int64_t oldestOpset = 7, newestOpset = 28;

/// All operators, by name.
static const std::map<StringRef, const Operator *> &getOperators() {
  static const std::map<StringRef, const Operator *> table = [] {
    std::map<StringRef, const Operator *> all;
    for (ArrayRef<Operator> part :
         {getElementwiseOperators(), getMovementOperators(),
          getIndexingOperators(), getConvolutionOperators(),
          getMatmulOperators(), getReductionOperators(),
          getNormalizationOperators(), getQuantizationOperators(),
          getControlFlowOperators(), getAttentionOperators(),
          getLossOperators(), getScatterOperators(), getRecurrentOperators(),
          getSelectionOperators(), getSamplingOperators(),
          getSignalOperators()})
      for (const Operator &op : part)
        all[op.name] = &op;
    return all;
  }();
  return table;
}

const Operator *mlir::tessera::onnx::findOperator(StringRef name) {
  auto found = getOperators().find(name);
  return found == getOperators().end() ? nullptr : found->second;
}

void mlir::tessera::onnx::printOperators(llvm::raw_ostream &os) {
  os << "| operator | from opset | limits |\n|---|---|---|\n";
  for (const auto &[name, op] : getOperators())
    os << "| " << name << " | " << std::max(op->firstVersion, oldestOpset)
       << " | " << op->limits << " |\n";
}

Location GraphImporter::getLocation(unsigned line, StringRef name) {
  MLIRContext *context = builder.getContext();
  Location file =
      FileLineColLoc::get(StringAttr::get(context, model.file), line, 1);
  if (name.empty())
    return file;
  return NameLoc::get(StringAttr::get(context, name), file);
}

Location GraphImporter::getLocation(const Node &node) {
  return getLocation(node.line, !node.name.empty()      ? StringRef(node.name)
                                : !node.outputs.empty() ? node.outputs.front()
                                                        : StringRef());
}

void GraphImporter::findLiveNodes(const Graph &graph) {
  std::set<StringRef> needed;
  for (const ValueInfo &output : graph.outputs) {
    needed.insert(output.name);
    users[output.name].push_back(nullptr);
  }
  for (const Node &node : llvm::reverse(graph.nodes)) {
    if (llvm::none_of(node.outputs, [&](const std::string &name) {
          return !name.empty() && needed.count(name);
        }))
      continue;
    live.insert(&node);
    for (StringRef input :
         llvm::concat<const std::string>(node.inputs, node.captured))
      if (!input.empty()) {
        needed.insert(input);
        users[input].push_back(&node);
      }
    for (const NodeAttribute &attribute : node.attributes)
      if (attribute.graph)
        findLiveNodes(*attribute.graph);
  }
}

void GraphImporter::checkNodes(
    const Graph &graph,
    SmallVectorImpl<std::pair<const Node *, std::string>> &wrong) {
  for (const Node &node : graph.nodes) {
    if (!live.count(&node))
      continue;
    bool isDefault = node.domain.empty() || node.domain == "ai.onnx";
    const Operator *op = isDefault ? findOperator(node.op) : nullptr;
    if (!op)
      wrong.emplace_back(&node, "is not supported");
    else if (getVersion(node) < op->firstVersion)
      wrong.emplace_back(&node,
                         "requires opset " + std::to_string(op->firstVersion));
    for (const NodeAttribute &attribute : node.attributes)
      if (attribute.graph)
        checkNodes(*attribute.graph, wrong);
  }
}

LogicalResult GraphImporter::checkOperators() {
  Location top = getLocation(1, "");
  if (model.opset < oldestOpset || model.opset > newestOpset)
    return emitError(top) << "the model uses operator set " << model.opset
                          << "; versions " << oldestOpset << " to "
                          << newestOpset
                          << " are supported: convert it with "
                             "onnx.version_converter";
  SmallVector<std::pair<const Node *, std::string>> wrong;
  checkNodes(model.graph, wrong);
  if (wrong.empty())
    return success();
  InFlightDiagnostic diagnostic =
      emitError(getLocation(*wrong.front().first))
      << wrong.size()
      << (wrong.size() == 1 ? " node has an operator" : " nodes have operators")
      << " that cannot be imported:";
  constexpr size_t most = 50;
  for (const auto &[node, why] : ArrayRef(wrong).take_front(most))
    diagnostic << "\n  " << node->describe() << " " << why;
  if (wrong.size() > most)
    diagnostic << "\n  and " << wrong.size() - most << " more";
  return diagnostic;
}

LogicalResult GraphImporter::addInput(const ValueInfo &input,
                                      SmallVector<Type> &types,
                                      SmallVector<Location> &locations) {
  Location loc = getLocation(input.line, input.name);
  if (getByteWidth(input.type) == 0)
    return emitError(loc) << "input '" << input.name
                          << "' is not a tensor of a supported type";
  if (!input.hasShape)
    return emitError(loc) << "input '" << input.name
                          << "' does not have a rank; add its shape to the "
                             "model";
  Node none;
  Lowering lowering(*this, none, loc, builder, model.opset);
  Tensor tensor;
  tensor.type = input.type;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    int64_t size = input.shape[i];
    if (size < 0 && i == 0 && options.batch) {
      size = *options.batch;
      hasBatch = true;
    }
    tensor.shape.push_back(size < 0 ? ShapedType::kDynamic : size);
  }
  if (failed(lowering.checkShape(tensor.shape)))
    return failure();
  types.push_back(lowering.getType(tensor));
  locations.push_back(loc);
  values[input.name] = std::move(tensor);
  return success();
}

DictionaryAttr GraphImporter::describe(const ValueInfo &info,
                                       const Tensor &tensor) {
  SmallVector<NamedAttribute> attrs = {
      builder.getNamedAttr(nameAttr, builder.getStringAttr(info.name))};
  DataType type = tensor.type;
  // A narrow type is passed as bytes.
  if (isNarrow(type))
    type = type == DataType::I4 || type == DataType::I2 ? DataType::I8
                                                        : DataType::U8;
  if (isUnsigned(type))
    attrs.push_back(
        builder.getNamedAttr(typeAttr, builder.getStringAttr(getName(type))));
  SmallVector<StringRef> symbols(tensor.shape.size());
  if (info.hasShape)
    for (auto [i, size] : llvm::enumerate(tensor.shape))
      if (ShapedType::isDynamic(size))
        symbols[i] = info.symbols[i];
  if (llvm::any_of(symbols, [](StringRef symbol) { return !symbol.empty(); }))
    attrs.push_back(
        builder.getNamedAttr(symbolsAttr, builder.getStrArrayAttr(symbols)));
  return builder.getDictionaryAttr(attrs);
}

void GraphImporter::addInitializers(const Graph &graph) {
  for (const TensorData &data : graph.initializers) {
    auto constant = std::make_shared<Constant>();
    constant->name = data.name;
    constant->type = data.type;
    constant->shape.assign(data.shape.begin(), data.shape.end());
    constant->bytes = data.bytes;
    constant->owner = data.owner;
    values[data.name] = {data.type, constant->shape, constant, Value()};
  }
}

LogicalResult GraphImporter::addInputs() {
  addInitializers(model.graph);
  SmallVector<Type> types;
  SmallVector<Location> locations;
  SmallVector<const ValueInfo *> inputs;
  for (const ValueInfo &input : model.graph.inputs) {
    // Before version 4 of the format, all initializers are inputs, too.
    if (values.count(input.name))
      continue;
    if (failed(addInput(input, types, locations)))
      return failure();
    inputs.push_back(&input);
  }
  if (options.batch && !hasBatch)
    return emitError(getLocation(1, ""))
           << "--batch=" << *options.batch
           << ": no input of the model has an open first dimension; export it "
              "with a dynamic batch, or omit --batch";
  function =
      func::FuncOp::create(builder, getLocation(1, model.graph.name), entryName,
                           builder.getFunctionType(types, {}));
  block = function.addEntryBlock();
  for (auto [input, argument, loc] :
       llvm::zip_equal(inputs, block->getArguments(), locations)) {
    argument.setLoc(loc);
    Tensor &tensor = values[input->name];
    tensor.value = argument;
    function.setArgAttrs(argument.getArgNumber(), describe(*input, tensor));
  }
  builder.setInsertionPointToEnd(block);
  for (const ValueInfo *input : inputs) {
    Tensor &tensor = values[input->name];
    if (getBitWidth(tensor.type) >= 8 || !users.count(input->name))
      continue;
    Node none;
    Lowering lowering(*this, none, tensor.value.getLoc(), builder, model.opset);
    FailureOr<Tensor> cleared = clearUnusedBits(lowering, tensor);
    if (failed(cleared))
      return failure();
    tensor = std::move(*cleared);
  }
  return success();
}

bool GraphImporter::isConverted(const Node &node) const {
  // Scales decide what is rounded how.
  if (StringRef(node.op).contains("Quantize") ||
      StringRef(node.op).starts_with("QLinear"))
    return false;
  for (StringRef input : node.inputs)
    if (auto found = values.find(input);
        found != values.end() && found->second.quantized)
      return false;
  constexpr double largest = 65504;
  for (StringRef input : node.inputs) {
    auto found = values.find(input);
    if (found == values.end() || !found->second.constant ||
        found->second.type != DataType::F32)
      continue;
    const Constant &constant = *found->second.constant;
    int64_t count = constant.isSplat ? std::min<int64_t>(constant.count(), 1)
                                     : constant.count();
    for (int64_t i = 0; i < count; ++i)
      if (double value = std::abs(constant.getDouble(i));
          value > largest && !std::isinf(value))
        return false;
  }
  return true;
}

FailureOr<Tensor> GraphImporter::convertInput(Lowering &lowering, size_t i,
                                              StringRef name, bool converts) {
  const Tensor &tensor = values.at(name);
  // Sizes are read by the importer.
  bool isSizes =
      (lowering.node.op == "Resize" || lowering.node.op == "Upsample") && i > 0;
  bool narrows = converts && !isSizes && tensor.type == DataType::F32;
  bool widens = !converts && tensor.type == DataType::F16;
  if (!narrows && !widens)
    return tensor;
  if (widens)
    return lowering.convert(tensor, DataType::F32);
  if (!tensor.constant)
    return lowering.convert(tensor, DataType::F16);
  auto [found, isNew] = converted.try_emplace(tensor.constant.get());
  if (isNew) {
    const Constant &constant = *tensor.constant;
    SmallVector<double> numbers;
    int64_t count = constant.isSplat ? std::min<int64_t>(constant.count(), 1)
                                     : constant.count();
    for (int64_t k = 0; k < count; ++k)
      numbers.push_back(constant.getDouble(k));
    if (constant.isSplat && count == 1)
      found->second =
          lowering.makeSplat(DataType::F16, tensor.shape, numbers[0]);
    else
      found->second =
          lowering.makeDoubles(numbers, tensor.shape, DataType::F16);
    keptConstants.push_back(tensor.constant);
  }
  return found->second;
}

/// Whether an operator moves or converts elements, of any type.
static bool takesAnyType(StringRef op) {
  static const StringRef known[] = {
      "Cast",   "CastLike", "Concat",         "DequantizeLinear",
      "Expand", "Flatten",  "Gather",         "If",
      "Loop",   "Identity", "QuantizeLinear", "Reshape",
      "Scan",   "Shape",    "Size",           "Slice",
      "Split",  "Squeeze",  "Transpose",      "Unsqueeze"};
  return llvm::is_contained(known, op);
}

LogicalResult GraphImporter::importNode(const Node &node) {
  Lowering lowering(*this, node, getLocation(node), builder, getVersion(node));
  std::deque<Tensor> inputs;
  bool converts = options.convertsToF16 && isConverted(node);
  for (auto [i, input] : llvm::enumerate(node.inputs)) {
    if (input.empty() || !options.convertsToF16) {
      lowering.inputs.push_back(input.empty() ? nullptr : &values.at(input));
      continue;
    }
    FailureOr<Tensor> tensor = convertInput(lowering, i, input, converts);
    if (failed(tensor))
      return failure();
    inputs.push_back(std::move(*tensor));
    lowering.inputs.push_back(&inputs.back());
  }
  const Operator &op = *findOperator(node.op);
  if (node.inputs.size() > op.mostInputs)
    return lowering.fail("it has " + Twine(node.inputs.size()) +
                         " inputs, at most " + Twine(op.mostInputs) +
                         " are expected");
  for (unsigned i = 0; i < op.fewestInputs; ++i)
    if (!lowering.hasInput(i))
      return lowering.fail("input " + Twine(i) + " is missing");
  for (const Tensor *input : lowering.inputs)
    if (input && (isFloat8(input->type) || isNarrow(input->type)) &&
        !takesAnyType(node.op))
      return lowering.fail(
          getName(input->type) + " is not supported here: insert a Cast to " +
          (getBitWidth(input->type) < 8 && input->type != DataType::F4E2M1
               ? "an integer of 8 bits"
               : "float16 or float32"));
  if (absorbed.count(&node)) {
    lowering.setResult(0, lowering.getInput(0));
  } else if (failed(op.lower(lowering))) {
    // In case that a builder failed without a message.
    return failure();
  }
  if (!lowering.wrongAttribute.empty())
    return lowering.fail("attribute '" + lowering.wrongAttribute +
                         "' is not of the type that the operator expects");
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty() || !users.count(name))
      continue;
    if (i >= lowering.results.size() || !lowering.results[i])
      return lowering.fail("output " + Twine(i) +
                           ", which other nodes use, is not supported");
    Tensor &result = *lowering.results[i];
    if (failed(lowering.checkShape(result.shape)))
      return failure();
    values[name] = std::move(result);
  }
  builder.setInsertionPointToEnd(block);
  return success();
}

FailureOr<SmallVector<Tensor>>
GraphImporter::importNested(const Graph &graph, ArrayRef<Tensor> inputs,
                            Block *inner, Location loc) {
  if (inputs.size() != graph.inputs.size())
    return emitError(loc) << "a graph of the node has " << graph.inputs.size()
                          << " inputs; expected " << inputs.size();
  // Loops in loops could be unrolled without end.
  constexpr size_t most = size_t(1) << 17;
  numNested += graph.nodes.size() + 1;
  if (numNested > most)
    return emitError(loc) << "the unrolled loops have more than " << most
                          << " nodes";
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(inner);
  std::swap(block, inner);
  // The values of the surrounding graphs stay where nodes refer to them.
  std::map<StringRef, Tensor> outer = values;
  std::swap(values, outer);
  addInitializers(graph);
  for (auto [info, tensor] : llvm::zip_equal(graph.inputs, inputs))
    values[info.name] = tensor;
  LogicalResult result = success();
  // A node that is imported again may not be what an earlier one includes.
  for (const Node &node : graph.nodes)
    absorbed.erase(&node);
  for (const Node &node : graph.nodes)
    if (succeeded(result) && live.count(&node))
      result = importNode(node);
  SmallVector<Tensor> outputs;
  if (succeeded(result))
    for (const ValueInfo &output : graph.outputs)
      outputs.push_back(values.at(output.name));
  // The states of a loop keep their types.
  if (options.convertsToF16 && succeeded(result)) {
    Node none;
    Lowering lowering(*this, none, loc, builder, model.opset);
    for (Tensor &output : outputs)
      if (output.type == DataType::F32) {
        FailureOr<Tensor> narrow = lowering.convert(output, DataType::F16);
        if (failed(narrow))
          result = failure();
        else
          output = *narrow;
      }
  }
  std::swap(values, outer);
  std::swap(block, inner);
  if (failed(result))
    return failure();
  return outputs;
}

LogicalResult GraphImporter::addOutputs() {
  SmallVector<Value> results;
  SmallVector<Type> types;
  Node none;
  for (const ValueInfo &output : model.graph.outputs) {
    Location loc = getLocation(output.line, output.name);
    Lowering lowering(*this, none, loc, builder, model.opset);
    Tensor tensor = values.at(output.name);
    if (options.convertsToF16 && tensor.type == DataType::F16 &&
        output.type == DataType::F32) {
      FailureOr<Tensor> wide = lowering.convert(tensor, DataType::F32);
      if (failed(wide))
        return failure();
      tensor = *wide;
    }
    bool matches =
        !output.hasShape || output.shape.size() == tensor.shape.size();
    if (output.hasShape && matches)
      for (auto [declared, size] : llvm::zip_equal(output.shape, tensor.shape))
        matches &=
            declared <= 0 || ShapedType::isDynamic(size) || declared == size;
    if (!matches ||
        (output.type != DataType::Undefined && output.type != tensor.type)) {
      InFlightDiagnostic diagnostic = emitError(loc)
                                      << "output '" << output.name
                                      << "' is declared differently: its "
                                         "computed type is "
                                      << lowering.getType(tensor);
      return diagnostic;
    }
    Value value = lowering.materialize(tensor);
    // A function cannot return the memory of an argument or a constant, or
    // return a value twice.
    results.push_back(value);
    types.push_back(value.getType());
  }
  func::ReturnOp::create(builder, getLocation(1, ""), results);
  function.setFunctionType(
      builder.getFunctionType(function.getFunctionType().getInputs(), types));
  for (auto [i, output] : llvm::enumerate(model.graph.outputs))
    function.setResultAttrs(static_cast<unsigned>(i),
                            describe(output, values.at(output.name)));
  return success();
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  module = ModuleOp::create(builder, getLocation(1, ""));
  builder.setInsertionPointToEnd(module->getBody());
  findLiveNodes(model.graph);
  if (failed(checkOperators()) || failed(addInputs()))
    return nullptr;
  for (const Node &node : model.graph.nodes)
    if (live.count(&node) && failed(importNode(node)))
      return nullptr;
  if (failed(addOutputs()) || failed(verify(*module)))
    return nullptr;
  return std::move(module);
}

void mlir::tessera::onnx::loadImportDialects(MLIRContext &context) {
  context
      .loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                   func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                   scf::SCFDialect, tensor::TensorDialect>();
}

OwningOpRef<ModuleOp> mlir::tessera::onnx::importModel(
    const Model &model, const ImportOptions &options, MLIRContext &context) {
  loadImportDialects(context);
  return GraphImporter(model, options, context).run();
}
