//===- Attributes.cpp - The dialect's discardable attributes --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table in the dialect's description (TesseraDialect.td) states who sets
// each attribute and who reads it.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// PlainMatmulAttr
//===----------------------------------------------------------------------===//

static void printMatmul(raw_ostream &os, PlainMatmulAttr matmul,
                        StringRef separator) {
  llvm::interleave(
      matmul.getExtents(), os,
      [&](int64_t extent) {
        ShapedType::isDynamic(extent) ? os << "?" : os << extent;
      },
      "x");
  os << separator << matmul.getAType() << " x " << matmul.getBType() << " -> "
     << matmul.getAccType();
}

std::string PlainMatmulAttr::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printMatmul(os, *this, " ");
  return text;
}

Attribute PlainMatmulAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> extents;
  Type aType, bType, accType;
  std::string how;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/true,
                                /*withTrailingX=*/false) ||
      parser.parseComma() || parser.parseType(aType) ||
      parser.parseKeyword("x") || parser.parseType(bType) ||
      parser.parseArrow() || parser.parseType(accType) || parser.parseComma() ||
      parser.parseString(&how) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  auto emitError = [&] { return parser.emitError(loc); };
  // Exact types select the generated overload: the storage is incomplete here.
  return getChecked(function_ref<InFlightDiagnostic()>(emitError), context,
                    ArrayRef<int64_t>(extents), aType, bType, accType,
                    StringAttr::get(context, how));
}

void PlainMatmulAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printMatmul(printer.getStream(), *this, ", ");
  printer << ", ";
  printer.printAttribute(getHow());
  printer << '>';
}

LogicalResult
PlainMatmulAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> extents, Type, Type, Type,
                        StringAttr) {
  if (extents.size() != 3)
    return emitError() << "plain_matmul_c1: " << extents.size()
                       << " extents; expected M, N and K";
  return success();
}

//===----------------------------------------------------------------------===//
// Holders: the ops that may have an attribute
//===----------------------------------------------------------------------===//

namespace {
/// A condition, and the text of diagnostics for it.
template <typename... Args> struct Condition {
  bool (*holds)(Args...);
  StringLiteral text;
};
using OpCheck = Condition<Operation *>;
using ValueCheck = Condition<Attribute>;
} // namespace

static bool isLinalg(Operation *op) {
  return op->getName().getDialectNamespace() == "linalg";
}

static bool hasMemory(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
}

namespace holders {
static constexpr OpCheck moduleOp{
    [](Operation *op) { return isa<ModuleOp>(op); }, "a module"},
    anyModule{[](Operation *op) { return isa<ModuleOp, gpu::GPUModuleOp>(op); },
              "a module or a gpu.module"},
    linalgOp{[](Operation *op) { return isLinalg(op); }, "a linalg op"},
    copied{[](Operation *op) {
             return isLinalg(op) || isa<memref::CopyOp, gpu::LaunchOp>(op);
           },
           "a linalg op, a memref.copy or a gpu.launch"},
    scheduled{[](Operation *op) {
                return isLinalg(op) || isa<gpu::LaunchOp>(op) ||
                       isa<FunctionOpInterface>(op);
              },
              "a linalg op, a gpu.launch or a function"},
    contraction{[](Operation *op) {
                  return isa<ContractOp, AttentionOp, gpu::LaunchOp>(op);
                },
                "a tessera.contract, a tessera.attention or a gpu.launch"},
    tuned{[](Operation *op) {
            return isa<ContractOp, AttentionOp, gpu::LaunchOp>(op) ||
                   isLinalg(op);
          },
          "a tessera.contract, a tessera.attention, a linalg op or a "
          "gpu.launch"},
    window{[](Operation *op) {
             return isLinalg(op) || isa<gpu::LaunchOp>(op) ||
                    op->getName().getStringRef() == "scf.for";
           },
           "a linalg op, an scf.for or a gpu.launch"},
    launch{[](Operation *op) { return isa<gpu::LaunchOp>(op); },
           "a gpu.launch"},
    kernel{[](Operation *op) { return isa<FunctionOpInterface>(op); },
           "a function"},
    kernelOrLaunch{[](Operation *op) {
                     return isa<FunctionOpInterface>(op) ||
                            isa<gpu::LaunchFuncOp>(op);
                   },
                   "a function or a gpu.launch_func"},
    matmul{[](Operation *op) { return isa<MmaOp>(op); }, "a tessera.mma"},
    load{[](Operation *op) { return isa<LoadOp>(op); }, "a tessera.load"},
    copy{[](Operation *op) { return isa<CopyOp>(op); }, "a tessera.copy"},
    asyncCopy{[](Operation *op) { return isa<AsyncCopyOp>(op); },
              "a tessera.async_copy"},
    anyCopy{[](Operation *op) { return isa<CopyOp, AsyncCopyOp>(op); },
            "a tessera.copy or a tessera.async_copy"},
    access{[](Operation *op) {
             return isa<LoadOp, StoreOp, BroadcastOp, CopyOp, AsyncCopyOp>(op);
           },
           "a load, store, broadcast or copy of the dialect"},
    onMemory{[](Operation *op) { return hasMemory(op); },
             "an op with a memref operand"},
    wait{[](Operation *op) { return isa<WaitOp>(op); }, "a tessera.wait"},
    branch{
        [](Operation *op) { return op->getName().getStringRef() == "scf.if"; },
        "an scf.if"},
    region{[](Operation *op) {
             return op->getName().getStringRef() == "scf.execute_region";
           },
           "an scf.execute_region"},
    cast{[](Operation *op) { return isa<UnrealizedConversionCastOp>(op); },
         "a builtin.unrealized_conversion_cast"};
} // namespace holders

