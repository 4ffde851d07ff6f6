//===- TesseraDialect.cpp - Dialect, types and attributes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/IR/ContractMaps.h"
#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

#include "Dialect/Tessera/IR/TesseraDialect.cpp.inc"
#include "Dialect/Tessera/IR/TesseraEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Dialect/Tessera/IR/TesseraAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Dialect/Tessera/IR/TesseraTypes.cpp.inc"

void TesseraDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Dialect/Tessera/IR/TesseraOps.cpp.inc"
      >();
}

void TesseraDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Dialect/Tessera/IR/TesseraTypes.cpp.inc"
      >();
}

void TesseraDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Dialect/Tessera/IR/TesseraAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// FragmentType
//===----------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef roleName;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "a fragment must have two dimensions, as in "
                          "'!tessera.fragment<16x16xf16, a>'");
    return {};
  }
  SMLoc roleLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&roleName))
    return {};
  std::optional<Role> role = symbolizeRole(roleName);
  if (!role) {
    parser.emitError(roleLoc, "unknown role '")
        << roleName << "': expected a, b or acc";
    return {};
  }
  StringAttr instruction;
  if (succeeded(parser.parseOptionalComma()) &&
      parser.parseAttribute(instruction))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(loc, parser.getContext(), shape[0],
                                         shape[1], elementType, *role,
                                         instruction);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<' << getRows() << 'x' << getCols() << 'x' << getElementType()
          << ", " << stringifyRole(getRole());
  if (getInstruction())
    printer << ", " << getInstruction();
  printer << '>';
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t cols, Type elementType,
                                   Role role, StringAttr instruction) {
  if (rows <= 0 || cols <= 0)
    return emitError()
           << "fragment_t1: a fragment's extents must be positive, not " << rows
           << "x" << cols;
  if (!isValidElementType(elementType))
    return emitError()
           << "fragment_t2: " << elementType
           << " is not a valid element type of a fragment: expected f16, "
              "bf16, f32, f64, i4, i8, i32 or an 8-bit float";
  return success();
}

bool FragmentType::isValidElementType(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType>(type) ||
         type.isSignlessInteger(4) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(32);
}

FragmentType FragmentType::cloneWithElementType(Type type) const {
  return FragmentType::get(getContext(), getRows(), getCols(), type, getRole(),
                           getInstruction());
}

FragmentType FragmentType::cloneWithInstruction(StringAttr instruction) const {
  return FragmentType::get(getContext(), getRows(), getCols(), getElementType(),
                           getRole(), instruction);
}

//===----------------------------------------------------------------------===//
// WindowAttr
//===----------------------------------------------------------------------===//

LogicalResult ChipAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef target, StringRef name) {
  if (target.empty() || name.empty())
    return emitError() << "chip_c1: the names of the target and of the chip "
                          "must not be empty";
  return success();
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> rows, ArrayRef<int64_t> cols,
                                 AffineMap map) {
  auto isPositive = [](int64_t extent) { return extent > 0; };
  if (rows.empty() || cols.empty() || !llvm::all_of(rows, isPositive) ||
      !llvm::all_of(cols, isPositive))
    return emitError() << "window_c1: rows and cols must not be empty, and "
                          "their entries must be positive";
  if (map.getNumDims() != rows.size() + cols.size() || map.getNumSymbols() != 0)
    return emitError() << "window_c2: the map has " << map.getNumDims()
                       << " dimensions and " << map.getNumSymbols()
                       << " symbols; expected " << rows.size() + cols.size()
                       << " dimensions, one for each of rows and cols, and no "
                          "symbols";
  for (auto [r, expr] : llvm::enumerate(map.getResults()))
    if (!isPositiveSum(expr))
      return emitError() << "window_c2: result " << r
                         << " of the map is not a sum of dimensions with "
                            "positive factors and a constant";
  return success();
}

//===----------------------------------------------------------------------===//
// Facts about types
//===----------------------------------------------------------------------===//

bool mlir::tessera::isValidMatmul(Type a, Type b, Type acc) {
  if (a.isF16() && b.isF16())
    return acc.isF32() || acc.isF16();
  if (a.isBF16() && b.isBF16())
    return acc.isF32();
  if (a.isF32() && b.isF32())
    return acc.isF32();
  if (a.isF64() && b.isF64())
    return acc.isF64();
  if ((a.isSignlessInteger(8) && b.isSignlessInteger(8)) ||
      (a.isSignlessInteger(4) && b.isSignlessInteger(4)))
    return acc.isSignlessInteger(32);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(a) &&
      isa<Float8E4M3FNType, Float8E5M2Type>(b))
    return acc.isF32() || acc.isF16();
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(a) &&
      isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(b))
    return acc.isF32();
  return false;
}

bool mlir::tessera::hasAtomicAdd(Type type) {
  return type.isF32() || type.isF64() || type.isSignlessInteger(32);
}

bool mlir::tessera::isWorkgroupMemory(MemRefType type) {
  if (auto space =
          dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace()))
    return space.getValue() == gpu::AddressSpace::Workgroup;
  if (auto space = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace()))
    return space.getInt() == 3;
  return false;
}

int64_t mlir::tessera::getSwizzlePhases(MemRefType type) {
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides;
  int64_t offset;
  Type element = type.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (rank < 2 || type.isDynamicDim(rank - 1) || !canSwizzleElements(bits))
    return 0;
  // MLIR derives strides from affine expressions, and schedules ask for phases
  // thousands of times.
  int64_t length = type.getDimSize(rank - 1);
  if (!type.getLayout().isIdentity() &&
      (failed(type.getStridesAndOffset(strides, offset)) ||
       strides[rank - 1] != 1 || strides[rank - 2] != length))
    return 0;
  int64_t bytes = length * bits / 8, panel = getSwizzlePanelBytes(bytes);
  // Panels are as high as the memory.
  if (panel < bytes && type.isDynamicDim(rank - 2))
    return 0;
  return panel / 16;
}

bool mlir::tessera::isProvablyInBounds(MemRefType type, ValueRange indices,
                                       ArrayRef<int64_t> shape) {
  int64_t rank = type.getRank();
  for (int d : {0, 1}) {
    int64_t size = type.getDimSize(rank - 2 + d);
    std::optional<int64_t> index = getConstantIntValue(indices[rank - 2 + d]);
    if (ShapedType::isDynamic(size) || !index || *index < 0 ||
        *index + shape[d] > size)
      return false;
  }
  return true;
}
