//===- MatmulWork.cpp - Operations and bytes of matmuls -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/MatmulWork.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Driver/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace tessera::execution;
using runtime::HostArray;

namespace {
/// Finds sizes that are dynamic in the program and known in this run.
class Sizes {
public:
  Sizes(const Entry &entry, const std::vector<HostArray> &arguments)
      : entry(entry), arguments(arguments) {}

  /// The size of a dimension of a tensor or memref.
  std::optional<int64_t> getSize(mlir::Value value, int64_t dim) const;
  /// An index.
  std::optional<int64_t> getIndex(mlir::Value value) const;

private:
  /// The number of the entry's argument that `value` is.
  std::optional<size_t> getArgument(mlir::Value value) const {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
    mlir::func::FuncOp function = entry.function;
    if (!argument || argument.getOwner() != &function.getBody().front())
      return std::nullopt;
    return argument.getArgNumber();
  }

  const Entry &entry;
  const std::vector<HostArray> &arguments;
};
} // namespace

std::optional<int64_t> Sizes::getSize(mlir::Value value, int64_t dim) const {
  auto type = mlir::cast<mlir::ShapedType>(value.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (std::optional<size_t> argument = getArgument(value))
    return *argument < arguments.size()
               ? std::optional<int64_t>(arguments[*argument].shape[dim])
               : std::nullopt;
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto destination = mlir::dyn_cast<mlir::DestinationStyleOpInterface>(op))
    if (mlir::OpOperand *init =
            destination.getTiedOpOperand(mlir::cast<mlir::OpResult>(value)))
      return getSize(init->get(), dim);
  if (auto empty = mlir::dyn_cast<mlir::tensor::EmptyOp>(op))
    return getIndex(empty.getDynamicSize(dim));
  if (auto alloc = mlir::dyn_cast<mlir::memref::AllocOp>(op))
    return getIndex(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (mlir::isa<mlir::tensor::CastOp, mlir::memref::CastOp,
                mlir::bufferization::ToTensorOp,
                mlir::bufferization::ToBufferOp>(op))
    return getSize(op->getOperand(0), dim);
  return std::nullopt;
}

std::optional<int64_t> Sizes::getIndex(mlir::Value value) const {
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  if (std::optional<size_t> argument = getArgument(value))
    return *argument < arguments.size()
               ? std::optional<int64_t>(arguments[*argument].getInt(0))
               : std::nullopt;
  mlir::Operation *op = value.getDefiningOp();
  if (!op || !mlir::isa<mlir::tensor::DimOp, mlir::memref::DimOp>(op))
    return std::nullopt;
  std::optional<int64_t> dim = getIndex(op->getOperand(1));
  auto type = mlir::dyn_cast<mlir::ShapedType>(op->getOperand(0).getType());
  if (!dim || !type || !type.hasRank() || *dim < 0 || *dim >= type.getRank())
    return std::nullopt;
  return getSize(op->getOperand(0), *dim);
}

/// The extents of an iteration space, whose dimensions are those that the maps
/// of the operands use. Absent where one is not known.
static std::optional<llvm::SmallVector<int64_t>>
getExtents(const Sizes &sizes, mlir::ValueRange operands,
           ArrayRef<mlir::AffineMap> maps) {
  if (maps.empty())
    return std::nullopt;
  llvm::SmallVector<std::optional<int64_t>> extents(maps[0].getNumDims());
  for (auto [operand, map] : llvm::zip(operands, maps))
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result))
        if (!extents[dim.getPosition()])
          extents[dim.getPosition()] = sizes.getSize(operand, i);
  llvm::SmallVector<int64_t> known;
  for (std::optional<int64_t> extent : extents) {
    if (!extent)
      return std::nullopt;
    known.push_back(*extent);
  }
  return known;
}

/// Twice the points of an iteration space.
static std::optional<double> countPoints(const Sizes &sizes,
                                         mlir::ValueRange operands,
                                         ArrayRef<mlir::AffineMap> maps) {
  std::optional<llvm::SmallVector<int64_t>> extents =
      getExtents(sizes, operands, maps);
  if (!extents)
    return std::nullopt;
  double points = 2;
  for (int64_t extent : *extents)
    points *= static_cast<double>(extent);
  return points;
}

