//===- MatrixMaps.cpp - Functions of matrices' elements -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices of one type are distributed over lanes in the same way; those of
// different element types need not be. The region of a map is therefore divided
// into parts of one element type, with conversions of matrices between them:
//
//   ^bb0(%x: f32, %y: f16):                  %0 = spirv.FConvert %y
//     %0 = arith.extf %y                     %1 = spirv.FAdd %x, %0
//     %1 = arith.addf %x, %0          ->     %2 = spirv.FConvert %1
//     %2 = arith.truncf %1                   for each element of a lane:
//     %3 = arith.maximumf %2, %zero            %3 = arith.maximumf %2, %zero
//     tessera.yield %3
//
// A part is arithmetic of matrices, or a loop over a lane's elements
// (OpCooperativeMatrixLengthKHR) of variables, which drivers unroll and keep in
// registers. An element's coordinates are in matrices themselves.
//
//===----------------------------------------------------------------------===//

#include "MatrixMaps.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Ops of a region that are computed together.
struct Part {
  SmallVector<Operation *> ops;
  /// The element type of the matrices; null until an op has floats.
  Type element;
  /// A conversion of matrices.
  bool isCast = false;
  /// Whether an op uses an element's coordinates.
  bool usesCoordinates = false;
};

/// The parts of a map's region, in order.
struct Parts {
  SmallVector<Part> parts;
  /// Ops that are the same for all elements.
  SmallVector<Operation *> uniform;
};

} // namespace

static bool isMatrixElement(Type type) { return type.isF16() || type.isF32(); }

static FailureOr<Parts> divide(MapOp op) {
  Block &body = op.getBody().front();
  size_t inputs = op.getInputs().size();
  llvm::DenseSet<Value> varying(body.args_begin(), body.args_end());
  llvm::DenseMap<Value, size_t> partOf;
  Parts result;
  for (BlockArgument argument : body.getArguments().take_front(inputs))
    if (!isMatrixElement(argument.getType()))
      return failure();
  for (Operation &inner : body.without_terminator()) {
    if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
      return failure();
    if (llvm::none_of(inner.getOperands(),
                      [&](Value value) { return varying.contains(value); })) {
      result.uniform.push_back(&inner);
      continue;
    }
    varying.insert(inner.result_begin(), inner.result_end());
    bool isCast = isa<arith::ExtFOp, arith::TruncFOp>(inner);
    Part next{{&inner}, {}, isCast};
    SmallVector<Value> values(inner.getResults());
    for (Value operand : inner.getOperands()) {
      if (varying.contains(operand))
        values.push_back(operand);
      auto argument = dyn_cast<BlockArgument>(operand);
      next.usesCoordinates |= argument && argument.getOwner() == &body &&
                              argument.getArgNumber() >= inputs;
    }
    for (Value value : values) {
      Type type = value.getType();
      if (isa<VectorType>(type) ||
          (isa<FloatType>(type) && !isMatrixElement(type)))
        return failure();
      if (!isa<FloatType>(type) || isCast)
        continue;
      if (next.element && next.element != type)
        return failure();
      next.element = type;
    }
    Part *last = result.parts.empty() ? nullptr : &result.parts.back();
    if (!isCast && last && !last->isCast &&
        (!last->element || !next.element || last->element == next.element)) {
      last->ops.push_back(&inner);
      last->element = last->element ? last->element : next.element;
      last->usesCoordinates |= next.usesCoordinates;
    } else {
      result.parts.push_back(next);
    }
    for (Value value : inner.getResults())
      partOf[value] = result.parts.size() - 1;
  }
  // A value that passes from one part to another is a matrix of its type.
  auto passes = [&](Value value) {
    auto found = partOf.find(value);
    return found == partOf.end() ||
           (isMatrixElement(value.getType()) &&
            (result.parts[found->second].isCast ||
             result.parts[found->second].element == value.getType()));
  };
  for (auto [index, part] : llvm::enumerate(result.parts)) {
    if (!part.isCast && !part.element)
      return failure();
    if (part.usesCoordinates && !(part.element && part.element.isF32()))
      return failure();
    for (Operation *inner : part.ops)
      for (Value operand : inner->getOperands())
        if (partOf.contains(operand) && partOf[operand] != index &&
            !passes(operand))
          return failure();
  }
  if (!passes(cast<YieldOp>(body.getTerminator()).getValues()[0]))
    return failure();
  return result;
}

