//===- GraphImporter.h - The nodes of a model, in order ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_GRAPHIMPORTER_H
#define IMPORT_ONNX_GRAPHIMPORTER_H

#include "Import/ONNX/Import.h"
#include "Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

namespace mlir::tessera::onnx {

class GraphImporter {
public:
  GraphImporter(const Model &model, const ImportOptions &options,
                MLIRContext &context)
      : model(model), options(options), builder(&context) {}

  OwningOpRef<ModuleOp> run();

private:
  friend class Lowering;

  Location getLocation(unsigned line, StringRef name);
  Location getLocation(const Node &node);
  int64_t getVersion(const Node &node) const {
    return node.opset ? node.opset : model.opset;
  }
  /// Marks the nodes that the outputs of a graph depend on, and those of their
  /// graphs.
  void findLiveNodes(const Graph &graph);
  /// One error that lists all nodes that cannot be imported.
  LogicalResult checkOperators();
  void checkNodes(const Graph &graph,
                  SmallVectorImpl<std::pair<const Node *, std::string>> &wrong);
  LogicalResult addInput(const ValueInfo &input, SmallVector<Type> &types,
                         SmallVector<Location> &locations);
  LogicalResult addInputs();
  /// The attributes of an argument or a result: `nameAttr` and the others.
  DictionaryAttr describe(const ValueInfo &info, const Tensor &tensor);
  void addInitializers(const Graph &graph);
  LogicalResult importNode(const Node &node);
  /// With ImportOptions::convertsToF16: whether a node computes in float16.
  bool isConverted(const Node &node) const;
  /// The value of a name as an input of a node that is converted or is not.
  FailureOr<Tensor> convertInput(Lowering &lowering, size_t i, StringRef name,
                                 bool converts);
  LogicalResult addOutputs();
  /// Imports the nodes of a node's graph into a block. Returns its outputs;
  /// their values are visible in the block.
  FailureOr<SmallVector<Tensor>> importNested(const Graph &graph,
                                              ArrayRef<Tensor> inputs,
                                              Block *block, Location loc);

  const Model &model;
  const ImportOptions &options;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  /// Where nodes are imported: its end.
  Block *block = nullptr;
  std::map<StringRef, Tensor> values;
  std::set<const Node *> live;
  /// Live nodes, and graph outputs as null, that use a value.
  std::map<StringRef, SmallVector<const Node *, 1>> users;
  /// Nodes that the lowering of an earlier one includes.
  std::set<const Node *> absorbed;
  bool hasBatch = false;
  /// Nodes of nested graphs that have been imported, with repetitions.
  size_t numNested = 0;
  /// The float16 forms of constants, which are kept for their addresses.
  std::map<const Constant *, Tensor> converted;
  std::vector<ConstantRef> keptConstants;
};

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_GRAPHIMPORTER_H