/// The elements of at most 8 bits that an element-wise op, which is fused into
/// the matmul, computes `value` from; `value` itself if there are none.
static mlir::Value findStored(mlir::Value value) {
  mlir::Value at = value;
  while (mlir::Operation *op = at.getDefiningOp()) {
    if (mlir::isa<mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp>(
            op)) {
      at = op->getOperand(0);
      continue;
    }
    auto generic = mlir::dyn_cast<mlir::linalg::GenericOp>(op);
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(at.getType());
    if (!generic || !mlir::linalg::isElementwise(generic) || !type ||
        !type.hasStaticShape())
      break;
    for (mlir::Value input : generic.getDpsInputs()) {
      auto stored = mlir::dyn_cast<mlir::RankedTensorType>(input.getType());
      if (stored && stored.hasStaticShape() &&
          stored.getElementType().isIntOrFloat() &&
          stored.getElementTypeBitWidth() <= 8 &&
          stored.getNumElements() == type.getNumElements())
        return input;
    }
    break;
  }
  return value;
}

/// Bytes of a tensor or memref.
static std::optional<double> countBytes(const Sizes &sizes, mlir::Value value) {
  value = findStored(value);
  auto type = mlir::dyn_cast<mlir::ShapedType>(value.getType());
  if (!type || !type.hasRank() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  double bytes = type.getElementTypeBitWidth() / 8.0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::optional<int64_t> size = sizes.getSize(value, dim);
    if (!size)
      return std::nullopt;
    bytes *= static_cast<double>(*size);
  }
  return bytes;
}

/// Whether `op` is a convolution, and not a pooling, which has windows as well
/// but multiplies nothing.
static bool isConvolution(mlir::linalg::LinalgOp op) {
  if (!mlir::linalg::isaConvolutionOpInterface(op))
    return false;
  return llvm::any_of(
      op.getBlock()->without_terminator(), [](mlir::Operation &inner) {
        return mlir::isa<mlir::arith::MulFOp, mlir::arith::MulIOp>(inner);
      });
}

/// Both matmuls of an attention: scores and weighted sums of the keys that each
/// query sees.
static MatmulWork getWork(const Sizes &sizes, compiler::AttentionOp op) {
  using Op = compiler::AttentionOp;
  MatmulWork work;
  work.location = compiler::describeLocation(op.getLoc());
  work.op = op;
  llvm::SmallVector<mlir::Value> operands = {op.getQuery(), op.getKey(),
                                             op.getValue(), op.getOutput()};
  llvm::SmallVector<mlir::AffineMap> maps;
  double bytes = 0;
  bool isKnown = true;
  for (unsigned operand = 0; operand < operands.size(); ++operand) {
    maps.push_back(op.getMap(operand));
    std::optional<double> own = countBytes(sizes, operands[operand]);
    isKnown &= own.has_value();
    bytes += own.value_or(0);
  }
  // How many keys are read where lengths limit them is known at run time only,
  // and a cache of pages has others as well.
  if (op.hasLength() || op.hasPages())
    return work;
  if (isKnown)
    work.bytes = bytes;
  std::optional<llvm::SmallVector<int64_t>> extents =
      getExtents(sizes, operands, maps);
  if (!extents)
    return work;
  size_t batch = extents->size() - 4;
  double pairs = 0;
  for (int64_t query = 0; query < (*extents)[batch + Op::M]; ++query) {
    // Constants of bounds are at most 2^30.
    auto evaluate = [&](const Op::Bound &bound) {
      return bound.constant + (bound.row ? query : 0);
    };
    int64_t begin = 0, end = (*extents)[batch + Op::N];
    for (const Op::Bound &bound : op.getFirstKeys())
      begin = std::max(begin, evaluate(bound));
    for (const Op::Bound &bound : op.getLastKeys())
      end = std::min(end, evaluate(bound) + 1);
    pairs += static_cast<double>(std::max<int64_t>(end - begin, 0));
  }
  double operations = 2 * pairs *
                      static_cast<double>((*extents)[batch + Op::D] +
                                          (*extents)[batch + Op::E]);
  for (size_t dim = 0; dim < batch; ++dim)
    operations *= static_cast<double>((*extents)[dim]);
  work.operations = operations;
  return work;
}