//===----------------------------------------------------------------------===//
// Ranges: the values of an attribute
//===----------------------------------------------------------------------===//

static bool isAtLeast(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessIntOrIndex() &&
         !number.getType().isInteger(1) && number.getValue().isSignedIntN(64) &&
         number.getInt() >= least;
}

static bool areAtLeast(Attribute value, int64_t least) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && llvm::all_of(numbers.asArrayRef(), [=](int64_t number) {
           return number >= least;
         });
}

template <typename... T> static bool areAll(Attribute value) {
  auto entries = dyn_cast<DictionaryAttr>(value);
  return entries && llvm::all_of(entries, [](NamedAttribute entry) {
           return isa<T...>(entry.getValue());
         });
}

/// An entry of `tuned`: an origin, and the schedule if there is one, which may
/// be text.
static bool isRecord(NamedAttribute entry) {
  auto record = dyn_cast<DictionaryAttr>(entry.getValue());
  Attribute schedule = record ? record.get("schedule") : Attribute();
  return record && record.getAs<StringAttr>("origin") &&
         (!schedule ||
          isa<ScheduleAttr, WindowScheduleAttr, StringAttr>(schedule)) &&
         record.size() == (schedule ? 2 : 1);
}

static bool isTensorMap(Attribute entry) {
  auto map = dyn_cast<DictionaryAttr>(entry);
  if (!map)
    return false;
  auto argument = map.getAs<IntegerAttr>("argument"),
       swizzle = map.getAs<IntegerAttr>("swizzle");
  auto box = map.getAs<DenseI64ArrayAttr>("box");
  if (!argument || !isAtLeast(argument, 0) || !swizzle ||
      !isAtLeast(swizzle, 0) || !box || !areAtLeast(box, 1) || box.empty() ||
      box.size() > 5 || !llvm::is_contained({0, 32, 64, 128}, swizzle.getInt()))
    return false;
  return llvm::all_of(map, [](NamedAttribute field) {
    StringRef name = field.getName();
    if (name == "lower" || name == "extent" || name == "stride")
      return isa<DenseI64ArrayAttr>(field.getValue());
    if (name == "symbol")
      return isa<FlatSymbolRefAttr>(field.getValue());
    return name == "argument" || name == "swizzle" || name == "box";
  });
}

namespace ranges {
static constexpr ValueCheck unit{
    [](Attribute value) { return isa<UnitAttr>(value); }, "a unit"},
    boolean{[](Attribute value) { return isa<BoolAttr>(value); }, "a bool"},
    text{[](Attribute value) { return isa<StringAttr>(value); }, "a string"},
    name{[](Attribute value) {
           auto text = dyn_cast<StringAttr>(value);
           return text && !text.getValue().empty();
         },
         "a string that is not empty"},
    chip{[](Attribute value) { return isa<ChipAttr>(value); },
         "a #tessera.chip"},
    schedule{[](Attribute value) { return isa<ScheduleAttr>(value); },
             "a #tessera.schedule"},
    windowSchedule{
        [](Attribute value) { return isa<WindowScheduleAttr>(value); },
        "a #tessera.window_schedule"},
    plainMatmul{[](Attribute value) { return isa<PlainMatmulAttr>(value); },
                "a #tessera.plain_matmul"},
    texts{areAll<StringAttr>, "a dictionary of strings"},
    schedules{areAll<ScheduleAttr, WindowScheduleAttr>,
              "a dictionary of #tessera.schedule and "
              "#tessera.window_schedule"},
    plainMatmuls{areAll<PlainMatmulAttr>,
                 "a dictionary of #tessera.plain_matmul"},
    records{[](Attribute value) {
              auto entries = dyn_cast<DictionaryAttr>(value);
              return entries && llvm::all_of(entries, isRecord);
            },
            "a dictionary of dictionaries of a string 'origin' and, "
            "optionally, a 'schedule': a #tessera.schedule, a "
            "#tessera.window_schedule or their text"},
    tensorMaps{[](Attribute value) {
                 auto maps = dyn_cast<ArrayAttr>(value);
                 return maps && llvm::all_of(maps, isTensorMap);
               },
               "an array of tensor maps: dictionaries of argument, box, "
               "swizzle and, optionally, symbol, lower, extent and stride"},
    count{[](Attribute value) { return isAtLeast(value, 1); },
          "a positive integer"},
    number{[](Attribute value) { return isAtLeast(value, 0); },
           "an integer that is not negative"},
    numbers{[](Attribute value) { return areAtLeast(value, 0); },
            "an array<i64> without negative entries"},
    pair{[](Attribute value) {
           return areAtLeast(value, 1) &&
                  cast<DenseI64ArrayAttr>(value).size() == 2;
         },
         "an array<i64> of two positive entries"};
} // namespace ranges

