//===- InlineFunctions.cpp - Functions of a model -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineFunctions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>

using namespace mlir::tessera::onnx;
using llvm::StringRef;
using llvm::Twine;

/// Functions that call functions: more are a cycle, in all likelihood.
static constexpr unsigned mostNestedCalls = 32;
/// Nodes of all calls together. Functions that call each other twice may need
/// exponentially many.
static constexpr size_t mostNodes = size_t(1) << 20;

static StringRef getDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

/// Nodes with those of their graphs.
static size_t countNodes(llvm::ArrayRef<Node> nodes) {
  size_t count = nodes.size();
  for (const Node &node : nodes)
    for (const NodeAttribute &attribute : node.attributes)
      if (attribute.graph)
        count += countNodes(attribute.graph->nodes);
  return count;
}

namespace {

class Inliner {
public:
  Inliner(llvm::ArrayRef<Function> functions, std::string &error)
      : error(error) {
    for (const Function &function : functions)
      known[{getDomain(function.domain), function.name}] = &function;
  }

  bool inlineCalls(std::vector<Node> &nodes, unsigned depth);

private:
  /// A call while its nodes are made.
  struct Call {
    const Node &node;
    const Function &function;
    /// A prefix that makes the names of the function's values unique.
    std::string prefix;
    std::map<std::string, std::string> names;
  };

  bool fail(const Twine &message) {
    error = message.str();
    return false;
  }
  static void rename(Call &call, std::string &name);
  static void rename(Call &call, Graph &graph);
  static void instantiate(Call &call, Node &node);

  std::map<std::pair<StringRef, StringRef>, const Function *> known;
  size_t numCalls = 0, numNodes = 0;
  std::string &error;
};

} // namespace

void Inliner::rename(Call &call, std::string &name) {
  if (name.empty())
    return;
  auto [found, isNew] = call.names.try_emplace(name);
  if (isNew)
    found->second = call.prefix + name;
  name = found->second;
}

void Inliner::rename(Call &call, Graph &graph) {
  for (ValueInfo &input : graph.inputs)
    rename(call, input.name);
  for (ValueInfo &output : graph.outputs)
    rename(call, output.name);
  for (TensorData &tensor : graph.initializers)
    rename(call, tensor.name);
  for (Node &node : graph.nodes)
    instantiate(call, node);
}

/// Makes a node of a function one of its call.
void Inliner::instantiate(Call &call, Node &node) {
  for (std::string &input : node.inputs)
    rename(call, input);
  for (std::string &output : node.outputs)
    rename(call, output);
  if (!node.name.empty())
    node.name = call.prefix + node.name;
  if (node.opset == 0)
    node.opset = call.function.opset;
  std::vector<NodeAttribute> attributes;
  for (NodeAttribute &attribute : node.attributes) {
    if (!attribute.reference.empty()) {
      // The call's, or the function's default; absent if it has none.
      for (llvm::ArrayRef<NodeAttribute> values :
           {llvm::ArrayRef(call.node.attributes),
            llvm::ArrayRef(call.function.defaults)}) {
        const auto *value =
            llvm::find_if(values, [&](const NodeAttribute &candidate) {
              return candidate.name == attribute.reference;
            });
        if (value == values.end())
          continue;
        attributes.push_back(*value);
        attributes.back().name = attribute.name;
        break;
      }
      continue;
    }
    if (attribute.graph) {
      attribute.graph = std::make_shared<Graph>(*attribute.graph);
      rename(call, *attribute.graph);
    }
    attributes.push_back(std::move(attribute));
  }
  node.attributes = std::move(attributes);
}

bool Inliner::inlineCalls(std::vector<Node> &nodes, unsigned depth) {
  std::vector<Node> result;
  for (Node &node : nodes) {
    auto found = known.find({getDomain(node.domain), node.op});
    if (found == known.end()) {
      for (NodeAttribute &attribute : node.attributes)
        if (attribute.graph) {
          // Calls share the graphs of their attributes.
          attribute.graph = std::make_shared<Graph>(*attribute.graph);
          if (!inlineCalls(attribute.graph->nodes, depth))
            return false;
        }
      result.push_back(std::move(node));
      continue;
    }
    const Function &function = *found->second;
    if (depth == mostNestedCalls)
      return fail("the function " + quote(function.name) +
                  " calls itself, or functions are nested more than " +
                  Twine(mostNestedCalls) + " deep");
    numNodes += countNodes(function.nodes) + 1;
    if (numNodes > mostNodes)
      return fail("the calls of functions have more than " + Twine(mostNodes) +
                  " nodes");
    if (node.inputs.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size())
      return fail(node.describe() + " has more inputs or outputs than the "
                                    "function that it calls");
    Call call = {node,
                 function,
                 function.name + "#" + std::to_string(numCalls++) + "/",
                 {}};
    for (auto [i, name] : llvm::enumerate(function.inputs))
      call.names[name] = i < node.inputs.size() ? node.inputs[i] : "";
    for (auto [i, name] : llvm::enumerate(function.outputs))
      if (i < node.outputs.size() && !node.outputs[i].empty())
        call.names.try_emplace(name, node.outputs[i]);
    std::vector<Node> body = function.nodes;
    for (Node &inner : body)
      instantiate(call, inner);
    // An output may be an input.
    for (auto [i, name] : llvm::enumerate(function.outputs)) {
      auto input = llvm::find(function.inputs, name);
      if (i >= node.outputs.size() || input == function.inputs.end())
        continue;
      auto at = static_cast<size_t>(input - function.inputs.begin());
      Node copy;
      copy.op = "Identity";
      copy.inputs = {at < node.inputs.size() ? node.inputs[at] : ""};
      copy.outputs = {node.outputs[i]};
      body.push_back(std::move(copy));
    }
    if (!inlineCalls(body, depth + 1))
      return false;
    llvm::move(body, std::back_inserter(result));
  }
  nodes = std::move(result);
  return true;
}

bool mlir::tessera::onnx::inlineFunctions(Model &model,
                                          llvm::ArrayRef<Function> functions,
                                          std::string &error) {
  return functions.empty() ||
         Inliner(functions, error).inlineCalls(model.graph.nodes, 0);
}
