//===- LazyResults.h - Evaluating parts of results --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A straight-line program on tensors, or on memrefs of which each is written as
// a whole, is a graph: an array is an argument, or what an operation makes of
// other arrays. To evaluate some rows of a result takes only those parts of the
// operands that they depend on.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_LAZY_LAZYRESULTS_H
#define LIB_REFERENCE_LAZY_LAZYRESULTS_H

#include "../Ops/Contract.h"
#include "../Ops/Linalg.h"

#include <deque>

namespace mlir::tessera::reference {

/// Per dimension the indices that are asked for; none for all of them.
using Indices = SmallVector<std::optional<SmallVector<int64_t>>, 2>;

/// The elements at these indices, dense.
ViewRef gatherElements(const View &source, const Indices &indices);

class LazyProgram {
public:
  LazyProgram(func::FuncOp entry, ArrayRef<Array> arguments);

  /// Builds the graph. False when the program is not of this kind, or has an
  /// error; `getReason` has the reason.
  bool build(Run &run);
  const std::string &getReason() const { return reason; }

  struct Node {
    /// Null for arguments and constants, whose elements are in `value`.
    Operation *op = nullptr;
    /// Has the sizes; the elements of an argument or a constant, too.
    ViewRef value;
    bool isKnown = false;
    bool isPoison = false;
    /// Per operand of `op`; null for scalars.
    SmallVector<Node *> operands;
    std::shared_ptr<StructuredOp> structured;
    std::shared_ptr<ContractCode> contract;
    std::shared_ptr<Instr> elementwise;
    /// For other ops: computes a part of the result from parts of the operands.
    std::function<ViewRef(Run &, const Indices &)> reshape;
    /// Slots of the operands and of the result.
    SmallVector<Slot> slots;
    Slot result;
    /// The initial value of tessera.contract.
    std::optional<Slot> init;
    /// The parts that have been evaluated.
    SmallVector<std::pair<Indices, ViewRef>, 0> parts;

    int64_t rank() const { return value->rank(); }
  };

  /// The node of a result, or of what a memref argument holds at the end.
  Node *getResult(unsigned index) const { return results[index]; }
  Node *getArgument(unsigned index) const { return finalArguments[index]; }

  /// The elements of a node at these indices; null with an error in the run.
  ViewRef evaluate(Run &run, Node &node, const Indices &indices);

  /// Compares all of an output of a matmul with the operands, by projections.
  /// None for any other output; the comparison has an element for each row and
  /// projection.
  std::optional<Comparison> project(Run &run, Node &node, const View &got,
                                    int64_t count, uint64_t seed, double slack);

private:
  struct Step {
    Operation *op;
    std::shared_ptr<Instr> instr;
    std::shared_ptr<StructuredOp> structured;
    std::shared_ptr<ContractCode> contract;
    MixedList sizes, offsets, strides;
  };

  bool prepare(Operation *op);
  bool execute(Run &run, const Step &step);
  bool executeReshape(const Step &step);
  bool executePad(Run &run, const Step &step);
  Node *makeSoftmax(Operation *op);
  bool executeWhole(const Step &step);
  Node *makeNode(Operation *op, ViewRef shape);
  Node *lookup(Value value) const;
  void setTensor(Value value, Node *node);
  bool isArray(Value value) const;
  bool reject(Operation *op);
  ViewRef compute(Run &run, Node &node, const Indices &indices);
  ViewRef evaluateOperand(Run &run, Node &operand, AffineMap map,
                          const Indices &lists, ArrayRef<int64_t> extents);
  ViewRef computeStructured(Run &run, Node &node, const Indices &indices);
  ViewRef computeContract(Run &run, Node &node, const Indices &indices);
  /// A node as a contraction of whole arrays, of which it keeps alive what the
  /// graph does not.
  bool findProduct(Run &run, Node &node, Contraction &c,
                   SmallVectorImpl<ViewRef> &owned);
  bool findContract(Run &run, Node &node, Contraction &c,
                    SmallVectorImpl<ViewRef> &owned);
  ViewRef computeElementwise(Run &run, Node &node, const Indices &indices);

  func::FuncOp entry;
  ArrayRef<Array> arguments;
  std::string reason;

  Program program;
  Function function;
  Scope scope;
  std::vector<Step> steps;
  std::optional<FrameOwner> owner;

  std::deque<Node> nodes;
  /// Tensors.
  DenseMap<Value, Node *> tensors;
  /// Memrefs that are other names of one, and what memory holds.
  DenseMap<Value, Value> aliases;
  DenseMap<Value, Node *> memory;
  SmallVector<Node *> results, finalArguments;
};

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_LAZY_LAZYRESULTS_H