/// The arithmetic that SPIR-V has for matrices.
static bool isMatrixArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp>(op);
}

/// A multiplication may be fused with an addition only in a loop.
static bool isArithmetic(const Part &part) {
  bool fuses = llvm::any_of(part.ops, [](Operation *op) {
    auto multiply = dyn_cast<arith::MulFOp>(op);
    return multiply &&
           arith::bitEnumContainsAny(multiply.getFastmath(),
                                     arith::FastMathFlags::contract);
  });
  return llvm::all_of(part.ops, isMatrixArithmetic) &&
         (part.ops.size() == 1 || !fuses);
}

bool mlir::tessera::isMatrixMap(const Chip &chip, MapOp op) {
  FailureOr<Parts> parts = divide(op);
  if (failed(parts))
    return false;
  FragmentType type = op.getResult().getType();
  return llvm::all_of(parts->parts, [&](const Part &part) {
    Type element =
        part.isCast ? part.ops[0]->getResult(0).getType() : part.element;
    return hasMatricesOf(chip, type, element) &&
           (!part.usesCoordinates || chip.reducesMatrices);
  });
}

static spirv::CooperativeMatrixType withElement(spirv::CooperativeMatrixType of,
                                                Type element) {
  return spirv::CooperativeMatrixType::get(
      element, of.getRows(), of.getColumns(), of.getScope(), of.getUse());
}

Value mlir::tessera::castMatrix(OpBuilder &builder, Location loc, Value matrix,
                                Type element, bool isUnsigned) {
  auto type = cast<spirv::CooperativeMatrixType>(matrix.getType());
  Type from = type.getElementType();
  if (from == element)
    return matrix;
  spirv::CooperativeMatrixType to = withElement(type, element);
  bool fromInteger = from.isInteger(), toInteger = element.isInteger();
  if (!fromInteger && !toInteger)
    return spirv::FConvertOp::create(builder, loc, to, matrix);
  if (fromInteger && toInteger && isUnsigned)
    return spirv::UConvertOp::create(builder, loc, to, matrix);
  if (fromInteger && toInteger)
    return spirv::SConvertOp::create(builder, loc, to, matrix);
  if (fromInteger && isUnsigned)
    return spirv::ConvertUToFOp::create(builder, loc, to, matrix);
  if (fromInteger)
    return spirv::ConvertSToFOp::create(builder, loc, to, matrix);
  if (isUnsigned)
    return spirv::ConvertFToUOp::create(builder, loc, to, matrix);
  return spirv::ConvertFToSOp::create(builder, loc, to, matrix);
}

//===----------------------------------------------------------------------===//
// Functions of elements, and calls
//===----------------------------------------------------------------------===//

/// "16x16xf32x2", for accumulators.
static std::string printType(spirv::CooperativeMatrixType type) {
  std::string text;
  llvm::raw_string_ostream(text)
      << type.getRows() << "x" << type.getColumns() << "x"
      << type.getElementType() << "x" << static_cast<uint32_t>(type.getUse());
  return text;
}

Value mlir::tessera::callMatrixFunction(OpBuilder &builder, Location loc,
                                        matrix_functions::Opcode opcode,
                                        spirv::CooperativeMatrixType type,
                                        Value matrix, StringRef element) {
  auto from = cast<spirv::CooperativeMatrixType>(matrix.getType());
  std::string name = matrix_functions::getFunctionName(
      opcode, printType(from) + "." + printType(type), element);
  FlatSymbolRefAttr function = getImportedFunction(
      builder, loc, name, builder.getFunctionType(from, type));
  return spirv::FunctionCallOp::create(builder, loc, type, function, matrix)
      .getResult(0);
}

