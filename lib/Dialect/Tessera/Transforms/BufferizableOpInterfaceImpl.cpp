//===- BufferizableOpInterfaceImpl.cpp - Tensors to memrefs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/BufferizableOpInterfaceImpl.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::tessera;

// External models give their methods by these very names.
// NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)

namespace {
/// The operands of `op`, with buffers for tensors.
static FailureOr<SmallVector<Value>>
getOperands(Operation *op, RewriterBase &rewriter,
            const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value value : op->getOperands()) {
    if (isa<TensorType>(value.getType())) {
      FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      value = *buffer;
    }
    operands.push_back(value);
  }
  return operands;
}

struct ContractOpInterface
    : public DstBufferizableOpInterfaceExternalModel<ContractOpInterface,
                                                     ContractOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    // With `init`, the sum does not start from the output's old value.
    auto contract = cast<ContractOp>(op);
    return !contract.isDpsInit(&operand) || !contract.getInit();
  }

  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    // An extra operand that is read at the indices where the output is written
    // may share its buffer. The tiles of lhs and rhs are read by many
    // workgroups. If the output has no N, several lanes read and write one
    // element.
    auto contract = cast<ContractOp>(op);
    if (llvm::any_of(contract.getDims().n, [&](unsigned d) {
          return !contract.getMap(2).isFunctionOfDim(d);
        }))
      return false;
    unsigned firstExtra = contract.getExtras().getBeginOperandIndex();
    unsigned numExtras = contract.getExtras().size();
    AffineMap out = contract.getMap(2);
    return llvm::all_of(operands, [&](OpOperand *operand) {
      if (contract.isDpsInit(operand))
        return true;
      unsigned index = operand->getOperandNumber();
      return index >= firstExtra && index < firstExtra + numExtras &&
             contract.getMap(3 + index - firstExtra) == out;
    });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto contract = cast<ContractOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> operands =
        getOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    Value output = (*operands)[contract.getOutputMutable().getOperandNumber()];
    auto bufferized = ContractOp::create(
        rewriter, op->getLoc(), TypeRange(), *operands,
        contract.getProperties(), llvm::to_vector(op->getDiscardableAttrs()));
    for (auto [from, to] :
         llvm::zip(contract->getRegions(), bufferized->getRegions()))
      to.takeBody(from);
    replaceOpWithBufferizedValues(rewriter, op, output);
    return success();
  }
};

struct AttentionOpInterface
    : public DstBufferizableOpInterfaceExternalModel<AttentionOpInterface,
                                                     AttentionOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<AttentionOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto attention = cast<AttentionOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> operands =
        getOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    auto bufferized = AttentionOp::create(
        rewriter, op->getLoc(), TypeRange(), *operands,
        attention.getProperties(), llvm::to_vector(op->getDiscardableAttrs()));
    for (auto [from, to] :
         llvm::zip(attention->getRegions(), bufferized->getRegions()))
      to.takeBody(from);
    replaceOpWithBufferizedValues(rewriter, op,
                                  (*operands)[AttentionOp::Output]);
    return success();
  }
};
} // namespace

// NOLINTEND(bugprone-derived-method-shadowing-base-method)

void mlir::tessera::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TesseraDialect *) {
    ContractOp::attachInterface<ContractOpInterface>(*context);
    AttentionOp::attachInterface<AttentionOpInterface>(*context);
  });
}
