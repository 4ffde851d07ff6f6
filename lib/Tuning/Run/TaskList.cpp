//===- Work.cpp - Tasks of a run ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/TaskList.h"

#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Driver/ParseProgram.h"
#include "Import/ONNX/Import.h"
#include "Runtime/InputFile.h"
#include "Scheduling/TuningTask.h"
#include "Scheduling/WindowTask.h"
#include "Tuning/Json.h"
#include "Tuning/MachineModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera::tuning;
using mlir::ArrayRef;
using mlir::StringRef;

mlir::Operation *Task::getOp() const {
  mlir::Operation *found = nullptr;
  mlir::ModuleOp module = *program;
  module.walk([&](mlir::Operation *op) {
    if (!found && compiler::isTuningTask(op))
      found = op;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

const char *const tessera::tuning::shapeHelp =
    "  MxNxK:TYPE[:OUT][:LAYOUT]   a matmul; LAYOUT: how lhs and rhs are\n"
    "                              stored, NN (default), NT, TN or TT\n"
    "  batch:BxMxNxK:TYPE[:OUT][:LAYOUT]\n"
    "                              B matmuls\n"
    "  conv:NxHxWxCxFxRxS[/STRIDE]:TYPE\n"
    "                              a convolution, NHWC, F filters of RxS, "
    "padded\n"
    "  attention:BxQxKxD:TYPE[:causal]\n"
    "                              B heads, Q queries, K keys of D\n";

namespace {
struct Types {
  StringRef operand, sum, out;
};
} // namespace

/// The sum's type and the output's for operands of a type.
static std::optional<Types> getTypes(StringRef operand, StringRef out) {
  auto types = llvm::StringSwitch<std::optional<Types>>(operand)
                   .Case("f16", Types{"f16", "f32", "f16"})
                   .Case("bf16", Types{"bf16", "f32", "bf16"})
                   .Case("f32", Types{"f32", "f32", "f32"})
                   .Case("f64", Types{"f64", "f64", "f64"})
                   .Case("i8", Types{"i8", "i32", "i32"})
                   .Cases({"f8E4M3FN", "fp8"}, Types{"f8E4M3FN", "f32", "bf16"})
                   .Case("f8E5M2", Types{"f8E5M2", "f32", "bf16"})
                   .Case("f8E4M3FNUZ", Types{"f8E4M3FNUZ", "f32", "bf16"})
                   .Case("f8E5M2FNUZ", Types{"f8E5M2FNUZ", "f32", "bf16"})
                   .Default(std::nullopt);
  if (types && !out.empty())
    types->out = out;
  return types;
}

/// "4x5xf16".
static std::string formatOperand(ArrayRef<int64_t> sizes, StringRef type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + type.str() + ">";
}

/// The function around `op`, which computes %r of `%a` and `%b` into %z.
static std::string makeFunction(const Types &types, ArrayRef<int64_t> a,
                                ArrayRef<int64_t> b, ArrayRef<int64_t> out,
                                StringRef before, StringRef op) {
  std::string aType = formatOperand(a, types.operand),
              bType = formatOperand(b, types.operand),
              sumType = formatOperand(out, types.sum),
              outType = formatOperand(out, types.out);
  bool isFloat = !types.sum.starts_with("i");
  std::string text =
      "func.func @main(%a: " + aType + ", %b: " + bType + ") -> " + outType +
      " {\n  %zero = arith.constant " + (isFloat ? "0.0" : "0") + " : " +
      types.sum.str() + "\n  %e = tensor.empty() : " + sumType +
      "\n  %z = linalg.fill ins(%zero : " + types.sum.str() +
      ") outs(%e : " + sumType + ") -> " + sumType + "\n" + before.str() +
      "  %r = " + op.str() + " outs(%z : " + sumType + ") -> " + sumType + "\n";
  if (types.sum != types.out)
    text += "  %t = arith." + std::string(isFloat ? "truncf" : "trunci") +
            " %r : " + sumType + " to " + outType +
            "\n  return %t : " + outType + "\n}\n";
  else
    text += "  return %r : " + outType + "\n}\n";
  return text;
}

static std::string makeConvolution(ArrayRef<int64_t> d, int64_t stride,
                                   const Types &types) {
  int64_t n = d[0], h = d[1], w = d[2], c = d[3], f = d[4], r = d[5], s = d[6];
  int64_t top = r / 2, left = s / 2;
  int64_t oh = (h + 2 * top - r) / stride + 1,
          ow = (w + 2 * left - s) / stride + 1;
  std::string image = formatOperand({n, h, w, c}, types.operand),
              padded = formatOperand({n, h + 2 * top, w + 2 * left, c},
                                     types.operand),
              filters = formatOperand({r, s, c, f}, types.operand);
  std::string pads = std::to_string(top) + ", " + std::to_string(left);
  bool isFloat = !types.operand.starts_with("i");
  std::string before, source = "%a", sourceType = image;
  if (top || left) {
    before = "  %q = arith.constant " + std::string(isFloat ? "0.0" : "0") +
             " : " + types.operand.str() + "\n  %p = tensor.pad %a low[0, " +
             pads + ", 0] high[0, " + pads +
             ", 0] {\n  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
             "    tensor.yield %q : " +
             types.operand.str() + "\n  } : " + image + " to " + padded + "\n";
    source = "%p";
    sourceType = padded;
  }
  std::string op = "linalg.conv_2d_nhwc_hwcf {strides = dense<" +
                   std::to_string(stride) + "> : tensor<2xi64>} ins(" + source +
                   ", %b : " + sourceType + ", " + filters + ")";
  return makeFunction(types, {n, h, w, c}, {r, s, c, f}, {n, oh, ow, f}, before,
                      op);
}

static std::string makeAttention(ArrayRef<int64_t> d, StringRef type,
                                 bool isCausal) {
  std::string q = formatOperand({d[0], d[1], d[3]}, type),
              k = formatOperand({d[0], d[2], d[3]}, type);
  // A power of two near 1/sqrt(D), so that integers stay exact as scores.
  double scale = 1;
  while (scale * scale * static_cast<double>(d[3]) > 1)
    scale /= 2;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "func.func @main(%q: " << q << ", %k: " << k << ", %v: " << k << ") -> "
     << q << " {\n  %e = tensor.empty() : " << q
     << "\n  %r = tessera.attention ins(%q, %k, %v : " << q << ", " << k << ", "
     << k << ") outs(%e : " << q
     << ")\n      maps [affine_map<(h, m, n, d, e) -> (h, m, d)>, "
        "affine_map<(h, m, n, d, e) -> (h, n, d)>, affine_map<(h, m, n, d, e) "
        "-> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]\n      scale "
     << scale << (isCausal ? " causal " + std::to_string(d[2] - d[1]) : "")
     << " -> " << q << "\n  return %r : " << q << "\n}\n";
  return text;
}

std::optional<std::string> tessera::tuning::makeProgram(StringRef shape,
                                                        std::string &why) {
  auto reject = [&](const llvm::Twine &what) {
    why = ("'" + shape + "' is not a shape: " + what + "; expected\n" +
           StringRef(shapeHelp).rtrim())
              .str();
    return std::nullopt;
  };
  mlir::SmallVector<StringRef> parts;
  shape.split(parts, ':');
  StringRef kind = "gemm";
  if (llvm::is_contained({"gemm", "batch", "conv", "attention"}, parts[0])) {
    kind = parts[0];
    parts.erase(parts.begin());
  }
  StringRef layout = "NN";
  if (llvm::is_contained({"gemm", "batch"}, kind) && parts.size() > 2 &&
      llvm::is_contained({"NN", "NT", "TN", "TT"}, parts.back()))
    layout = parts.pop_back_val();
  if (parts.size() < 2 || parts.size() > 3)
    return reject("expected sizes and a type, separated by ':'");
  auto [sizesText, strideText] = parts[0].split('/');
  int64_t stride = 1;
  if (parts[0].contains('/') &&
      (kind != "conv" || strideText.getAsInteger(10, stride) || stride < 1))
    return reject("'/' must precede the stride of a convolution");
  mlir::SmallVector<StringRef> words;
  sizesText.split(words, 'x');
  mlir::SmallVector<int64_t> sizes;
  for (StringRef word : words) {
    int64_t size;
    if (word.getAsInteger(10, size) || size < 1 || size > (int64_t(1) << 31))
      return reject("'" + word + "' is not a size");
    sizes.push_back(size);
  }
  size_t wanted =
      llvm::StringSwitch<size_t>(kind).Case("gemm", 3).Case("conv", 7).Default(
          4);
  if (sizes.size() != wanted)
    return reject(kind + " has " + llvm::Twine(wanted) + " sizes");
  if (kind == "attention") {
    bool isCausal = parts.size() == 3;
    if (isCausal && parts[2] != "causal")
      return reject("expected nothing or 'causal' after the type");
    if (parts[1] != "f16" && parts[1] != "bf16")
      return reject("attention requires f16 or bf16");
    return makeAttention(sizes, parts[1], isCausal);
  }
  std::optional<Types> types =
      getTypes(parts[1], parts.size() == 3 ? parts[2] : "");
  if (!types)
    return reject("'" + parts[1] +
                  "' is not one of f16, bf16, f32, f64, i8, f8E4M3FN, f8E5M2, "
                  "f8E4M3FNUZ, f8E5M2FNUZ");
  // The type of the sums, and those that it can be rounded to.
  std::vector<StringRef> outputs{"i8", "i16"};
  if (types->sum != "i32")
    outputs = {"f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};
  if (types->sum == "f64")
    outputs.push_back("f32");
  outputs.push_back(types->sum);
  if (!llvm::is_contained(outputs, types->out))
    return reject("'" + types->out + "' is not an output of " + parts[1] +
                  ", one of " + llvm::join(outputs, ", ") +
                  (kind == "conv" ? "" : ", nor a layout"));
  if (kind == "conv") {
    if (sizes[1] + sizes[5] / 2 * 2 < sizes[5] ||
        sizes[2] + sizes[6] / 2 * 2 < sizes[6])
      return reject("the filter is larger than the image");
    return makeConvolution(sizes, stride, *types);
  }
  bool isBatch = kind == "batch";
  auto shapeOf = [&](int64_t rows, int64_t cols) {
    mlir::SmallVector<int64_t> dims;
    if (isBatch)
      dims.push_back(sizes[0]);
    dims.append({rows, cols});
    return dims;
  };
  int64_t m = sizes[isBatch], n = sizes[isBatch + 1], k = sizes[isBatch + 2];
  bool isATransposed = layout[0] == 'T', isBTransposed = layout[1] == 'T';
  mlir::SmallVector<int64_t> a = isATransposed ? shapeOf(k, m) : shapeOf(m, k),
                             b = isBTransposed ? shapeOf(n, k) : shapeOf(k, n),
                             out = shapeOf(m, n);
  std::string dims = isBatch ? "s, " : "", maps;
  if (layout != "NN") {
    auto map = [&](const char *results) {
      return "affine_map<(" + dims + "m, n, k) -> (" + dims + results + ")>";
    };
    maps = " indexing_maps = [" + map(isATransposed ? "k, m" : "m, k") + ", " +
           map(isBTransposed ? "n, k" : "k, n") + ", " + map("m, n") + "]";
  }
  std::string op =
      std::string(isBatch ? "linalg.batch_matmul" : "linalg.matmul") + maps +
      " ins(%a, %b : " + formatOperand(a, types->operand) + ", " +
      formatOperand(b, types->operand) + ")";
  return makeFunction(*types, a, b, out, "", op);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Whether `region` yields the accumulator as it is, but for its type.
static bool isPlain(mlir::Region &epilogue) {
  mlir::Block &body = epilogue.front();
  mlir::Value value = body.getTerminator()->getOperand(0);
  if (mlir::Operation *op = value.getDefiningOp())
    if (mlir::isa<mlir::arith::TruncFOp, mlir::arith::ExtFOp>(op))
      value = op->getOperand(0);
  return value == body.getArgument(0);
}

static std::optional<runtime::ElementType> getElement(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << mlir::getElementTypeOrSelf(type);
  auto parsed = runtime::parseElementType(text);
  return parsed.ok() ? std::optional<runtime::ElementType>(*parsed)
                     : std::nullopt;
}

/// Describes `op` for a library: a batch of contiguous dense matrices.
static std::optional<runtime::LibraryMatmul>
describeMatmul(mlir::Operation *task) {
  auto op = mlir::dyn_cast<compiler::ContractOp>(task);
  if (!op || !op.getInit())
    return std::nullopt;
  bool isZero = mlir::matchPattern(op.getInit(), mlir::m_Zero()) ||
                mlir::matchPattern(op.getInit(), mlir::m_AnyZeroFloat());
  if (!isZero)
    return std::nullopt;
  if (!op.getLhsProducer().empty() || !op.getRhsProducer().empty() ||
      !op.getExtras().empty() || !isPlain(op.getEpilogue()) ||
      op.getUnsignedA() || op.getUnsignedB())
    return std::nullopt;
  compiler::MatrixForm form = compiler::getMatrixForm(op);
  for (unsigned operand : {0, 1, 2}) {
    mlir::AffineMap map = op.getMap(operand);
    if (!map.isProjectedPermutation())
      return std::nullopt;
    // The batch is outermost, in one order.
    unsigned used = 0;
    for (unsigned dim : form.batch)
      used += map.isFunctionOfDim(dim);
    if (used != 0 && used != form.batch.size())
      return std::nullopt;
    for (unsigned i = 0; i < used; ++i)
      if (map.getDimPosition(i) != form.batch[i])
        return std::nullopt;
  }
  if (compiler::isStoredTransposed(op, form, 2))
    return std::nullopt;
  std::array<int64_t, 3> extents = compiler::getStaticExtents(op, form);
  runtime::LibraryMatmul matmul;
  std::tie(matmul.m, matmul.n, matmul.k) =
      std::tie(extents[0], extents[1], extents[2]);
  matmul.matrices = compiler::getLinearExtent(op, form.batch);
  matmul.transposedLhs = compiler::isStoredTransposed(op, form, 0);
  matmul.transposedRhs = compiler::isStoredTransposed(op, form, 1);
  auto hasBatch = [&](unsigned operand) {
    return !form.batch.empty() &&
           op.getMap(operand).isFunctionOfDim(form.batch[0]);
  };
  matmul.lhsStride = hasBatch(0) ? matmul.m * matmul.k : 0;
  matmul.rhsStride = hasBatch(1) ? matmul.k * matmul.n : 0;
  matmul.outStride = matmul.m * matmul.n;
  auto lhs = getElement(op.getLhs().getType()),
       rhs = getElement(op.getRhs().getType()),
       out = getElement(op.getOutput().getType()),
       sum = getElement(op.getAccumulatorType());
  if (!lhs || !rhs || !out || !sum)
    return std::nullopt;
  matmul.lhs = *lhs;
  matmul.rhs = *rhs;
  matmul.out = *out;
  matmul.sum = *sum;
  matmul.tf32 = op.getPrecision() == compiler::Precision::Tf32;
  return matmul;
}

/// Whether sums of products of small integers are exact in any order: they have
/// the bits for it.
static bool isExactTask(mlir::Operation *op) {
  if (auto window = compiler::getWindowOp(op))
    return compiler::isExactWindow(window);
  auto contract = mlir::dyn_cast<compiler::ContractOp>(op);
  return contract && !contract.getAccumulatorType().isF16() &&
         !contract.reducesRows();
}

static Task makeTask(mlir::Operation *op, const compiler::Chip &chip,
                     const compiler::CompileFlags &flags) {
  Task task;
  task.text.text = compiler::getTaskText(op);
  task.text.flags = compiler::listCodeFlags(flags);
  task.text.key = compiler::getTaskKey(task.text.text, task.text.flags);
  task.text.description = compiler::describeTask(op, flags);
  task.location = compiler::describeLocation(op->getLoc());
  task.program = compiler::makeTaskProgram(op);
  auto contract = mlir::dyn_cast<compiler::ContractOp>(op);
  task.isAdded = contract && !contract.getInit();
  if (auto window = compiler::getWindowOp(op))
    task.isAdded = llvm::any_of(
        window.getRegionOutputArgs(),
        [](mlir::BlockArgument argument) { return !argument.use_empty(); });
  task.isExact = isExactTask(op);
  task.matmul = describeMatmul(op);
  compiler::tuning::MachineModel model(op, chip);
  task.text.operations = model.getOperations();
  task.text.bytes = model.getBytes();
  task.text.rateType = model.getRateType();
  task.roof = model.getRoof();
  return task;
}

/// Adds a task, or counts it with an equal one.
static void addTask(Task task, std::vector<Task> &tasks) {
  for (Task &other : tasks)
    if (other.text.key == task.text.key) {
      other.count += task.count;
      llvm::append_range(other.uses, task.uses);
      return;
    }
  tasks.push_back(std::move(task));
}

namespace {
/// A program on the command line.
struct ProgramSource {
  std::unique_ptr<llvm::MemoryBuffer> text;
  /// Nothing else is named: without tasks, the program is an error.
  bool isAlone = false;
  /// It is a model whose inputs' first dimension --batch would set.
  bool hasOpenBatch = false;
};
} // namespace

/// Whether the shape of any operand is not static.
static bool hasDynamicShape(mlir::Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](mlir::Type type) {
    auto shaped = mlir::dyn_cast<mlir::ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  });
}

/// Adds the tasks of a program that `parse` makes of the text.
static mlir::LogicalResult addTasks(
    ProgramSource source, const compiler::CompileOptions &options,
    mlir::MLIRContext &context, llvm::raw_ostream &messages,
    std::vector<Task> &tasks,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(llvm::SourceMgr &)>
        parse) {
  llvm::SourceMgr sources;
  std::string name = source.text->getBufferIdentifier().str();
  sources.AddNewSourceBuffer(std::move(source.text), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler printer(sources, &context, messages);
  // Remarks on fusions are for those who run the program.
  mlir::ScopedDiagnosticHandler filter(
      &context, [](mlir::Diagnostic &diagnostic) {
        return mlir::success(diagnostic.getSeverity() ==
                             mlir::DiagnosticSeverity::Remark);
      });
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(sources);
  if (!module ||
      failed(compiler::lowerToStage(*module, compiler::Stage::Tasks, options)))
    return mlir::failure();
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.target), options.chip);
  size_t count = 0, dynamic = 0;
  std::string notes;
  llvm::raw_string_ostream os(notes);
  module->walk([&](mlir::Operation *op) {
    if (!compiler::isTuningTask(op))
      return;
    ++count;
    dynamic += hasDynamicShape(op);
    std::string location = compiler::describeLocation(op->getLoc());
    auto leave = [&](const llvm::Twine &why) {
      os << "note: " << (location.empty() ? name : location) << ": "
         << compiler::describeTask(op) << " is not tuned: " << why << "\n";
    };
    if (compiler::getTaskSchedule(op))
      return leave("it has a hand-written schedule");
    if (std::string why = compiler::explainUntunable(op); !why.empty())
      return leave(why);
    addTask(makeTask(op, chip, options.flags), tasks);
  });
  if (count == 0) {
    messages << (source.isAlone ? "error: " : "note: ") << name
             << ": nothing to tune: it contains neither matmul nor attention "
                "nor window\n";
    return mlir::success(!source.isAlone);
  }
  if (source.hasOpenBatch && dynamic == count) {
    messages << "error: " << name
             << ": nothing to tune: its first dimension is open; pass "
                "--batch=N\n";
    return mlir::failure();
  }
  messages << notes;
  return mlir::success();
}

/// Adds the tasks of a module's text.
static mlir::LogicalResult addTasks(ProgramSource source,
                                    const compiler::CompileOptions &options,
                                    mlir::MLIRContext &context,
                                    llvm::raw_ostream &messages,
                                    std::vector<Task> &tasks) {
  return addTasks(std::move(source), options, context, messages, tasks,
                  [&](llvm::SourceMgr &sources) {
                    return compiler::parseProgram(sources, context);
                  });
}

/// Adds the tasks of an ONNX model. Diagnostics show lines of its listing.
static mlir::LogicalResult
addModelTasks(const std::string &file, std::optional<int64_t> batch,
              bool isAlone, const compiler::CompileOptions &options,
              mlir::MLIRContext &context, llvm::raw_ostream &messages,
              std::vector<Task> &tasks) {
  std::string error;
  std::unique_ptr<compiler::onnx::Model> model =
      compiler::onnx::readModel(file, error);
  if (!model) {
    messages << "error: " << error << "\n";
    return mlir::failure();
  }
  compiler::onnx::ImportOptions importOptions;
  importOptions.batch = batch;
  return addTasks({llvm::MemoryBuffer::getMemBufferCopy(model->listing, file),
                   isAlone, /*hasOpenBatch=*/!batch},
                  options, context, messages, tasks, [&](llvm::SourceMgr &) {
                    return compiler::onnx::importModel(*model, importOptions,
                                                       context);
                  });
}

/// Adds the tasks of one argument of the command line.
static mlir::LogicalResult
addItem(const std::string &item, std::optional<int64_t> batch, bool isAlone,
        const compiler::CompileOptions &options, mlir::MLIRContext &context,
        llvm::raw_ostream &messages, std::vector<Task> &tasks) {
  auto fail = [&](const llvm::Twine &what) {
    messages << "error: " << what << "\n";
    return mlir::failure();
  };
  auto addShape = [&](StringRef shape) -> mlir::LogicalResult {
    std::string why;
    std::optional<std::string> text = makeProgram(shape, why);
    if (!text)
      return fail(why);
    ProgramSource source;
    source.text = llvm::MemoryBuffer::getMemBufferCopy(*text, shape);
    return addTasks(std::move(source), options, context, messages, tasks);
  };
  StringRef name = item;
  if (name.ends_with(".onnx"))
    return addModelTasks(item, batch, isAlone, options, context, messages,
                         tasks);
  if (!name.ends_with(".mlir") && !name.ends_with(".txt"))
    return addShape(name);
  runtime::Expected<std::string> bytes = runtime::readInputFile(name.str());
  if (!bytes.ok())
    return fail(name + ": " + bytes.status().message());
  std::unique_ptr<llvm::MemoryBuffer> file =
      llvm::MemoryBuffer::getMemBufferCopy(*bytes, name);
  if (name.ends_with(".mlir"))
    return addTasks({std::move(file), isAlone, /*hasOpenBatch=*/false}, options,
                    context, messages, tasks);
  mlir::SmallVector<StringRef> lines;
  file->getBuffer().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    line = line.split('#').first.trim();
    if (!line.empty() && failed(addShape(line)))
      return fail(name + ":" + llvm::Twine(number + 1));
  }
  return mlir::success();
}

/// Moves a task to another context, except for the locations of its program.
static Task moveTask(Task task, mlir::MLIRContext &context) {
  task.program =
      mlir::parseSourceString<mlir::ModuleOp>(task.text.text, &context);
  return task;
}

mlir::FailureOr<std::vector<Task>> tessera::tuning::collectTasks(
    ArrayRef<std::string> work, std::optional<int64_t> batch,
    const compiler::CompileOptions &options, mlir::MLIRContext &context,
    llvm::raw_ostream &messages) {
  std::vector<Task> tasks;
  if (work.size() == 1) {
    if (failed(addItem(work[0], batch, /*isAlone=*/true, options, context,
                       messages, tasks)))
      return mlir::failure();
    for (Task &task : tasks)
      task.uses = {{0, task.count}};
    return tasks;
  }
  // Models take seconds each: all at the same time, each with its own context.
  struct Item {
    std::unique_ptr<mlir::MLIRContext> context;
    std::vector<Task> tasks;
    std::string messages;
    bool isRead = false;
  };
  std::vector<Item> items(work.size());
  mlir::parallelFor(&context, 0, work.size(), [&](size_t i) {
    Item &item = items[i];
    item.context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
    compiler::prepareContext(*item.context);
    item.context->printOpOnDiagnostic(false);
    llvm::raw_string_ostream os(item.messages);
    item.isRead = succeeded(addItem(work[i], batch, /*isAlone=*/false, options,
                                    *item.context, os, item.tasks));
  });
  bool isRead = true;
  for (auto [i, item] : llvm::enumerate(items)) {
    messages << item.messages;
    isRead &= item.isRead;
    for (Task &task : item.tasks) {
      task.uses = {{i, task.count}};
      addTask(moveTask(std::move(task), context), tasks);
    }
    item = Item();
  }
  if (!isRead)
    return mlir::failure();
  return tasks;
}

double
tessera::tuning::keepLargest(std::vector<Task> &tasks, size_t count,
                             llvm::function_ref<double(const Task &)> getTime) {
  std::vector<double> times;
  std::map<size_t, double> programs;
  for (const Task &task : tasks) {
    times.push_back(getTime(task));
    for (auto [program, number] : task.uses)
      programs[program] += number * times.back();
  }
  std::vector<std::pair<double, size_t>> order;
  double all = 0;
  for (auto [i, task] : llvm::enumerate(tasks)) {
    double part = 0;
    for (auto [program, number] : task.uses)
      if (programs[program] > 0)
        part += number * times[i] / programs[program];
    order.emplace_back(-part, i);
    all += part;
  }
  llvm::sort(order);
  if (order.size() > count)
    order.resize(count);
  double kept = 0;
  std::vector<size_t> positions;
  for (const auto &[part, position] : order) {
    kept -= part;
    positions.push_back(position);
  }
  llvm::sort(positions);
  std::vector<Task> largest;
  for (size_t position : positions)
    largest.push_back(std::move(tasks[position]));
  tasks = std::move(largest);
  return all > 0 ? kept / all : 0;
}

mlir::FailureOr<std::vector<Task>> tessera::tuning::readTasks(
    compiler::tuning::Database &database, const std::string &key,
    const compiler::CompileOptions &options, mlir::MLIRContext &context,
    llvm::raw_ostream &messages) {
  auto fail = [&](const llvm::Twine &what) {
    messages << "error: " << what << "\n";
    return mlir::failure();
  };
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.target), options.chip);
  llvm::Expected<std::vector<compiler::tuning::TaskText>> texts =
      database.getTasks();
  if (!texts)
    return fail(llvm::toString(texts.takeError()));
  std::vector<Task> tasks;
  for (const compiler::tuning::TaskText &text : *texts) {
    if (!key.empty() && text.key != key)
      continue;
    auto records = database.getRecords({text.key, chip.target, chip.name});
    if (!records)
      return fail(llvm::toString(records.takeError()));
    if (records->empty())
      continue;
    // A database may be somebody else's: the parser is recursive.
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (compiler::tuning::findDeepNesting(text.text).empty())
      module = mlir::parseSourceString<mlir::ModuleOp>(text.text, &context);
    mlir::Operation *op = nullptr;
    if (module)
      module->walk([&](mlir::Operation *one) {
        if (compiler::isTuningTask(one))
          op = one;
      });
    compiler::CompileFlags flags;
    if (!op || !compiler::parseFlags(text.flags, flags).empty()) {
      messages << "note: " << text.description
               << " is skipped: this version cannot read its "
               << (op ? "flags" : "program") << "\n";
      continue;
    }
    Task task = makeTask(op, chip, flags);
    task.location.clear();
    // Another version may print the program differently.
    task.text.key = text.key;
    tasks.push_back(std::move(task));
  }
  return tasks;
}