/// Returns the name of the function of elements, whose body `build` emits
/// where the module does not have it.
static std::string defineElementFunction(
    OpBuilder &builder, Location loc, const Twine &name, FunctionType type,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> build) {
  std::string full = (matrix_functions::elementPrefix + name).str();
  Operation *at = builder.getInsertionBlock()->getParentOp();
  auto module = isa<gpu::GPUModuleOp>(at)
                    ? cast<gpu::GPUModuleOp>(at)
                    : at->getParentOfType<gpu::GPUModuleOp>();
  if (module.lookupSymbol(full))
    return full;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto function = spirv::FuncOp::create(builder, loc, full, type);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Value result = build(builder, body->getArguments());
  spirv::ReturnValueOp::create(builder, loc, result);
  return full;
}

bool mlir::tessera::isMatrixReduction(ReductionKind kind) {
  return kind == ReductionKind::Add || kind == ReductionKind::Max ||
         kind == ReductionKind::Min;
}

/// The function that combines two elements. A NaN makes the result NaN.
static std::string defineCombination(OpBuilder &builder, Location loc,
                                     ReductionKind kind, Type element) {
  std::string suffix;
  llvm::raw_string_ostream(suffix) << element;
  return defineElementFunction(
      builder, loc, stringifyReductionKind(kind) + "." + suffix,
      builder.getFunctionType({element, element}, element),
      [&](OpBuilder &b, ValueRange values) -> Value {
        Value x = values[0], y = values[1];
        if (kind == ReductionKind::Add)
          return spirv::FAddOp::create(b, loc, x, y);
        // True if x is NaN, too.
        Value first =
            kind == ReductionKind::Max
                ? spirv::FUnordGreaterThanOp::create(b, loc, x, y).getResult()
                : spirv::FUnordLessThanOp::create(b, loc, x, y).getResult();
        Value chosen = spirv::SelectOp::create(b, loc, first, x, y);
        Value isNan = spirv::FUnordNotEqualOp::create(b, loc, y, y);
        return spirv::SelectOp::create(b, loc, isNan, y, chosen);
      });
}

/// A matrix of each element's row (0) or column (1) within it, as floats.
static Value emitCoordinates(OpBuilder &builder, Location loc,
                             spirv::CooperativeMatrixType type,
                             unsigned dimension) {
  Type element = type.getElementType(), i32 = builder.getI32Type();
  std::string function = defineElementFunction(
      builder, loc, dimension ? "column" : "row",
      builder.getFunctionType({i32, i32, element}, element),
      [&](OpBuilder &b, ValueRange values) -> Value {
        return spirv::ConvertUToFOp::create(b, loc, element, values[dimension]);
      });
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  return callMatrixFunction(
      builder, loc, matrix_functions::PerElement, type,
      spirv::CompositeConstructOp::create(builder, loc, type, zero), function);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Calls `compute` with each element of `inputs`, matrices of `type`; returns
/// the matrices of its results.
static SmallVector<Value> emitElementLoop(
    OpBuilder &builder, Location loc, spirv::CooperativeMatrixType type,
    ValueRange inputs, size_t results,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> compute) {
  auto kernel = builder.getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<gpu::GPUFuncOp>();
  if (!kernel)
    kernel = cast<gpu::GPUFuncOp>(builder.getInsertionBlock()->getParentOp());
  auto pointer = spirv::PointerType::get(type, spirv::StorageClass::Function);
  SmallVector<Value> variables;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    for (size_t i = 0; i < std::max<size_t>(inputs.size(), results); ++i)
      variables.push_back(spirv::VariableOp::create(
          builder, loc, pointer, spirv::StorageClass::Function, Value()));
  }
  for (auto [input, variable] : llvm::zip(inputs, variables))
    spirv::StoreOp::create(builder, loc, variable, input);
  Type i32 = builder.getI32Type();
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32),
        one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value length = spirv::KHRCooperativeMatrixLengthOp::create(
      builder, loc, i32, TypeAttr::get(type));
  scf::ForOp::create(
      builder, loc, zero, length, one, ValueRange(),
      [&](OpBuilder &inner, Location, Value index, ValueRange) {
        SmallVector<Value> pointers;
        for (Value variable : variables)
          pointers.push_back(spirv::AccessChainOp::create(inner, loc, variable,
                                                          ValueRange{index}));
        SmallVector<Value> elements;
        for (size_t i = 0; i < inputs.size(); ++i)
          elements.push_back(spirv::LoadOp::create(inner, loc, pointers[i]));
        for (auto [value, to] : llvm::zip(compute(inner, elements), pointers))
          spirv::StoreOp::create(inner, loc, to, value);
        scf::YieldOp::create(inner, loc);
      });
  SmallVector<Value> matrices;
  for (Value variable : ArrayRef(variables).take_front(results))
    matrices.push_back(spirv::LoadOp::create(builder, loc, variable));
  return matrices;
}