/// Returns the work of `op`, if it is a matmul, a convolution or an attention.
static std::optional<MatmulWork> getWork(const Sizes &sizes,
                                         mlir::Operation *op) {
  // Bytes are those of two operands and the output, and operations those of the
  // iteration space of `counted`, whose maps these are.
  llvm::SmallVector<mlir::Value> operands, counted;
  llvm::SmallVector<mlir::AffineMap> maps;
  mlir::Value output;
  if (auto contract = mlir::dyn_cast<compiler::ContractOp>(op)) {
    for (unsigned i = 0; i < 3; ++i)
      maps.push_back(contract.getMap(i));
    operands = {contract.getLhs(), contract.getRhs(), contract.getOutput()};
    output = contract.getOutput();
  } else if (auto linalg = mlir::dyn_cast<mlir::linalg::LinalgOp>(op)) {
    if (!mlir::linalg::isaContractionOpInterface(linalg) &&
        !isConvolution(linalg))
      return std::nullopt;
    maps = linalg.getIndexingMapsArray();
    llvm::append_range(operands, linalg->getOperands());
    output = linalg.getDpsInitOperand(0)->get();
  } else if (auto attention = mlir::dyn_cast<compiler::AttentionOp>(op)) {
    return getWork(sizes, attention);
  } else if (auto matmul = mlir::dyn_cast<mlir::tosa::MatMulOp>(op)) {
    auto map = [&](ArrayRef<unsigned> dims) {
      return mlir::AffineMap::getMultiDimMapWithTargets(4, dims,
                                                        op->getContext());
    };
    maps = {map({0, 1, 3}), map({0, 3, 2})};
    operands = {matmul.getA(), matmul.getB()};
    output = matmul.getOutput();
  } else if (mlir::isa<mlir::tosa::Conv2DOp, mlir::tosa::DepthwiseConv2DOp>(
                 op)) {
    // The output is NHWC, and the kernels OHWI, or HWCM for M channels of each.
    bool isDepthwise = mlir::isa<mlir::tosa::DepthwiseConv2DOp>(op);
    auto map = [&](ArrayRef<unsigned> dims) {
      return mlir::AffineMap::getMultiDimMapWithTargets(isDepthwise ? 6 : 7,
                                                        dims, op->getContext());
    };
    output = op->getResult(0);
    operands = {op->getOperand(0), op->getOperand(1)};
    counted = {output, operands[1]};
    maps = {map({0, 1, 2, 3}), isDepthwise ? map({4, 5}) : map({3, 4, 5, 6})};
  } else {
    return std::nullopt;
  }
  MatmulWork work;
  work.location = compiler::describeLocation(op->getLoc());
  work.op = op;
  work.operations =
      countPoints(sizes, counted.empty() ? operands : counted, maps);
  std::optional<double> a = countBytes(sizes, operands[0]),
                        b = countBytes(sizes, operands[1]),
                        out = countBytes(sizes, output);
  if (a && b && out)
    work.bytes = *a + *b + *out;
  return work;
}

std::vector<MatmulWork>
tessera::execution::collectWork(const Entry &entry,
                                const std::vector<HostArray> &arguments) {
  Sizes sizes(entry, arguments);
  std::vector<MatmulWork> matmuls;
  mlir::func::FuncOp function = entry.function;
  function.walk([&](mlir::Operation *op) {
    if (std::optional<MatmulWork> work = getWork(sizes, op))
      matmuls.push_back(std::move(*work));
  });
  return matmuls;
}

std::optional<double>
tessera::execution::countOperations(const Entry &entry,
                                    const std::vector<HostArray> &arguments) {
  mlir::func::FuncOp function = entry.function;
  mlir::WalkResult isHidden = function.walk([&](mlir::Operation *op) {
    return mlir::isa<mlir::func::CallOp, compiler::MmaOp>(op)
               ? mlir::WalkResult::interrupt()
               : mlir::WalkResult::advance();
  });
  if (isHidden.wasInterrupted())
    return std::nullopt;
  double total = 0;
  for (const MatmulWork &matmul : collectWork(entry, arguments)) {
    // In a loop it is unknown how often.
    if (!matmul.operations || matmul.op->getParentOp() != function)
      return std::nullopt;
    total += *matmul.operations;
  }
  return total == 0 ? std::nullopt : std::optional<double>(total);
}