//===----------------------------------------------------------------------===//
// The attributes
//===----------------------------------------------------------------------===//

namespace {
struct Rule {
  StringLiteral name;
  const OpCheck &holder;
  const ValueCheck &range;
};
} // namespace

#define RULE(NAME, HOLDER, RANGE)                                              \
  {TesseraDialect::NAME##AttrHelper::getNameStr(), holders::HOLDER,            \
   ranges::RANGE}

static const Rule rules[] = {
    // Ops of the user's program, and launches.
    RULE(Schedule, scheduled, schedule),
    RULE(ScheduleOrigin, tuned, text),
    RULE(SchedulePrediction, contraction, text),
    {windowScheduleName, holders::window, ranges::windowSchedule},
    RULE(AllowTf32, linalgOp, unit),
    RULE(AllowFastF8, linalgOp, unit),
    RULE(Packing, copied, text),
    RULE(Purpose, launch, text),
    RULE(PlainMatmul, launch, plainMatmul),
    // Modules, by the names of kernels or the keys of tasks.
    RULE(Chip, anyModule, chip),
    RULE(Tuned, moduleOp, records),
    RULE(TunedSource, moduleOp, text),
    RULE(Schedules, moduleOp, schedules),
    RULE(ScheduleOrigins, moduleOp, texts),
    RULE(SchedulePredictions, moduleOp, texts),
    RULE(PlainMatmuls, moduleOp, plainMatmuls),
    RULE(Packings, moduleOp, texts),
    // Kernels.
    RULE(Group, kernel, count),
    RULE(Stages, kernel, count),
    RULE(Cluster, kernel, count),
    RULE(Sharers, kernel, pair),
    RULE(WorkgroupBytes, kernelOrLaunch, number),
    RULE(Copies, kernel, text),
    RULE(TensorMaps, kernelOrLaunch, tensorMaps),
    RULE(ProducerThreads, kernelOrLaunch, count),
    RULE(TakenArguments, kernelOrLaunch, numbers),
    RULE(Registers, kernel, count),
    RULE(ParameterAlignments, kernel, numbers),
    RULE(Kernel, kernel, unit),
    // Ops in kernels.
    RULE(Bulk, copy, boolean),
    RULE(CopyThreads, copy, count),
    RULE(Alignment, access, number),
    RULE(Uniform, anyCopy, unit),
    RULE(WholeBytes, anyCopy, unit),
    RULE(KPacked, onMemory, pair),
    RULE(LdsWidth, asyncCopy, count),
    RULE(LdsLoads, wait, number),
    RULE(BlockLoad, load, unit),
    RULE(Instruction, matmul, name),
    RULE(Widened, matmul, unit),
    RULE(TransposedA, matmul, unit),
    RULE(TransposedB, matmul, unit),
    RULE(Overlapped, matmul, unit),
    RULE(InFlight, matmul, unit),
    RULE(Issuer, branch, unit),
    RULE(StepAwait, region, unit),
    RULE(Context, cast, unit),
    RULE(Field, cast, number)};

#undef RULE

static const Rule *findRule(StringRef name) {
  static const llvm::StringMap<const Rule *> known = [] {
    llvm::StringMap<const Rule *> map;
    for (const Rule &rule : rules)
      map[rule.name] = &rule;
    return map;
  }();
  return known.lookup(name);
}

LogicalResult
TesseraDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const Rule *rule = findRule(name);
  if (!rule)
    return op->emitError() << "attribute_c3: '" << name
                           << "' is not an attribute of the dialect";
  if (!rule->holder.holds(op))
    return op->emitError() << "attribute_c1: '" << name << "' must be on "
                           << rule->holder.text;
  if (!rule->range.holds(attribute.getValue()))
    return op->emitError() << "attribute_c2: '" << name << "' must be "
                           << rule->range.text << ", but is "
                           << attribute.getValue();
  return success();
}

LogicalResult TesseraDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  if (attribute.getName() != AlignmentAttrHelper::getNameStr())
    return op->emitError() << "attribute_c3: '"
                           << attribute.getName().getValue()
                           << "' is not an attribute of arguments";
  if (!isAtLeast(attribute.getValue(), 1))
    return op->emitError() << "attribute_c2: '"
                           << attribute.getName().getValue() << "' of argument "
                           << argument << " must be " << ranges::count.text
                           << ", but is " << attribute.getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !isa<BaseMemRefType>(function.getArgumentTypes()[argument]))
    return op->emitError() << "attribute_c1: '"
                           << attribute.getName().getValue()
                           << "' must be on a memref argument of a function";
  return success();
}