namespace {

/// Emits the parts of a map for one matrix of each input.
class MatrixMap {
public:
  MatrixMap(OpBuilder &builder, MapOp op, spirv::CooperativeMatrixType type,
            std::array<int64_t, 2> position)
      : builder(builder), loc(op.getLoc()), op(op), type(type),
        position(position) {}
  Value emit(const Parts &parts, ValueRange inputs);

private:
  /// The matrix of a value of the region, or of all elements the same.
  Value lookup(Value value);
  void emitArithmetic(const Part &part);
  void emitLoop(const Part &part);

  OpBuilder &builder;
  Location loc;
  MapOp op;
  spirv::CooperativeMatrixType type;
  std::array<int64_t, 2> position;
  llvm::DenseMap<Value, Value> matrices;
  /// The values that are the same for all elements.
  IRMapping scalars;
};

} // namespace

Value MatrixMap::lookup(Value value) {
  Value &matrix = matrices[value];
  if (!matrix)
    matrix = spirv::CompositeConstructOp::create(
        builder, loc, withElement(type, value.getType()),
        scalars.lookupOrDefault(value));
  return matrix;
}

void MatrixMap::emitArithmetic(const Part &part) {
  spirv::CooperativeMatrixType of = withElement(type, part.element);
  for (Operation *inner : part.ops) {
    SmallVector<Value> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(lookup(operand));
    matrices[inner->getResult(0)] =
        llvm::TypeSwitch<Operation *, Value>(inner)
            .Case([&](arith::AddFOp) -> Value {
              return spirv::FAddOp::create(builder, loc, of, operands);
            })
            .Case([&](arith::SubFOp) -> Value {
              return spirv::FSubOp::create(builder, loc, of, operands);
            })
            .Case([&](arith::MulFOp) -> Value {
              return spirv::FMulOp::create(builder, loc, of, operands);
            })
            .Case([&](arith::DivFOp) -> Value {
              return spirv::FDivOp::create(builder, loc, of, operands);
            })
            .Default([&](Operation *) -> Value {
              return spirv::FNegateOp::create(builder, loc, of, operands);
            });
  }
}

void MatrixMap::emitLoop(const Part &part) {
  spirv::CooperativeMatrixType of = withElement(type, part.element);
  llvm::SmallPtrSet<Operation *, 16> inside(part.ops.begin(), part.ops.end());
  llvm::SetVector<Value> inputs, results;
  SmallVector<BlockArgument> coordinates;
  size_t elements = op.getInputs().size();
  Block *body = &op.getBody().front();
  for (Operation *inner : part.ops) {
    for (Value operand : inner->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && argument.getOwner() == body &&
          argument.getArgNumber() >= elements) {
        if (!llvm::is_contained(coordinates, argument))
          coordinates.push_back(argument);
      } else if (matrices.contains(operand)) {
        inputs.insert(operand);
      }
    }
    for (Value result : inner->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        results.insert(result);
  }
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(matrices.lookup(input));
  for (BlockArgument coordinate : coordinates)
    operands.push_back(emitCoordinates(
        builder, loc, of,
        static_cast<unsigned>(coordinate.getArgNumber() - elements)));
  auto compute = [&](OpBuilder &inner, ValueRange values) {
    IRMapping mapping(scalars);
    for (auto [input, value] : llvm::zip(inputs, values))
      mapping.map(input, value);
    for (auto [coordinate, value] :
         llvm::zip(coordinates, values.drop_front(inputs.size()))) {
      Value within =
          arith::FPToUIOp::create(inner, loc, inner.getI32Type(), value);
      Value first = arith::ConstantIntOp::create(
          inner, loc, position[coordinate.getArgNumber() - elements], 32);
      mapping.map(coordinate,
                  arith::IndexCastOp::create(
                      inner, loc, inner.getIndexType(),
                      arith::AddIOp::create(inner, loc, within, first)));
    }
    for (Operation *each : part.ops)
      inner.clone(*each, mapping);
    return llvm::map_to_vector(
        results, [&](Value result) { return mapping.lookup(result); });
  };
  SmallVector<Value> found =
      emitElementLoop(builder, loc, of, operands, results.size(), compute);
  for (auto [result, matrix] : llvm::zip(results, found))
    matrices[result] = matrix;
}

Value MatrixMap::emit(const Parts &parts, ValueRange inputs) {
  Block &body = op.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
    matrices[argument] = input;
  for (Operation *uniform : parts.uniform)
    builder.clone(*uniform, scalars);
  for (const Part &part : parts.parts) {
    if (part.isCast) {
      Value result = part.ops[0]->getResult(0);
      matrices[result] =
          castMatrix(builder, loc, lookup(part.ops[0]->getOperand(0)),
                     result.getType(), /*isUnsigned=*/false);
    } else if (isArithmetic(part)) {
      emitArithmetic(part);
    } else {
      emitLoop(part);
    }
  }
  return lookup(cast<YieldOp>(body.getTerminator()).getValues()[0]);
}

FailureOr<Value> mlir::tessera::emitMatrixMap(OpBuilder &builder, MapOp op,
                                              ValueRange inputs,
                                              spirv::CooperativeMatrixType type,
                                              std::array<int64_t, 2> position) {
  FailureOr<Parts> parts = divide(op);
  if (failed(parts))
    return failure();
  return MatrixMap(builder, op, type, position).emit(*parts, inputs);
}

Value mlir::tessera::emitMatrixReduction(OpBuilder &builder, Location loc,
                                         ReductionKind kind, ValueRange tiles) {
  auto type = cast<spirv::CooperativeMatrixType>(tiles.front().getType());
  Value all = tiles.front();
  for (Value tile : tiles.drop_front()) {
    if (kind == ReductionKind::Add) {
      all = spirv::FAddOp::create(builder, loc, type, all, tile);
      continue;
    }
    all = emitElementLoop(
        builder, loc, type, {all, tile}, 1,
        [&](OpBuilder &inner, ValueRange values) -> SmallVector<Value> {
          if (kind == ReductionKind::Max)
            return {
                arith::MaximumFOp::create(inner, loc, values[0], values[1])};
          return {arith::MinimumFOp::create(inner, loc, values[0], values[1])};
        })[0];
  }
  std::string combine =
      defineCombination(builder, loc, kind, type.getElementType());
  return callMatrixFunction(builder, loc, matrix_functions::Reduce, type, all,
                            combine);
}
